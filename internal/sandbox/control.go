package sandbox

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/state"
)

// controlRoute is one route of the control API. The response is what handle returns; nil is a 204.
type controlRoute struct {
	Method  string `json:"method"`
	Path    string `json:"path"`
	Summary string `json:"summary"`
	handle  func(*Service, *http.Request) (any, error)
}

// controlRoutes returns the routes, for the help and the page. The package documentation repeats them.
func controlRoutes() []controlRoute {
	return []controlRoute{
		{"GET", "/", "list the routes, as text or JSON by the Accept header", nil},
		{"GET", "/overview", "all that the page shows, newest first", (*Service).getOverview},
		{"GET", "/outbox", "list the e-mails sent, oldest first; ?after=SEQUENCE skips the earlier ones",
			(*Service).getOutbox},
		{"GET", "/applications", "list the applications in short form", (*Service).getApplications},
		{"POST", "/play", `play: {"reference" or "application_id", "individual", "step", "check", "result"}`,
			(*Service).postPlay},
		{"POST", "/state", `move an application to a state: {"reference" or "application_id", "state"}`,
			(*Service).postState},
		{"GET", "/clock", "show the time of the sandbox", (*Service).getClock},
		{"PUT", "/clock", `set the time: {"now": "2026-01-31T12:00:00Z"}`, (*Service).putClock},
		{"POST", "/clock/advance", `move the time: {"seconds": 3600}`, (*Service).postClockAdvance},
		{"GET", "/stats", "count logins, and requests and responses per operation", (*Service).getStats},
		{"DELETE", "/stats", "reset the counts", (*Service).deleteStats},
		{"POST", "/tokens/revoke", "revoke every token", (*Service).postTokensRevoke},
		{"GET", "/faults", "list the pending faults, oldest first", (*Service).getFaults},
		{"POST", "/faults", `add one: {"operation","kind","after_work","times","delay_ms","status","body", ...}`,
			(*Service).postFault},
		{"DELETE", "/faults", "remove all faults", (*Service).deleteFaults},
		{"GET", "/deliveries", "list the webhook deliveries with their states", (*Service).getDeliveries},
		{"GET", "/autoplay", "show the autoplay mode", (*Service).getAutoplay},
		{"PUT", "/autoplay", `change the mode: {"enabled": true, "delay_ms": 500}`, (*Service).putAutoplay},
		{"GET", "/dialects", "list the dialect switches, their values and meanings", (*Service).getDialects},
		{"PUT", "/dialects", `set switches: {"completeMethod": "POST"}`, (*Service).putDialects},
		{"DELETE", "/dialects", "reset every switch to its default", (*Service).deleteDialects},
		{"POST", "/reset", "remove all data; ids are never reused", (*Service).postReset},
	}
}

func (s *Service) routeControl() {
	s.mux.HandleFunc(control.Prefix+"/", func(w http.ResponseWriter, _ *http.Request) {
		failure := control.Failure{Error: "no such route or method; GET " + control.Prefix + "/ lists the routes"}
		writeJSON(w, http.StatusNotFound, failure)
	})
	s.mux.HandleFunc("GET "+control.Prefix+"/{$}", serveHelp)
	for _, route := range controlRoutes() {
		if route.handle == nil {
			continue
		}
		s.mux.HandleFunc(route.Method+" "+control.Prefix+route.Path, func(w http.ResponseWriter, r *http.Request) {
			if err := checkOrigin(r); err != nil {
				writeJSON(w, http.StatusForbidden, control.Failure{Error: err.Error()})
				return
			}
			body, err := route.handle(s, r)
			switch {
			case err != nil:
				writeJSON(w, controlStatus(err), control.Failure{Error: err.Error()})
			case body == nil:
				w.WriteHeader(http.StatusNoContent)
			default:
				writeJSON(w, http.StatusOK, body)
			}
		})
	}
}

func serveHelp(w http.ResponseWriter, r *http.Request) {
	if strings.Contains(r.Header.Get("Accept"), "application/json") {
		writeJSON(w, http.StatusOK, controlRoutes())
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	for _, route := range controlRoutes() {
		fmt.Fprintf(w, "%-6s %-26s %s\n", route.Method, control.Prefix+route.Path, route.Summary)
	}
}

func controlStatus(err error) int {
	var refused *state.RefusedError
	switch {
	case errors.Is(err, state.ErrNotFound):
		return http.StatusNotFound
	case errors.As(err, &refused):
		return http.StatusConflict
	default:
		return http.StatusBadRequest
	}
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(mustMarshal(body))
}
