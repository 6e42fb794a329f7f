package provider

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

const receiverURL = "https://hooks.example.com/idv"

// model returns a subscription with defaults and a change.
func model(change func(*subscriptionModel)) subscriptionModel {
	m := subscriptionModel{
		URL: types.StringValue(receiverURL), ApplicationID: types.Int64Value(4711),
		Events: types.SetNull(types.StringType), DeletionPolicy: types.StringValue(deletionPrevent),
		ExportValues: types.MapNull(types.StringType), Pointers: types.ListNull(types.StringType),
		Output: types.MapNull(types.StringType),
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

func TestSubscriptionRequest(t *testing.T) {
	m := model(func(m *subscriptionModel) {
		m.Events = eventSet("b", "a")
		m.PayloadJSON = types.StringValue(`{"secret":"s"}`)
		m.fieldNames = map[string]string{"url": "target_url"}
	})
	request := m.request()
	if got := request.URL.Reveal(); got != receiverURL {
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

	m = model(func(m *subscriptionModel) { m.ApplicationID = types.Int64Null() })
	least := m.request()
	if least.ApplicationID != 0 || least.Events != nil || least.Payload.Reveal() != nil {
		t.Errorf("what is null must not be sent: %d %v", least.ApplicationID, least.Events)
	}
}

// payload_json also replaces what identifies the subscription.
func TestDeliveryURL(t *testing.T) {
	const other = "https://other.example.com"
	all := []string{"applicationid", "events", "url"}
	withoutURL := []string{"applicationid", "events"}
	cases := map[string]struct {
		payload, urlField string
		want              string   // "" if it is unknown
		shown             []string // fields whose messages may be shown
	}{
		"as configured":       {want: receiverURL, shown: all},
		"further fields":      {payload: `{"secret": "s"}`, want: receiverURL, shown: all},
		"another URL":         {payload: `{"url": "` + other + `"}`, want: other, shown: withoutURL},
		"no URL":              {payload: `{"url": null}`, shown: withoutURL},
		"a URL, not a string": {payload: `{"url": {"href": "x"}}`, shown: withoutURL},
		"another application": {payload: `{"application_id": 1}`, shown: []string{"events", "url"}},
		"a field named url": {
			payload: `{"url": "` + other + `"}`, urlField: "target_url",
			want: receiverURL, shown: []string{"applicationid", "events", "targeturl"},
		},
		"another URL in a renamed field": {
			payload: `{"target_url": "` + other + `"}`, urlField: "target_url", want: other, shown: withoutURL,
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			m := model(func(m *subscriptionModel) {
				if test.payload != "" {
					m.PayloadJSON = types.StringValue(test.payload)
				}
				if test.urlField != "" {
					m.fieldNames = map[string]string{"url": test.urlField}
				}
			})
			got, _ := m.deliveryURL()
			if known := m.isIdentified(); known != (test.want != "") || known && got != test.want {
				t.Errorf("got %q, %v; want %q", got, known, test.want)
			}
			var shown []string
			for field := range m.requestFields(nil).attributes {
				shown = append(shown, field)
			}
			slices.Sort(shown)
			if diff := cmp.Diff(test.shown, shown); diff != "" {
				t.Errorf("fields whose messages may be shown: %s", diff)
			}
		})
	}
}

func TestReceiver(t *testing.T) {
	m := model(func(m *subscriptionModel) {
		m.URL = types.StringValue("https://user:canary@hooks.example.com/idv?token=canary#canary")
	})
	if got := m.receiver(); got != receiverURL {
		t.Errorf("got %q", got)
	}
}

// Terraform shows no line for an error at an attribute that the schema lacks.
func TestRequestFieldsAreInTheSchema(t *testing.T) {
	var schema resource.SchemaResponse
	newSubscriptionResource().Schema(t.Context(), resource.SchemaRequest{}, &schema)
	m := model(nil)
	for field, at := range m.requestFields(nil).attributes {
		attribute, problems := schema.Schema.AttributeAtPath(t.Context(), at)
		if problems.HasError() || attribute.IsSensitive() {
			t.Errorf("%s: %s is not in the schema, or sensitive: %v", field, at, problems)
		}
	}
}

func TestMergePayloads(t *testing.T) {
	null := types.StringNull()
	text := types.StringValue
	cases := map[string]struct {
		first, second types.String
		want          string
	}{
		"none":            {null, null, ""},
		"only the first":  {text(`{"a":1}`), null, `{"a":1}`},
		"only the second": {null, text(`{"a":1}`), `{"a":1}`},
		"both": {
			text(`{"a":1,"b":{"c":1}}`), text(`{"a":2,"b":{"d":2}}`), `{"a":2,"b":{"c":1,"d":2}}`,
		},
		"a null still removes a field":  {text(`{"events":null}`), text(`{"a":1}`), `{"a":1,"events":null}`},
		"the second has the last word":  {text(`{"a":1}`), text(`{"a":null}`), `{"a":null}`},
		"a large number keeps its form": {text(`{"n":9007199254740993}`), text(`{"a":1}`), `{"a":1,"n":9007199254740993}`},
	}
	for name, test := range cases {
		merged := types.StringValue(string(mergePayloads(test.first, test.second)))
		if got := normalizeJSON(merged).ValueString(); got != test.want {
			t.Errorf("%s: got %s, want %s", name, got, test.want)
		}
	}
}
