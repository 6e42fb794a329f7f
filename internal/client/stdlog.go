package client

import (
	"bytes"
	"io"
	"log"
	"sync"
)

// What a server sends beyond the length that it announced, net/http writes into the standard logger: the rest of an
// answer about a person. Transport has no logger that could be replaced, so the standard one gets a filter.
var unsolicited = []byte("Unsolicited response received on idle HTTP channel starting with ")

var guarding sync.Mutex

// RedactStandardLog puts the filter on, unless it is there. Whoever replaces the logger's output later takes it off, until
// the next client is made.
func RedactStandardLog() {
	guarding.Lock()
	defer guarding.Unlock()
	if _, guarded := log.Writer().(redactingWriter); !guarded {
		log.SetOutput(redactingWriter{log.Writer()})
	}
}

// redactingWriter passes lines of a log on, without what they repeat of an answer.
type redactingWriter struct{ to io.Writer }

// Write implements io.Writer.
func (f redactingWriter) Write(line []byte) (int, error) {
	passed := line
	if before, _, found := bytes.Cut(line, unsolicited); found {
		passed = bytes.Join([][]byte{before, unsolicited, []byte(redacted + "\n")}, nil)
	}
	if _, err := f.to.Write(passed); err != nil {
		return 0, err
	}
	return len(line), nil
}
