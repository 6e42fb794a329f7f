package sandbox_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

var applicationCases = cases{
	"createStatus=200": wantCreate(200, true),
	"createStatus=201": wantCreate(201, true),
	"createStatus=202": wantCreate(202, true),
	"createStatus=204": wantCreate(204, false),
	"createBody=full":  wantCreate(200, true),
	"createBody=empty": wantCreate(200, false),

	"createBody=location":       wantLocation(201),
	"createBody=location_303":   wantLocation(303),
	"createBody=list":           wantCreated(200, 0, "id"),
	"createBody=job":            wantCreated(202),
	"createBody=envelope":       wantCreated(200, "result", "id"),
	"createBody=no_reference":   wantCreated(200, "id"),
	"createBody=null_reference": wantCreated(200, "id"),

	"firstState=created":              wantFirstState("created"),
	"firstState=pending":              wantFirstState("pending"),
	"firstState=draft":                wantFirstState("draft"),
	"firstState=awaiting_individuals": wantFirstState("awaiting individuals"),
	"firstState=in_review":            wantFirstState("in review"),

	"stateNames=documented":           wantStates("in review", "rejected", "completed"),
	"stateNames=declined":             wantStates("in review", "declined", "completed"),
	"stateNames=rejected_by_reviewer": wantStates("in review", "rejected by reviewer", "completed"),
	"stateNames=other":                wantStates("under review", "refused", "closed"),
	"stateNames=approved":             wantStates("awaiting decision", "denied", "approved"),
	"stateNames=german":               wantStates("in Prüfung", "abgelehnt", "abgeschlossen"),
	"stateNames=codes":                wantStates("S21", "S35", "S34"),

	"applicationReference=shown":  wantReferenceShown("acme"),
	"applicationReference=hidden": wantReferenceShown(nil),

	"goneAnswer=404":           wantGone(404, 404),
	"goneAnswer=410":           wantGone(410, 410),
	"goneAnswer=403":           wantGone(403, 403),
	"goneAnswer=state_deleted": wantGone(200, 404),

	"readLag=0": wantReads(200, 200, 200),
	"readLag=2": wantReads(404, 404, 200),

	"suppress=all":    wantSuppressed(),
	"suppress=invite": wantSuppressed(control.Resend, control.Reset),

	"individualReferences=account":     wantSamePerson(400),
	"individualReferences=application": wantSamePerson(200),
	"referenceCase=exact":              wantReferenceCase(200),
	"referenceCase=ignored":            wantReferenceCase(400),

	"uniquenessGap=0":    wantRace(1),
	"uniquenessGap=1000": wantRace(2),
}

var retentionCases = cases{
	"deletedReferences=freed":             wantReferencesAfter(200, 200),
	"deletedReferences=reserved":          wantReferencesAfter(400, 400),
	"deletedReferences=freed_by_deletion": wantReferencesAfter(200, 400),
	"deletedReferences=freed_by_expiry":   wantReferencesAfter(400, 200),
	"archivedReferences=reserved":         wantArchivedReference(400),
	"archivedReferences=freed":            wantArchivedReference(200),

	"retentionStart=creation":    wantRetention(404, 404),
	"retentionStart=last_change": wantRetention(200, 404),
	"archivedRetention=same":     wantRetention(404, 404),
	"archivedRetention=longer":   wantRetention(404, 200),
}

func wantCreate(status int, body bool) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		got := created(s)
		wantEqual(t, "status code", status, got.status)
		wantEqual(t, "a body", body, len(got.body) > 0)
		wantEqual(t, "e-mails", 1, len(s.emails()))
	}
}

func wantLocation(status int) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		got := s.request(http.MethodPost, "/ext/applications", mandate("acme", "jane"))
		wantEqual(t, "status code and body", fmt.Sprint(status, " "), fmt.Sprint(got.status, " ", string(got.body)))
		path, ours := strings.CutPrefix(got.header.Get("Location"), "/api/v1")
		wantEqual(t, "Location", true, ours)
		wantEqual(t, "what is there", any("acme"), s.must("GET", path, nil).at("reference"))
	}
}

// wantCreated wants the id of a new application at a place of the response, or nowhere, and no other with a reference.
func wantCreated(status int, path ...any) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		got := created(s)
		wantEqual(t, "status code", status, got.status)
		applications, err := s.Applications(t.Context())
		noError(t, err)
		id := fmt.Sprint(applications[0].ID)
		if len(path) == 0 || len(path) == 2 && path[0] == "result" {
			if other := fmt.Sprint(got.at("id")); other == id || got.at("id") == nil {
				t.Errorf("the outer id is %s", other)
			}
		}
		if len(path) > 0 {
			wantEqual(t, "id", id, fmt.Sprint(got.at(path...)))
		}
		if len(path) == 1 {
			wantEqual(t, "reference", nil, got.at("reference"))
		}
	}
}

func wantReferenceShown(reference any) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		got := created(s)
		path := fmt.Sprint("/ext/applications/", got.at("id"))
		wantEqual(t, "created", reference, got.at("reference"))
		wantEqual(t, "retrieved", reference, s.must("GET", path, nil).at("reference"))
		wantEqual(t, "archived", reference, s.must("PATCH", path+"/archive", object{}).at("reference"))
		wantEqual(t, "of the individual", any("acme.jane"), s.must("GET", s.person(path), nil).at("reference"))
	}
}

func wantGone(application, others int) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		remove := map[string]func(string){
			"deleted": func(path string) { s.must(http.MethodDelete, path, nil) },
			"expired": func(string) { s.advance(57 * 24 * time.Hour) },
		}
		for what, remove := range remove {
			path := s.create(mandate(what, "jane"))
			person, check := s.person(path), s.check(path)
			remove(path)
			got := s.request("GET", path, nil)
			wantEqual(t, what, application, got.status)
			if application == http.StatusOK {
				wantEqual(t, "state", any("deleted"), statusName(got))
			}
			wantProblem(t, s.request("GET", person, nil), others)
			wantProblem(t, s.request("PATCH", check+"/accept", object{}), others)
			wantProblem(t, s.request("DELETE", path, nil), others)
		}
		wantProblem(t, s.request("GET", "/ext/applications/1", nil), http.StatusNotFound)
	}
}

func wantFirstState(state string) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		wantEqual(t, "first state", any(state), statusName(created(s)))
		wantEqual(t, "once played", "in review", s.play(control.Play{Reference: "acme"}).State)
	}
}

func wantStates(inReview, rejected, completed string) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		for operation, outcome := range map[string]string{"reject": rejected, "complete": completed} {
			path := s.create(mandate(operation, "jane"))
			s.play(control.Play{Reference: operation})
			wantEqual(t, "in review", any(inReview), statusName(s.must("GET", path, nil)))
			wantEqual(t, operation, any(outcome), statusName(s.must(http.MethodPatch, path+"/"+operation, object{})))
		}
	}
}

func wantReads(statuses ...int) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		path := fmt.Sprintf("/ext/applications/%v", created(s).at("id"))
		for _, status := range statuses {
			wantEqual(t, "status code", status, s.request("GET", path, nil).status)
		}
	}
}

func wantSuppressed(kinds ...control.EmailKind) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		person := s.person(s.create(changed(object{"suppress_email_notification": true})))
		s.must(http.MethodPost, person+"/invites/resend", nil)
		s.must(http.MethodPost, person+"/reset", nil)
		var sent []control.EmailKind
		for _, email := range s.emails() {
			sent = append(sent, email.Kind)
		}
		wantEqual(t, "e-mails", kinds, sent)
	}
}

func wantSamePerson(status int) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		created(s)
		other := changed(object{"individuals": []object{{"reference": "acme.jane"}}})
		wantEqual(t, "in another application", status, s.request(http.MethodPost, "/ext/applications", other).status)
		twice := changed(object{"reference": "twice", "individuals": []object{{"reference": "x"}, {"reference": "x"}}})
		wantEqual(t, "twice in one", 400, s.request(http.MethodPost, "/ext/applications", twice).status)
	}
}

func wantReferenceCase(status int) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		s.create(mandate("Ärger", "jane"))
		wantEqual(t, "a mandate", status, s.request(http.MethodPost, "/ext/applications", mandate("äRGER", "joe")).status)
		other := changed(object{"individuals": []object{{"reference": "ÄRGER.JANE"}}})
		wantEqual(t, "an individual", status, s.request(http.MethodPost, "/ext/applications", other).status)
		twice := changed(object{"reference": "twice", "individuals": []object{{"reference": "x"}, {"reference": "X"}}})
		wantEqual(t, "two individuals of one", status, s.request(http.MethodPost, "/ext/applications", twice).status)
	}
}

func wantRace(winners int) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		var callers sync.WaitGroup
		for range 2 {
			callers.Go(func() {
				if _, err := s.try(http.MethodPost, "/ext/applications", mandate("acme", "jane")); err != nil {
					t.Error(err)
				}
			})
		}
		callers.Wait()
		wantEqual(t, "e-mails", winners, len(s.emails()))
		wantProblem(t, s.request(http.MethodPost, "/ext/applications", mandate("acme", "jane")), http.StatusBadRequest)
	}
}

// again creates an application with the same reference, and one with the same reference of an individual.
func again(t *testing.T, s *testService, what string, status int) {
	t.Helper()
	got := s.request(http.MethodPost, "/ext/applications", mandate("acme", "joe"))
	wantEqual(t, what+": the mandate", status, got.status)
	other := changed(object{"reference": "other", "individuals": []object{{"reference": "acme.jane"}}})
	wantEqual(t, what+": the individual", status, s.request(http.MethodPost, "/ext/applications", other).status)
}

func (s *testService) advance(by time.Duration) {
	s.t.Helper()
	_, err := s.Advance(s.t.Context(), by)
	noError(s.t, err)
	s.token = s.login()
}

func wantReferencesAfter(deletion, expiry int) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		s.must(http.MethodDelete, s.create(mandate("acme", "jane")), nil)
		again(t, s, "after deletion", deletion)
		noError(t, s.Reset(t.Context()))
		s.token = s.login()
		s.create(mandate("acme", "jane"))
		s.advance(56 * 24 * time.Hour)
		again(t, s, "after expiry", expiry)
	}
}

func wantArchivedReference(status int) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		path := s.create(mandate("acme", "jane"))
		again(t, s, "before", 400)
		s.must(http.MethodPatch, path+"/archive", object{})
		again(t, s, "archived", status)
		s.must("GET", path, nil)
	}
}

// wantRetention wants what is left, eight weeks after creation, of an application that was
// played after a week, and of one that was archived at once.
func wantRetention(played, archived int) func(*testing.T, *testService) {
	const day = 24 * time.Hour
	return func(t *testing.T, s *testService) {
		t.Helper()
		playedPath, archivedPath := s.create(mandate("played", "jane")), s.create(mandate("archived", "joe"))
		s.must(http.MethodPatch, archivedPath+"/archive", object{})
		s.advance(7 * day)
		s.play(control.Play{Reference: "played"})
		s.advance(49 * day)
		wantEqual(t, "played", played, s.request("GET", playedPath, nil).status)
		wantEqual(t, "archived", archived, s.request("GET", archivedPath, nil).status)
		s.advance(400 * day)
		wantEqual(t, "played, finally", 404, s.request("GET", playedPath, nil).status)
		wantEqual(t, "archived, finally", 404, s.request("GET", archivedPath, nil).status)
	}
}
