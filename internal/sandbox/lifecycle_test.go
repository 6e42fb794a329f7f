package sandbox_test

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

func statusName(a response) any { return a.at("status", "status") }

func TestFromInviteToReview(t *testing.T) {
	s := startSandbox(t, sandbox.Options{})
	path := s.create(mandate("acme", "jane", "joe"))
	jane := func() response {
		id := s.must("GET", path, nil).at("individuals", 0, "id")
		return s.must(http.MethodGet, fmt.Sprintf("/ext/individuals/%v", id), nil)
	}
	steps := []struct {
		play        control.Play
		application string
		jane        string
		passed      string
	}{
		{control.Play{Step: control.AcceptTerms, Individual: "acme.jane"}, "in progress", "in progress", "0"},
		{control.Play{Step: control.CompleteActions, Individual: "acme.jane"}, "in progress", "in progress", "0"},
		{control.Play{Check: "liveness", Individual: "acme.jane"}, "in progress", "in progress", "1"},
		{control.Play{Individual: "acme.jane"}, "in progress", "completed", "3"},
		{control.Play{Individual: "acme.joe", Result: control.ResultFail}, "in review", "completed", "3"},
	}
	wantEqual(t, "application at first", any("created"), statusName(s.must("GET", path, nil)))
	wantEqual(t, "jane at first", any("invited"), statusName(jane()))
	for i, step := range steps {
		step.play.Reference = "acme"
		short := s.play(step.play)
		what := fmt.Sprintf("step %d: ", i)
		wantEqual(t, what+"summary", step.application, short.State)
		wantEqual(t, what+"application", any(step.application), statusName(s.must("GET", path, nil)))
		wantEqual(t, what+"jane", any(step.jane), statusName(jane()))
		wantEqual(t, what+"passed", any(number(step.passed)), jane().at("checks_passed"))
	}
	wantEqual(t, "joe", any("failed"), s.must("GET", path, nil).at("individuals", 1, "status", "status"))
}

func TestIndividualHasTheDocumentedMembers(t *testing.T) {
	s := startSandbox(t, sandbox.Options{})
	path := s.create(object{"name": "Acme", "mandate_type": 42, "individuals": []object{{
		"email": "jane@example.com", "title": "Ms", "first_name": "Jane", "middle_name": "", "last_name": "Doe",
		"date_of_birth": "1990-01-31", "gender": "female", "reference": "J1",
	}}})
	short := s.play(control.Play{ApplicationID: mustID(t, s, path)})
	id := number(fmt.Sprint(short.Individuals[0].ID))

	got := s.must("GET", "/ext/individuals/"+id.String(), nil)
	wantEqual(t, "in its application", got.tree(), s.must("GET", path, nil).at("individuals", 0))
	tree := members(got.tree())
	address, check := tree["address"], at(tree, "checks", 0)
	delete(tree, "address")
	delete(tree, "checks")
	wantEqual(t, "individual", object{
		"id": id, "email": "jane@example.com", "title": "Ms", "first_name": "Jane", "middle_name": "", "last_name": "Doe",
		"date_of_birth": "1990-01-31", "gender": "female", "reference": "J1",
		"status": object{"id": number("114"), "status": "completed"}, "terms_accepted": true,
		"completed_actions": []any{
			object{"id": number("69"), "name": "provide_address", "title": "Give the current address"},
		},
		"checks_in_review": number("0"), "checks_in_pending": number("0"), "checks_passed": number("1"),
	}, tree)
	wantEqual(t, "address's individual", any(id), at(address, "individual"))
	wantEqual(t, "address's members", 14, len(members(address)))
	result := at(check, "individual_checkfield_result", 0)
	wantEqual(t, "check", object{
		"id": number(fmt.Sprint(short.Individuals[0].Checks[0].ID)), "name": "address", "title": "Proof of address",
		"status": object{"id": number("207"), "status": "passed"}, "instance": object{"source": "utility_bill"},
	}, without(check, "individual_checkfield_result"))
	wantEqual(t, "field result", object{
		"individual": id, "check_field": number("3301"), "result": "match", "status": number("207"),
	}, without(result, "id"))
}

// Of a check that failed or waits for review, the last field says why.
func TestFieldResults(t *testing.T) {
	s := startSandbox(t, sandbox.Options{})
	for result, last := range map[control.Result]object{
		control.ResultPass:   {"check_field": number("3107"), "result": "match", "status": number("207")},
		control.ResultFail:   {"check_field": number("3107"), "result": "signs of alteration", "status": number("208")},
		control.ResultReview: {"check_field": number("3107"), "result": "unclear", "status": number("204")},
	} {
		path := s.create(mandate(string(result), "jane"))
		s.play(control.Play{Reference: string(result), Result: result})
		results := func(i int) object {
			one := s.must("GET", path, nil).at("individuals", 0, "checks", 0, "individual_checkfield_result", i)
			return without(without(one, "id"), "individual")
		}
		first := object{"check_field": number("3101"), "result": "match", "status": number("207")}
		wantEqual(t, "the first field", first, results(0))
		wantEqual(t, "the last field", last, results(2))
	}
}

func without(tree any, name string) object {
	rest := maps.Clone(members(tree))
	delete(rest, name)
	return rest
}

func mustID(t *testing.T, s *testService, path string) int64 {
	t.Helper()
	id, err := strconv.ParseInt(fmt.Sprint(s.must("GET", path, nil).at("id")), 10, 64)
	noError(t, err)
	return id
}

func TestArchive(t *testing.T) {
	s := startSandbox(t, sandbox.Options{})
	path := s.create(mandate("acme", "jane"))
	for range 2 { // doing it again changes nothing
		got := s.must(http.MethodPatch, path+"/archive", object{})
		wantEqual(t, "archived", any(true), got.at("archived"))
		wantEqual(t, "the whole application", s.must("GET", path, nil).tree(), got.tree())
		wantEqual(t, "state", any("created"), statusName(got))
	}
}

func TestConclusion(t *testing.T) {
	cases := map[string]struct {
		result    control.Result
		operation string
		status    int
		state     string
	}{
		"completing what passed":             {control.ResultPass, "complete", 200, "completed"},
		"completing what failed":             {control.ResultFail, "complete", 200, "completed"},
		"completing what waits for review":   {control.ResultReview, "complete", 400, "in review"},
		"rejecting what waits for review":    {control.ResultReview, "reject", 200, "rejected"},
		"rejecting what failed":              {control.ResultFail, "reject", 200, "rejected"},
		"completing what nobody has started": {"", "complete", 400, "created"},
		"rejecting what nobody has started":  {"", "reject", 400, "created"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := startSandbox(t, sandbox.Options{})
			path := s.create(mandate("acme", "jane"))
			if c.result != "" {
				s.play(control.Play{Reference: "acme", Result: c.result})
			}
			got := s.request(http.MethodPatch, path+"/"+c.operation, nil)
			if c.status == http.StatusOK {
				wantEqual(t, "answer", s.must("GET", path, nil).tree(), got.tree())
			} else {
				wantProblem(t, got, c.status)
			}
			wantEqual(t, "state", any(c.state), statusName(s.must("GET", path, nil)))
		})
	}
}

func TestAfterTheConclusionNothingMoves(t *testing.T) {
	s := startSandbox(t, sandbox.Options{})
	path := s.create(mandate("acme", "jane"))
	short := s.play(control.Play{Reference: "acme"})
	person := fmt.Sprintf("/ext/individuals/%d", short.Individuals[0].ID)
	check := fmt.Sprintf("/check/%d", short.Individuals[0].Checks[0].ID)
	s.must(http.MethodPatch, path+"/reject", object{})
	sent := len(s.emails())
	for _, request := range []struct{ method, path string }{
		{"PATCH", path + "/complete"},
		{"PATCH", path + "/reject"},
		{"PATCH", check + "/accept"},
		{"PATCH", check + "/reject"},
		{"POST", person + "/invites/resend"},
		{"POST", person + "/reset"},
	} {
		wantProblem(t, s.request(request.method, request.path, object{}), http.StatusBadRequest)
	}
	wantEqual(t, "state", any("rejected"), statusName(s.must("GET", path, nil)))
	wantEqual(t, "e-mails", sent, len(s.emails()))
}

func TestManualDecisions(t *testing.T) {
	s := startSandbox(t, sandbox.Options{})
	path := s.create(mandate("acme", "jane"))
	checks := s.play(control.Play{Reference: "acme", Result: control.ResultReview}).Individuals[0].Checks
	got := s.must("GET", path, nil)
	wantEqual(t, "in review before", any(number("3")), got.at("individuals", 0, "checks_in_review"))

	decide := func(i int, decision string, body object) response {
		return s.must(http.MethodPatch, fmt.Sprintf("/check/%d/%s", checks[i].ID, decision), body)
	}
	wantEqual(t, "accept", any("The check was accepted"), decide(0, "accept", object{
		"comment": "seen in person", "comment_for": "IndividualCheck", "reference": 7,
	}).at("message"))
	wantEqual(t, "reject", any("The check was rejected"), decide(1, "reject", object{}).at("message"))
	decide(2, "accept", object{})

	person := s.must("GET", path, nil).at("individuals", 0)
	wantEqual(t, "accepted", any("manually_accepted"), at(person, "checks", 0, "status", "status"))
	wantEqual(t, "rejected", any("manually_rejected"), at(person, "checks", 1, "status", "status"))
	wantEqual(t, "in review after", any(number("0")), at(person, "checks_in_review"))
	wantEqual(t, "passed after", any(number("2")), at(person, "checks_passed"))
	instance, _ := at(person, "checks", 0, "instance").(object)
	wantEqual(t, "comment", any("seen in person"), instance["comment"])
	wantEqual(t, "comment_for", any("IndividualCheck"), instance["comment_for"])
	wantEqual(t, "reference", any("7"), instance["reference"])
	s.must(http.MethodPatch, path+"/complete", object{})
}

func TestResendAndReset(t *testing.T) {
	s := startSandbox(t, sandbox.Options{})
	path := s.create(mandate("acme", "jane", "joe"))
	jane := s.play(control.Play{Reference: "acme"}).Individuals[0]
	person := fmt.Sprintf("/ext/individuals/%d", jane.ID)

	s.must(http.MethodPost, person+"/invites/resend", nil)
	wantEqual(t, "state after a resend", any("in review"), statusName(s.must("GET", path, nil)))
	s.must(http.MethodPost, person+"/reset", object{})
	got := s.must("GET", path, nil)
	wantEqual(t, "state after a reset", any("in progress"), statusName(got))
	wantEqual(t, "terms", any(false), got.at("individuals", 0, "terms_accepted"))
	wantEqual(t, "address", nil, got.at("individuals", 0, "address"))
	wantEqual(t, "pending", any(number("3")), got.at("individuals", 0, "checks_in_pending"))
	wantEqual(t, "the other one", any(number("3")), got.at("individuals", 1, "checks_passed"))

	emails := s.emails()
	codes := map[string]bool{}
	var kinds []control.EmailKind
	for _, email := range emails {
		codes[email.InviteCode] = true
		kinds = append(kinds, email.Kind)
	}
	wantEqual(t, "kinds", []control.EmailKind{control.Invite, control.Invite, control.Resend, control.Reset}, kinds)
	wantEqual(t, "different codes", 4, len(codes))
	later, err := s.OutboxAfter(t.Context(), emails[1].Sequence)
	noError(t, err)
	wantEqual(t, "the later ones", emails[2:], later)
}

func TestReport(t *testing.T) {
	s := startSandbox(t, sandbox.Options{})
	s.create(mandate("acme", "jane"))
	short := s.play(control.Play{Reference: "acme", Step: control.CompleteActions})
	path := fmt.Sprintf("/ext/individuals/%d/report", short.Individuals[0].ID)
	wantProblem(t, s.request("GET", path, nil), http.StatusBadRequest)
	s.play(control.Play{Reference: "acme"})
	got := s.must("GET", path, nil)
	wantEqual(t, "content type", "application/pdf", got.header.Get("Content-Type"))
	if !bytes.HasPrefix(got.body, []byte("%PDF-")) || !bytes.HasSuffix(got.body, []byte("%%EOF\n")) {
		t.Errorf("no PDF: %q", got.body)
	}
}

func TestDeletionTakesEverythingAlong(t *testing.T) {
	s := startSandbox(t, sandbox.Options{})
	path := s.create(mandate("acme", "jane"))
	id := mustID(t, s, path)
	s.must(http.MethodPost, "/ext/webhooks/subscribe", object{"url": "http://127.0.0.1/", "application_id": id})
	jane := s.play(control.Play{Reference: "acme"}).Individuals[0]
	s.must(http.MethodDelete, path, nil)
	for _, request := range []struct{ method, path string }{
		{"GET", path},
		{"DELETE", path},
		{"GET", fmt.Sprintf("/ext/individuals/%d", jane.ID)},
		{"PATCH", fmt.Sprintf("/check/%d/accept", jane.Checks[0].ID)},
		{"GET", fmt.Sprintf("/ext/webhooks/retrieve/%d", id)},
	} {
		wantProblem(t, s.request(request.method, request.path, object{}), http.StatusNotFound)
	}
}

func TestPlayingLeavesManualDecisions(t *testing.T) {
	s := startSandbox(t, sandbox.Options{})
	s.create(mandate("acme", "jane"))
	checks := s.play(control.Play{Reference: "acme", Step: control.CompleteActions}).Individuals[0].Checks
	s.must(http.MethodPatch, fmt.Sprintf("/check/%d/reject", checks[0].ID), object{})
	s.play(control.Play{Reference: "acme", Check: "liveness", Result: control.ResultReview})
	var states []string
	for _, check := range s.play(control.Play{Reference: "acme"}).Individuals[0].Checks {
		states = append(states, check.State)
	}
	wantEqual(t, "checks", []string{"manually_rejected", "passed", "passed"}, states)
}

func TestRetention(t *testing.T) {
	s := startSandbox(t, sandbox.Options{})
	path := s.create(mandate("acme", "jane"))
	person := fmt.Sprintf("/ext/individuals/%v", s.must("GET", path, nil).at("individuals", 0, "id"))
	advance := func(by time.Duration) {
		_, err := s.Advance(t.Context(), by)
		noError(t, err)
		s.token = s.login()
	}
	advance(56*24*time.Hour - time.Minute)
	younger := s.create(mandate("younger", "joe"))
	s.must("GET", path, nil)
	advance(time.Minute)
	wantProblem(t, s.request("GET", path, nil), http.StatusNotFound)
	wantProblem(t, s.request("GET", person, nil), http.StatusNotFound)
	s.must("GET", younger, nil)
	wantEqual(t, "e-mails are remembered", 2, len(s.emails()))
	advance(56*24*time.Hour - time.Minute)
	wantProblem(t, s.request("GET", younger, nil), http.StatusNotFound)
	s.create(mandate("acme", "jane")) // its reference is free again
	advance(56 * 24 * time.Hour)
	applications, err := s.Applications(t.Context())
	noError(t, err)
	wantEqual(t, "applications at last", 0, len(applications))
}

func TestIDs(t *testing.T) {
	ids := func(seed uint64) (all []int64) {
		s := startSandbox(t, sandbox.Options{Seed: seed})
		for i := range 20 {
			s.create(mandate(fmt.Sprint("m", i), "jane"))
		}
		applications, err := s.Applications(t.Context())
		noError(t, err)
		for _, app := range applications {
			all = append(all, app.ID, app.Individuals[0].ID, app.Individuals[0].Checks[0].ID)
		}
		return all
	}
	first := ids(7)
	seen := map[int64]bool{}
	neighbours := 0
	for i, id := range first {
		if seen[id] || id < 1000 {
			t.Errorf("id %d is given twice or too low", id)
		}
		seen[id] = true
		if i >= 3 && id == first[i-3]+1 {
			neighbours++
		}
		if i%3 == 2 && id <= 1<<32 {
			t.Errorf("the check id %d fits into 32 bits", id)
		}
	}
	if neighbours > 10 {
		t.Errorf("%d of %d ids follow each other", neighbours, len(first))
	}
	wantEqual(t, "with the same seed", first, ids(7))
	if fmt.Sprint(first) == fmt.Sprint(ids(8)) {
		t.Error("another seed gives the same ids")
	}
}
