package provider

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
)

// stored returns response_json and webhook_json of a subscription that was answered with a response, and the warning.
func stored(t *testing.T, m subscriptionModel, writeOnly, response string) (first, read, warning string) {
	t.Helper()
	var diags diag.Diagnostics
	raw, payload := client.Hide(json.RawMessage(response)), types.StringNull()
	private := privateData{}
	if writeOnly != "" {
		payload = types.StringValue(writeOnly)
		private.WriteOnly = newWriteOnlyDigest(payload)
	}
	m.setComputed()
	m.setResponse(&client.SubscriptionResponse{Raw: raw}, payload, &diags)
	m.setMatches([]client.Webhook{{Raw: raw}}, private, &diags)
	for _, d := range diags {
		warning += d.Detail()
	}
	return m.ResponseJSON.ValueString(), m.WebhookJSON.ValueString(), warning
}

func containsAll(text string, words ...string) bool {
	return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) })
}

// A field is stored under its name, in its place and with a value of its type. A secret that the service generated is
// stored once, because the service may return it only once.
func TestAnswersInTheState(t *testing.T) {
	m := model(func(m *subscriptionModel) {
		m.Events, m.KeepResponseFields = eventSet("x-17"), eventSet("whsec", "Sealed")
	})
	const (
		notStored  = ""
		everywhere = "everywhere"
		once       = "once"
	)
	for field, want := range map[string]string{
		`"id":7`:                  everywhere,
		`"webhookId":"7"`:         everywhere,
		`"id":9007199254740993`:   everywhere,
		`"id":447700900123`:       notStored,
		`"id":"+44 7700 900123"`:  notStored,
		`"id":"1953-04-17"`:       notStored,
		`"id":-7`:                 notStored,
		`"id":[7]`:                notStored,
		`"id":true`:               notStored,
		`"application_id":"Jane"`: notStored,
		`"id":"0b0e7a52-6f4c-4a0e-9b1c-3f0a8d2f4c11"`:                             everywhere,
		`"target_url":"` + receiverURL + `"`:                                      everywhere,
		`"url":"https://other.example.com/?key=secret"`:                           notStored,
		`"events":["x-17","application.completed","IN_REVIEW","checkFailed","*"]`: everywhere,
		`"events":["application.completed","Jane"]`:                               notStored,
		`"topics":["jane.doe"]`:                                                   notStored,
		`"event_types":"application.completed.v2"`:                                everywhere,
		`"status":"Active"`:                                                       everywhere,
		`"status":{"id":3,"status":"in review"}`:                                  everywhere,
		`"status":"Jane"`:                                                         notStored,
		`"state":"active, call +44 7700 900123"`:                                  notStored,
		`"enabled":false`:                                                         everywhere,
		`"is_pep":true`:                                                           notStored,
		`"created_at":"2026-01-02T03:04:05.678Z"`:                                 everywhere,
		`"created":"2026-01-02 03:04:05"`:                                         everywhere,
		`"created_at":"1953-04-17T00:00:00Z"`:                                     notStored,
		`"created_at":"2026-01-02"`:                                               notStored,
		`"created_at":1767323045`:                                                 notStored,
		`"born_at":"2026-01-02T03:04:05Z"`:                                        notStored,
		`"secret":"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"`:                       once,
		`"Signing-Key":"5f4dcc3b5aa765d61d8327deb882cf99"`:                        once,
		`"secret":"Jane Doe, 12 High Street, London"`:                             notStored,
		`"secret":"jane.doe.the.elder@example.com"`:                               notStored,
		`"secret":{"value":"5f4dcc3b5aa765d61d8327deb882cf99"}`:                   notStored,
		`"token":"5f4dcc3b5aa765d61d8327deb882cf99"`:                              notStored,
		`"whsec":"kept"`:                                                          once,
		`"sealed":{"key":"kept"}`:                                                 once,
		`"full_name":"Jane Doe"`:                                                  notStored,
		`"deliveries":[{"id":7,"status":"failed"}]`:                               notStored,
		`"data":["Jane"]`:                                                         notStored,
		`"data":"{\"id\":7}"`:                                                     notStored,
	} {
		first, read, warning := stored(t, m, "", "{"+field+"}")
		wantFirst, wantRead := "{"+field+"}", ""
		switch want {
		case everywhere:
			wantRead = wantFirst
		case notStored:
			wantFirst = ""
		}
		if first != wantFirst || read != wantRead || (warning != "") != (want == notStored) {
			t.Errorf("%s: got response_json %s, webhook_json %s, warning %q", field, first, read, warning)
		}
	}
}

// The webhook may be wrapped. What is around it and in it is left out.
func TestAnswersAreUnwrapped(t *testing.T) {
	first, read, warning := stored(t, model(nil), "", `{"message":"Hello Jane","empty":null,"none":[],"data":{"webhook":
		{"id":7,"mandate":{"id":4711,"name":"Jane","individuals":[{"id":1}]},"+44 7700 900123":1},"more":[[{"id":8}],3]}}`)
	const want = `{"data":{"webhook":{"id":7,"mandate":{"id":4711}}}}`
	if diff := cmp.Diff([]string{want, want}, []string{first, read}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !containsAll(warning, "because they may hold personal data: message, more, a field with an unusual name, ") {
		t.Errorf("want a warning that names the fields, got %q", warning)
	}
	for _, response := range []string{`"Jane"`, `[]`, `{}`, `null`, `<html>`, ``} {
		if first, read, _ := stored(t, model(nil), "", response); first+read != "" {
			t.Errorf("%s: stored %s, %s", response, first, read)
		}
	}
}

// The names in the warning are limited, and those that the request had are not news.
func TestWarningNamesFields(t *testing.T) {
	fields := map[string]any{"note": "mine", "pin": "****", "contact": "other"}
	for n := range 30 {
		fields[fmt.Sprintf("field_%02d", n)] = n + 1
	}
	response, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	m := model(func(m *subscriptionModel) { m.PayloadJSON = types.StringValue(`{"note": "mine", "contact": "one"}`) })
	_, _, warning := stored(t, m, `{"pin":"canary"}`, string(response))
	if !containsAll(warning, ": contact, field_00, ", "field_18, and 11 more") {
		t.Errorf("got %q", warning)
	}
}

// What the service repeats of payload_json_wo is not stored, under whatever name, even in a field to keep.
func TestAnswersRepeatWriteOnlyValues(t *testing.T) {
	const writeOnly = `{"secret":"user-secret-0123456789","auth":{"value":"user-token-0123456789"},"pin":471147,
		"events":["all"]}`
	m := model(func(m *subscriptionModel) { m.KeepResponseFields = eventSet("whsec", "copy") })
	for field, want := range map[string]string{
		`"secret":"made-by-the-service-1"`:               "", // the user has set it, so it is a form of that one
		`"signing_secret":"made-by-the-service-1"`:       "once",
		`"signing_secret":"user-token-0123456789"`:       "",
		`"signing_secret":"v1=user-token-0123456789"`:    "",
		`"signing_secret":"user-token-012345"`:           "",
		`"whsec":{"a":["Bearer user-token-0123456789"]}`: "",
		`"copy":"471147"`:                                "",
		`"events":["all"]`:                               "",
		`"id":471147`:                                    "",
	} {
		first, read, warning := stored(t, m, writeOnly, "{"+field+"}")
		if (first != "") != (want == "once") || warning != "" {
			t.Errorf("%s: got response_json %s, warning %q", field, first, warning)
		}
		if read != "" {
			t.Errorf("%s: got webhook_json %s", field, read)
		}
	}
}
