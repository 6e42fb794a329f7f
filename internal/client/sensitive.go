package client

import (
	"fmt"
	"io"
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
