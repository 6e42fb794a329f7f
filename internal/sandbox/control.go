package sandbox

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/state"
)

// controlRoute is one route of the control API. What handle returns is the
// answer; nil answers 204.
type controlRoute struct {
	Method  string `json:"method"`
	Path    string `json:"path"`
	Summary string `json:"summary"`
	handle  func(*Service, *http.Request) (any, error)
}

// controlRoutes is what the help, the page and the package documentation list.
func controlRoutes() []controlRoute {
	return []controlRoute{
		{"GET", "/", "this list (JSON when asked for)", nil},
		{"GET", "/overview", "everything at one look, as the page for people shows it", (*Service).getOverview},
		{"GET", "/outbox", "the e-mails sent, oldest first; ?after=SEQUENCE for the later ones", (*Service).getOutbox},
		{"GET", "/applications", "every application in short", (*Service).getApplications},
		{"POST", "/play", `individuals act: {"reference" or "application_id", "individual", "step", "check", "result"}`, (*Service).postPlay},
		{"GET", "/clock", "the sandbox's time", (*Service).getClock},
		{"PUT", "/clock", `set it: {"now": "2026-01-31T12:00:00Z"}`, (*Service).putClock},
		{"POST", "/clock/advance", `move it: {"seconds": 3600}`, (*Service).postClockAdvance},
		{"GET", "/stats", "requests and answers per operation, and logins", (*Service).getStats},
		{"DELETE", "/stats", "count from zero", (*Service).deleteStats},
		{"POST", "/tokens/revoke", "make every token invalid", (*Service).postTokensRevoke},
		{"GET", "/faults", "the faults that have yet to strike", (*Service).getFaults},
		{"POST", "/faults", `add one: {"operation", "kind", "after_work", "times", "delay_ms", "status", "retry_after"}`, (*Service).postFault},
		{"DELETE", "/faults", "remove all", (*Service).deleteFaults},
		{"GET", "/deliveries", "the webhook calls and what became of them", (*Service).getDeliveries},
		{"GET", "/autoplay", "whether the sandbox plays the individuals by itself", (*Service).getAutoplay},
		{"PUT", "/autoplay", `change it: {"enabled": true, "delay_ms": 500}`, (*Service).putAutoplay},
		{"GET", "/dialects", "every switch, its values and its meaning", (*Service).getDialects},
		{"PUT", "/dialects", `set switches: {"completeMethod": "POST"}`, (*Service).putDialects},
		{"DELETE", "/dialects", "set all to the documented reading", (*Service).deleteDialects},
		{"POST", "/reset", "forget everything; ids go on", (*Service).postReset},
	}
}

func (s *Service) routeControl() {
	s.mux.HandleFunc(control.Prefix+"/", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusNotFound, control.Failure{Error: "no such route with this method; GET " + control.Prefix + "/ lists them"})
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
			answer, err := route.handle(s, r)
			switch {
			case err != nil:
				writeJSON(w, controlStatus(err), control.Failure{Error: err.Error()})
			case answer == nil:
				w.WriteHeader(http.StatusNoContent)
			default:
				writeJSON(w, http.StatusOK, answer)
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
