package provider

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/mandate-io/idv/internal/client"
)

// An answer stands for what was subscribed before it was asked for, and for nothing later.
func TestAskSince(t *testing.T) {
	service := serviceThatShows(t, 200, `[{"id": 7, "url": "`+receiver+`"}]`)
	for situation, test := range map[string]struct {
		moment  func(first time.Time) time.Time
		urlName string
		shared  bool
	}{
		"subscribed before the answer was asked for": {func(first time.Time) time.Time { return first.Add(-time.Nanosecond) }, "url", true},
		"subscribed after it was asked for":          {func(first time.Time) time.Time { return first.Add(time.Nanosecond) }, "url", false},
		"subscribed at that very moment":             {func(first time.Time) time.Time { return first }, "url", false},
		"the URL has another name":                   {func(first time.Time) time.Time { return first.Add(-time.Nanosecond) }, "target", false},
	} {
		t.Run(situation, func(t *testing.T) {
			var turn turn
			first := turn.askAgain(t.Context(), service, 4711, "url")
			second := turn.askSince(test.moment(first.asked))(t.Context(), service, 4711, test.urlName)
			if first.err != nil || second.err != nil {
				t.Fatal(first.err, second.err)
			}
			if shared := first.webhooks == second.webhooks; shared != test.shared {
				t.Errorf("want the answer shared: %v, got %v", test.shared, shared)
			}
		})
	}
}

// A slow answer is as new as a quick one, once it is there: what waits for it shares it.
func TestAsk(t *testing.T) {
	service := serviceThatShows(t, 200, `[{"id": 7, "url": "`+receiver+`"}]`)
	for situation, test := range map[string]struct {
		asked, answered time.Duration // ago
		shared          bool
	}{
		"a moment ago":                  {freshness / 10, 0, true},
		"a moment ago, and took a time": {time.Minute, 0, true},
		"too long ago":                  {time.Minute, time.Minute, false},
	} {
		t.Run(situation, func(t *testing.T) {
			now, earlier := time.Now(), &client.Webhooks{}
			turn := turn{latest: &showing{webhooks: earlier, urlName: "url", asked: now.Add(-test.asked), answered: now.Add(-test.answered)}}
			if got := turn.ask(t.Context(), service, 4711, "url"); (got.webhooks == earlier) != test.shared || got.err != nil {
				t.Errorf("want the answer shared: %v (%v)", test.shared, got.err)
			}
		})
	}
}

// Time runs out without any interrupt, and who reads a warning looks for its cause.
func TestReadBackThatWaitsTooLong(t *testing.T) {
	var connection connection
	if _, ok := connection.turns.take(t.Context(), 4711); !ok {
		t.Fatal("the turn is taken")
	}
	ctx, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	c := creation{plan: model(nil), resp: &resource.CreateResponse{}}
	c.readBackTogether(ctx, &connection)
	if warnings := c.resp.Diagnostics; len(warnings) != 1 || !strings.Contains(warnings[0].Detail(), "time for it was over") {
		t.Errorf("want a warning about the time, got %v", warnings)
	}
}

// Only a service that has shown a list can be asked later: from one that shows the newest webhook alone, nothing is
// learned once another one was subscribed.
func TestListed(t *testing.T) {
	for situation, test := range map[string]struct {
		status int
		body   string
		listed bool
	}{
		"a list":                        {200, `[{"url": "` + receiver + `"}]`, true},
		"a wrapped list":                {200, `{"data": [{"url": "` + receiver + `"}]}`, true},
		"an object: perhaps the newest": {200, `{"url": "` + receiver + `"}`, false},
		"an empty list: perhaps an object as soon as there is one": {200, `[]`, false},
		"a list with a masked URL":                                 {200, `[{"url": "` + receiver + `"}, {"url": null}]`, false},
		"404":                                                      {404, ``, false},
		"nothing":                                                  {204, ``, false},
		"HTML":                                                     {200, `<html>`, false},
	} {
		t.Run(situation, func(t *testing.T) {
			var turn turn
			if turn.listed() {
				t.Error("listed before anything was asked")
			}
			turn.askAgain(t.Context(), serviceThatShows(t, test.status, test.body), 4711, "url")
			if turn.listed() != test.listed {
				t.Errorf("want %v, got %v", test.listed, turn.listed())
			}
		})
	}
}
