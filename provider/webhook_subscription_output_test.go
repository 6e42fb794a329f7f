package provider

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
)

// answered returns a subscription that was answered with a response, and the warnings.
func answered(m subscriptionModel, response string) (subscriptionModel, string) {
	var diags diag.Diagnostics
	m.setComputed()
	m.setResponse(&client.SubscriptionResponse{ID: 7, Raw: client.Hide(json.RawMessage(response))}, &diags)
	var warning strings.Builder
	for _, d := range diags {
		warning.WriteString(d.Detail())
	}
	return m, warning.String()
}

func exporting(pointers map[string]string) subscriptionModel {
	values := map[string]attr.Value{}
	for name, pointer := range pointers {
		values[name] = types.StringValue(pointer)
	}
	return model(func(m *subscriptionModel) { m.ExportValues = types.MapValueMust(types.StringType, values) })
}

// What response_export_values names is stored, and nothing else of the response.
func TestOutput(t *testing.T) {
	const response = `{"id":9007199254740993,"signing":{"secret":"s","keys":[{"a/b":1},{"m~n":true}]},
		"none":null,"Name":"Jane"}`
	for pointer, want := range map[string]string{
		"/id":                   "9007199254740993",
		"/signing/secret":       "s",
		"/signing/keys":         `[{"a/b":1},{"m~n":true}]`,
		"/signing/keys/0/a~1b":  "1",
		"/signing/keys/1/m~0n":  "true",
		"/signing/keys/2":       "",
		"/signing/keys/-1":      "",
		"/signing/keys/first":   "",
		"/signing/secret/value": "",
		"/none":                 "",
		"/name":                 "",
		"/":                     "",
	} {
		m, warning := answered(exporting(map[string]string{"value": pointer}), response)
		warned := strings.Contains(warning, "value of value is null")
		if got := stringsOf(m.Output)["value"]; got != want || (want == "") != warned {
			t.Errorf("%s: got %q, want %q, warning %q", pointer, got, want, warning)
		}
	}
	m, warning := answered(exporting(map[string]string{"id": "/id"}), response)
	if diff := cmp.Diff(map[string]string{"id": "9007199254740993"}, stringsOf(m.Output)); diff != "" || warning != "" {
		t.Errorf("(-want +got):\n%s%s", diff, warning)
	}
	for _, response := range []string{`"Jane"`, `[]`, `{}`, `null`, `<html>`, ``} {
		if m, warning := answered(exporting(map[string]string{"id": "/id"}), response); !m.Output.Elements()["id"].IsNull() ||
			warning == "" {
			t.Errorf("%s: stored %s, warning %q", response, m.Output, warning)
		}
	}
}

// The pointers have the names of a response, and none of its values.
func TestResponsePointers(t *testing.T) {
	m, _ := answered(model(nil), `{"data":{"webhook":{"id":7,"url":"u","none":null,"empty":{}},"tags":["Jane","Joe"],
		"people":[{"name":"Jane"},{"age":1}],"+44 7700 900123":1,"Jane Doe":{"id":8}}}`)
	var got []string
	for _, pointer := range m.Pointers.Elements() {
		got = append(got, pointer.(types.String).ValueString())
	}
	want := []string{"/data/tags/0", "/data/webhook/id", "/data/webhook/url", "/data/people/0/name"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What the service repeats of url_wo and payload_json_wo is not stored, even if the user names it.
func TestOutputRepeatsNoSecret(t *testing.T) {
	secret := exporting(map[string]string{"value": "/value"})
	urlWriteOnly("https://usr-1@hooks.example.com/tkn-1/idv?key=q-key-1", 1)(&secret)
	secret.PayloadWriteOnly = types.StringValue(`{"auth":{"value":"user-token-0123456789"},"pin":471147}`)
	for value, stored := range map[string]bool{
		`"made-by-the-service-1"`:                   true,
		`"user-token-0123456789"`:                   false,
		`"Bearer user-token-0123456789"`:            false,
		`"user-token-012345"`:                       false,
		`{"a":["x","v1=user-token-0123456789"]}`:    false,
		`{"user-token-0123456789":1}`:               false,
		`471147`:                                    false,
		`"https://hooks.example.com/tkn-1/idv"`:     false,
		`"for usr-1"`:                               false,
		`"dkn-1"`:                                   true,
		`"https://hooks.example.com/x?key=q-key-1"`: false,
		`"https://other.example.com/"`:              true,
	} {
		m, warning := answered(secret, `{"value":`+value+`}`)
		if got := !m.Output.Elements()["value"].IsNull(); got != stored || got == strings.Contains(warning, "repeats") {
			t.Errorf("%s: stored %v, want %v, warning %q", value, got, stored, warning)
		}
	}
	secret.PayloadWriteOnly = types.StringValue(`{"pin":7}`)
	if m, _ := answered(secret, `{"id":7}`); !m.SubscriptionID.IsNull() {
		t.Errorf("want no ID that repeats a secret, got %s", m.SubscriptionID)
	}
}

func TestStoredID(t *testing.T) {
	for id, want := range map[int64]int64{
		7: 7, 9007199254740993: 9007199254740993, 447700900123: 0, 0: 0, -7: 0,
	} {
		if got := storedID(id); got != want {
			t.Errorf("%d: got %d", id, got)
		}
	}
}
