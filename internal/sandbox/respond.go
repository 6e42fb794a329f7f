package sandbox

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

// reply is the answer of an operation that went well.
type reply struct {
	status int
	// json is encoded as the body; nil means no body.
	json any
	// standard keeps away the dialects that no token speaks: it has a standard of its own.
	standard bool
	// file is sent as it is with its contentType.
	file        []byte
	contentType string
}

func ok(body any) reply { return reply{status: http.StatusOK, json: body} }

type message struct {
	Message string `json:"message"`
}

// write sends the answer; 204 and 304 have no body whatever there is to say.
func (a reply) write(w http.ResponseWriter, c *call) {
	if a.json != nil {
		a.file, a.contentType = encode(a.json, c.dialect, a.standard), mediaJSON
	}
	if a.status == http.StatusNoContent {
		a.file, a.contentType = nil, ""
	}
	if a.contentType != "" {
		w.Header().Set("Content-Type", a.contentType)
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.file) //nolint:gosec // never HTML: the content type is set above
}

// undocumented gives an answer the status code and body of the switches for
// operations whose success the document describes.
func (a reply) undocumented(spoken dialect.Dialect) reply {
	if status, err := strconv.Atoi(spoken.SuccessStatus); err == nil {
		a.status = status
	}
	if spoken.SuccessBody == dialect.SuccessBodyEmpty {
		a.json = nil
	}
	return a
}

// encode writes a body as the dialect spells it.
func encode(body any, spoken dialect.Dialect, standard bool) []byte {
	if standard {
		spoken.Wrap, spoken.MemberCase = "", ""
	}
	if spoken.Wrap == dialect.WrapData {
		body = map[string]any{"data": body}
	}
	encoded := mustMarshal(body)
	if spelled := spellingOf(spoken); spelled != (spelling{}) {
		encoded = mustMarshal(spelled.respell(decodeTree(encoded), false))
	}
	return encoded
}

func mustMarshal(value any) []byte {
	encoded, err := json.Marshal(value)
	if err != nil {
		panic(err) // only our own types and members that were JSON when they came
	}
	return encoded
}
