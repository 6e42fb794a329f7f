package client

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// transitions answers complete and reject under one method, and any other method with refuse.
func transitions(method string, refuse http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodGet:
			answers(200, someApplication)(w, r)
		case method:
			answers(200, someApplication)(w, r)
		default:
			refuse(w, r)
		}
	}
}

func notAllowed(allow ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for _, line := range allow {
			w.Header().Add("Allow", line)
		}
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

func (s *service) methods() string {
	requests, _ := s.seen()
	var methods []string
	for _, r := range requests {
		methods = append(methods, r.method)
	}
	return strings.Join(methods, " ")
}

func TestTransitionMethodIsFoundOut(t *testing.T) {
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		want    string // the methods of two operations
	}{
		"PATCH":                      {transitions("PATCH", notAllowed()), "PATCH PATCH"},
		"POST, no Allow":             {transitions("POST", notAllowed()), "PATCH POST POST"},
		"PUT, no Allow":              {transitions("PUT", notAllowed()), "PATCH POST PUT PUT"},
		"PUT, Allow":                 {transitions("PUT", notAllowed("OPTIONS, PUT")), "PATCH PUT PUT"},
		"PUT, Allow in two lines":    {transitions("PUT", notAllowed("OPTIONS", "put")), "PATCH PUT PUT"},
		"PUT, Allow of other things": {transitions("PUT", notAllowed("GET, OUTPUT, COMPUTE")), "PATCH POST PUT PUT"},
		"POST, Allow names two":      {transitions("POST", notAllowed("PUT,POST")), "PATCH POST POST"},
		"PUT, Allow is wrong":        {transitions("PUT", notAllowed("POST")), "PATCH POST PUT PUT"},
		"POST, 404 for the rest":     {transitions("POST", answers(404, "")), "PATCH GET POST POST"},
		"PUT, 404 for the rest":      {transitions("PUT", answers(404, "")), "PATCH GET POST GET PUT PUT"},
	} {
		for _, op := range []Operation{OpCompleteApplication, OpRejectApplication} {
			t.Run(fmt.Sprintf("%s, %s", op, name), func(t *testing.T) {
				s := newService(t, test.handler, false)
				c := s.client(t)
				for range 2 {
					if err := exampleOf(t, op).run(t.Context(), c); err != nil {
						t.Fatal(err)
					}
				}
				if got := s.methods(); got != test.want {
					t.Errorf("sent %s, want %s", got, test.want)
				}
			})
		}
	}
}

func TestTransitionMethodThatChanges(t *testing.T) {
	handler := transitions("PUT", notAllowed())
	s := newService(t, func(w http.ResponseWriter, r *http.Request) { handler(w, r) }, false)
	c := s.client(t)
	for _, method := range []string{"PUT", "PATCH"} {
		handler = transitions(method, notAllowed())
		if _, err := c.CompleteApplication(t.Context(), 4711); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.methods(); got != "PATCH POST PUT PUT PATCH" {
		t.Errorf("sent %s", got)
	}
}

func TestConfiguredTransitionMethod(t *testing.T) {
	s := newService(t, answers(204, ""), false)
	c := s.client(t, func(config *Config) { config.CompleteMethod, config.RejectMethod = TransitionPUT, TransitionPOST })
	for _, op := range []Operation{OpCompleteApplication, OpRejectApplication} {
		if err := exampleOf(t, op).run(t.Context(), c); err != nil {
			t.Error(err)
		}
	}
	if got := s.methods(); got != "PUT POST" {
		t.Errorf("sent %s", got)
	}
}

func TestRefusedTransition(t *testing.T) {
	onGet := func(get, other http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				get(w, r)
			} else {
				other(w, r)
			}
		}
	}
	exists := answers(200, someApplication)
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		method  TransitionMethod
		outcome Outcome
		kind    Kind
		want    string
	}{
		"not yet": {
			onGet(exists, answers(400, `{"title":"x","status":"400"}`)), "", Refused, KindInvalid, "PATCH PATCH PATCH",
		},
		"conflict":     {onGet(exists, answers(409, "")), "", Refused, KindConflict, "PATCH"},
		"server error": {onGet(exists, answers(500, "")), "", Unknown, KindServer, "PATCH"},
		"no method at all": {
			onGet(exists, notAllowed()), "", Refused, KindMethodNotAllowed, "PATCH POST PUT",
		},
		"configured method not allowed": {
			onGet(exists, notAllowed("POST")), TransitionPATCH, Refused, KindMethodNotAllowed, "PATCH",
		},
		"the application is gone": {answers(404, ""), "", Refused, KindNotFound, "PATCH GET"},
		"404, but the application exists": {
			onGet(exists, answers(404, "")), "", Refused, KindMethodNotAllowed, "PATCH GET POST GET PUT GET",
		},
		"404 to the configured method": {
			onGet(exists, answers(404, "")), TransitionPUT, Refused, KindMethodNotAllowed, "PUT GET",
		},
		"404, and the application is unknown": {
			onGet(answers(403, ""), answers(404, "")), "", Refused, KindRejected, "PATCH GET",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, test.handler, false)
			c := s.client(t, func(config *Config) { config.CompleteMethod = test.method })
			_, err := c.CompleteApplication(t.Context(), 4711)
			expectFailure(t, err, test.outcome, test.kind)
			if got := s.methods(); got != test.want {
				t.Errorf("sent %s, want %s", got, test.want)
			}
			if IsNotFound(err) != (test.kind == KindNotFound) {
				t.Error("only an application that is gone is not found")
			}
		})
	}
}

func TestAnswersOfTransitions(t *testing.T) {
	for body, want := range map[string]string{
		someApplication:                                           "in review",
		`{"data":` + someApplication + `}`:                        "in review",
		`{"id":4711,"status":"completed"}`:                        "completed",
		`{"message":"done"}`:                                      "",
		`{"id":4711,"message":"done"}`:                            "", // no state: not the application
		`{"id":4712,"status":"completed"}`:                        "", // another one
		`{"id":4711,"ID":4712,"status":{"status":"completed"}}`:   "",
		`{"id":4711,"reference":"a","Reference":"b","status":""}`: "",
		``:       "",
		`<html>`: "",
	} {
		s := newService(t, answers(200, body), false)
		c := s.client(t)
		for name, transition := range map[string]func(context.Context, int64) (*Application, error){
			"complete": c.CompleteApplication, "reject": c.RejectApplication, "archive": c.ArchiveApplication,
		} {
			application, err := transition(t.Context(), 4711)
			if err != nil {
				t.Errorf("%s, %s: %v", name, body, err)
			}
			got := ""
			if application != nil {
				got = application.State.Name
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, %s: %s", name, body, diff)
			}
		}
		s.Close()
	}
}
