package provider

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

func TestPlanChange(t *testing.T) {
	now := time.Now()
	created := history{Created: now.Add(-time.Hour), Seen: true}
	fresh, old := history{Imported: now, Seen: true}, history{Imported: now.Add(-time.Hour), Seen: true}
	recorded := history{Imported: now.Add(-time.Hour), Seen: true, Recorded: true}

	type edit = func(*subscriptionModel)
	events := func(m *subscriptionModel) { m.Events = eventSet("a") }
	payload := func(text string) edit { return func(m *subscriptionModel) { m.PayloadJSON = types.StringValue(text) } }
	abandon := func(m *subscriptionModel) { m.DeletionPolicy = types.StringValue(deletionAbandon) }
	unknownURL := func(m *subscriptionModel) { m.URL = types.StringUnknown() }

	cases := map[string]struct {
		history       history
		state, config edit
		replace       []string // attributes that need a replacement
		unchanged     bool     // the plan is the state
	}{
		"nothing changes":               {history: created, unchanged: true},
		"a policy only":                 {history: created, config: abandon},
		"another form of the JSON":      {history: created, state: payload(`{"a":1,"b":2}`), config: payload(`{ "b": 2, "a": 1 }`)},
		"another JSON":                  {history: created, state: payload(`{"a":1}`), config: payload(`{"a":2}`), replace: []string{"payload_json"}},
		"a large number is not rounded": {history: created, state: payload(`{"a":9007199254740993}`), config: payload(`{"a":9007199254740992}`), replace: []string{"payload_json"}},
		"events taken away":             {history: created, state: events, replace: []string{"events"}},
		"events added":                  {history: created, config: events, replace: []string{"events"}},
		"a URL that is not known yet may be another one":            {history: created, config: unknownURL, replace: []string{"url"}},
		"just imported: an import cannot know the policy":           {history: fresh, config: abandon, unchanged: true},
		"imported long ago: the policy comes to the state":          {history: old, config: abandon},
		"imported: the service showed events that nobody asked for": {history: old, state: events, unchanged: true},
		"imported: the payload is not shown, so it is taken over":   {history: old, config: payload(`{"a":1}`)},
		"imported, but the service showed other events": {
			history: old, state: func(m *subscriptionModel) { m.Events = eventSet("b") }, config: events, replace: []string{"events"},
		},
		"imported and since then recorded: a payload is a change": {history: recorded, config: payload(`{"a":1}`), replace: []string{"payload_json"}},
	}
	for situation, test := range cases {
		t.Run(situation, func(t *testing.T) {
			state, config := model(test.state), model(test.config)
			plan := config
			var resp resource.ModifyPlanResponse
			planChange(&config, &plan, &state, test.history, &resp)
			var replace []string
			for _, p := range resp.RequiresReplace {
				replace = append(replace, p.String())
			}
			if diff := cmp.Diff(test.replace, replace); diff != "" {
				t.Errorf("replacement: %s", diff)
			}
			if stopped := resp.Diagnostics.HasError(); stopped != (test.replace != nil) {
				t.Errorf("PREVENT: stopped is %v: %v", stopped, resp.Diagnostics)
			}
			if same := cmp.Equal(state, plan); same != test.unchanged {
				t.Errorf("unchanged is %v, want %v: %s", same, test.unchanged, cmp.Diff(state, plan))
			}
		})
	}
}

func TestHistory(t *testing.T) {
	now := time.Now()
	absence := map[string]struct {
		history history
		want    bool
	}{
		"never seen, however old": {history{Created: now.Add(-time.Hour)}, false},
		"seen, but just created":  {history{Created: now.Add(-time.Second), Seen: true}, false},
		"seen and settled":        {history{Created: now.Add(-time.Hour), Seen: true}, true},
		"taken over":              {history{Seen: true}, true},
	}
	for situation, test := range absence {
		if got := test.history.absenceCounts(now); got != test.want {
			t.Errorf("%s: absence counts: %v, want %v", situation, got, test.want)
		}
	}
}
