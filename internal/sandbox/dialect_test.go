package sandbox_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

// dialectCases has, for every value of every switch, what it changes. The
// default is a case too: without it, a switch that does nothing would pass.
var dialectCases = map[string]func(t *testing.T, s *served){
	"expiresIn=seconds":      wantToken(number("3600")),
	"expiresIn=milliseconds": wantToken(number("3600000")),
	"expiresIn=string":       wantToken("3600"),
	"expiresIn=absent":       wantToken(nil),
	"tokenBasic=ignored":     wantLogins(200, 200),
	"tokenBasic=required":    wantLogins(200, 401),
	"tokenBasic=refused":     wantLogins(400, 200),

	"ids=number": wantIDs(func(id any) bool { _, ok := id.(number); return ok }),
	"ids=string": wantIDs(func(id any) bool { _, ok := id.(string); return ok }),

	"statusShape=object":  wantStatus(object{"id": number("21"), "status": "in review"}),
	"statusShape=string":  wantStatus("in review"),
	"statusShape=integer": wantStatus(number("21")),
	"statusCase=plain":    wantStatus(object{"id": number("21"), "status": "in review"}),
	"statusCase=snake":    wantStatus(object{"id": number("21"), "status": "in_review"}),
	"statusCase=upper":    wantStatus(object{"id": number("21"), "status": "IN REVIEW"}),

	"wrap=none": wantWrapped(),
	"wrap=data": wantWrapped("data"),

	"createStatus=200": wantCreate(200, true),
	"createStatus=201": wantCreate(201, true),
	"createStatus=202": wantCreate(202, true),
	"createBody=full":  wantCreate(200, true),
	"createBody=empty": wantCreate(200, false),

	"duplicateAnswer=exists":     wantDuplicate("a mandate with this reference already exists", 1),
	"duplicateAnswer=unique":     wantDuplicate("must be unique", 1),
	"duplicateAnswer=translated": wantDuplicate("Diese Referenz ist bereits vergeben", 1),
	"duplicateAnswer=beside":     wantDuplicate("a mandate with this reference already exists", 2),

	"firstState=created":   wantFirstState("created"),
	"firstState=pending":   wantFirstState("pending"),
	"firstState=draft":     wantFirstState("draft"),
	"firstState=in_review": wantFirstState("in review"),

	"readLag=0": wantReads(200, 200, 200),
	"readLag=2": wantReads(404, 404, 200),

	"suppress=all":                     wantSuppressed(),
	"suppress=invite":                  wantSuppressed(control.Resend, control.Reset),
	"deletedReferences=freed":          wantAfterDeletion(200),
	"deletedReferences=reserved":       wantAfterDeletion(400),
	"individualReferences=account":     wantSamePerson(400),
	"individualReferences=application": wantSamePerson(200),

	"completeMethod=PATCH": wantMethod("complete", "PATCH"),
	"completeMethod=POST":  wantMethod("complete", "POST"),
	"completeMethod=PUT":   wantMethod("complete", "PUT"),
	"rejectMethod=PATCH":   wantMethod("reject", "PATCH"),
	"rejectMethod=POST":    wantMethod("reject", "POST"),
	"rejectMethod=PUT":     wantMethod("reject", "PUT"),

	"transitionAnswer=application": wantTransition(200, "name"),
	"transitionAnswer=message":     wantTransition(200, "message"),
	"transitionAnswer=202":         wantTransition(202, ""),
	"transitionAnswer=204":         wantTransition(204, ""),
	"transitionRefusal=400":        wantRefusal(400),
	"transitionRefusal=409":        wantRefusal(409),
	"undecidedChecks=block":        wantUndecided(400, 1),
	"undecidedChecks=allow":        wantUndecided(200, 0),

	"references=lists":             wantReference(number("17"), "mandate_types", 0, "id"),
	"references=application_types": wantReference(number("17"), "application_types", 0, "id"),
	"references=map":               wantReference(number("17"), "mandate_types", "kyc", "id"),
	"references=string_ids":        wantReference("17", "mandate_types", 0, "id"),
	"references=flat":              wantReference("mandate_type", 0, "type"),

	"subscribeFields=standard":   wantSubscription("url", "application_id", 200, true),
	"subscribeFields=renamed":    wantSubscription("target_url", "mandate_id", 200, true),
	"subscribeAnswer=object":     wantSubscription("url", "application_id", 200, true),
	"subscribeAnswer=without_id": wantSubscription("url", "application_id", 200, false),
	"subscribeAnswer=201":        wantSubscription("url", "application_id", 201, true),
	"subscribeAnswer=204":        wantSubscription("url", "application_id", 204, false),

	"retrieveWebhook=object":  wantWebhook(200, "url"),
	"retrieveWebhook=list":    wantWebhook(200, 0, "url"),
	"retrieveWebhook=wrapped": wantWebhook(200, "webhooks", 0, "url"),
	"retrieveWebhook=404":     wantWebhook(404),
}

func TestDialects(t *testing.T) {
	for assignment, check := range dialectCases {
		t.Run(assignment, func(t *testing.T) {
			name, value, _ := strings.Cut(assignment, "=")
			check(t, withDialect(t, name, value))
		})
	}
}

func TestEveryDialectHasACase(t *testing.T) {
	for _, s := range (dialect.Dialect{}).Switches() {
		for _, value := range s.Values {
			if name := s.Name + "=" + value; dialectCases[name] == nil && s.Name != "readLag" {
				t.Errorf("%s has no case", name)
			}
		}
	}
}

func TestDialectsChangeWhileRunning(t *testing.T) {
	s := serve(t, sandbox.Options{})
	ctx := t.Context()
	value := func(name string) string {
		all, err := s.Dialects(ctx)
		must0(t, err)
		for _, one := range all {
			if one.Name == name {
				return one.Value
			}
		}
		return "none"
	}
	must0(t, s.SetDialect(ctx, "references", "flat"))
	wantReference("mandate_type", 0, "type")(t, s)
	wantEqual(t, "value", "flat", value("references"))

	var refused *control.Error
	err := s.SetDialects(ctx, map[string]string{"references": "map", "ids": "roman"})
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), "number, string") {
		t.Errorf("a wrong value: %v", err)
	}
	wantEqual(t, "value after a wrong one beside it", "flat", value("references"))

	must0(t, s.ResetDialects(ctx))
	wantEqual(t, "value after the reset", "lists", value("references"))
}

func created(s *served) answer {
	s.t.Helper()
	return s.must(http.MethodPost, "/ext/applications", mandate("acme", "jane"))
}

func wantToken(expiresIn any) func(*testing.T, *served) {
	return func(t *testing.T, s *served) {
		t.Helper()
		got := s.postForm(credentials(), http.Header{})
		wantEqual(t, "expires_in", expiresIn, got.at("expires_in"))
	}
}

func wantLogins(withBasic, without int) func(*testing.T, *served) {
	return func(t *testing.T, s *served) {
		t.Helper()
		wantEqual(t, "with an Authorization header", withBasic, s.postForm(credentials(), basic()).status)
		wantEqual(t, "without", without, s.postForm(credentials(), http.Header{}).status)
	}
}

func wantIDs(right func(any) bool) func(*testing.T, *served) {
	return func(t *testing.T, s *served) {
		t.Helper()
		id := created(s).at("id")
		s.play(control.Play{Reference: "acme"})
		app := s.must("GET", fmt.Sprintf("/ext/applications/%v", id), nil).tree()
		person := at(app, "individuals", 0)
		for what, found := range map[string]any{
			"created": id, "retrieved": at(app, "id"), "mandate type": at(app, "mandate_type", "id"), "status": at(app, "status", "id"),
			"individual": at(person, "id"), "address": at(person, "address", "individual"), "check": at(person, "checks", 0, "id"),
			"field": at(person, "checks", 0, "individual_checkfield_result", 0, "check_field"),
		} {
			if !right(found) {
				t.Errorf("%s: %#v", what, found)
			}
		}
		if _, isNumber := at(person, "checks_passed").(number); !isNumber {
			t.Error("a count is no number")
		}
	}
}

func wantStatus(status any) func(*testing.T, *served) {
	return func(t *testing.T, s *served) {
		t.Helper()
		path := fmt.Sprintf("/ext/applications/%v", created(s).at("id"))
		s.play(control.Play{Reference: "acme"})
		wantEqual(t, "status", status, s.must("GET", path, nil).at("status"))
	}
}

func wantWrapped(wrapper ...any) func(*testing.T, *served) {
	return func(t *testing.T, s *served) {
		t.Helper()
		got := created(s)
		inside := func(path ...any) []any { return append(slices.Clone(wrapper), path...) }
		wantEqual(t, "name", any("Acme"), got.at(inside("name")...))
		read := s.must("GET", fmt.Sprintf("/ext/applications/%v", got.at(inside("id")...)), nil)
		wantEqual(t, "first name", any("jane"), read.at(inside("individuals", 0, "first_name")...))
		wantProblem(t, s.call("GET", "/ext/applications/1", nil), http.StatusNotFound)
	}
}

func wantCreate(status int, body bool) func(*testing.T, *served) {
	return func(t *testing.T, s *served) {
		t.Helper()
		got := created(s)
		wantEqual(t, "status code", status, got.status)
		wantEqual(t, "a body", body, len(got.body) > 0)
		wantEqual(t, "e-mails", 1, len(s.emails()))
	}
}

func wantDuplicate(text string, fields int) func(*testing.T, *served) {
	return func(t *testing.T, s *served) {
		t.Helper()
		created(s)
		got := s.call(http.MethodPost, "/ext/applications", mandate("acme", "joe"))
		wantProblem(t, got, http.StatusBadRequest)
		wantEqual(t, "text", any([]any{text}), got.at("exception", "reference"))
		wantEqual(t, "fields", fields, len(members(got.at("exception"))))
	}
}

func wantFirstState(state string) func(*testing.T, *served) {
	return func(t *testing.T, s *served) {
		t.Helper()
		wantEqual(t, "first state", any(state), statusName(created(s)))
		wantEqual(t, "once played", "in review", s.play(control.Play{Reference: "acme"}).State)
	}
}

func wantReads(statuses ...int) func(*testing.T, *served) {
	return func(t *testing.T, s *served) {
		t.Helper()
		path := fmt.Sprintf("/ext/applications/%v", created(s).at("id"))
		for _, status := range statuses {
			wantEqual(t, "status code", status, s.call("GET", path, nil).status)
		}
	}
}

func wantSuppressed(kinds ...control.EmailKind) func(*testing.T, *served) {
	return func(t *testing.T, s *served) {
		t.Helper()
		path := s.create(changed(object{"suppress_email_notification": true}))
		person := fmt.Sprintf("/ext/individuals/%v", s.must("GET", path, nil).at("individuals", 0, "id"))
		s.must(http.MethodPost, person+"/invites/resend", nil)
		s.must(http.MethodPost, person+"/reset", nil)
		var sent []control.EmailKind
		for _, email := range s.emails() {
			sent = append(sent, email.Kind)
		}
		wantEqual(t, "e-mails", kinds, sent)
	}
}

func wantAfterDeletion(status int) func(*testing.T, *served) {
	return func(t *testing.T, s *served) {
		t.Helper()
		s.must(http.MethodDelete, s.create(mandate("acme", "jane")), nil)
		wantEqual(t, "the mandate again", status, s.call(http.MethodPost, "/ext/applications", mandate("acme", "joe")).status)
		other := changed(object{"individuals": []object{{"reference": "acme.jane"}}})
		wantEqual(t, "the individual again", status, s.call(http.MethodPost, "/ext/applications", other).status)
	}
}

func wantSamePerson(status int) func(*testing.T, *served) {
	return func(t *testing.T, s *served) {
		t.Helper()
		created(s)
		other := changed(object{"individuals": []object{{"reference": "acme.jane"}}})
		wantEqual(t, "in another application", status, s.call(http.MethodPost, "/ext/applications", other).status)
		twice := changed(object{"reference": "twice", "individuals": []object{{"reference": "x"}, {"reference": "x"}}})
		wantEqual(t, "twice in one", 400, s.call(http.MethodPost, "/ext/applications", twice).status)
	}
}

func wantMethod(operation, method string) func(*testing.T, *served) {
	return func(t *testing.T, s *served) {
		t.Helper()
		path := s.create(mandate("acme", "jane")) + "/" + operation
		s.play(control.Play{Reference: "acme"})
		for _, other := range []string{"PATCH", "POST", "PUT"} {
			if other == method {
				continue
			}
			got := s.call(other, path, object{})
			wantProblem(t, got, http.StatusMethodNotAllowed)
			wantEqual(t, "Allow", method, got.header.Get("Allow"))
		}
		s.must(method, path, object{})
	}
}

func wantTransition(status int, member string) func(*testing.T, *served) {
	return func(t *testing.T, s *served) {
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

func wantRefusal(status int) func(*testing.T, *served) {
	return func(t *testing.T, s *served) {
		t.Helper()
		path := s.create(mandate("acme", "jane"))
		wantProblem(t, s.call(http.MethodPatch, path+"/complete", object{}), status)
		report := fmt.Sprintf("/ext/individuals/%v/report", s.must("GET", path, nil).at("individuals", 0, "id"))
		wantProblem(t, s.call(http.MethodGet, report, nil), http.StatusBadRequest)
	}
}

func wantUndecided(status, missing int) func(*testing.T, *served) {
	return func(t *testing.T, s *served) {
		t.Helper()
		path := s.create(mandate("acme", "jane"))
		s.play(control.Play{Reference: "acme", Result: control.Review})
		actions, _ := s.must("GET", path, nil).at("available_actions").([]any)
		wantEqual(t, "available actions", 3-missing, len(actions))
		wantEqual(t, "status code", status, s.call(http.MethodPatch, path+"/complete", object{}).status)
	}
}

func wantReference(value any, path ...any) func(*testing.T, *served) {
	return func(t *testing.T, s *served) {
		t.Helper()
		wantEqual(t, fmt.Sprint(path...), value, s.must("GET", "/ext/references", nil).at(path...))
	}
}

func wantSubscription(urlName, applicationName string, status int, id bool) func(*testing.T, *served) {
	return func(t *testing.T, s *served) {
		t.Helper()
		const target = "https://hooks.example.com/"
		got := s.must(http.MethodPost, "/ext/webhooks/subscribe", object{urlName: target, applicationName: 4711})
		wantEqual(t, "status code", status, got.status)
		if status == http.StatusNoContent {
			wantEqual(t, "body", "", string(got.body))
		} else {
			wantEqual(t, "url", any(target), got.at(urlName))
			wantEqual(t, "an id", id, got.at("id") != nil)
		}
		wantEqual(t, "url read back", any(target), s.must("GET", "/ext/webhooks/retrieve/4711", nil).at(urlName))
	}
}

func wantWebhook(status int, path ...any) func(*testing.T, *served) {
	return func(t *testing.T, s *served) {
		t.Helper()
		const target = "https://hooks.example.com/"
		s.must(http.MethodPost, "/ext/webhooks/subscribe", object{"url": target, "application_id": 4711})
		got := s.call("GET", "/ext/webhooks/retrieve/4711", nil)
		wantEqual(t, "status code", status, got.status)
		if status == http.StatusOK {
			wantEqual(t, "url", any(target), got.at(path...))
		}
	}
}
