package sandbox

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

// apiPrefix is the path of the service's interface.
const apiPrefix = "/api/v1"

// bodyLimit bounds every request body. The service's own limit is not documented.
const bodyLimit = 1 << 20

const unknownOperation control.Operation = "unknown"

// operation is one documented operation.
type operation struct {
	name   control.Operation
	method func(dialect.Dialect) string
	path   string
	body   bodyRule
	handle func(*Service, *request) (response, error)
}

// operations is the interface's summary table.
var operations = []operation{
	{control.Token, post, "/ext/authentications/token", formBody, (*Service).token},
	{control.CreateApplication, post, "/ext/applications", objectBody, (*Service).createApplication},
	{control.RetrieveApplication, get, "/ext/applications/{id}", noBody, (*Service).retrieveApplication},
	{control.DeleteApplication, del, "/ext/applications/{id}", noBody, (*Service).deleteApplication},
	{control.ArchiveApplication, patch, "/ext/applications/{id}/archive", emptyObjectBody,
		(*Service).archiveApplication},
	{control.CompleteApplication, completeMethod, "/ext/applications/{id}/complete", transitionBody,
		(*Service).completeApplication},
	{control.RejectApplication, rejectMethod, "/ext/applications/{id}/reject", transitionBody,
		(*Service).rejectApplication},
	{control.AcceptCheck, patch, "/check/{id}/accept", objectBody, (*Service).acceptCheck},
	{control.RejectCheck, patch, "/check/{id}/reject", objectBody, (*Service).rejectCheck},
	{control.RetrieveIndividual, get, "/ext/individuals/{id}", noBody, (*Service).retrieveIndividual},
	{control.ResendInvites, post, "/ext/individuals/{id}/invites/resend", resendResetBody, (*Service).resendInvites},
	{control.ResetIndividual, post, "/ext/individuals/{id}/reset", resendResetBody, (*Service).resetIndividual},
	{control.IndividualReport, get, "/ext/individuals/{id}/report", noBody, (*Service).individualReport},
	{control.References, get, "/ext/references", noBody, (*Service).references},
	{control.SubscribeWebhook, post, "/ext/webhooks/subscribe", objectBody, (*Service).subscribeWebhook},
	{control.RetrieveWebhook, get, "/ext/webhooks/retrieve/{id}", noBody, (*Service).retrieveWebhook},
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
		serve := func(w http.ResponseWriter, r *http.Request) {
			d, routed := s.dialect.Get(), ops
			if strings.HasSuffix(r.URL.Path, "/") && d.TrailingSlash == "" {
				routed = nil
			}
			s.serve(w, newRequest(r, routed, d))
		}
		s.mux.HandleFunc(apiPrefix+path, serve)
		if path != "/" {
			s.mux.HandleFunc(apiPrefix+path+"/{$}", serve)
		}
	}
}
