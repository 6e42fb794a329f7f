package provider_test

import (
	"net/http"
	"sync/atomic"
	"testing"
)

// Each response to a subscription has its own words. Where it does not show what the service did, the subscription is
// kept, and not sent again.
func TestSubscriptionWords(t *testing.T) {
	t.Parallel()
	problem := func(status int, body string) webhookAnswer {
		return webhookAnswer{status: status, contentType: "application/problem+json", body: body}
	}
	for name, test := range map[string]struct {
		answer  webhookAnswer
		kept    bool
		warning []string
		failure []string
	}{
		"an object":  {answer: jsonAnswer(200, `{"id":7}`), kept: true},
		"empty":      {answer: jsonAnswer(200, ``), kept: true},
		"accepted":   {answer: jsonAnswer(202, `{}`), kept: true, warning: []string{"makes", "later", "HTTP 202"}},
		"HTML":       {answer: html(200), kept: true, warning: []string{"may not exist", "not JSON", "state rm"}},
		"a redirect": {answer: html(302), kept: true, warning: []string{"may not exist", "state rm"}},
		"a problem in a 200": {
			answer: problem(200, `{"title":"Quota","status":402}`), kept: true,
			warning: []string{"may not exist", "says that the request failed", "in spite of its status"},
		},
		"success: false": {
			answer: jsonAnswer(200, `{"success":false}`), kept: true,
			warning: []string{"may not exist", "says that the request failed"},
		},
		"403 of the service": {
			answer:  problem(403, `{"title":"Forbidden","status":403}`),
			failure: []string{"does not let this user", "nothing was done", "permission"},
		},
		"403 of a proxy": {answer: html(403), kept: true, warning: []string{"may not exist", "a proxy"}},
		"402": {
			answer: problem(402, `{"title":"No credit","status":402}`), failure: []string{"HTTP 402", "No credit"},
		},
		"404": {
			answer:  problem(404, `{"title":"No such application","status":404}`),
			failure: []string{"HTTP 404", "nothing was created", "eight weeks"},
		},
		"further required fields": {
			answer:  problem(400, `{"title":"Invalid","status":400,"exception":{"secret":["is required"],"name":["required"]}}`),
			failure: []string{"name, secret", "`payload_json`", "`webhook_field_names`"},
		},
		"one webhook": {
			answer:  problem(409, `{"title":"There is a webhook","status":409}`),
			failure: []string{"only one webhook", "import the subscription that exists"},
		},
		"500": {
			answer: problem(500, `{"title":"Oops","status":500}`), kept: true, warning: []string{"may not exist", "HTTP 500"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var posts atomic.Int64
			url := newStubServer(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost { // a refusal also reads, to find out whether it is about the token
					posts.Add(1)
				}
				test.answer.write(w)
			})
			s := newSession(t, url)
			config := values{"url": hookURL}
			applied := s.apply(t, config, s.plan(t, config))
			said := formatDiagnostics(applied.Diagnostics)
			state := s.attributes(t, applied.NewState)
			if (state != nil) != test.kept || hasError(applied.Diagnostics) == test.kept || posts.Load() != 1 {
				t.Fatalf("want it kept: %v after one POST, got %v after %d, %s", test.kept, state, posts.Load(), said)
			}
			if test.warning == nil && test.failure == nil && said != "" ||
				test.warning != nil && (len(applied.Diagnostics) != 1 || !hasWarning(applied.Diagnostics, test.warning...)) ||
				test.failure != nil && !hasError(applied.Diagnostics, test.failure...) {
				t.Errorf("want %q, %q, got %s", test.warning, test.failure, said)
			}
			if !test.kept {
				return
			}
			read := newSession(t, url).read(t, applied.NewState, applied.Private)
			unclear := len(test.warning) > 0 && test.warning[0] == "may not exist"
			if unclear != hasWarning(read.Diagnostics, "may not exist", "state rm") || posts.Load() != 1 {
				t.Errorf("the next plan: want a warning %v, got %s", unclear, formatDiagnostics(read.Diagnostics))
			}
		})
	}
}

// What the service has refused exists nowhere, so an equal subscription of the same run gets an answer of its own.
func TestSubscriptionAfterARefusal(t *testing.T) {
	t.Parallel()
	refused := webhookAnswer{status: 422, contentType: "application/problem+json", body: `{"title":"No","status":422}`}
	s := newSession(t, newStubServer(t, func(w http.ResponseWriter, _ *http.Request) { refused.write(w) }))
	config := values{"url": hookURL}
	for range 2 {
		applied := s.apply(t, config, s.plan(t, config))
		if !hasError(applied.Diagnostics, "422") || hasError(applied.Diagnostics, "already exists") {
			t.Errorf("want the refusal, got %s", formatDiagnostics(applied.Diagnostics))
		}
	}
}

// The guide "Import" advises the application in payload_json, and then it tells one subscription from another.
func TestSubscriptionsWithApplicationsInThePayload(t *testing.T) {
	t.Parallel()
	var posts atomic.Int64
	s := newSession(t, newStubServer(t, func(w http.ResponseWriter, _ *http.Request) {
		posts.Add(1)
		answer := jsonAnswer(200, `{}`)
		answer.write(w)
	}))
	for n, test := range []struct {
		payload string
		exists  bool
	}{
		{`{"application_id":1}`, false}, {`{"application_id":2}`, false}, {`{ "application_id": 1 }`, true},
	} {
		config := values{"url": hookURL, "payload_json": test.payload}
		applied := s.apply(t, config, s.plan(t, config))
		if test.exists != hasError(applied.Diagnostics, "already exists") {
			t.Errorf("%d: want an error %v, got %s", n, test.exists, formatDiagnostics(applied.Diagnostics))
		}
	}
	if n := posts.Load(); n != 2 {
		t.Errorf("want two POSTs, got %d", n)
	}
}
