package client

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Problem is an RFC 7807 error body (interface: Errors). Its texts are the service's own and may repeat what was sent,
// so they are Sensitive. Field names are shown only if the interface knows them.
type Problem struct {
	Type, Title, Detail, Instance Secret
	// Errors are the leaves of `exception`, in the service's order.
	Errors []FieldError
}

// FieldError is one leaf of a problem's `exception` tree (interface: Errors). It has no Messages if the leaf is no
// text.
type FieldError struct {
	Path     Path
	Messages []Secret
}

// Path is the way to a field of the request, such as `individuals`, 0, `reference`.
type Path []PathStep

// PathStep is a field or a list index.
type PathStep struct {
	// Field is the interface's name, such as "reference"; "" for an index, and for a name that the interface does not
	// know.
	Field string
	// Index is counted from 0; -1 for a field.
	Index int
	// Name is the field's name as the service writes it.
	Name Secret
}

const (
	maxExceptionDepth  = 6
	maxExceptionLeaves = 2000
	maxListIndex       = 1000
	// maxMessages of one field. A service says a few things about a field.
	maxMessages = 20
	// maxShownFields of an error's text.
	maxShownFields = 20
)

// requestFields are the field names of the interface's request bodies, which are safe to print.
var requestFields = []string{
	"name", "reference", "mandate_type", "suppress_email_notification", "individuals",
	"email", "title", "first_name", "middle_name", "last_name", "date_of_birth", "gender",
	"comment", "comment_for", "url", "events", "application_id",
	"username", "password", "grant_type", "client_id", "client_secret",
}

// parseProblem reads the body of a response as a problem, whatever its content type, and returns nil if it is none. For
// an operation that e-mails people, a problem proves that nothing was done. So a doubtful body is no problem: one with
// an id, which could be the id of what the request created, and one whose status is no HTTP status or is of another
// class than the response's, such as a gateway's 400 about a 502 behind it. One that would cost too much to read is
// none, either.
func parseProblem(status int, body []byte) *Problem {
	if checkSize(body) != nil {
		return nil
	}
	o, err := parseObject(body)
	if err != nil || o.identifiesResource(0) {
		return nil
	}
	p := &Problem{
		Type:     Hide(o.text("type")),
		Title:    Hide(o.text("title")),
		Detail:   Hide(o.text("detail")),
		Instance: Hide(o.text("instance")),
	}
	if exception, ok := asObject(o.get("exception")); ok {
		p.collect(nil, exception)
	}
	declared, err := o.declaredStatus()
	switch {
	case err != nil, declared != 0 && declared/100 != status/100:
		return nil
	case declared != 0, len(p.Errors) > 0, p.Title.Reveal() != "", p.Detail.Reveal() != "":
		return p
	default:
		return nil
	}
}

// identifiesResource reports whether an object, or one that it wraps, has one or several ids.
func (o object) identifiesResource(depth int) bool {
	if o.hasID() {
		return true
	}
	return depth < maxWrappers && slices.ContainsFunc(o.wrapped("application", "mandate", "individual"),
		func(inner object) bool { return inner.identifiesResource(depth + 1) })
}

// declaredStatus is the number that a problem's `status` begins with, as in "502 Bad Gateway"; 0 if there is none. An
// object, a list, and two different values are an error.
func (o object) declaredStatus() (int, error) {
	raw, err := o.unambiguous("status")
	if err != nil || len(raw) > 0 && (raw[0] == '{' || raw[0] == '[') {
		return 0, errJSON
	}
	text := parseText(raw)
	digits := text[:len(text)-len(strings.TrimLeft(text, "0123456789"))]
	if digits == "" {
		return 0, nil
	}
	return strconv.Atoi(digits)
}

func (p *Problem) collect(path Path, o object) {
	if len(path) >= maxExceptionDepth {
		return
	}
	for _, m := range o {
		if len(p.Errors) >= maxExceptionLeaves {
			return
		}
		p.addLeaf(append(slices.Clip(path), fieldStep(string(m.name))), m.value)
	}
}

// addLeaf adds the messages at one place of the tree, and walks into objects. What is neither counts as an error
// without messages, because it still names a field.
func (p *Problem) addLeaf(path Path, raw []byte) {
	if o, ok := asObject(raw); ok {
		p.collect(path, o)
		return
	}
	items, ok := asList(raw)
	if !ok {
		items = []json.RawMessage{raw}
	}
	fieldError := FieldError{Path: path}
	empty := true
	for i, item := range items[:min(len(items), maxListIndex)] {
		if o, ok := asObject(item); ok {
			p.collect(append(slices.Clip(path), PathStep{Index: i}), o)
			continue
		}
		empty = empty && isNull(item)
		if message, ok := parseString(item); ok && len(fieldError.Messages) < maxMessages {
			fieldError.Messages = append(fieldError.Messages, Hide(message))
		}
	}
	if !empty && len(p.Errors) < maxExceptionLeaves {
		p.Errors = append(p.Errors, fieldError)
	}
}

func fieldStep(name string) PathStep {
	step := PathStep{Index: -1, Name: Hide(name)}
	for _, known := range requestFields {
		if sameName([]byte(name), known) {
			step.Field = known
		}
	}
	return step
}

// Has reports whether the problem names a field of the request's top level, or something in it.
func (p *Problem) Has(name string) bool {
	if p == nil {
		return false
	}
	return slices.ContainsFunc(p.Errors, func(e FieldError) bool { return e.Path[0].Field == name })
}

// Fields returns the paths of all errors, sorted, each once, and safe to print. A name that the interface does not know
// shows as "unknown field".
func (p *Problem) Fields() []string {
	if p == nil {
		return nil
	}
	var fields []string
	for _, e := range p.Errors {
		fields = append(fields, e.Path.String())
	}
	slices.Sort(fields)
	return slices.Compact(fields)
}

// String returns the path as "individuals[0].reference".
func (path Path) String() string {
	var b strings.Builder
	for _, step := range path {
		switch {
		case step.Index >= 0:
			b.WriteString("[" + strconv.Itoa(step.Index) + "]")
			continue
		case b.Len() > 0:
			b.WriteByte('.')
		}
		b.WriteString(orDefault(step.Field, "unknown field"))
	}
	return b.String()
}

// String returns the number of field errors and their paths, which are safe to print.
func (p *Problem) String() string {
	if p == nil {
		return "no problem"
	}
	return fmt.Sprintf("problem with %d field errors: %s", len(p.Errors), strings.Join(p.Fields(), ", "))
}
