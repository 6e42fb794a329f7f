package sandbox_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

var webhookCases = cases{
	"references=lists":             wantReference(number("17"), "mandate_types", 0, "id"),
	"references=application_types": wantReference(number("17"), "application_types", 0, "id"),
	"references=map":               wantReference(number("17"), "mandate_types", "kyc", "id"),
	"references=string_ids":        wantReference("17", "mandate_types", 0, "id"),
	"references=flat":              wantReference("mandate_type", 0, "type"),
	"references=data":              wantReference(number("17"), "data", "mandate_types", 0, "id"),
	"references=more_lists":        wantReference("reviewer", "application_roles", 0, "code"),
	"references=paged": func(t *testing.T, s *testService) {
		t.Helper()
		var codes []any
		path := "/ext/references"
		for path != "" {
			page := s.must("GET", path, nil)
			list, _ := page.at("results").([]any)
			for _, one := range list {
				codes = append(codes, at(one, "code"))
			}
			wantEqual(t, "count", any(number("11")), page.at("count"))
			next, _ := page.at("next").(string)
			path = strings.TrimPrefix(next, "/api/v1")
		}
		wantEqual(t, "codes", 11, len(codes))
		wantEqual(t, "the last one", any("national_id"), codes[10])
	},

	"subscribeFields=standard":   wantSubscription("url", "application_id", 200, true),
	"subscribeFields=renamed":    wantSubscription("target_url", "mandate_id", 200, true),
	"subscribeAnswer=object":     wantSubscription("url", "application_id", 200, true),
	"subscribeAnswer=without_id": wantSubscription("url", "application_id", 200, false),
	"subscribeAnswer=201":        wantSubscription("url", "application_id", 201, true),
	"subscribeAnswer=202":        wantSubscription("url", "application_id", 202, false),
	"subscribeAnswer=204":        wantSubscription("url", "application_id", 204, false),

	"subscribeEvents=optional":      wantSubscriptionNeeds(200, 200),
	"subscribeEvents=required":      wantSubscriptionNeeds(400, 400),
	"subscribeApplication=optional": wantSubscriptionNeeds(200, 200),
	"subscribeApplication=required": wantSubscriptionNeeds(400, 200),
	"subscribeApplication=refused":  wantSubscriptionNeeds(200, 400),

	"subscribeTwice=appended": wantTwice(200, "one", "two"),
	"subscribeTwice=replaced": wantTwice(200, "two"),
	"subscribeTwice=refused":  wantTwice(400, "one"),

	"retrieveWebhook=object":  wantWebhook(200, "url"),
	"retrieveWebhook=list":    wantWebhook(200, 0, "url"),
	"retrieveWebhook=wrapped": wantWebhook(200, "webhooks", 0, "url"),
	"retrieveWebhook=404":     wantWebhook(404),

	"noWebhooks=by_shape":   wantNoWebhooks("404", "[]"),
	"noWebhooks=404":        wantNoWebhooks("404", "404"),
	"noWebhooks=empty_list": wantNoWebhooks("[]", "[]"),

	"subscribeRequired=none":   wantRequiredField(200, 200),
	"subscribeRequired=secret": wantRequiredField(200, 400),
	"subscribeRequired=name":   wantRequiredField(400, 200),

	"subscribeHandshake=none":            wantHandshake(200, 200, 200),
	"subscribeHandshake=get_challenge":   wantHandshake(400, 200, 400),
	"subscribeHandshake=post_validation": wantHandshake(400, 400, 200),

	"subscriptions=many":            wantSubscriptions("one", "two", "other"),
	"subscriptions=one_per_account": wantSubscriptions("other"),
	"subscriptions=one_per_url":     wantSubscriptions("two", "other"),
}

func wantRequiredField(withSecret, withName int) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		for field, status := range map[string]int{"secret": withSecret, "name": withName} {
			got := s.request(http.MethodPost, "/ext/webhooks/subscribe", object{"url": hook, field: "x"})
			wantEqual(t, "with "+field, status, got.status)
		}
		got := s.request(http.MethodPost, "/ext/webhooks/subscribe", object{"url": hook, "name": "", "secret": ""})
		wantEqual(t, "with empty ones", min(withSecret, withName) == 200 && withSecret == withName, got.status == 200)
	}
}

// wantHandshake wants the answers to subscriptions of URLs that answer no challenge, one of a GET, and one of a POST.
func wantHandshake(none, ofGet, ofPost int) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var body struct{ ValidationToken string }
			raw, _ := io.ReadAll(r.Body)
			switch {
			case r.URL.Path == "/get":
				fmt.Fprint(w, r.URL.Query().Get("challenge"))
			case r.URL.Path == "/post" && json.Unmarshal(raw, &body) == nil:
				fmt.Fprintf(w, `{"validationToken": %q}`, body.ValidationToken)
			}
		}))
		t.Cleanup(target.Close)
		for path, status := range map[string]int{"/none": none, "/get": ofGet, "/post": ofPost} {
			got := s.request(http.MethodPost, "/ext/webhooks/subscribe", object{"url": target.URL + path})
			wantEqual(t, path, status, got.status)
			if status == http.StatusBadRequest {
				wantProblem(t, got, status)
				wantEqual(t, "the field", any([]any{"does not answer the challenge"}), got.at("exception", "url"))
			}
		}
	}
}

func wantSubscriptions(labels ...string) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		noError(t, s.SetDialect(t.Context(), "retrieveWebhook", "list"))
		for _, one := range []object{
			{"url": hook, "label": "one", "application_id": 1}, {"url": hook, "label": "two", "application_id": 2},
			{"url": hook + "other", "label": "other", "application_id": 2},
		} {
			s.must(http.MethodPost, "/ext/webhooks/subscribe", one)
		}
		var got []string
		for _, application := range []string{"1", "2"} {
			if list, isList := s.must("GET", "/ext/webhooks/retrieve/"+application, nil).tree().([]any); isList {
				for _, one := range list {
					got = append(got, fmt.Sprint(at(one, "label")))
				}
			}
		}
		wantEqual(t, "subscriptions", labels, got)
	}
}

func wantReference(value any, path ...any) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		wantEqual(t, fmt.Sprint(path...), value, s.must("GET", "/ext/references", nil).at(path...))
	}
}

const hook = "https://hooks.example.com/"

func wantSubscription(urlName, applicationName string, status int, id bool) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		got := s.must(http.MethodPost, "/ext/webhooks/subscribe", object{urlName: hook, applicationName: 4711})
		wantEqual(t, "status code", status, got.status)
		if status == http.StatusNoContent || status == http.StatusAccepted {
			wantEqual(t, "body", "", string(got.body))
		} else {
			wantEqual(t, "url", any(hook), got.at(urlName))
			wantEqual(t, "an id", id, got.at("id") != nil)
		}
		wantEqual(t, "url read back", any(hook), s.must("GET", "/ext/webhooks/retrieve/4711", nil).at(urlName))
	}
}

// wantSubscriptionNeeds wants the answers to a subscription with a URL only, and to one with an application too.
func wantSubscriptionNeeds(urlOnly, withApplication int) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		subscribe := func(body object) int { return s.request(http.MethodPost, "/ext/webhooks/subscribe", body).status }
		wantEqual(t, "with a URL only", urlOnly, subscribe(object{"url": hook}))
		wantEqual(t, "with an application", withApplication, subscribe(object{"url": hook, "application_id": 4711}))
		events := []string{"application.completed"}
		least := min(
			subscribe(object{"url": hook, "events": events}),
			subscribe(object{"url": hook, "events": events, "application_id": 4711}),
		)
		wantEqual(t, "with events, in either way", 200, least)
	}
}

func wantTwice(status int, labels ...string) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		noError(t, s.SetDialect(t.Context(), "retrieveWebhook", "list"))
		subscribe := func(url, label string, application int) int {
			body := object{"url": url, "label": label, "application_id": application}
			return s.request(http.MethodPost, "/ext/webhooks/subscribe", body).status
		}
		wantEqual(t, "the first", 200, subscribe(hook, "one", 4711))
		wantEqual(t, "the second", status, subscribe(hook, "two", 4711))
		wantEqual(t, "of another application", 200, subscribe(hook, "three", 4712))
		var got []string
		list, _ := s.must("GET", "/ext/webhooks/retrieve/4711", nil).tree().([]any)
		for _, one := range list {
			got = append(got, fmt.Sprint(at(one, "label")))
		}
		wantEqual(t, "subscriptions", labels, got)
	}
}

func wantWebhook(status int, path ...any) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		s.must(http.MethodPost, "/ext/webhooks/subscribe", object{"url": hook, "application_id": 4711})
		got := s.request("GET", "/ext/webhooks/retrieve/4711", nil)
		wantEqual(t, "status code", status, got.status)
		if status == http.StatusOK {
			wantEqual(t, "url", any(hook), got.at(path...))
		}
	}
}

func wantNoWebhooks(asObject, asList string) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		for shape, want := range map[string]string{"object": asObject, "list": asList} {
			noError(t, s.SetDialect(t.Context(), "retrieveWebhook", shape))
			got := s.request("GET", "/ext/webhooks/retrieve/4711", nil)
			text := string(got.body)
			if got.status != http.StatusOK {
				text = fmt.Sprint(got.status)
			}
			wantEqual(t, "none, as "+shape, want, text)
		}
	}
}
