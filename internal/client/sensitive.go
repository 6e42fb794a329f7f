package client

import (
	"fmt"
	"io"
	"log"
	"regexp"
)

// redacted is what a Sensitive value shows instead of itself.
const redacted = "[redacted]"

// Sensitive holds a secret or personal data. It shows as "[redacted]" under every fmt verb and in every encoder. Only
// Reveal returns the value. The zero value holds T's zero value.
type Sensitive[T any] struct {
	// A function, not a value: fmt prints the unexported fields of a surrounding struct without calling their methods,
	// and other printers follow pointers. None of them can look into a function.
	reveal func() T
}

// Secret is a Sensitive string.
type Secret = Sensitive[string]

// Hide wraps a value.
func Hide[T any](v T) Sensitive[T] {
	return Sensitive[T]{reveal: func() T { return v }}
}

// Reveal returns the value. Use it only to make a request body, a header, or a Kubernetes Secret.
func (s Sensitive[T]) Reveal() T {
	if s.reveal == nil {
		var zero T
		return zero
	}
	return s.reveal()
}

// Format implements fmt.Formatter for all verbs and flags.
func (s Sensitive[T]) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, redacted) }

// String implements fmt.Stringer, for loggers.
func (s Sensitive[T]) String() string { return redacted }

// MarshalText implements encoding.TextMarshaler, which all encoders use: JSON, XML, YAML, and those of log/slog.
func (s Sensitive[T]) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// unsolicited matches what net/http prints when a server sends more than it announced. It ends with the rest of a
// response, which can be about a person.
var unsolicited = regexp.MustCompile(`(?s)(Unsolicited response received on idle HTTP channel starting with ).*`)

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
	if _, err := w.to.Write(unsolicited.ReplaceAll(line, []byte("${1}"+redacted+"\n"))); err != nil {
		return 0, err
	}
	return len(line), nil
}
