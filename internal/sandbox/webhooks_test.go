package sandbox_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// receiver responds to deliveries with what status returns, and passes on their bodies.
func receiver(t *testing.T, status func() int) (url string, bodies chan object) {
	t.Helper()
	bodies = make(chan object, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		var body object
		if err != nil || json.Unmarshal(raw, &body) != nil || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("a delivery is not JSON: %q", raw)
		}
		w.WriteHeader(status())
		bodies <- body
	}))
	t.Cleanup(server.Close)
	return server.URL, bodies
}

func always(status int) func() int { return func() int { return status } }

// deliveries waits until n deliveries are complete.
func (s *testService) deliveries(n int) []control.Delivery {
	s.t.Helper()
	var log []control.Delivery
	eventually(s.t, func() string {
		var err error
		log, err = s.Deliveries(s.t.Context())
		noError(s.t, err)
		open := slices.ContainsFunc(log, func(d control.Delivery) bool { return d.State == control.Queued })
		if open || len(log) < n {
			return fmt.Sprintf("%d deliveries are not over: %+v", n, log)
		}
		return ""
	})
	return log
}

func TestDeliveries(t *testing.T) {
	target, bodies := receiver(t, always(http.StatusNoContent))
	s := startSandbox(t, sandbox.Options{})
	s.must(http.MethodPost, "/ext/webhooks/subscribe", object{"url": target})
	path := s.create(mandate("acme", "jane"))
	s.play(control.Play{Reference: "acme", Result: control.ResultReview})
	id := fmt.Sprint(s.must("GET", path, nil).at("id"))
	check := s.must("GET", path, nil).at("individuals", 0, "checks", 0, "id")
	s.must(http.MethodPatch, fmt.Sprintf("/check/%v/accept", check), object{})
	for range 2 { // the second time nothing happens
		s.must(http.MethodPatch, path+"/archive", object{})
	}
	person := s.must("GET", path, nil).at("individuals", 0, "id")
	s.must(http.MethodPost, fmt.Sprintf("/ext/individuals/%v/reset", person), object{})
	s.play(control.Play{Reference: "acme"})
	s.must(http.MethodPatch, path+"/reject", object{})
	s.must(http.MethodDelete, path, nil)

	var events []string
	for _, d := range s.deliveries(10) {
		events = append(events, d.Event)
		wantEqual(t, d.Event+": state", control.Delivered, d.State)
		wantEqual(t, d.Event+": attempts", 1, d.Attempts)
		wantEqual(t, d.Event+": last status", http.StatusNoContent, d.LastStatus)
		wantEqual(t, d.Event+": application", id, fmt.Sprint(d.ApplicationID))
	}
	wantEqual(t, "events", []string{
		"application.created", "individual.completed", "application.in_review", "check.manually_accepted",
		"application.archived", "application.in_progress", "individual.completed", "application.in_review",
		"application.rejected", "application.deleted",
	}, events)
	for range events {
		body := <-bodies
		wantEqual(t, "application in the body", id, fmt.Sprintf("%.0f", at(body, "application", "id")))
		wantEqual(t, "reference in the body", any("acme"), at(body, "application", "reference"))
	}
}

func TestDeliveriesAreTriedAgain(t *testing.T) {
	cases := map[string]struct {
		statuses []int
		state    control.DeliveryState
	}{
		"until one succeeds":     {[]int{500, 200}, control.Delivered},
		"until the last attempt": {[]int{500, 404, 500}, control.Failed},
		"a redirect does not":    {[]int{302, 302, 302}, control.Failed},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			statuses := make(chan int, len(c.statuses))
			for _, status := range c.statuses {
				statuses <- status
			}
			target, _ := receiver(t, func() int { return <-statuses })
			s := startSandbox(t, sandbox.Options{})
			s.must(http.MethodPost, "/ext/webhooks/subscribe", object{"url": target})
			s.create(mandate("acme", "jane"))
			got := s.deliveries(1)[0]
			wantEqual(t, "state", c.state, got.State)
			wantEqual(t, "attempts", len(c.statuses), got.Attempts)
			wantEqual(t, "last status", c.statuses[len(c.statuses)-1], got.LastStatus)
		})
	}
}

func TestNothingIsDeliveredToOtherMachines(t *testing.T) {
	s := startSandbox(t, sandbox.Options{})
	s.must(http.MethodPost, "/ext/webhooks/subscribe", object{"url": "http://192.0.2.1/hook"})
	s.create(mandate("acme", "jane"))
	wantEqual(t, "state", control.Blocked, s.deliveries(1)[0].State)
}

func TestSubscriptionsChoose(t *testing.T) {
	target, _ := receiver(t, always(http.StatusOK))
	s := startSandbox(t, sandbox.Options{})
	first := s.create(mandate("first", "jane"))
	subscribe := func(body object) string {
		body["url"] = target
		return fmt.Sprint(s.must(http.MethodPost, "/ext/webhooks/subscribe", body).at("id"))
	}
	one := subscribe(object{"application_id": s.must("GET", first, nil).at("id")})
	review := subscribe(object{"events": []string{"application.in_review"}})
	s.create(mandate("second", "joe"))
	s.play(control.Play{Reference: "first"})
	s.play(control.Play{Reference: "second"})

	got := map[string]int{}
	for _, d := range s.deliveries(4) {
		got[fmt.Sprint(d.SubscriptionID, " ", d.Event)]++
	}
	wantEqual(t, "deliveries", map[string]int{
		one + " individual.completed": 1, one + " application.in_review": 1, review + " application.in_review": 2,
	}, got)
}

func TestRetrieveWebhook(t *testing.T) {
	s := startSandbox(t, sandbox.Options{})
	s.must(http.MethodPost, "/ext/webhooks/subscribe", object{"url": "https://hooks.example.com/all"})
	answered := s.must(http.MethodPost, "/ext/webhooks/subscribe", object{
		"url": "https://hooks.example.com/one", "events": []string{"application.completed"}, "application_id": 4711,
		"headers": object{"X-Kind": "test"},
	})
	wantEqual(t, "status code", http.StatusOK, answered.status)
	got := s.must("GET", "/ext/webhooks/retrieve/4711", nil)
	wantEqual(t, "what was answered", answered.tree(), got.tree())
	wantEqual(t, "members kept", any("test"), got.at("headers", "X-Kind"))
	wantEqual(t, "application", any(number("4711")), got.at("application_id"))

	two := object{"url": "https://hooks.example.com/two", "application_id": 4711}
	newest := s.must(http.MethodPost, "/ext/webhooks/subscribe", two)
	wantEqual(t, "the newest of two", newest.tree(), s.must("GET", "/ext/webhooks/retrieve/4711", nil).tree())
}
