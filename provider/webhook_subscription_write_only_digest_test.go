package provider

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/types"
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
	if err != nil || strings.Contains(string(stored), "canary") || strings.Contains(string(stored), `"secret"`) {
		t.Errorf("the digest contains the secret, or its name (%v): %s", err, stored)
	}
}
