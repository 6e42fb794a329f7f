package v1alpha1_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// times says which times the API server takes. Go must be able to read those.
var times = map[string]bool{
	"2026-12-31T00:00:00Z":                true,
	"2026-12-31T23:59:59.123456789+14:00": true,
	"2024-02-29T12:00:00.5-23:59":         true,
	"9999-12-31T23:59:59Z":                true,
	"0001-01-01T00:00:00Z":                true,
	"0000-01-01T00:00:00Z":                true,
	"2026-12-31t00:00:00z":                false,
	"2026-12-31T00:00:00z":                false,
	"2026-12-31T00:00:00ZT":               false, // the format ignores what is after a second T
	"2026-12-31T00:00:00x5Z":              false,
	"2026-12-31T00:00:00,5Z":              false,
	"2026-12-31T00:00:00.Z":               false,
	"2026-12-31T00:00:00+24:00":           false,
	"2026-12-31T00:00:00+99:99":           false,
	"2026-12-31T24:00:00Z":                false,
	"2016-12-31T23:59:60Z":                false, // a leap second
	"2026-02-29T00:00:00Z":                false,
	"10000-01-01T00:00:00Z":               false,
	"2026-12-31 00:00:00Z":                false,
	"2026-12-31T00:00Z":                   false,
	"2026-12-31":                          false,
	"":                                    false,
}

// The API server takes no time in any field that would break the lists and watches of all objects of the kind.
func TestTimes(t *testing.T) {
	c := newClient(t)
	for kind, crd := range crds(t) {
		existing := suites[kind].existing(t, c, state{})
		walk(schemaOf(crd), "", func(path string, s *apiextensionsv1.JSONSchemaProps) {
			if s.Format != "date-time" {
				return
			}
			path = strings.ReplaceAll(strings.TrimPrefix(path, "."), "[]", "[0]")
			for _, list := range [][]any{{}, {"2026-12-31T00:00:00Z"}, {"a", nil}} { // the format allows them
				if err := attemptValue(t, c, existing, schemaOf(crd), path, list); len(violations(err)) == 0 {
					t.Errorf("%s: %s: %v was taken", kind, path, list)
				}
			}
			for value, want := range times {
				err := attemptValue(t, c, existing, schemaOf(crd), path, value)
				refused := slices.ContainsFunc(violations(err), func(v violation) bool { return v.field == path })
				if refused == want {
					t.Errorf("%s: %s: %q was refused: %t, want %t: %v", kind, path, value, refused, !want, err)
				}
				encoded, _ := json.Marshal(value)
				if err := json.Unmarshal(encoded, &metav1.Time{}); !refused && err != nil {
					t.Errorf("%s: %s: the API server takes %q, and Go does not: %v", kind, path, value, err)
				}
			}
		})
	}
}

// The time of an attempt is read with any fraction, and written with six digits.
func TestMicroTime(t *testing.T) {
	for text, want := range map[string]string{
		`"2026-01-01T00:00:01Z"`:                `"2026-01-01T00:00:01.000000Z"`,
		`"2026-01-01T02:00:01.25+02:00"`:        `"2026-01-01T00:00:01.250000Z"`,
		`"2026-01-01T00:00:01.123456Z"`:         `"2026-01-01T00:00:01.123456Z"`,
		`"2026-01-01T00:00:01.123456789Z"`:      `"2026-01-01T00:00:01.123456Z"`,
		`null`:                                  `null`,
		`"canary"`:                              ``,
		`{"canary": 1}`:                         ``,
		`"2026-01-01T00:00:01.000000Z, canary"`: ``,
	} {
		var read v1alpha1.MicroTime
		err := json.Unmarshal([]byte(text), &read)
		if want == "" {
			if err == nil || strings.Contains(err.Error(), "canary") {
				t.Errorf("%s: the error is %v, want one without the value", text, err)
			}
			continue
		}
		if got, _ := json.Marshal(read); err != nil || string(got) != want {
			t.Errorf("%s is written as %s, want %s: %v", text, got, want, err)
		}
	}
}
