package provider

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/types"
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
		if got := made.shown(json.RawMessage(test.answer)).ValueString(); got != test.want {
			t.Errorf("%s: got %s, want %s", situation, got, test.want)
		}
	}
	if got := (*imprint)(nil).shown(json.RawMessage(`{"b": 1, "a": 2}`)).ValueString(); got != `{"a":2,"b":1}` {
		t.Errorf("without payload_json_wo: got %s", got)
	}
}
