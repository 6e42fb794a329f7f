package provider

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
)

func TestWriteOnlyDigestDetectsChanges(t *testing.T) {
	digest := newWriteOnlyDigest(types.StringValue(`{"secret": "canary-secret", "n": 1}`))
	cases := map[string]struct {
		payload types.String
		want    bool
	}{
		"the same":                  {types.StringValue(`{"secret": "canary-secret", "n": 1}`), false},
		"another format":            {types.StringValue(`{"n":1,"secret":"canary-secret"}`), false},
		"another secret":            {types.StringValue(`{"secret": "canary-other", "n": 1}`), true},
		"unknown":                   {types.StringUnknown(), false},
		"removed, with its version": {types.StringNull(), false},
	}
	for name, test := range cases {
		if got := digest.differsFrom(test.payload); got != test.want {
			t.Errorf("%s: differs is %v, want %v", name, got, test.want)
		}
	}
	if (*writeOnlyDigest)(nil).differsFrom(types.StringValue(`{}`)) {
		t.Error("want no difference without a digest")
	}
	other := newWriteOnlyDigest(types.StringValue(`{"secret": "canary-secret", "n": 1}`))
	if bytes.Equal(other.Whole, digest.Whole) {
		t.Error("equal secrets of two subscriptions have equal digests: there is no salt")
	}
	stored, err := json.Marshal(digest)
	if err != nil || strings.Contains(string(stored), "canary") {
		t.Errorf("the digest contains the secret (%v): %s", err, stored)
	}
}

// Without redaction, response_json and webhook_json would bring a secret that the service repeats into the state.
func TestWriteOnlyDigestRedactsResponses(t *testing.T) {
	digest := newWriteOnlyDigest(types.StringValue(`{"signing_secret": "canary-secret",
		"auth": {"header": "X", "value": "canary-token"}, "pin": 4711}`))
	cases := map[string]struct{ response, want string }{
		"as it was sent":     {`{"id": 7, "signing_secret": "canary-secret"}`, `{"id":7,"signing_secret":"[write-only]"}`},
		"masked":             {`{"signingSecret": "canary-sec***"}`, `{"signingSecret":"[write-only]"}`},
		"under another name": {`{"data": [{"key": "canary-token"}]}`, `{"data":[{"key":"[write-only]"}]}`},
		"a number as string": {`{"code": "4711"}`, `{"code":"[write-only]"}`},
		"a whole object":     {`{"auth": {"header": "X", "more": "canary"}}`, `{"auth":"[write-only]"}`},
		"not from payload_json_wo": {
			`{"url": "https://hooks.example.com", "header": "X"}`, `{"header":"X","url":"https://hooks.example.com"}`,
		},
	}
	for name, test := range cases {
		if got := digest.redact(json.RawMessage(test.response), isPersonal).ValueString(); got != test.want {
			t.Errorf("%s: got %s, want %s", name, got, test.want)
		}
	}
	got := (*writeOnlyDigest)(nil).redact(json.RawMessage(`{"b": 1, "a": 2}`), isPersonal)
	if got.ValueString() != `{"a":2,"b":1}` {
		t.Errorf("without payload_json_wo: got %s", got)
	}
}

// Each comparison is slow on purpose, and the service decides about the size of the response.
func TestWriteOnlyDigestLimitsComparisons(t *testing.T) {
	digest := newWriteOnlyDigest(types.StringValue(`{"auth": {"value": "canary-token"}}`))
	var scalars []string
	for n := range 100 * maxComparisons {
		scalars = append(scalars, `"usual"`, fmt.Sprintf(`"value-%d"`, n))
	}
	response := "[" + strings.Join(scalars, ",") + `, "canary-token", {"auth": "canary"}, "no"]`
	var redacted []any
	text := digest.redact(json.RawMessage(response), isPersonal).ValueString()
	if err := json.Unmarshal([]byte(text), &redacted); err != nil {
		t.Fatal(err)
	}
	kept := map[any]bool{}
	for _, scalar := range redacted[:len(scalars)] {
		kept[scalar] = true
	}
	if len(kept) != maxComparisons+1 || !kept["usual"] || !kept["value-0"] || !kept[redactedUnchecked] {
		t.Errorf("%d different values remain", len(kept))
	}
	want := []any{redactedUnchecked, map[string]any{"auth": redactedWriteOnly}, "no"}
	if diff := cmp.Diff(want, redacted[len(scalars):]); diff != "" {
		t.Errorf("after them (-want +got):\n%s", diff)
	}
}

// A response about a subscription may contain personal data, such as deliveries. A secret that the service generates
// and returns only once must not be lost. One that it returns every time need not be stored.
func TestAnswersInTheState(t *testing.T) {
	const response = `{"id": 7, "url": "https://hooks.example.com", "signing_secret": "generated",
		"individual_reference": "canary", "IndividualID": 1,
		"deliveries": [{"at": "now", "email": "canary", "emailAddress": "canary",
			"body": {"first_name": "canary", "reference": "A-1"}}]}`
	const redacted = `{"deliveries":[{"at":"now","body":{"reference":"A-1"}}],"id":7,%s"url":"https://hooks.example.com"}`
	for name, digest := range map[string]*writeOnlyDigest{
		"without payload_json_wo, or imported": nil,
		"with payload_json_wo":                 newWriteOnlyDigest(types.StringValue(`{"pin": "canary-pin"}`)),
	} {
		t.Run(name, func(t *testing.T) {
			m := model(nil)
			m.setComputed(&client.SubscriptionResponse{Raw: client.Hide(json.RawMessage(response))}, digest)
			if want := fmt.Sprintf(redacted, `"signing_secret":"generated",`); m.ResponseJSON.ValueString() != want {
				t.Errorf("response_json: got %s, want %s", m.ResponseJSON.ValueString(), want)
			}
			m.setMatches([]client.Webhook{{Raw: client.Hide(json.RawMessage(response))}}, privateData{WriteOnly: digest}, nil)
			if want := fmt.Sprintf(redacted, ""); m.WebhookJSON.ValueString() != want {
				t.Errorf("webhook_json: got %s, want %s", m.WebhookJSON.ValueString(), want)
			}
		})
	}
}
