package sandbox_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/test/await"
)

var deliveryCases = cases{
	"deliveries=once":         wantDeliveries(1, 2),
	"deliveries=twice":        wantDeliveries(1, 1, 2, 2),
	"deliveries=late":         wantLateDelivery,
	"deliveries=out_of_order": wantDeliveries(2, 1),
	"deliveries=never":        wantDeliveries(),

	"deliveredStatus=any_2xx":  wantDelivered(control.Delivered, 1, nil),
	"deliveredStatus=only_200": wantDelivered(control.Failed, 3, false),

	"deliveryShape=nested": wantCall("application/json", func(got response, id string) bool {
		return fmt.Sprint(got.at("application", "id")) == id && got.at("application", "status", "status") == "created"
	}),
	"deliveryShape=flat": wantCall("application/json", func(got response, id string) bool {
		return fmt.Sprint(got.at("mandate_id")) == id && got.at("mandate_reference") == "acme"
	}),
	"deliveryShape=wrapped": wantCall("application/json", func(got response, id string) bool {
		return fmt.Sprint(got.at("data", "application", "id")) == id
	}),
	"deliveryShape=string_ids": wantCall("application/json", func(got response, id string) bool {
		return got.at("application", "id") == id
	}),
	"deliveryShape=list": wantCall("application/json", func(got response, id string) bool {
		return fmt.Sprint(got.at(0, "application", "id")) == id
	}),
	"deliveryShape=batch": wantBatch,
	"deliveryShape=thin": wantCall("application/json", func(got response, id string) bool {
		return string(got.body) == `{"event":"application.created","id":`+id+`}`
	}),
	"deliveryShape=individual_only": wantCall("application/json", func(got response, _ string) bool {
		_, isNumber := got.at("individual_id").(json.Number)
		return isNumber && got.at("individual_reference") == "acme.jane" && len(members(got.tree())) == 2
	}),
	"deliveryShape=reference_only": wantCall("application/json", func(got response, _ string) bool {
		return string(got.body) == `{"reference":"acme"}`
	}),
	"deliveryShape=form": wantCall("application/x-www-form-urlencoded", func(got response, id string) bool {
		return string(got.body) == "application_id="+id+"&event=application.created&reference=acme"
	}),
	"deliveryShape=empty": wantCall("", func(got response, _ string) bool { return len(got.body) == 0 }),
}

// wantDeliveries wants the sequence in which two deliveries arrive. Playing causes more of them, which come last.
func wantDeliveries(want ...int64) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		arrived := make(chan string, 10)
		target := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			arrived <- fmt.Sprint(response{body: body}.at("event"))
		}))
		t.Cleanup(target.Close)
		s.must(http.MethodPost, "/ext/webhooks/subscribe", object{"url": target.URL})
		path := s.create(mandate("acme", "jane"))
		sequence := map[string]int64{"application.created": 1, "application.archived": 2}
		if len(want) > 0 && want[0] == 1 {
			s.deliveries(len(want) / 2) // the first one has arrived before the second is sent
		}
		s.must(http.MethodPatch, path+"/archive", object{})
		var got []int64
		for range want {
			got = append(got, sequence[await.Receive(t, arrived, fmt.Sprintf("only %v arrived", got))])
		}
		wantEqual(t, "sequence", slices.Clone(want), got)
		wantEqual(t, "deliveries", len(want), len(s.deliveries(len(want))))
	}
}

// wantDelivered wants what becomes of deliveries to a target that answers 204, and whether the subscription is shown as
// active afterwards.
func wantDelivered(state control.DeliveryState, attempts int, active any) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		target, _ := receiver(t, always(http.StatusNoContent))
		path := s.create(mandate("acme", "jane"))
		id := strings.TrimPrefix(path, "/ext/applications/")
		s.must(http.MethodPost, "/ext/webhooks/subscribe", object{"url": target, "application_id": number(id)})
		s.play(control.Play{Reference: "acme", Step: control.AcceptTerms})
		got := s.deliveries(1)[0]
		wantEqual(t, "state", state, got.State)
		wantEqual(t, "attempts", attempts, got.Attempts)
		eventually(t, func() string {
			if shown := s.must("GET", "/ext/webhooks/retrieve/"+id, nil).at("active"); shown != active {
				return fmt.Sprintf("active is %v, want %v", shown, active)
			}
			return ""
		})
		s.must(http.MethodPatch, path+"/archive", object{})
		wantEqual(t, "a second delivery", active == nil, len(s.deliveries(1)) == 2)
	}
}

func wantCall(contentType string, valid func(got response, id string) bool) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		arrived := make(chan response, 1)
		target := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			arrived <- response{header: r.Header, body: body}
		}))
		t.Cleanup(target.Close)
		s.must(http.MethodPost, "/ext/webhooks/subscribe", object{"url": target.URL})
		id := fmt.Sprint(created(s).at("id"))
		wantEqual(t, "state", control.Delivered, s.deliveries(1)[0].State)
		got := <-arrived
		wantEqual(t, "content type", contentType, got.header.Get("Content-Type"))
		if !valid(got, id) {
			t.Errorf("the body is %s", got.body)
		}
	}
}

// wantLateDelivery wants a delivery after two seconds.
func wantLateDelivery(t *testing.T, s *testService) {
	t.Helper()
	arrived := make(chan time.Time, 1)
	target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived <- time.Now() }))
	t.Cleanup(target.Close)
	s.must(http.MethodPost, "/ext/webhooks/subscribe", object{"url": target.URL})
	before := time.Now()
	created(s)
	wantEqual(t, "state", control.Delivered, s.deliveries(1)[0].State)
	if late := (<-arrived).Sub(before); late < 2*time.Second {
		t.Errorf("it arrived after %v", late)
	}
}

// wantBatch wants one delivery of what happens at once.
func wantBatch(t *testing.T, s *testService) {
	t.Helper()
	target, bodies := receiver(t, always(http.StatusNoContent))
	id := fmt.Sprint(created(s).at("id"))
	s.must(http.MethodPost, "/ext/webhooks/subscribe", object{"url": target})
	s.play(control.Play{Reference: "acme"})
	wantEqual(t, "deliveries", 1, len(s.deliveries(1)))
	body := <-bodies
	for i, event := range []string{"individual.completed", "application.in_review"} {
		wantEqual(t, "event", any(event), at(body, "events", i, "event"))
		wantEqual(t, "application", id, fmt.Sprintf("%.0f", at(body, "events", i, "application", "id")))
	}
}

// The names of members are written as in responses.
func TestMemberCaseOfDeliveries(t *testing.T) {
	for memberCase, name := range map[string]string{"camel": "mandateId", "pascal": "MandateId", "upper": "MANDATE_ID"} {
		s := withDialect(t, "memberCase", memberCase)
		noError(t, s.SetDialect(t.Context(), "deliveryShape", "flat"))
		target, bodies := receiver(t, always(http.StatusNoContent))
		s.must(http.MethodPost, "/ext/webhooks/subscribe", object{"url": target})
		s.create(mandate("acme", "jane"))
		if body := <-bodies; body[name] == nil {
			t.Errorf("%s: the delivery has no %s: %v", memberCase, name, body)
		}
	}
}
