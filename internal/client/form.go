package client

import (
	"encoding/json"
	"maps"
	"net/http"
	"sync/atomic"
)

// form is how a request without a documented payload is sent.
type form struct {
	body   []byte
	typed  bool  // with the Content-Type
	number int32 // among the readings
}

func (f *form) apply(q *request) *request {
	q.body = f.body
	if !f.typed {
		q.header.Del("Content-Type")
	}
	return q
}

// forms are the readings of the payload of an operation, the likeliest first. Which of them the service takes is
// learned, from one request to the next.
type forms struct {
	readings []*form
	// alike is what operations that are probably alike have learned: the number of the form to begin with.
	alike    *atomic.Int32
	refusals atomic.Int32 // since the client was made
	learned  atomic.Pointer[form]
}

var (
	// undocumentedForms are for operations whose payload is not documented: an empty object, or no body, with the
	// Content-Type that the interface lists for every request or without it.
	undocumentedForms = []*form{{encode(struct{}{}), true, 0}, {nil, true, 1}, {nil, false, 2}}
	// emptyForms are for operations without a body. Some frameworks refuse a Content-Type without one.
	emptyForms = []*form{{nil, true, 0}, {nil, false, 1}}
)

// toTry are the forms to send, in order. After all of them were refused, it is the same order again, because the
// refusals may have been about something else.
func (f *forms) toTry() []*form {
	if learned := f.learned.Load(); learned != nil {
		return []*form{learned}
	}
	first := int(f.alike.Load()+f.refusals.Load()) % len(f.readings)
	return append(f.readings[first:len(f.readings):len(f.readings)], f.readings[:first]...)
}

// learn takes over what came of a form that was sent, and reports whether the service may have refused the form.
func (f *forms) learn(sent *form, err error) (refused bool) {
	switch {
	case err == nil:
		f.learned.Store(sent)
		f.alike.Store(sent.number)
		return false
	case f.learned.Load() != nil || !refusesForm(failureOf(err)):
		return false
	}
	f.refusals.Add(1)
	return true
}

// refusesForm reports whether a response could be about the body as a whole. It is no proof that nothing was done. The
// status of what was not sent is that of a login, or of a read before it.
func refusesForm(e *Error) bool {
	invalid := e.Status == http.StatusBadRequest || e.Status == http.StatusUnprocessableEntity
	return e.Outcome != NotSent && (e.Status == http.StatusUnsupportedMediaType || invalid && len(e.Problem.Fields()) == 0)
}

// withoutEmpty removes the fields that are not set.
func withoutEmpty(body map[string]any) map[string]any {
	maps.DeleteFunc(body, func(_ string, value any) bool { return value == "" || value == int64(0) })
	return body
}

// encode writes a request body. Bodies consist of strings, numbers and lists of them, which always encode.
func encode(body any) []byte {
	encoded, _ := json.Marshal(body)
	return encoded
}
