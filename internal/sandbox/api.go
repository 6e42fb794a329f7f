package sandbox

import (
	"cmp"
	"net/http"

	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

// apiPrefix is the path of the service's interface.
const apiPrefix = "/api/v1"

// bodyLimit bounds every request body. The service's own limit is not documented.
const bodyLimit = 1 << 20

// unknown is the operation of a request that matches no documented one.
const unknown control.Operation = "unknown"

// operation is one documented operation.
type operation struct {
	name   control.Operation
	method func(dialect.Dialect) string
	path   string
	body   bodyRule
	handle func(*Service, *call) (reply, error)
}

// operations is the interface's summary table.
var operations = []operation{
	{control.Token, always(http.MethodPost), "/ext/authentications/token", formBody, (*Service).token},
	{control.CreateApplication, always(http.MethodPost), "/ext/applications", objectBody, (*Service).createApplication},
	{control.RetrieveApplication, always(http.MethodGet), "/ext/applications/{id}", noBody, (*Service).retrieveApplication},
	{control.DeleteApplication, always(http.MethodDelete), "/ext/applications/{id}", noBody, (*Service).deleteApplication},
	{control.ArchiveApplication, always(http.MethodPatch), "/ext/applications/{id}/archive", emptyObjectBody, (*Service).archiveApplication},
	{control.CompleteApplication, completeMethod, "/ext/applications/{id}/complete", transitionBody, (*Service).completeApplication},
	{control.RejectApplication, rejectMethod, "/ext/applications/{id}/reject", transitionBody, (*Service).rejectApplication},
	{control.AcceptCheck, always(http.MethodPatch), "/check/{id}/accept", objectBody, (*Service).acceptCheck},
	{control.RejectCheck, always(http.MethodPatch), "/check/{id}/reject", objectBody, (*Service).rejectCheck},
	{control.RetrieveIndividual, always(http.MethodGet), "/ext/individuals/{id}", noBody, (*Service).retrieveIndividual},
	{control.ResendInvites, always(http.MethodPost), "/ext/individuals/{id}/invites/resend", resendResetBody, (*Service).resendInvites},
	{control.ResetIndividual, always(http.MethodPost), "/ext/individuals/{id}/reset", resendResetBody, (*Service).resetIndividual},
	{control.IndividualReport, always(http.MethodGet), "/ext/individuals/{id}/report", noBody, (*Service).individualReport},
	{control.References, always(http.MethodGet), "/ext/references", noBody, (*Service).references},
	{control.SubscribeWebhook, always(http.MethodPost), "/ext/webhooks/subscribe", objectBody, (*Service).subscribeWebhook},
	{control.RetrieveWebhook, always(http.MethodGet), "/ext/webhooks/retrieve/{id}", noBody, (*Service).retrieveWebhook},
}

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
		s.mux.HandleFunc(apiPrefix+path, func(w http.ResponseWriter, r *http.Request) {
			s.serve(w, newCall(r, ops, s.dialect.Get()))
		})
	}
}
