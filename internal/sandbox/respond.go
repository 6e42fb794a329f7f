package sandbox

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"

	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

// response is the response of an operation that succeeded.
type response struct {
	status int
	// json is encoded as the body; nil means no body.
	json any
	// standard exempts the response from the dialects of names and wrapping: OAuth 2.0 fixes the form of a token.
	standard bool
	// file is sent as it is with its contentType.
	file        []byte
	contentType string
	header      http.Header
}

func ok(body any) response { return response{status: http.StatusOK, json: body} }

type messageBody struct {
	Message string `json:"message"`
}

// write sends the response. 204 never has a body.
func (r response) write(w http.ResponseWriter, req *request) {
	if r.json != nil {
		r.file, r.contentType = encodeBody(r.json, req.dialect, r.standard), mediaJSON
	}
	if r.status == http.StatusNoContent {
		r.file, r.contentType = nil, ""
	}
	maps.Copy(w.Header(), r.header)
	if r.contentType != "" {
		w.Header().Set("Content-Type", r.contentType)
	}
	w.WriteHeader(r.status)
	_, _ = w.Write(r.file) //nolint:gosec // never HTML: the content type is set above
}

// withSuccessDialect applies the switches successStatus and successBody.
func (r response) withSuccessDialect(d dialect.Dialect) response {
	r.status = cmp.Or(statusIn(d.SuccessStatus), r.status)
	if d.SuccessBody == dialect.SuccessBodyEmpty {
		r.json = nil
	}
	return r
}

// encodeBody encodes a body as the dialect says.
func encodeBody(body any, d dialect.Dialect, standard bool) []byte {
	if standard {
		d.Wrap, d.MemberCase = "", ""
	}
	if d.Wrap == dialect.WrapData {
		body = map[string]any{"data": body}
	}
	encoded := mustMarshal(body)
	if e := encodingOf(d); e != (encoding{}) {
		tree := decodeTree(encoded)
		if e.shown != (shownData{}) {
			tree = e.shown.rewrite(tree)
		}
		encoded = mustMarshal(e.encode(tree, false))
	}
	return encoded
}

func mustMarshal(value any) []byte {
	encoded, err := json.Marshal(value)
	if err != nil {
		panic(err) // the value is one of our own types, or members that were JSON
	}
	return encoded
}
