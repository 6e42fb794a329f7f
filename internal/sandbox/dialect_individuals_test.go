package sandbox_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

var individualCases = cases{
	"retrieveIndividual=plain":      wantIndividual(),
	"retrieveIndividual=data":       wantIndividual("data"),
	"retrieveIndividual=individual": wantIndividual("individual"),

	"resendResetBody=any":           wantResendResetBody(statusesOf(200, 200, 200)),
	"resendResetBody=object":        wantResendResetBody(statusesOf(400, 400, 200)),
	"resendResetBody=empty":         wantResendResetBody(statusesOf(200, 200, 400)),
	"resendResetBody=empty_typed":   wantResendResetBody(statusesOf(400, 200, 400)),
	"resendResetBody=empty_untyped": wantResendResetBody(statusesOf(200, 400, 400)),

	"resendResetAnswer=message":    wantResendReset(200, "message"),
	"resendResetAnswer=empty":      wantResendReset(200, ""),
	"resendResetAnswer=202":        wantResendReset(202, ""),
	"resendResetAnswer=204":        wantResendReset(204, ""),
	"resendResetAnswer=individual": wantResendReset(200, "email"),

	"reportFormat=pdf": wantReport("application/pdf", func(got response) bool { return isPDF(got.body) }),
	"reportFormat=json_base64": wantReport("application/json", func(got response) bool {
		text, _ := got.at("content").(string)
		file, err := base64.StdEncoding.DecodeString(text)
		return err == nil && isPDF(file) && got.at("content_type") == "application/pdf"
	}),
	"reportFormat=json_url": wantReport("application/json", func(got response) bool {
		text, _ := got.at("url").(string)
		return strings.HasPrefix(text, "https://")
	}),

	"reportNotReady=400": wantNotReady(400),
	"reportNotReady=404": wantNotReady(404),
	"reportNotReady=409": wantNotReady(409),

	"reportNotReady=processing_200": wantUnready(200, "application/json", `{"status":"processing"}`),
	"reportNotReady=202":            wantUnready(202, "", ""),
	"reportNotReady=html_200":       wantUnready(200, "text/html; charset=utf-8", "<!doctype html>"),

	"reportAccept=any":      wantReportAccept(200),
	"reportAccept=pdf_only": wantReportAccept(406),
}

func wantUnready(status int, contentType, start string) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		path := s.person(s.create(mandate("acme", "jane"))) + "/report"
		got := s.must("GET", path, nil)
		wantEqual(t, "status code", status, got.status)
		wantEqual(t, "content type", contentType, got.header.Get("Content-Type"))
		if !strings.HasPrefix(string(got.body), start) {
			t.Errorf("the body is %s", got.body)
		}
		s.play(control.Play{Reference: "acme"})
		wantEqual(t, "a PDF, once ready", true, isPDF(s.must("GET", path, nil).body))
	}
}

func wantReportAccept(asJSON int) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		path := s.person(s.create(mandate("acme", "jane"))) + "/report"
		s.play(control.Play{Reference: "acme"})
		for accept, status := range map[string]int{
			"": 200, "*/*": 200, "application/pdf": 200, "application/json, application/*;q=0.1": 200,
			"application/json": asJSON, "application/json, */*;q=0": asJSON,
		} {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/api/v1"+path, http.NoBody)
			noError(t, err)
			request.Header.Set("Authorization", "Bearer "+s.token)
			request.Header["Accept"] = []string{accept}
			got, err := send(request)
			noError(t, err)
			wantEqual(t, "Accept: "+accept, status, got.status)
		}
	}
}

var checkCases = cases{
	"resetCheckIDs=same": wantCheckIDs(true),
	"resetCheckIDs=new":  wantCheckIDs(false),

	"decidableChecks=any":       wantDecisions("", 200, 200, 200),
	"decidableChecks=in_review": wantDecisions("", 400, 400, 200),
	"repeatedDecision=allowed":  wantDecisions("accept", 200, 200, 200),
	"repeatedDecision=refused":  wantDecisions("accept", 400, 400, 400),

	"checkReference=any":      wantCheckReference(200, 200),
	"checkReference=check_id": wantCheckReference(200, 400),
	"checkReference=required": wantCheckReference(400, 400),

	"manualCounters=recounted": wantCounters("0 0 2"),
	"manualCounters=unchanged": wantCounters("3 0 0"),
}

func wantIndividual(wrapper ...any) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		path := s.create(mandate("acme", "jane"))
		got := s.must("GET", s.person(path), nil)
		wantEqual(t, "individual", s.must("GET", path, nil).at("individuals", 0), got.at(wrapper...))
		wantProblem(t, s.request("GET", "/ext/individuals/1", nil), http.StatusNotFound)
	}
}

func wantResendResetBody(want map[string]int) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		person := s.person(s.create(mandate("acme", "jane")))
		emails := 1
		for _, operation := range []string{"/invites/resend", "/reset"} {
			for what, status := range want {
				wantEqual(t, operation+" with "+what, status, s.request(http.MethodPost, person+operation, bodies[what]).status)
				if status == http.StatusOK {
					emails++
				}
			}
		}
		wantEqual(t, "e-mails", emails, len(s.emails()))
	}
}

func wantResendReset(status int, member string) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		person := s.person(s.create(mandate("acme", "jane")))
		for _, operation := range []string{"/invites/resend", "/reset"} {
			got := s.must(http.MethodPost, person+operation, nil)
			wantEqual(t, operation+": status code", status, got.status)
			wantEqual(t, operation+": a body", member != "", len(got.body) > 0)
			if member != "" && got.at(member) == nil {
				t.Errorf("%s answers without %s: %s", operation, member, got.body)
			}
		}
		wantEqual(t, "e-mails", 3, len(s.emails()))
	}
}

func isPDF(file []byte) bool {
	return bytes.HasPrefix(file, []byte("%PDF-")) && bytes.HasSuffix(file, []byte("%%EOF\n"))
}

func wantReport(contentType string, valid func(response) bool) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		path := s.create(mandate("acme", "jane"))
		s.play(control.Play{Reference: "acme"})
		got := s.must("GET", s.person(path)+"/report", nil)
		wantEqual(t, "content type", contentType, got.header.Get("Content-Type"))
		if !valid(got) {
			t.Errorf("the report is %q", got.body)
		}
	}
}

func wantNotReady(status int) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		path := s.create(mandate("acme", "jane"))
		wantProblem(t, s.request("GET", s.person(path)+"/report", nil), status)
		wantProblem(t, s.request(http.MethodPatch, path+"/complete", nil), http.StatusBadRequest)
	}
}

func wantCheckIDs(same bool) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		path := s.create(mandate("acme", "jane"))
		before := s.check(path)
		s.must(http.MethodPost, s.person(path)+"/reset", nil)
		after := s.check(path)
		wantEqual(t, "the same id", same, before == after)
		s.must(http.MethodPatch, after+"/accept", object{})
		if !same {
			wantProblem(t, s.request(http.MethodPatch, before+"/accept", object{}), http.StatusNotFound)
		}
	}
}

// wantDecisions wants the answers to decisions on a pending, a passed and an in-review check, after a first decision if
// there is to be one.
func wantDecisions(first string, pending, passed, inReview int) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		for result, want := range map[control.Result]int{
			"": pending, control.ResultPass: passed, control.ResultReview: inReview,
		} {
			reference := "mandate " + string(result)
			path := s.create(mandate(reference, "jane"))
			if result != "" {
				s.play(control.Play{Reference: reference, Result: result})
			}
			if first != "" {
				s.must(http.MethodPatch, s.check(path)+"/"+first, object{})
			}
			wantEqual(t, reference, want, s.request(http.MethodPatch, s.check(path)+"/reject", object{}).status)
		}
	}
}

func wantCheckReference(none, other int) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		check := s.check(s.create(mandate("acme", "jane")))
		decide := func(body object) response { return s.request(http.MethodPatch, check+"/accept", body) }
		wantEqual(t, "without a reference", none, decide(object{}).status)
		got := decide(object{"reference": 7})
		wantEqual(t, "another integer", other, got.status)
		if other != http.StatusOK {
			wantEqual(t, "exception", any(object{"reference": []any{"must be the id of the check"}}), got.at("exception"))
		}
		id := number(strings.TrimPrefix(check, "/check/"))
		wantEqual(t, "the check's id", 200, decide(object{"reference": id}).status)
	}
}

func wantCounters(counters string) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		path := s.create(mandate("acme", "jane"))
		checks := s.play(control.Play{Reference: "acme", Result: control.ResultReview}).Individuals[0].Checks
		for i, decision := range []string{"accept", "reject", "accept"} {
			s.must(http.MethodPatch, fmt.Sprintf("/check/%d/%s", checks[i].ID, decision), object{})
		}
		person := s.must("GET", s.person(path), nil)
		got := fmt.Sprint(person.at("checks_in_review"), " ", person.at("checks_in_pending"), " ", person.at("checks_passed"))
		wantEqual(t, "counters", counters, got)
		wantEqual(t, "status", any("failed"), statusName(person))
	}
}
