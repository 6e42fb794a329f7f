package client

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
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

// notAllowed is what the service says of another method.
func notAllowed(allow ...string) http.HandlerFunc { return notAllowedWith(aboutNothing, allow...) }

func notAllowedWith(body string, allow ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for _, line := range allow {
			w.Header().Add("Allow", line)
		}
		answers(http.StatusMethodNotAllowed, body)(w, r)
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
		"POST, no Allow":             {transitions("POST", notAllowed()), "PATCH GET POST POST"},
		"PUT, no Allow":              {transitions("PUT", notAllowed()), "PATCH GET POST GET PUT PUT"},
		"PUT, Allow":                 {transitions("PUT", notAllowed("OPTIONS, PUT")), "PATCH GET PUT PUT"},
		"PUT, Allow in two lines":    {transitions("PUT", notAllowed("OPTIONS", "put")), "PATCH GET PUT PUT"},
		"PUT, Allow of other things": {transitions("PUT", notAllowed("GET, OUTPUT, COMPUTE")), "PATCH GET POST GET PUT PUT"},
		"POST, Allow names two":      {transitions("POST", notAllowed("PUT,POST")), "PATCH GET POST POST"},
		"PUT, Allow is wrong":        {transitions("PUT", notAllowed("POST")), "PATCH GET POST GET PUT PUT"},
		"PUT, Allow is of the first": {transitions("PUT", notAllowed("PATCH")), "PATCH GET POST GET PUT PUT"},
		"PUT, problem for the rest":  {transitions("PUT", answers(404, aboutNothing)), "PATCH GET POST GET PUT PUT"},
	} {
		for _, op := range []Operation{OpCompleteApplication, OpRejectApplication} {
			t.Run(fmt.Sprintf("%s, %s", op, name), func(t *testing.T) {
				s := newService(t, test.handler, false)
				c := s.signedIn(t)
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

// TestMethodAfterUnprovenAnswers: somebody else may have said that there is no such method, after the service has done
// the work. So the next request has another one, and the error names the setting. A 404 can be about anything.
func TestMethodAfterUnprovenAnswers(t *testing.T) {
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		want    string // the methods of three operations
		done    int    // which of them succeeds first; 0: none
	}{
		"PATCH":                {transitions("PATCH", notAllowedWith("")), "PATCH PATCH PATCH", 1},
		"POST":                 {transitions("POST", notAllowedWith("")), "PATCH GET POST POST", 2},
		"POST, a page":         {transitions("POST", notAllowedWith("<html>")), "PATCH GET POST POST", 2},
		"PUT":                  {transitions("PUT", notAllowedWith("")), "PATCH GET POST GET PUT", 3},
		"PUT, Allow":           {transitions("PUT", notAllowedWith("", "PUT")), "PATCH GET PUT PUT", 2},
		"PUT, Allow names all": {transitions("PUT", notAllowedWith("", "PUT,POST,PATCH")), "PATCH GET POST GET PUT", 3},
		"none":                 {transitions("TRACE", notAllowedWith("")), "PATCH GET POST GET PUT GET", 0},
		"POST, 404":            {transitions("POST", answers(404, "")), "PATCH GET PATCH GET PATCH GET", 0},
	} {
		for _, op := range []Operation{OpCompleteApplication, OpRejectApplication} {
			t.Run(fmt.Sprintf("%s, %s", op, name), func(t *testing.T) {
				s := newService(t, test.handler, false)
				c := s.signedIn(t)
				for n := 1; n <= 3; n++ {
					err := exampleOf(t, op).run(t.Context(), c)
					if done := test.done > 0 && n >= test.done; done != (err == nil) {
						t.Errorf("operation %d: %v", n, err)
					} else if !done && (OutcomeOf(err) != Unknown || !strings.Contains(err.Error(), "spec.transitions")) {
						t.Errorf("operation %d: %v", n, err)
					}
				}
				if got := s.methods(); got != test.want {
					t.Errorf("sent %s, want %s", got, test.want)
				}
			})
		}
	}
}

// TestWorkAfterTheAnswerIsDoneOnce: the service carries out each request after somebody else has answered it, so no
// read shows it in time.
func TestWorkAfterTheAnswerIsDoneOnce(t *testing.T) {
	contradiction := strings.ReplaceAll(aboutNothing, "400", "502")
	for _, status := range []int{400, 404, 405, 415, 422} {
		for _, body := range []string{"", "<html>", `{"message":"no"}`, `{"success":false}`, contradiction} {
			for _, op := range []Operation{OpCompleteApplication, OpRejectApplication} {
				s := newService(t, onGet(answers(200, someApplication), answers(status, body)), false)
				err := exampleOf(t, op).run(t.Context(), s.signedIn(t))
				if got := s.methods(); got != "PATCH GET" || OutcomeOf(err) != Unknown {
					t.Errorf("%s, %d %s: sent %s, %v", op, status, body, got, err)
				}
				s.Close()
			}
		}
	}
}

func TestTransitionMethodThatChanges(t *testing.T) {
	handler := transitions("PUT", notAllowed())
	s := newService(t, func(w http.ResponseWriter, r *http.Request) { handler(w, r) }, false)
	c := s.signedIn(t)
	for _, method := range []string{"PUT", "PATCH"} {
		handler = transitions(method, notAllowed())
		if _, err := c.CompleteApplication(t.Context(), 4711, inReview); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.methods(); got != "PATCH GET POST GET PUT PUT GET PATCH" {
		t.Errorf("sent %s", got)
	}
}

func TestConfiguredTransitionMethod(t *testing.T) {
	s := newService(t, answers(204, ""), false)
	c := s.signedIn(t, func(config *Config) {
		config.CompleteMethod, config.RejectMethod = http.MethodPut, http.MethodPost
	})
	for _, op := range []Operation{OpCompleteApplication, OpRejectApplication} {
		if err := exampleOf(t, op).run(t.Context(), c); err != nil {
			t.Error(err)
		}
	}
	if got := s.methods(); got != "PUT POST" {
		t.Errorf("sent %s", got)
	}
}

// onGet answers reads in one way and changes in another.
func onGet(get, other http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			get(w, r)
		} else {
			other(w, r)
		}
	}
}

func TestRefusedTransition(t *testing.T) {
	exists, gone := answers(200, someApplication), answers(404, aboutNothing)
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		method  TransitionMethod
		outcome Outcome
		kind    Kind
		want    string
	}{
		"not yet": {
			onGet(exists, answers(400, aboutNothing)), "", Refused, KindInvalid, "PATCH GET PATCH GET PATCH GET",
		},
		"not yet, because of a field": {
			onGet(exists, answers(400, `{"exception":{"name":["x"]}}`)), "", Refused, KindInvalid, "PATCH",
		},
		"conflict":                 {onGet(exists, answers(409, aboutNothing)), "", Refused, KindConflict, "PATCH"},
		"forbidden":                {onGet(exists, answers(403, aboutNothing)), "", Forbidden, KindForbidden, "PATCH"},
		"conflict, said by a page": {onGet(exists, answers(409, "")), "", Unknown, KindUnproven, "PATCH"},
		"server error":             {onGet(exists, answers(500, "")), "", Unknown, KindServer, "PATCH"},
		"no method at all": {
			onGet(exists, answers(405, aboutNothing)), "", Refused, KindMethodNotAllowed, "PATCH GET POST GET PUT GET",
		},
		"no method at all, said by a proxy": {
			onGet(exists, notAllowedWith("")), "", Unknown, KindUnproven, "PATCH GET",
		},
		"configured method not allowed": {
			onGet(exists, notAllowed("POST")), http.MethodPatch, Refused, KindMethodNotAllowed, "PATCH GET",
		},
		"the application is gone":             {gone, "", Refused, KindNotFound, "PATCH GET"},
		"gone, and a proxy knows no complete": {onGet(gone, answers(404, "")), "", Unknown, KindNotFound, "PATCH GET"},
		"404, but the application exists": {
			onGet(exists, gone), "", Refused, KindMethodNotAllowed, "PATCH GET POST GET PUT GET",
		},
		"404 to the configured method": {
			onGet(exists, gone), http.MethodPut, Refused, KindMethodNotAllowed, "PUT GET",
		},
		"404, and the application is unknown": {
			onGet(answers(403, ""), gone), "", Refused, KindUnproven, "PATCH GET",
		},
		"another form, and the application is unknown": {
			onGet(answers(403, ""), answers(415, "")), "", Unknown, KindUnproven, "PATCH GET",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, test.handler, false)
			s.references = answers(200, "{}")
			c := s.signedIn(t, func(config *Config) { config.CompleteMethod = test.method })
			_, err := c.CompleteApplication(t.Context(), 4711, inReview)
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

// TestTransitionThatAProxyHidesIsNotRepeated: the service does the work, and something between answers as if there were
// no such method or form. The state shows it.
func TestTransitionThatAProxyHidesIsNotRepeated(t *testing.T) {
	for _, status := range []int{400, 404, 405, 415, 422} {
		for _, body := range []string{"", "<html>", aboutNothing} {
			var state atomic.Pointer[string]
			state.Store(new("in review"))
			s := newService(t, onGet(func(w http.ResponseWriter, r *http.Request) {
				answers(200, `{"id":4711,"status":{"id":1,"status":"`+*state.Load()+`"}}`)(w, r)
			}, func(w http.ResponseWriter, r *http.Request) {
				state.Store(new("completed"))
				answers(status, body)(w, r)
			}), false)
			change, err := s.signedIn(t).CompleteApplication(t.Context(), 4711, inReview)
			if err != nil || !change.Accepted || change.Application.State.Name != "completed" {
				t.Errorf("%d %s: %+v, %v", status, body, change, err)
			}
			if got := s.methods(); got != "PATCH GET" {
				t.Errorf("%d %s: sent %s", status, body, got)
			}
			s.Close()
		}
	}
}

// TestRefusalBehindMethodsThatDoNotExist: what is returned is what the one method says that the service has.
func TestRefusalBehindMethodsThatDoNotExist(t *testing.T) {
	for name, test := range map[string]struct {
		others, put http.HandlerFunc
		kind        Kind
		status      int
	}{
		"404, then not yet":   {answers(404, aboutNothing), answers(400, aboutNothing), KindInvalid, 400},
		"405, then 404":       {answers(405, aboutNothing), answers(404, aboutNothing), KindRejected, 404},
		"404, then forbidden": {answers(404, aboutNothing), answers(403, aboutNothing), KindForbidden, 403},
	} {
		s := newService(t, onGet(answers(200, someApplication), func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPut {
				test.put(w, r)
			} else {
				test.others(w, r)
			}
		}), false)
		s.references = answers(200, "{}")
		_, err := s.signedIn(t).CompleteApplication(t.Context(), 4711, inReview)
		if e := asError(t, err); e.Kind != test.kind || e.Status != test.status || !e.Outcome.NothingDone() {
			t.Errorf("%s: %v %s", name, e.Outcome, e)
		}
		s.Close()
	}
}

// TestMethodThatRefusesIsRemembered: a service that says no, in its own words, has the method.
func TestMethodThatRefusesIsRemembered(t *testing.T) {
	s := newService(t, onGet(answers(200, someApplication), func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPut {
			notAllowed("PUT")(w, r)
			return
		}
		answers(409, aboutNothing)(w, r)
	}), false)
	c := s.signedIn(t)
	for range 2 {
		_, err := c.CompleteApplication(t.Context(), 4711, inReview)
		expectFailure(t, err, Refused, KindConflict)
	}
	if got := s.methods(); got != "PATCH GET PUT PUT" {
		t.Errorf("sent %s", got)
	}
}

func TestAllowedMethods(t *testing.T) {
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		want    []string
		kind    Kind
	}{
		"said": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Allow", "GET, POST, PATCH")
			w.WriteHeader(http.StatusNoContent)
		}, []string{"PATCH", "POST"}, ""},
		"said by a refusal": {notAllowed("PUT"), []string{"PUT"}, ""},
		"not said":          {answers(200, ""), nil, ""},
		"no such thing":     {answers(404, aboutNothing), nil, KindNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, test.handler, false)
			got, err := s.signedIn(t).AllowedMethods(t.Context(), OpCompleteApplication, 4711)
			if diff := cmp.Diff(test.want, got, cmpopts.EquateEmpty()); diff != "" || KindOf(err) != test.kind {
				t.Errorf("%v %s", err, diff)
			}
			if got := s.methods(); got != "OPTIONS" {
				t.Errorf("sent %s", got)
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
		``: "",
	} {
		s := newService(t, answers(200, body), false)
		c := s.signedIn(t)
		for name, transition := range map[string]func(context.Context, int64) (*Change, error){
			"complete": func(ctx context.Context, id int64) (*Change, error) { return c.CompleteApplication(ctx, id, inReview) },
			"reject":   func(ctx context.Context, id int64) (*Change, error) { return c.RejectApplication(ctx, id, inReview) },
			"archive":  c.ArchiveApplication,
			"delete":   c.DeleteApplication,
		} {
			change, err := transition(t.Context(), 4711)
			if err != nil {
				t.Errorf("%s, %s: %v", name, body, err)
				continue
			}
			got := ""
			if change.Application != nil {
				got = change.Application.State.Name
			}
			if diff := cmp.Diff(want, got); diff != "" || change.Accepted {
				t.Errorf("%s, %s: accepted %v, %s", name, body, change.Accepted, diff)
			}
		}
		change, err := c.ResendInvites(t.Context(), 4711)
		if err != nil || change.Application != nil {
			t.Errorf("an individual of that id is no application: %+v, %v", change, err)
		}
		s.Close()
	}
}
