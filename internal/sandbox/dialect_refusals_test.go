package sandbox_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

var refusalCases = cases{
	"requiredFields=few": wantRequired(200, nil, nil),
	"requiredFields=all": wantRequired(400, []any{"is required"}, object{
		"title": []any{"is required"}, "last_name": []any{"is required"},
		"date_of_birth": []any{"is required"}, "gender": []any{"is required"},
	}),
	"requiredFields=all_with_middle_name": func(t *testing.T, s *testService) {
		t.Helper()
		person := object{
			"email": "a@example.com", "title": "Ms", "first_name": "A", "last_name": "B",
			"date_of_birth": "1990-01-31", "gender": "female", "reference": "AB",
		}
		body := object{"name": "A", "reference": "A", "mandate_type": kyc, "individuals": []object{person}}
		got := s.request(http.MethodPost, "/ext/applications", body)
		wantProblem(t, got, http.StatusBadRequest)
		wantEqual(t, "individual", any(object{"middle_name": []any{"is required, and may be empty"}}),
			got.at("exception", "individuals", 0))
		person["middle_name"] = ""
		s.create(body)
	},

	"referenceFormat=any":    wantReferenceFormat(200),
	"referenceFormat=strict": wantReferenceFormat(400),

	"unknownMandateType=400": wantUnknownType(400),
	"unknownMandateType=404": wantUnknownType(404),
	"unknownMandateType=422": wantUnknownType(422),

	"createRefusal=none": wantCreateRefusal(200),
	"createRefusal=402":  wantCreateRefusal(402),
	"createRefusal=403":  wantCreateRefusal(403),
	"createRefusal=404":  wantCreateRefusal(404),
	"createRefusal=409":  wantCreateRefusal(409),
	"createRefusal=423":  wantCreateRefusal(423),

	"duplicateAnswer=exists":     wantDuplicate("a mandate with this reference already exists", 1),
	"duplicateAnswer=unique":     wantDuplicate("must be unique", 1),
	"duplicateAnswer=translated": wantDuplicate("Diese Referenz ist bereits vergeben", 1),
	"duplicateAnswer=beside":     wantDuplicate("a mandate with this reference already exists", 2),

	"invalidStatus=400": wantInvalid(400),
	"invalidStatus=422": wantInvalid(422),

	"errorBody=problem": wantErrorBody("application/problem+json", `{`),
	"errorBody=json":    wantErrorBody("application/json", `{`),
	"errorBody=html":    wantErrorBody("text/html; charset=utf-8", "<!doctype html>"),
	"errorBody=text":    wantErrorBody("text/plain; charset=utf-8", "404 Not Found"),
	"errorBody=empty":   wantErrorBody("", ""),
	"errorBody=message": wantErrorBody("application/json", `{"message":"Not Found"}`),

	"errorShape=documented": wantErrorShape("exception", "status", "title", "type"),
	"errorShape=extended": wantErrorShape(
		"code", "detail", "errors", "exception", "instance", "status", "title", "trace_id", "type"),
	"errorShape=numeric_id": wantErrorShape(
		"code", "exception", "id", "retryable", "status", "title", "type"),
	"errorShape=number_status": wantErrorShape("exception", "status", "title", "type"),
	"errorShape=no_exception":  wantErrorShape("status", "title", "type"),

	"rateLimit=0":  wantRate(0),
	"rateLimit=3":  wantRate(3),
	"rateLimit=10": wantRate(10),

	"rateLimitAnswer=seconds": wantRetryAfter(func(value string) bool { return value == "1" }),
	"rateLimitAnswer=date": wantRetryAfter(func(value string) bool {
		until, err := time.Parse(http.TimeFormat, value)
		return err == nil && time.Until(until).Abs() < 10*time.Second
	}),
	"rateLimitAnswer=absent": wantRetryAfter(func(value string) bool { return value == "" }),
}

func wantRequired(status int, reference, person any) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		body := mandate("", "jane")
		got := s.request(http.MethodPost, "/ext/applications", body)
		wantEqual(t, "status code", status, got.status)
		if status == http.StatusBadRequest {
			wantProblem(t, got, status)
			wantEqual(t, "reference", reference, got.at("exception", "reference"))
			wantEqual(t, "individual", person, got.at("exception", "individuals", 0))
			wantEqual(t, "e-mails", 0, len(s.emails()))
		}
		s.create(object{"name": "A", "reference": "A", "mandate_type": kyc, "individuals": []object{{
			"email": "a@example.com", "title": "Ms", "first_name": "A", "last_name": "B",
			"date_of_birth": "1990-01-31", "gender": "female", "reference": "AB",
		}}})
	}
}

func wantReferenceFormat(status int) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		s.create(changed(object{"reference": "ACME_2026-1", "individuals": []object{{"reference": "J-1"}}}))
		dotted := s.request(http.MethodPost, "/ext/applications", changed(object{
			"reference": "acme.1", "individuals": []object{{}, {"reference": strings.Repeat("x", 51)}},
		}))
		wantEqual(t, "status code", status, dotted.status)
		if status == http.StatusBadRequest {
			const text = "may have at most 50 letters, digits, hyphens and underscores"
			wantProblem(t, dotted, status)
			wantEqual(t, "exception", any(object{
				"reference": []any{text}, "individuals": []any{object{}, object{"reference": []any{text}}},
			}), dotted.at("exception"))
		}
	}
}

func wantUnknownType(status int) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		unknown := s.request(http.MethodPost, "/ext/applications", changed(object{"mandate_type": 999}))
		wantProblem(t, unknown, status)
		both := s.request(http.MethodPost, "/ext/applications", changed(object{"mandate_type": 999, "name": ""}))
		wantProblem(t, both, http.StatusBadRequest)
	}
}

func wantCreateRefusal(status int) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		got := s.request(http.MethodPost, "/ext/applications", mandate("acme", "jane"))
		if status != http.StatusOK {
			wantProblem(t, got, status)
		}
		wantEqual(t, "e-mails", map[bool]int{true: 1}[status == http.StatusOK], len(s.emails()))
	}
}

func wantDuplicate(text string, fields int) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		created(s)
		got := s.request(http.MethodPost, "/ext/applications", mandate("acme", "joe"))
		wantProblem(t, got, http.StatusBadRequest)
		wantEqual(t, "text", any([]any{text}), got.at("exception", "reference"))
		wantEqual(t, "fields", fields, len(members(got.at("exception"))))
	}
}

func wantInvalid(status int) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		created(s)
		wantProblem(t, s.request(http.MethodPost, "/ext/applications", mandate("acme", "joe")), status)
		wantProblem(t, s.request(http.MethodPost, "/ext/applications", object{}), status)
		wantProblem(t, s.request(http.MethodPost, "/ext/webhooks/subscribe", object{}), status)
		wantProblem(t, s.request(http.MethodPost, "/ext/applications", `{"name": `), http.StatusBadRequest)
	}
}

func wantErrorBody(contentType, start string) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		got := s.request("GET", "/ext/applications/1", nil)
		wantEqual(t, "status code", http.StatusNotFound, got.status)
		wantEqual(t, "content type", contentType, got.header.Get("Content-Type"))
		if !strings.HasPrefix(string(got.body), start) || (start == "") != (len(got.body) == 0) {
			t.Errorf("the body is %q", got.body)
		}
		wantEqual(t, "an invalid create", 400, s.request(http.MethodPost, "/ext/applications", object{}).status)
		s.token = "none"
		wantEqual(t, "an unauthorised request", 401, s.request("GET", "/ext/references", nil).status)
	}
}

func wantErrorShape(names ...string) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		got := s.request("GET", "/ext/applications/1", nil)
		wantEqual(t, "members", names, sortedNames(got.tree()))
		_, isNumber := got.at("status").(number)
		current, err := s.Dialects(t.Context())
		noError(t, err)
		for _, one := range current {
			if one.Name == "errorShape" {
				wantEqual(t, "status is a number", one.Value == "number_status", isNumber)
			}
		}
		wantEqual(t, "status", "404", fmt.Sprint(got.at("status")))
		invalid := s.request(http.MethodPost, "/ext/applications", changed(object{"name": ""}))
		wantEqual(t, "exception", any(object{"name": []any{"must have 1 to 150 characters"}}), invalid.at("exception"))
	}
}

// wantRate makes requests in quick succession. How many are served depends on the time
// that passes meanwhile.
func wantRate(perSecond int) func(*testing.T, *testService) {
	const requests = 30
	return func(t *testing.T, s *testService) {
		t.Helper()
		allowed := 0
		start := time.Now()
		for range requests {
			got := s.request("GET", "/ext/references", nil)
			if got.status == http.StatusOK {
				allowed++
				continue
			}
			wantProblem(t, got, http.StatusTooManyRequests)
		}
		least, most := requests, requests
		if perSecond > 0 {
			least = perSecond - 1 // the fixture's login was one
			most = perSecond + int(time.Since(start).Seconds()*float64(perSecond)) + 1
		}
		if allowed < least || allowed > most {
			t.Errorf("%d of %d requests were served", allowed, requests)
		}
		stats, err := s.Stats(t.Context())
		noError(t, err)
		wantEqual(t, "answers 429", int64(requests-allowed), stats.Operations["references"].Answers["429"])
	}
}

func wantRetryAfter(valid func(string) bool) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		noError(t, s.SetDialect(t.Context(), "rateLimit", "1"))
		for range 50 {
			got := s.request("GET", "/ext/references", nil)
			if got.status == http.StatusOK {
				continue
			}
			wantEqual(t, "status code", strconv.Itoa(http.StatusTooManyRequests), strconv.Itoa(got.status))
			if value := got.header.Get("Retry-After"); !valid(value) {
				t.Errorf("Retry-After is %q", value)
			}
			return
		}
		t.Error("no request was too many")
	}
}
