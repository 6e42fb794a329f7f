package sandbox

import (
	"bytes"
	"cmp"
	"net/http"
	"strings"

	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

// filtered is the response of what is in front of the service: a redirect, a proxy that routes some paths nowhere, and
// a filter of request bodies.
func (r *request) filtered() error {
	unrouted := false
	switch r.dialect.Ingress404 {
	case dialect.IngressApplications:
		path := strings.TrimPrefix(r.URL.Path, apiPrefix+"/ext/applications")
		unrouted = path != r.URL.Path && (path == "" || path[0] == '/')
	case dialect.IngressChanges:
		unrouted = dialect.IsChange(r.operation.name)
	case dialect.IngressAll:
		unrouted = true
	}
	switch code, redirects := strings.CutPrefix(r.dialect.TrailingSlash, "redirect_"); {
	case redirects && !strings.HasSuffix(r.URL.Path, "/"):
		target := *r.URL
		target.Path += "/"
		header := map[string]string{"Location": target.RequestURI()}
		return &statusError{status: statusIn(code), header: header, body: dialect.ErrorBodyEmpty}
	case unrouted:
		body := cmp.Or(r.dialect.IngressBody, dialect.ErrorBodyHTML)
		return &statusError{status: http.StatusNotFound, title: "default backend - 404", body: body}
	case r.dialect.ForbiddenBody == dialect.ForbiddenBodyApostrophe && bytes.ContainsRune(r.body, '\''):
		return r.forbidden()
	}
	return nil
}

// inDialect changes the response of an operation that succeeded as the dialect says: it can come before the work, and
// its body can be another one.
func (r response) inDialect(req *request) response {
	op, answer := req.operation.name, req.dialect.ReadAnswer
	if dialect.IsChange(op) {
		answer = req.dialect.ChangeAnswer
	}
	if req.dialect.Async(op) {
		r.status = http.StatusAccepted
		if _, isMessage := r.json.(messageBody); isMessage {
			r.json = messageBody{"The request was accepted"}
		}
	}
	if answer == "" || op == control.Token {
		return r
	}
	if r.status == http.StatusNoContent {
		r.status = http.StatusOK
	}
	return r.replaced(answer)
}

// replaced has a body that says nothing, or nothing good.
func (r response) replaced(answer string) response {
	body, contentType := []byte(`{"id": 4711, "name": "Ac`), mediaJSON
	switch answer {
	case dialect.AnswerHTML:
		body, contentType = htmlPage("Maintenance"), mediaHTML
	case dialect.AnswerProblem:
		unavailable := problem{Title: "The service is not available"}
		body = mustMarshal(unavailable.members(http.StatusServiceUnavailable, dialect.Dialect{}))
		contentType = mediaProblem
	case dialect.AnswerSuccessFalse:
		body = []byte(`{"success": false}`)
	case dialect.AnswerErrorMember:
		body = []byte(`{"error": "The request was not carried out"}`)
	}
	return response{status: r.status, header: r.header, file: body, contentType: contentType}
}
