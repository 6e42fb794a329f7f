package sandbox

import (
	"cmp"
	"net/http"

	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
	"github.com/mandate-io/idv/internal/sandbox/state"
)

// apiPrefix is the path of the service's interface.
const apiPrefix = "/api/v1"

// bodyLimit bounds every request body. The service's own limit is not documented.
const bodyLimit = 1 << 20

// operation is one documented operation.
type operation struct {
	name    control.Operation
	summary string
	method  func(dialect.Dialect) string
	path    string
	body    bodyRule
	handle  func(*account, *request) (response, error)
	// in and out are values of the types of the bodies, for the OpenAPI document. none is a response without a body.
	in, out any
}

// operations is the interface's summary table.
var operations = []operation{
	{control.Token, "Get access token", post, "/ext/authentications/token", formBody, (*account).token,
		loginForm{}, tokenAnswer{}},
	{control.CreateApplication, "Create application", post, "/ext/applications", objectBody,
		(*account).createApplication, newApplication{}, state.Overview{}},
	{control.RetrieveApplication, "Retrieve application", get, "/ext/applications/{id}", noBody,
		(*account).retrieveApplication, nil, state.Application{}},
	{control.DeleteApplication, "Delete application", del, "/ext/applications/{id}", noBody,
		(*account).deleteApplication, nil, none{}},
	{control.ArchiveApplication, "Archive application", patch, "/ext/applications/{id}/archive", emptyObjectBody,
		(*account).archiveApplication, emptyObject{}, state.Application{}},
	{control.CompleteApplication, "Complete application", completeMethod, "/ext/applications/{id}/complete",
		transitionBody, (*account).completeApplication, emptyObject{}, state.Application{}},
	{control.RejectApplication, "Reject application", rejectMethod, "/ext/applications/{id}/reject", transitionBody,
		(*account).rejectApplication, emptyObject{}, state.Application{}},
	{control.AcceptCheck, "Accept check", patch, "/check/{id}/accept", objectBody, (*account).acceptCheck,
		checkDecision{}, messageBody{}},
	{control.RejectCheck, "Reject check", patch, "/check/{id}/reject", objectBody, (*account).rejectCheck,
		checkDecision{}, messageBody{}},
	{control.RetrieveIndividual, "Retrieve individual", get, "/ext/individuals/{id}", noBody,
		(*account).retrieveIndividual, nil, state.Individual{}},
	{control.ResendInvites, "Resend invites", post, "/ext/individuals/{id}/invites/resend", resendResetBody,
		(*account).resendInvites, emptyObject{}, messageBody{}},
	{control.ResetIndividual, "Reset individual", post, "/ext/individuals/{id}/reset", resendResetBody,
		(*account).resetIndividual, emptyObject{}, messageBody{}},
	{control.IndividualReport, "Get individual report", get, "/ext/individuals/{id}/report", noBody,
		(*account).individualReport, nil, pdf{}},
	{control.References, "Retrieve references", get, "/ext/references", noBody, (*account).references,
		nil, referenceData{}},
	{control.SubscribeWebhook, "Subscribe to webhook", post, "/ext/webhooks/subscribe", objectBody,
		(*account).subscribeWebhook, subscription{}, subscription{}},
	{control.RetrieveWebhook, "Retrieve webhook", get, "/ext/webhooks/retrieve/{id}", noBody,
		(*account).retrieveWebhook, nil, subscription{}},
}

var (
	get   = always(http.MethodGet)
	post  = always(http.MethodPost)
	patch = always(http.MethodPatch)
	del   = always(http.MethodDelete)
)

func always(method string) func(dialect.Dialect) string {
	return func(dialect.Dialect) string { return method }
}

func completeMethod(d dialect.Dialect) string { return cmp.Or(d.CompleteMethod, http.MethodPatch) }

func rejectMethod(d dialect.Dialect) string { return cmp.Or(d.RejectMethod, http.MethodPatch) }

func (s *Service) routeInterface() {
	paths := map[string][]operation{"/": nil}
	for _, op := range operations {
		paths[op.path] = append(paths[op.path], op)
	}
	for path, ops := range paths {
		serve := func(w http.ResponseWriter, httpRequest *http.Request) {
			r := newRequest(httpRequest, ops)
			a := s.accountOf(r)
			r.setDialect(a.dialect.Get())
			a.serve(w, r)
		}
		s.mux.HandleFunc(apiPrefix+path, serve)
		if path != "/" {
			s.mux.HandleFunc(apiPrefix+path+"/{$}", serve)
		}
	}
}
