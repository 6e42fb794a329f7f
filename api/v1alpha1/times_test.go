package v1alpha1_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// times says which times the API server takes. Go must be able to read those.
var times = map[string]bool{
	"2026-12-31T00:00:00Z":                true,
	"2026-12-31T23:59:59.123456789+14:00": true,
	"2024-02-29T12:00:00.5-23:59":         true,
	"2026-12-31T23:59:59.123456+14:00":    true, // what metav1.MicroTime reads has six digits
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

// The API server takes no time that Go cannot read, but in conditions, which are of Kubernetes.
func TestTimes(t *testing.T) {
	c := newClient(t)
	for kind, crd := range crds(t) {
		existing := suites[kind].existing(t, c, state{})
		walk(schemaOf(crd), "", func(path string, s *apiextensionsv1.JSONSchemaProps) {
			if s.Format != "date-time" || s.Pattern == "" {
				return
			}
			path = strings.ReplaceAll(strings.TrimPrefix(path, "."), "[]", "[0]")
			for value, want := range times {
				encoded, _ := json.Marshal(value)
				if strings.Contains(s.Pattern, "{6}") {
					want = want && json.Unmarshal(encoded, &metav1.MicroTime{}) == nil
				}
				err := attemptValue(t, c, existing, schemaOf(crd), path, value)
				refused := slices.ContainsFunc(violations(err), func(v violation) bool { return v.field == path })
				if refused == want {
					t.Errorf("%s: %s: %q was refused: %t, want %t: %v", kind, path, value, refused, !want, err)
				}
				if err := json.Unmarshal(encoded, &metav1.Time{}); !refused && err != nil {
					t.Errorf("%s: %s: the API server takes %q, and Go does not: %v", kind, path, value, err)
				}
			}
		})
	}
}
