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

func TestImprintNoticesAnotherPayload(t *testing.T) {
	made := imprintOf(types.StringValue(`{"secret": "canary-secret", "n": 1}`))
	cases := map[string]struct {
		payload types.String
		want    bool
	}{
		"the same":                  {types.StringValue(`{"secret": "canary-secret", "n": 1}`), false},
		"another form":              {types.StringValue(`{"n":1,"secret":"canary-secret"}`), false},
		"another secret":            {types.StringValue(`{"secret": "canary-other", "n": 1}`), true},
		"not known yet":             {types.StringUnknown(), false},
		"taken away, by the number": {types.StringNull(), false},
	}
	for situation, test := range cases {
		if got := made.differs(test.payload); got != test.want {
			t.Errorf("%s: differs is %v, want %v", situation, got, test.want)
		}
	}
	if (*imprint)(nil).differs(types.StringValue(`{}`)) {
		t.Error("without an imprint nothing can be told")
	}
	if other := imprintOf(types.StringValue(`{"secret": "canary-secret", "n": 1}`)); bytes.Equal(other.Whole, made.Whole) {
		t.Error("equal secrets of two subscriptions have equal digests: there is no salt")
	}
	if kept, err := json.Marshal(made); err != nil || strings.Contains(string(kept), "canary") {
		t.Errorf("the imprint holds the secret (%v): %s", err, kept)
	}
}

// What the service repeats of a secret would otherwise get into the state by response_json and webhook_json.
func TestImprintHidesWhatTheServiceRepeats(t *testing.T) {
	made := imprintOf(types.StringValue(`{"signing_secret": "canary-secret", "auth": {"header": "X", "value": "canary-token"}, "pin": 4711}`))
	cases := map[string]struct{ answer, want string }{
		"as it was sent":       {`{"id": 7, "signing_secret": "canary-secret"}`, `{"id":7,"signing_secret":"[write-only]"}`},
		"in other words":       {`{"signingSecret": "canary-sec***"}`, `{"signingSecret":"[write-only]"}`},
		"under another name":   {`{"data": [{"key": "canary-token"}]}`, `{"data":[{"key":"[write-only]"}]}`},
		"a number as a text":   {`{"code": "4711"}`, `{"code":"[write-only]"}`},
		"a whole object":       {`{"auth": {"header": "X", "more": "canary"}}`, `{"auth":"[write-only]"}`},
		"what was not sent so": {`{"url": "https://hooks.example.com", "header": "X"}`, `{"header":"X","url":"https://hooks.example.com"}`},
	}
	for situation, test := range cases {
		if got := made.shown(json.RawMessage(test.answer), isPersonal).ValueString(); got != test.want {
			t.Errorf("%s: got %s, want %s", situation, got, test.want)
		}
	}
	if got := (*imprint)(nil).shown(json.RawMessage(`{"b": 1, "a": 2}`), isPersonal).ValueString(); got != `{"a":2,"b":1}` {
		t.Errorf("without payload_json_wo: got %s", got)
	}
}

// Each comparison is slow on purpose. The answer is the service's, and so is its size.
func TestImprintComparesSoManyValues(t *testing.T) {
	made := imprintOf(types.StringValue(`{"auth": {"value": "canary-token"}}`))
	var leaves []string
	for n := range 100 * mostChecked {
		leaves = append(leaves, `"usual"`, fmt.Sprintf(`"value-%d"`, n))
	}
	answer := "[" + strings.Join(leaves, ",") + `, "canary-token", {"auth": "canary"}, "no"]`
	var shown []any
	if err := json.Unmarshal([]byte(made.shown(json.RawMessage(answer), isPersonal).ValueString()), &shown); err != nil {
		t.Fatal(err)
	}
	kept := map[any]bool{}
	for _, leaf := range shown[:len(leaves)] {
		kept[leaf] = true
	}
	if len(kept) != mostChecked+1 || !kept["usual"] || !kept["value-0"] || !kept[unchecked] {
		t.Errorf("%d values are shown", len(kept))
	}
	if diff := cmp.Diff([]any{unchecked, map[string]any{"auth": hidden}, "no"}, shown[len(leaves):]); diff != "" {
		t.Errorf("after them (-want +got):\n%s", diff)
	}
}

// What the service shows of a subscription may be about people, like its deliveries. What it makes up itself and shows once
// must not be lost, and what it shows every time need not be kept.
func TestAnswersInTheState(t *testing.T) {
	const answer = `{"id": 7, "url": "https://hooks.example.com", "signing_secret": "made-up", "individual_reference": "canary", "IndividualID": 1,
		"deliveries": [{"at": "now", "email": "canary", "emailAddress": "canary", "body": {"first_name": "canary", "reference": "A-1"}}]}`
	const without = `{"deliveries":[{"at":"now","body":{"reference":"A-1"}}],"id":7,%s"url":"https://hooks.example.com"}`
	for situation, secret := range map[string]*imprint{
		"without payload_json_wo, or imported": nil,
		"with payload_json_wo":                 imprintOf(types.StringValue(`{"pin": "canary-pin"}`)),
	} {
		t.Run(situation, func(t *testing.T) {
			m := model(nil)
			m.settle(&client.SubscriptionResponse{Raw: client.Hide(json.RawMessage(answer))}, secret)
			if want := fmt.Sprintf(without, `"signing_secret":"made-up",`); m.ResponseJSON.ValueString() != want {
				t.Errorf("response_json: got %s, want %s", m.ResponseJSON.ValueString(), want)
			}
			m.observe([]client.Webhook{{Raw: client.Hide(json.RawMessage(answer))}}, history{WriteOnly: secret}, nil)
			if want := fmt.Sprintf(without, ""); m.WebhookJSON.ValueString() != want {
				t.Errorf("webhook_json: got %s, want %s", m.WebhookJSON.ValueString(), want)
			}
		})
	}
}
