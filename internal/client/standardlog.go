package client

import (
	"bytes"
	"io"
	"log"
)

// unsolicitedPrefix begins the line that net/http prints when a server sends more than it announced. What follows it is
// the rest of a response, which can be about a person.
var unsolicitedPrefix = []byte("Unsolicited response received on idle HTTP channel starting with ")

// RedactStandardLog filters the output of the standard logger (package log), so that what net/http prints of unexpected
// bytes from a server shows as "[redacted]". http.Transport has no logger of its own that could be set instead.
//
// It changes the whole process, so New does not do it: a command that makes a Client calls it in main, once, after any
// log.SetOutput. A second call has no effect. It must not run at the same time as log.SetOutput.
func RedactStandardLog() {
	if _, redacts := log.Writer().(redactingWriter); !redacts {
		log.SetOutput(redactingWriter{log.Writer()})
	}
}

// redactingWriter passes log lines on without what they repeat of a response.
type redactingWriter struct{ to io.Writer }

func (w redactingWriter) Write(line []byte) (int, error) {
	redactedLine := line
	if before, _, found := bytes.Cut(line, unsolicitedPrefix); found {
		redactedLine = bytes.Join([][]byte{before, unsolicitedPrefix, []byte(redacted + "\n")}, nil)
	}
	if _, err := w.to.Write(redactedLine); err != nil {
		return 0, err
	}
	return len(line), nil
}
