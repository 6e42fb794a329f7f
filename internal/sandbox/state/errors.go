package state

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ErrNotFound means that the object does not exist.
var ErrNotFound = errors.New("not found")

// ErrGone means that the object was deleted or has expired. It is an ErrNotFound too.
var ErrGone = fmt.Errorf("gone: %w", ErrNotFound)

func notFound(field, reason string) error {
	return fmt.Errorf("%s: %s (%w)", field, reason, ErrNotFound)
}

// RefusedError means that the state does not allow the request.
type RefusedError struct {
	Reason string
	// Undecided is true if the reason is a check in review.
	Undecided bool
}

// Error implements error.
func (e *RefusedError) Error() string { return e.Reason }

// FieldErrors maps a field name to what is wrong with it.
type FieldErrors map[string][]string

// Add adds a message to a field.
func (f FieldErrors) Add(field, message string) { f[field] = append(f[field], message) }

// texts are the messages, each after the path of its field.
func (f FieldErrors) texts(prefix string) (texts []string) {
	for _, field := range slices.Sorted(maps.Keys(f)) {
		texts = append(texts, prefix+field+": "+strings.Join(f[field], ", "))
	}
	return texts
}

// InvalidError means that fields of a request are invalid. Its messages are fixed texts, without data from the input.
type InvalidError struct {
	Fields FieldErrors
	// Individuals has one entry per submitted individual, in their sequence; nil when all are valid.
	Individuals []FieldErrors
	// Duplicate is true if a reference is not unique.
	Duplicate bool
	// UnknownType is true if the mandate type does not exist.
	UnknownType bool
}

// Error implements error.
func (e *InvalidError) Error() string {
	var messages []string
	if e.Individuals != nil && len(e.Individuals) == 0 {
		messages = append(messages, "individuals: must be a list of at least one object")
	}
	for i, one := range e.Individuals {
		messages = append(messages, one.texts(fmt.Sprintf("individuals[%d].", i))...)
	}
	return strings.Join(append(messages, e.Fields.texts("")...), "; ")
}

// InvalidField returns the error of one field.
func InvalidField(field, text string) error {
	return &InvalidError{Fields: FieldErrors{field: {text}}}
}

// Empty is true if there is no error.
func (e *InvalidError) Empty() bool { return len(e.Fields) == 0 && e.Individuals == nil }

// AddIndividual adds a message to a field of one of total individuals.
func (e *InvalidError) AddIndividual(index, total int, field, message string) {
	if e.Individuals == nil {
		e.Individuals = make([]FieldErrors, total)
		for i := range e.Individuals {
			e.Individuals[i] = FieldErrors{}
		}
	}
	e.Individuals[index].Add(field, message)
}
