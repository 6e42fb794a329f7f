package provider

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

func TestPlanUpdate(t *testing.T) {
	now := time.Now()
	created := privateData{Created: now.Add(-time.Hour), Seen: true}
	imported := privateData{Imported: now.Add(-time.Hour), Seen: true}
	recorded := privateData{Imported: now.Add(-time.Hour), Seen: true, Recorded: true}

	type edit = func(*subscriptionModel)
	events := func(m *subscriptionModel) { m.Events = eventSet("a") }
	payload := func(text string) edit { return func(m *subscriptionModel) { m.PayloadJSON = types.StringValue(text) } }
	abandon := func(m *subscriptionModel) { m.DeletionPolicy = types.StringValue(deletionAbandon) }
	url := func(text string) edit { return func(m *subscriptionModel) { m.URL = types.StringValue(text) } }
	unknownURL := func(m *subscriptionModel) { m.URL = types.StringUnknown() }

	otherEvents := func(m *subscriptionModel) { m.Events = eventSet("b") }

	cases := map[string]struct {
		private       privateData
		state, config edit
		replace       []string // attributes that need a replacement
		unchanged     bool     // the plan equals the state
	}{
		"no change":     {private: created, unchanged: true},
		"only a policy": {private: created, config: abandon},
		"another format of the JSON": {
			private: created, state: payload(`{"a":1,"b":2}`), config: payload(`{ "b": 2, "a": 1 }`),
		},
		"another JSON": {
			private: created, state: payload(`{"a":1}`), config: payload(`{"a":2}`), replace: []string{"payload_json"},
		},
		"a large number is not rounded": {
			private: created, state: payload(`{"a":9007199254740993}`), config: payload(`{"a":9007199254740992}`),
			replace: []string{"payload_json"},
		},
		"an empty payload": {private: created, config: payload(`{}`)},
		"url_wo with the same URL": {
			private: created, config: urlWriteOnly(receiverURL, 1),
		},
		"url_wo with another URL": {
			private: created, config: urlWriteOnly("https://other.example.com", 1), replace: []string{"url"},
		},
		"another url_wo": {
			private: created, state: urlWriteOnly(receiverURL, 0), config: urlWriteOnly("https://other.example.com", 0),
			replace: []string{"id"},
		},
		"another url_wo with another version": {
			private: created, state: urlWriteOnly(receiverURL, 1), config: urlWriteOnly("https://other.example.com", 2),
			replace: []string{"id"},
		},
		"another url_wo with the same version": {
			private: created, state: urlWriteOnly(receiverURL, 1), config: urlWriteOnly("https://other.example.com", 1),
			unchanged: true,
		},
		"another version of the same url_wo": {
			private: created, state: urlWriteOnly(receiverURL, 1), config: urlWriteOnly(receiverURL, 2),
		},
		"from url_wo to url": {private: created, state: urlWriteOnly(receiverURL, 1)},
		"an unknown url_wo may be another one": {
			private: created, state: urlWriteOnly(receiverURL, 0), replace: []string{"id"},
			config: func(m *subscriptionModel) { m.URL, m.URLWriteOnly = types.StringNull(), types.StringUnknown() },
		},
		"an unknown url_wo with the same version": {
			private: created, state: urlWriteOnly(receiverURL, 1), unchanged: true, config: func(m *subscriptionModel) {
				urlWriteOnly("", 1)(m)
				m.URLWriteOnly = types.StringUnknown()
			},
		},
		"imported: url_wo": {
			private: imported, state: urlWriteOnly(receiverURL, 0), config: urlWriteOnly(receiverURL, 1),
		},
		"imported without url":           {private: imported, state: urlWriteOnly(receiverURL, 0)},
		"the default port":               {private: created, config: url("https://HOOKS.example.com:443/idv")},
		"another port":                   {private: created, config: url(receiverURL + ":8443"), replace: []string{"url"}},
		"a payload that repeats the URL": {private: created, config: payload(`{"url":"` + receiverURL + `"}`)},
		"a payload with another URL": {
			private: created, config: payload(`{"url":"https://other.example.com"}`), replace: []string{"payload_json"},
		},
		"the URL moves into the payload": {
			private: created, config: func(m *subscriptionModel) {
				payload(`{"url":"` + receiverURL + `"}`)(m)
				url("https://other.example.com")(m)
			},
		},
		"the events move into the payload, in another order": {
			private: created, state: func(m *subscriptionModel) { m.Events = eventSet("a", "b") },
			config: payload(`{"events":["b","a"]}`),
		},
		"an unknown payload may be another one": {
			private: created, config: func(m *subscriptionModel) { m.PayloadJSON = types.StringUnknown() },
			replace: []string{"payload_json"},
		},
		"an unknown event may be another one": {
			private: created, state: events, config: func(m *subscriptionModel) {
				m.Events = types.SetValueMust(types.StringType, []attr.Value{types.StringUnknown()})
			},
			replace: []string{"events"},
		},
		"an empty write-only payload": {
			private: created, config: func(m *subscriptionModel) { m.PayloadWriteOnly = types.StringValue("{}") },
		},
		"an empty write-only payload removed": {
			private: privateData{Created: now, WriteOnly: newWriteOnlyDigest(types.StringValue("{}"))},
			state:   func(m *subscriptionModel) { m.PayloadVersion = types.Int64Value(1) },
		},
		"an unknown write-only payload may be another one": {
			private: privateData{Created: now, WriteOnly: newWriteOnlyDigest(types.StringValue(`{"a":"b"}`))},
			state:   func(m *subscriptionModel) { m.PayloadVersion = types.Int64Value(1) },
			config:  func(m *subscriptionModel) { m.PayloadWriteOnly = types.StringUnknown() },
			replace: []string{"payload_json_wo_version"},
		},
		"imported: the URL is the one in the payload": {
			private: imported, config: func(m *subscriptionModel) {
				payload(`{"url":"` + receiverURL + `","a":1}`)(m)
				url("https://other.example.com")(m)
			},
		},
		"imported: an unknown payload": {
			private: imported, config: func(m *subscriptionModel) { m.PayloadJSON = types.StringUnknown() },
		},
		"events removed": {private: created, state: events, replace: []string{"events"}},
		"events added":   {private: created, config: events, replace: []string{"events"}},
		"an unknown URL may be another one": {
			private: created, config: unknownURL, replace: []string{"url"},
		},
		"imported: the policy is what the user configured":  {private: imported, config: abandon},
		"imported: events that the service returned":        {private: imported, state: events, unchanged: true},
		"imported: the service does not return the payload": {private: imported, config: payload(`{"a":1}`)},
		"imported, but the service returned other events": {
			private: imported, state: otherEvents, config: events, replace: []string{"events"},
		},
		"imported and applied: a payload is a change": {
			private: recorded, config: payload(`{"a":1}`), replace: []string{"payload_json"},
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			state, config := model(test.state), model(test.config)
			state.ID = types.StringValue(state.identity().importID())
			state = *state.stored()
			plan := *config.stored()
			plan.ID = state.ID
			var resp resource.ModifyPlanResponse
			planUpdate(&config, &plan, &state, test.private, &resp)
			var replace []string
			for _, p := range resp.RequiresReplace {
				replace = append(replace, p.String())
			}
			if diff := cmp.Diff(test.replace, replace); diff != "" {
				t.Errorf("replacement: %s", diff)
			}
			if blocked := resp.Diagnostics.HasError(); blocked != (test.replace != nil) {
				t.Errorf("PREVENT: blocked is %v: %v", blocked, resp.Diagnostics)
			}
			unexported := cmpopts.IgnoreUnexported(subscriptionModel{})
			if same := cmp.Equal(state, *plan.stored(), unexported); same != test.unchanged {
				t.Errorf("unchanged is %v, want %v: %s", same, test.unchanged, cmp.Diff(state, *plan.stored(), unexported))
			}
		})
	}
}

func TestAbsenceIsConclusive(t *testing.T) {
	now := time.Now()
	cases := map[string]struct {
		private privateData
		want    bool
	}{
		"never returned, however old": {privateData{Created: now.Add(-time.Hour)}, false},
		"returned, but just created":  {privateData{Created: now.Add(-time.Second), Seen: true}, false},
		"returned, created long ago":  {privateData{Created: now.Add(-time.Hour), Seen: true}, true},
		"adopted":                     {privateData{Seen: true}, true},
	}
	for name, test := range cases {
		if got := test.private.absenceIsConclusive(now); got != test.want {
			t.Errorf("%s: got %v, want %v", name, got, test.want)
		}
	}
}

// urlWriteOnly moves the URL of a subscription into url_wo; version 0 is none.
func urlWriteOnly(url string, version int64) func(*subscriptionModel) {
	return func(m *subscriptionModel) {
		m.URL, m.URLWriteOnly = types.StringNull(), types.StringValue(url)
		if version != 0 {
			m.URLVersion = types.Int64Value(version)
		}
	}
}
