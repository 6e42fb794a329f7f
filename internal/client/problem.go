package client

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mandate-io/idv/internal/client/wire"
)

// Problem is an RFC 7807 error body (interface: Errors). Its texts are the service's own and may repeat what was sent,
// so they are Sensitive. Field names are shown only if the interface knows them.
type Problem struct {
	Type, Title, Detail Secret
	// Errors are the leaves of `exception`, in the service's order.
	Errors []FieldError

	contradicts bool // its status is that of another response
}

// FieldError is one leaf of a problem's `exception` (interface: Errors). It has no Messages if the leaf is no text.
type FieldError struct {
	Path     Path
	Messages []Secret
}

// Path is the way to a field of the request, such as `individuals`, 0, `reference`.
type Path []PathStep

// PathStep is a field or a list index.
type PathStep struct {
	Field string // the interface's name, such as "reference"; "" for an index, and for a name that it does not know
	Index int    // counted from 0; -1 for a field
	Name  Secret // the field's name as the service writes it
}

const (
	maxExceptionDepth  = 6
	maxExceptionLeaves = 2000
	maxListIndex       = 1000
	maxMessages        = 20 // of one field; a service says a few things about a field
	maxShownFields     = 20 // of an error's text
)

// requestFields are the field names of the interface's request bodies, which are safe to print.
var requestFields = []string{
	"name", "reference", "mandate_type", "suppress_email_notification", "individuals",
	"email", "title", "first_name", "middle_name", "last_name", "date_of_birth", "gender",
	"comment", "comment_for", "url", "events", "application_id",
	"username", "password", "grant_type", "client_id", "client_secret",
}

// parseProblem reads the body of a response as a problem, whatever its content type: an object with a title or an
// exception. It returns nil if it is none. Further members, an id for one, are no contradiction.
func parseProblem(status int, value wire.Value) *Problem {
	o := value.Object()
	exception := o.Get("exception")
	if o.String("title") == "" && !exception.IsObject() {
		return nil
	}
	p := &Problem{
		Type: Hide(o.Text("type")), Title: Hide(o.Text("title")), Detail: Hide(o.Text("detail")),
		contradicts: !agrees(o, status),
	}
	p.collect(nil, exception)
	return p
}

// agrees reports whether the status in a problem is that of the status line, or both say that nothing was done.
func agrees(o wire.Object, status int) bool {
	declared, ok := o.Unambiguous("status")
	if !ok || declared.IsObject() || declared.IsList() {
		return false
	}
	number := leadingNumber(declared.Text())
	return number == 0 || number == status || refuses(number) && refuses(status)
}

// leadingNumber is that of a status, which may have words after it, as in "502 Bad Gateway"; 0 if it has none.
func leadingNumber(status string) int {
	number, _ := strconv.Atoi(status[:len(status)-len(strings.TrimLeft(status, "0123456789"))])
	return number
}

// collect adds the leaves of a tree. What is neither an object nor a message is one, too: it still names a field.
func (p *Problem) collect(path Path, value wire.Value) {
	if len(path) < maxExceptionDepth {
		for _, m := range value.Object() {
			p.collect(append(slices.Clip(path), fieldStep(m.Name)), m.Value)
		}
	}
	if value.IsObject() || len(path) == 0 {
		return
	}
	items := []wire.Value{value}
	if value.IsList() {
		items = value.List()
	}
	leaf, empty := FieldError{Path: path}, true
	for i, item := range items[:min(len(items), maxListIndex)] {
		if item.IsObject() {
			p.collect(append(slices.Clip(path), PathStep{Index: i}), item)
			continue
		}
		empty = empty && item.IsNull()
		if message, ok := item.AsString(); ok && len(leaf.Messages) < maxMessages {
			leaf.Messages = append(leaf.Messages, Hide(message))
		}
	}
	if !empty && len(p.Errors) < maxExceptionLeaves {
		p.Errors = append(p.Errors, leaf)
	}
}

func fieldStep(name string) PathStep {
	step := PathStep{Index: -1, Name: Hide(strings.Clone(name))} // not a part of the whole response
	for _, known := range requestFields {
		if wire.SameName(name, known) {
			step.Field = known
		}
	}
	return step
}

// Has reports whether the problem names a field of the request's top level, or something in it.
func (p *Problem) Has(name string) bool {
	return p != nil && slices.ContainsFunc(p.Errors, func(e FieldError) bool { return e.Path[0].Field == name })
}

// NamesReference reports whether the problem is about a reference, the application's or an individual's.
func (p *Problem) NamesReference() bool { return len(p.aboutReferences()) > 0 }

func (p *Problem) aboutReferences() []FieldError {
	if p == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(p.Errors), func(e FieldError) bool {
		return !slices.ContainsFunc(e.Path, func(s PathStep) bool { return s.Field == "reference" })
	})
}

// Words of messages about references. The interface shows no message: our reading.
var (
	takenWord  = regexp.MustCompile(`(?i)exist|taken|unique|duplicat|already|in use|used|conflict`)
	formatWord = regexp.MustCompile(`(?i)format|character|invalid|valid |letters|digits|alphanumeric|match|pattern|` +
		`length|long|at most|no more than|maximum|exceed|allowed`)
)

// ReferenceFormat reports whether the messages about references are about the form of the reference only. The interface
// shows a message there for references that are taken; a service may refuse others in the same place. Where the words
// do not tell, a reference counts as taken.
func (p *Problem) ReferenceFormat() bool {
	var said strings.Builder
	for _, e := range p.aboutReferences() {
		for _, message := range e.Messages {
			said.WriteString(message.Reveal() + "\n")
		}
	}
	return formatWord.MatchString(said.String()) && !takenWord.MatchString(said.String())
}

// Fields returns the paths of all errors, sorted, each once, and safe to print. An unknown name is "unknown field".
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
	var text strings.Builder
	for _, step := range path {
		if step.Index >= 0 {
			fmt.Fprintf(&text, "[%d]", step.Index)
		} else {
			text.WriteString("." + cmp.Or(step.Field, "unknown field"))
		}
	}
	return strings.TrimPrefix(text.String(), ".")
}
