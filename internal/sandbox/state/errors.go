package state

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ErrNotFound means that no such thing exists (any more).
var ErrNotFound = errors.New("not found")

func notFound(field, reason string) error {
	return fmt.Errorf("%s: %s (%w)", field, reason, ErrNotFound)
}

// RefusedError means that the state does not allow what was asked.
type RefusedError struct {
	Reason string
	// Undecided is true if a check that waits for a decision is the reason.
	Undecided bool
}

// Error implements error.
func (e *RefusedError) Error() string { return e.Reason }

// FieldErrors maps a field name to what is wrong with it.
type FieldErrors map[string][]string

// Add adds a message to a field.
func (f FieldErrors) Add(field, message string) { f[field] = append(f[field], message) }

// InvalidError means that the fields of a request do not hold. Its messages are
// fixed sentences: they hold nothing of the input.
type InvalidError struct {
	Fields FieldErrors
	// Individuals has one entry per submitted individual, in order; nil when all are well.
	Individuals []FieldErrors
	// Duplicate is true if a reference is taken.
	Duplicate bool
}

// Error implements error.
func (e *InvalidError) Error() string {
	var told []string
	if e.Individuals != nil {
		told = append(told, "individuals: not all of them hold")
	}
	for _, field := range slices.Sorted(maps.Keys(e.Fields)) {
		told = append(told, field+": "+strings.Join(e.Fields[field], ", "))
	}
	return strings.Join(told, "; ")
}

// InvalidField returns the error of one field.
func InvalidField(field, text string) error {
	return &InvalidError{Fields: FieldErrors{field: {text}}}
}

// Empty is true if nothing is wrong.
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
