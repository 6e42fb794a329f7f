package client

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
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

// String implements fmt.Stringer.
func (s Sensitive[T]) String() string { return redacted }

// GoString implements fmt.GoStringer.
func (s Sensitive[T]) GoString() string { return redacted }

// MarshalJSON implements json.Marshaler.
func (s Sensitive[T]) MarshalJSON() ([]byte, error) { return json.Marshal(redacted) }

// MarshalText implements encoding.TextMarshaler.
func (s Sensitive[T]) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// MarshalYAML implements the Marshaler interface of the common YAML packages.
func (s Sensitive[T]) MarshalYAML() (any, error) { return redacted, nil }

// MarshalLog implements logr.Marshaler.
func (s Sensitive[T]) MarshalLog() any { return redacted }

// LogValue implements slog.LogValuer.
func (s Sensitive[T]) LogValue() slog.Value { return slog.StringValue(redacted) }
