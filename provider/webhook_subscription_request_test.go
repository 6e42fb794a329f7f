package provider

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

const receiver = "https://hooks.example.com/idv"

// model is a subscription with what the cases of a test do not care about.
func model(change func(*subscriptionModel)) subscriptionModel {
	m := subscriptionModel{
		URL: types.StringValue(receiver), ApplicationID: types.Int64Value(4711),
		Events: types.SetNull(types.StringType), FieldNames: types.MapNull(types.StringType),
		DeletionPolicy: types.StringValue(deletionPrevent), OnExisting: types.StringValue(existingFail),
	}
	if change != nil {
		change(&m)
	}
	return m
}

func eventSet(events ...string) types.Set {
	var values []attr.Value
	for _, event := range events {
		values = append(values, types.StringValue(event))
	}
	return types.SetValueMust(types.StringType, values)
}

func renamed(attribute, name string) types.Map {
	return types.MapValueMust(types.StringType, map[string]attr.Value{attribute: types.StringValue(name)})
}

func TestSubscriptionRequest(t *testing.T) {
	request := model(func(m *subscriptionModel) {
		m.Events = eventSet("b", "a")
		m.PayloadJSON = types.StringValue(`{"secret":"s"}`)
		m.FieldNames = renamed("url", "target_url")
	}).request(types.StringNull())
	if got := request.URL.Reveal(); got != receiver {
		t.Errorf("URL: got %q", got)
	}
	if request.ApplicationID != 4711 {
		t.Errorf("application: got %d", request.ApplicationID)
	}
	if diff := cmp.Diff([]string{"a", "b"}, request.Events); diff != "" {
		t.Errorf("events: %s", diff)
	}
	if diff := cmp.Diff(map[string]string{"url": "target_url"}, request.FieldNames); diff != "" {
		t.Errorf("names: %s", diff)
	}
	if got := string(request.Payload.Reveal()); got != `{"secret":"s"}` {
		t.Errorf("payload: got %q", got)
	}

	least := model(func(m *subscriptionModel) { m.ApplicationID = types.Int64Null() }).request(types.StringNull())
	if least.ApplicationID != 0 || least.Events != nil || least.Payload.Reveal() != nil {
		t.Errorf("what is null must not be sent: %d %v", least.ApplicationID, least.Events)
	}
}

// payload_json has the last word, about what identifies the subscription too.
func TestSubscriptionReceiver(t *testing.T) {
	cases := map[string]struct {
		payload, urlName string
		want             string // "" if it cannot be known
		shown            []string
	}{
		"as configured":               {want: receiver, shown: []string{"applicationid", "events", "url"}},
		"further fields":              {payload: `{"secret": "s"}`, want: receiver, shown: []string{"applicationid", "events", "url"}},
		"another URL":                 {payload: `{"url": "https://other.example.com"}`, want: "https://other.example.com", shown: []string{"applicationid", "events"}},
		"no URL":                      {payload: `{"url": null}`, shown: []string{"applicationid", "events"}},
		"a URL that is no text":       {payload: `{"url": {"href": "x"}}`, shown: []string{"applicationid", "events"}},
		"another application":         {payload: `{"application_id": 1}`, shown: []string{"events", "url"}},
		"a field that only looks so":  {payload: `{"url": "https://other.example.com"}`, urlName: "target_url", want: receiver, shown: []string{"applicationid", "events", "targeturl"}},
		"another URL in another name": {payload: `{"target_url": "https://other.example.com"}`, urlName: "target_url", want: "https://other.example.com", shown: []string{"applicationid", "events"}},
	}
	for situation, test := range cases {
		t.Run(situation, func(t *testing.T) {
			m := model(func(m *subscriptionModel) {
				if test.payload != "" {
					m.PayloadJSON = types.StringValue(test.payload)
				}
				if test.urlName != "" {
					m.FieldNames = renamed("url", test.urlName)
				}
			})
			if got, known := m.receiver(); known != (test.want != "") || known && got != test.want {
				t.Errorf("got %q, %v; want %q", got, known, test.want)
			}
			var shown []string
			for field := range m.sent(types.StringNull()).fields {
				shown = append(shown, field)
			}
			slices.Sort(shown)
			if diff := cmp.Diff(test.shown, shown); diff != "" {
				t.Errorf("fields whose messages may be shown: %s", diff)
			}
		})
	}
}

func TestShownURL(t *testing.T) {
	m := model(func(m *subscriptionModel) {
		m.URL = types.StringValue("https://user:canary@hooks.example.com/idv?token=canary#canary")
	})
	if got := m.shownURL(); got != receiver {
		t.Errorf("got %q", got)
	}
}

// A complaint at an attribute that the schema lacks would be shown at no line at all.
func TestComplaintsAreAtAttributesOfTheSchema(t *testing.T) {
	var schema resource.SchemaResponse
	newSubscriptionResource().Schema(t.Context(), resource.SchemaRequest{}, &schema)
	for field, at := range model(nil).sent(types.StringNull()).fields {
		attribute, problems := schema.Schema.AttributeAtPath(t.Context(), at)
		if problems.HasError() || attribute.IsSensitive() {
			t.Errorf("%s: %s is not in the schema, or sensitive: %v", field, at, problems)
		}
	}
}

func TestMergedPayload(t *testing.T) {
	null := types.StringNull()
	text := types.StringValue
	cases := map[string]struct {
		first, second types.String
		want          string
	}{
		"none":                          {null, null, ""},
		"only the first":                {text(`{"a":1}`), null, `{"a":1}`},
		"only the second":               {null, text(`{"a":1}`), `{"a":1}`},
		"both":                          {text(`{"a":1,"b":{"c":1}}`), text(`{"a":2,"b":{"d":2}}`), `{"a":2,"b":{"c":1,"d":2}}`},
		"a null still removes a field":  {text(`{"events":null}`), text(`{"a":1}`), `{"a":1,"events":null}`},
		"the second has the last word":  {text(`{"a":1}`), text(`{"a":null}`), `{"a":null}`},
		"a large number keeps its form": {text(`{"n":9007199254740993}`), text(`{"a":1}`), `{"a":1,"n":9007199254740993}`},
	}
	for situation, test := range cases {
		if got := normalized(merged(test.first, test.second)).ValueString(); got != test.want {
			t.Errorf("%s: got %s, want %s", situation, got, test.want)
		}
	}
}
