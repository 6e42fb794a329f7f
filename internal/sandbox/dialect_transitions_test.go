package sandbox_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

var transitionCases = cases{
	"completeMethod=PATCH": wantMethod("complete", "PATCH"),
	"completeMethod=POST":  wantMethod("complete", "POST"),
	"completeMethod=PUT":   wantMethod("complete", "PUT"),
	"rejectMethod=PATCH":   wantMethod("reject", "PATCH"),
	"rejectMethod=POST":    wantMethod("reject", "POST"),
	"rejectMethod=PUT":     wantMethod("reject", "PUT"),

	"transitionBody=any":           wantTransitionBody(statusesOf(200, 200, 200)),
	"transitionBody=object":        wantTransitionBody(statusesOf(400, 400, 200)),
	"transitionBody=empty":         wantTransitionBody(statusesOf(200, 200, 400)),
	"transitionBody=empty_typed":   wantTransitionBody(statusesOf(400, 200, 400)),
	"transitionBody=empty_untyped": wantTransitionBody(statusesOf(200, 400, 400)),

	"transitionAnswer=application": wantTransition(200, "name"),
	"transitionAnswer=message":     wantTransition(200, "message"),
	"transitionAnswer=202":         wantTransition(202, ""),
	"transitionAnswer=204":         wantTransition(204, ""),

	"transitionRefusal=400":     wantRefusal(400),
	"transitionRefusal=409":     wantRefusal(409),
	"transitionRefusal=422":     wantRefusal(422),
	"transitionRefusal=402":     wantRefusal(402),
	"transitionRefusal=403":     wantRefusal(403),
	"transitionRefusal=404":     wantRefusal(404),
	"transitionRefusal=423":     wantRefusal(423),
	"transitionRefusal=428":     wantRefusal(428),
	"undecidedChecks=block":     wantUndecided(400, 1),
	"undecidedChecks=block_409": wantUndecided(409, 1),
	"undecidedChecks=allow":     wantUndecided(200, 0),

	"repeatedTransition=refused": wantRepeated(400, 200),
	"repeatedTransition=ok":      wantRepeated(200, 200),
	"repeatedArchive=ok":         wantRepeated(400, 200),
	"repeatedArchive=refused":    wantRepeated(400, 400),
	"archivedTransition=allowed": wantArchivedTransition(200, "completed"),
	"archivedTransition=refused": wantArchivedTransition(400, "in review"),

	"completion=by_client": wantCompletion("in review"),
	"completion=by_itself": wantCompletion("completed"),
}

func wantMethod(operation, method string) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		path := s.create(mandate("acme", "jane")) + "/" + operation
		s.play(control.Play{Reference: "acme"})
		for _, other := range []string{"PATCH", "POST", "PUT"} {
			if other == method {
				continue
			}
			got := s.request(other, path, object{})
			wantProblem(t, got, http.StatusMethodNotAllowed)
			wantEqual(t, "Allow", method, got.header.Get("Allow"))
		}
		s.must(method, path, object{})
	}
}

func wantTransitionBody(want map[string]int) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		for what, status := range want {
			for _, operation := range []string{"complete", "reject"} {
				reference := what + operation
				path := s.create(mandate(reference, "jane"))
				s.play(control.Play{Reference: reference})
				got := s.request(http.MethodPatch, path+"/"+operation, bodies[what])
				wantEqual(t, operation+" with "+what, status, got.status)
			}
		}
	}
}

func wantTransition(status int, member string) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		path := s.create(mandate("acme", "jane"))
		s.play(control.Play{Reference: "acme"})
		got := s.must(http.MethodPatch, path+"/complete", object{})
		wantEqual(t, "status code", status, got.status)
		if member == "" {
			wantEqual(t, "body", "", string(got.body))
		} else if _, isText := got.at(member).(string); !isText {
			t.Errorf("no %s: %s", member, got.body)
		}
		wantEqual(t, "state", any("completed"), statusName(s.must("GET", path, nil)))
	}
}

func wantRefusal(status int) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		path := s.create(mandate("acme", "jane"))
		wantProblem(t, s.request(http.MethodPatch, path+"/complete", object{}), status)
		wantProblem(t, s.request(http.MethodGet, s.person(path)+"/report", nil), http.StatusBadRequest)
	}
}

func wantUndecided(status, missing int) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		path := s.create(mandate("acme", "jane"))
		wantEqual(t, "not in review", 400, s.request(http.MethodPatch, path+"/complete", object{}).status)
		s.play(control.Play{Reference: "acme", Result: control.ResultReview})
		actions, _ := s.must("GET", path, nil).at("available_actions").([]any)
		wantEqual(t, "available actions", 3-missing, len(actions))
		wantEqual(t, "status code", status, s.request(http.MethodPatch, path+"/complete", object{}).status)
	}
}

func wantRepeated(transition, archive int) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		opposite := map[string]string{"complete": "reject", "reject": "complete"}
		for operation, other := range opposite {
			path := s.create(mandate(operation, "jane"))
			s.play(control.Play{Reference: operation})
			first := s.must(http.MethodPatch, path+"/"+operation, object{})
			again := s.request(http.MethodPatch, path+"/"+operation, object{})
			wantEqual(t, operation+" again", transition, again.status)
			if transition == http.StatusOK {
				wantEqual(t, "the answer", first.tree(), again.tree())
			}
			wantEqual(t, other+" after "+operation, 400, s.request(http.MethodPatch, path+"/"+other, object{}).status)
			s.must(http.MethodPatch, path+"/archive", object{})
			wantEqual(t, "archive again", archive, s.request(http.MethodPatch, path+"/archive", object{}).status)
		}
	}
}

func wantArchivedTransition(status int, state string) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		path := s.create(mandate("acme", "jane"))
		s.play(control.Play{Reference: "acme"})
		s.must(http.MethodPatch, path+"/archive", object{})
		wantEqual(t, "complete", status, s.request(http.MethodPatch, path+"/complete", object{}).status)
		wantEqual(t, "state", any(state), statusName(s.must("GET", path, nil)))
	}
}

func wantCompletion(state string) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		for result, want := range map[control.Result]string{
			control.ResultPass: state, control.ResultFail: "in review", control.ResultReview: "in review",
		} {
			s.create(mandate(string(result), "jane"))
			wantEqual(t, string(result), want, s.play(control.Play{Reference: string(result), Result: result}).State)
		}
		decided := s.create(mandate("manual", "jane"))
		checks := s.play(control.Play{Reference: "manual", Result: control.ResultReview}).Individuals[0].Checks
		for _, check := range checks {
			s.must(http.MethodPatch, fmt.Sprintf("/check/%d/accept", check.ID), object{})
		}
		wantEqual(t, "decided by the client", any(state), statusName(s.must("GET", decided, nil)))
	}
}
