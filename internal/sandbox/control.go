package sandbox

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/state"
	"github.com/mandate-io/idv/internal/sandbox/strictjson"
)

// controlRoute is one route of the control API.
type controlRoute struct {
	Method  string `json:"method"`
	Path    string `json:"path"`
	Summary string `json:"summary"`
	// in and out are values of the types of the bodies. A nil in is no body, and none is a response without one.
	in, out any
	handle  func(*account, *http.Request) (any, error)
}

// show is a route that takes no body, and shows something.
func show[Out any](method, path, summary string, handle func(*account) Out) controlRoute {
	return controlRoute{method, path, summary, nil, *new(Out), func(a *account, _ *http.Request) (any, error) {
		return handle(a), nil
	}}
}

// list is a route that shows the newer part of a list: ?after=SEQUENCE skips the earlier entries.
func list[Out any](path, summary string, handle func(a *account, after int64) Out) controlRoute {
	return controlRoute{http.MethodGet, path, summary, nil, *new(Out), func(a *account, r *http.Request) (any, error) {
		text := r.URL.Query().Get("after")
		after, err := strconv.ParseInt("0"+text, 10, 64)
		if err != nil {
			return nil, errors.New("after: must be a sequence number")
		}
		return handle(a, after), nil
	}}
}

// write is a route that takes an object, and shows what there is afterwards.
func write[In, Out any](method, path, summary string, handle func(*account, In) (Out, error)) controlRoute {
	return controlRoute{method, path, summary, *new(In), *new(Out), func(a *account, r *http.Request) (any, error) {
		in, err := decode[In](r)
		if err != nil {
			return nil, err
		}
		return handle(a, in)
	}}
}

func decode[In any](r *http.Request) (in In, err error) {
	where := "GET " + control.Prefix + "/ lists the fields"
	err = strictjson.Decode(http.MaxBytesReader(nil, r.Body, bodyLimit), &in, where)
	return in, err
}

// remove is a route that removes something. It has no bodies.
func remove(path, summary string, handle func(*account)) controlRoute {
	return controlRoute{http.MethodDelete, path, summary, nil, none{}, func(a *account, _ *http.Request) (any, error) {
		handle(a)
		return none{}, nil
	}}
}

// none is the result of a route that shows nothing.
type none struct{}

func (s *Service) routeControl() {
	s.mux.HandleFunc(control.Prefix+"/", func(w http.ResponseWriter, _ *http.Request) {
		failure := control.Failure{Error: "no such route or method; GET " + control.Prefix + "/ lists the routes"}
		writeJSON(w, http.StatusNotFound, failure)
	})
	s.mux.HandleFunc("GET "+control.Prefix+"/{$}", serveHelp)
	for _, route := range controlRoutes() {
		s.mux.HandleFunc(route.Method+" "+control.Prefix+route.Path, func(w http.ResponseWriter, r *http.Request) {
			if err := checkOrigin(r); err != nil {
				writeJSON(w, http.StatusForbidden, control.Failure{Error: err.Error()})
				return
			}
			a, err := s.controlled(r.URL.Query().Get(control.AccountParameter))
			var body any
			if err == nil {
				body, err = route.handle(a, r)
			}
			if err != nil {
				writeJSON(w, controlStatus(err), control.Failure{Error: err.Error()})
			} else if _, isNone := body.(none); isNone {
				w.WriteHeader(http.StatusNoContent)
			} else {
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
		fmt.Fprintf(w, "%-6s %-29s %s\n", route.Method, control.Prefix+route.Path, route.Summary)
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
