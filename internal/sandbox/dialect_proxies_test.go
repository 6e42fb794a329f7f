package sandbox_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
	"github.com/mandate-io/idv/internal/test/await"
)

var proxyCases = cases{
	"changeAnswer=documented":    wantAnswers(true, nil),
	"changeAnswer=html":          wantAnswers(true, isHTML),
	"changeAnswer=problem":       wantAnswers(true, isProblem),
	"changeAnswer=success_false": wantAnswers(true, func(got response) bool { return got.at("success") == false }),
	"changeAnswer=error_member":  wantAnswers(true, hasError),
	"changeAnswer=cut_off":       wantAnswers(true, isCutOff),
	"readAnswer=documented":      wantAnswers(false, nil),
	"readAnswer=html":            wantAnswers(false, isHTML),
	"readAnswer=problem":         wantAnswers(false, isProblem),
	"readAnswer=success_false":   wantAnswers(false, func(got response) bool { return got.at("success") == false }),
	"readAnswer=error_member":    wantAnswers(false, hasError),
	"readAnswer=cut_off":         wantAnswers(false, isCutOff),

	"changeWork=done":     wantWork(true),
	"changeWork=not_done": wantWork(false),

	"asyncWork=at_once":             wantAsync("", true, true, true),
	"asyncWork=delayed":             wantAsync("delayed", true, true, true),
	"asyncWork=never":               wantAsync("never", true, true, false),
	"asyncOperations=all":           wantAsync("delayed", true, true, true),
	"asyncOperations=creates":       wantAsync("delayed", true, false, true),
	"asyncOperations=other_changes": wantAsync("delayed", false, true, true),
	"asyncDelay=0":                  wantDelay(time.Minute),
	"asyncDelay=7200":               wantDelay(2 * time.Hour),

	"ingress404=none": wantIngress(func(preparedCall) bool { return false }),
	"ingress404=applications": wantIngress(func(c preparedCall) bool {
		return strings.HasPrefix(c.path, "/ext/applications")
	}),
	"ingress404=changes":  wantIngress(func(c preparedCall) bool { return slices.Contains(changes, c.op) }),
	"ingress404=all":      wantIngress(func(preparedCall) bool { return true }),
	"ingressBody=html":    wantIngressBody("text/html; charset=utf-8", "<!doctype html>"),
	"ingressBody=empty":   wantIngressBody("", ""),
	"ingressBody=message": wantIngressBody("application/json", `{"message":"Not Found"}`),
}

func isHTML(got response) bool {
	return isOfType(got, "text/html; charset=utf-8") && bytes.HasPrefix(got.body, []byte("<!doctype html>"))
}

func isProblem(got response) bool {
	return isOfType(got, "application/problem+json") && got.at("title") != nil && got.at("status") == "503"
}

func isOfType(got response, contentType string) bool {
	return got.header.Get("Content-Type") == contentType
}

func hasError(got response) bool {
	tree, _ := got.tree().(object)
	return tree["error"] != nil
}

func isCutOff(got response) bool {
	return len(got.body) > 0 && !json.Valid(got.body) && got.header.Get("Content-Type") == "application/json"
}

// wantAnswers wants the body of each change, or of each read, to be another one; all are carried out.
func wantAnswers(ofChanges bool, valid func(response) bool) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		for _, one := range s.preparedCalls() {
			change := slices.Contains(changes, one.op)
			before := s.known()
			got := s.must(one.method, one.path, one.body)
			if valid != nil && change == ofChanges && !valid(got) {
				t.Errorf("%s: %d %v %s", one.op, got.status, got.header, got.body)
			}
			if (valid == nil || change != ofChanges) && (isHTML(got) || isProblem(got) || hasError(got) || isCutOff(got)) {
				t.Errorf("%s is not as documented: %s", one.op, got.body)
			}
			if one.op != control.SubscribeWebhook {
				wantEqual(t, string(one.op)+" changes something", change, before != s.known())
			}
		}
	}
}

func wantWork(done bool) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		for _, one := range s.preparedCalls() {
			before := s.known()
			s.must(one.method, one.path, one.body)
			if slices.Contains(changes, one.op) && one.op != control.SubscribeWebhook {
				wantEqual(t, string(one.op)+" is done", done, before != s.known())
			}
		}
		// What is refused is refused, whatever is done of the rest.
		wantProblem(t, s.request(http.MethodPost, "/ext/applications", object{}), http.StatusBadRequest)
	}
}

// wantAsync wants which changes are answered with 202, with their work not yet done, and whether it is done later.
func wantAsync(work string, create, others, later bool) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		prepared := s.preparedCalls()
		if work != "" {
			noError(t, s.SetDialect(t.Context(), "asyncWork", work))
		}
		for _, one := range prepared {
			async := work != "" && slices.Contains(changes, one.op) &&
				(one.op == control.CreateApplication && create || one.op != control.CreateApplication && others)
			before := s.known()
			got := s.must(one.method, one.path, one.body)
			wantEqual(t, string(one.op)+" gets 202", async, got.status == http.StatusAccepted)
			if !async || one.op == control.SubscribeWebhook {
				continue
			}
			wantEqual(t, string(one.op)+" is not done", before, s.known())
			s.advance(2 * time.Minute)
			wantEqual(t, string(one.op)+" is done later", later, before != s.known())
		}
	}
}

func wantDelay(delay time.Duration) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		noError(t, s.SetDialect(t.Context(), "asyncWork", dialect.AsyncDelayed))
		path := s.create(mandate("acme", "jane"))
		s.advance(delay - 10*time.Second)
		wantProblem(t, s.request("GET", path, nil), http.StatusNotFound)
		wantEqual(t, "e-mails before", 0, len(s.emails()))
		s.advance(10 * time.Second)
		wantEqual(t, "name", any("Acme"), s.must("GET", path, nil).at("name"))
		wantEqual(t, "e-mails after", 1, len(s.emails()))
	}
}

// A job that cannot be done when it is due fails without a trace.
func TestDelayedWorkIsTriedAgain(t *testing.T) {
	s := withDialect(t, "asyncWork", dialect.AsyncDelayed)
	for range 2 { // both are accepted, as nothing has this reference yet
		s.must(http.MethodPost, "/ext/applications", mandate("acme", "jane"))
	}
	s.advance(time.Hour)
	applications, err := s.Applications(t.Context())
	noError(t, err)
	wantEqual(t, "applications", 1, len(applications))
	wantEqual(t, "e-mails", 1, len(s.emails()))
}

// Delayed work needs no request: webhooks are delivered when it is done.
func TestDelayedWorkIsDoneByItself(t *testing.T) {
	target, bodies := receiver(t, always(http.StatusOK))
	s := withDialect(t, "asyncDelay", "1")
	s.must(http.MethodPost, "/ext/webhooks/subscribe", object{"url": target})
	noError(t, s.SetDialect(t.Context(), "asyncWork", dialect.AsyncDelayed))
	s.must(http.MethodPost, "/ext/applications", mandate("acme", "jane"))
	body := await.Receive(t, bodies, "the delivery")
	wantEqual(t, "event", any("application.created"), body["event"])
}

func wantIngress(unrouted func(preparedCall) bool) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		for _, one := range s.preparedCalls() {
			before := s.known()
			got := s.request(one.method, one.path, one.body)
			if !unrouted(one) {
				wantEqual(t, string(one.op)+" succeeds", 2, got.status/100)
				continue
			}
			if got.status != http.StatusNotFound || !isHTML(got) {
				t.Errorf("%s: %d %s", one.op, got.status, got.body)
			}
			wantEqual(t, string(one.op)+" changes nothing", before, s.known())
		}
		wantEqual(t, "a token", !unrouted(preparedCall{}), s.login() != "")
	}
}

func wantIngressBody(contentType, start string) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		noError(t, s.SetDialect(t.Context(), "ingress404", "all"))
		got := s.request("GET", "/ext/references", nil)
		wantEqual(t, "status code", http.StatusNotFound, got.status)
		wantEqual(t, "content type", contentType, got.header.Get("Content-Type"))
		if !strings.HasPrefix(string(got.body), start) || (start == "") != (len(got.body) == 0) {
			t.Errorf("the body is %q", got.body)
		}
	}
}
