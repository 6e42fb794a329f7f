package operator_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// generator draws values that a schema allows, and a few that it does not: what it allows is for the API server to say.
type generator struct{ *rand.Rand }

// raw is JSON that an encoder would not write.
func raw(text string) any { return json.RawMessage(text) }

var (
	oddTimes = []string{
		"2026-12-31T00:00:00Z", "2026-12-31t00:00:00z", "2026-12-31T00:00:00z", "2026-12-31t00:00:00Z",
		"2026-12-31T00:00:00.5Z", "2026-12-31T00:00:00.123456Z", "2026-12-31T00:00:00.1234567890Z",
		"2026-12-31T00:00:00,5Z", "2026-12-31T00:00:00x5Z", "2026-12-31T00:00:00ZT", "2026-12-31T00:00:00Ztea",
		"2026-12-31T00:00:00+01:00", "2026-12-31T00:00:00-23:59", "2026-12-31T00:00:00+24:00",
		"2026-12-31T00:00:00+99:99", "2026-12-31T00:00:00", "2026-12-31", "2016-12-31T23:59:60Z", "2026-12-31T24:00:00Z",
		"2026-02-29T00:00:00Z", "2024-02-29T00:00:00Z", "0000-01-01T00:00:00Z", "0000-01-01T00:00:00+23:59",
		"0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "9999-12-31T23:59:59-23:59", "10000-01-01T00:00:00Z",
		"-001-01-01T00:00:00Z", "2026-12-31 00:00:00Z", "1767225600", "now", "",
	}
	oddIntegers = []string{
		"0", "1", "-1", "-0", "1.0", "1e3", "1E+3", "1.5", "1e-1", "0.0", "2147483647", "2147483648", "-2147483649",
		"9007199254740991", "9007199254740993", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
		"-9223372036854775809", "18446744073709551615", "1e15", "1e18", "1e19", "1e21", "1e22", "1e100", "1e308",
		"123456789012345678901234567890", "true", `"1"`,
	}
	oddTexts = []string{
		`""`, `" "`, `"\u0000"`, `"\ud800"`, `"\udc00x"`, `"\u001b[31m"`, `"\u202e"`, `"é"`, `"\ud83d\ude00"`, `"null"`,
		`"a/b"`, `"-"`, `"<>&\u2028"`, `"~1~0"`, `"{}"`, `"0x10"`, `"\ufeff"`, `"e\u0301"`, `"\n"`, `"A.b"`,
	}
	oddValues = []string{"null", "{}", "[]", "[null]", `{"": null}`, `""`, "0", "false", "1e3", `{"a": {"b": [1.0]}}`}
)

func pick[T any](g generator, values []T) T { return values[g.IntN(len(values))] }

// oneIn is true once in n times.
func (g generator) oneIn(n int) bool { return g.IntN(n) == 0 }

// value draws a value of a schema.
func (g generator) value(s *apiextensionsv1.JSONSchemaProps) any {
	switch {
	case g.oneIn(25):
		return raw(pick(g, oddValues))
	case len(s.Enum) > 0:
		return raw(string(pick(g, s.Enum).Raw))
	}
	switch s.Type {
	case "object":
		return g.object(s)
	case "array":
		return g.array(s)
	case "integer":
		return g.integer(s)
	case "boolean":
		return g.oneIn(2)
	default:
		return g.text(s)
	}
}

func (g generator) object(s *apiextensionsv1.JSONSchemaProps) any {
	object := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		property := s.Properties[name]
		if slices.Contains(s.Required, name) && !g.oneIn(50) || g.oneIn(3) {
			object[name] = g.value(&property)
		}
	}
	if s.AdditionalProperties != nil {
		for range g.IntN(4) {
			object[g.word()] = g.value(s.AdditionalProperties.Schema)
		}
	}
	if g.oneIn(20) {
		object[g.word()] = raw(pick(g, oddValues))
	}
	return object
}

// array draws a list, the items of which differ in the keys of the list.
func (g generator) array(s *apiextensionsv1.JSONSchemaProps) any {
	count := g.IntN(4)
	if s.MaxItems != nil && g.oneIn(40) {
		count = int(*s.MaxItems) + g.IntN(2)
	}
	items := []any{}
	for i := range count {
		item := g.value(s.Items.Schema)
		if fields, ok := item.(map[string]any); ok && !g.oneIn(20) {
			for _, key := range s.XListMapKeys {
				if property := s.Items.Schema.Properties[key]; property.Type == "string" && len(property.Enum) == 0 {
					fields[key] = fmt.Sprintf("n%d", i)
				}
			}
		}
		items = append(items, item)
	}
	return items
}

func (g generator) integer(s *apiextensionsv1.JSONSchemaProps) any {
	switch limit := g.IntN(6); {
	case limit == 0 && s.Minimum != nil:
		return int64(*s.Minimum) + g.Int64N(3) - 1
	case limit == 1 && s.Maximum != nil:
		return int64(*s.Maximum) + g.Int64N(3) - 1
	case limit < 3:
		return g.Int64N(100) + 1
	default:
		return raw(pick(g, oddIntegers))
	}
}

func (g generator) text(s *apiextensionsv1.JSONSchemaProps) any {
	switch {
	case s.Format == "date-time":
		return pick(g, oddTimes)
	case g.oneIn(4):
		return raw(pick(g, oddTexts))
	case s.MaxLength != nil && g.oneIn(20):
		return strings.Repeat(pick(g, []string{"a", "é", "\U0001f600"}), int(*s.MaxLength)+g.IntN(2))
	default:
		return g.word()
	}
}

// word draws a text that most rules allow.
func (g generator) word() string {
	return pick(g, []string{
		"jane", "acme", "x1", "Ready", "True", "kyc", "ab12cd", "https://idv.example.com", "jane@example.com", "1990-02-28",
	})
}

// vary changes some part of a value of a schema.
func (g generator) vary(s *apiextensionsv1.JSONSchemaProps, value any) any {
	switch value := value.(type) {
	case map[string]any:
		if len(s.Properties) == 0 || g.oneIn(10) {
			return g.value(s)
		}
		varied := maps.Clone(value)
		name := pick(g, slices.Sorted(maps.Keys(s.Properties)))
		property := s.Properties[name]
		if below, ok := value[name]; ok {
			varied[name] = g.vary(&property, below)
		} else {
			varied[name] = g.value(&property)
		}
		return varied
	case []any:
		if len(value) == 0 || g.oneIn(5) {
			return g.value(s)
		}
		varied := slices.Clone(value)
		i := g.IntN(len(value))
		varied[i] = g.vary(s.Items.Schema, value[i])
		return varied
	default:
		return g.value(s)
	}
}

// metadata draws some fields of metadata, which has no schema. What they may hold is written in Go.
func (g generator) metadata() map[string]any {
	drawn := map[string]any{}
	for range g.IntN(3) + 1 {
		switch g.IntN(8) {
		case 0:
			drawn["labels"] = map[string]any{g.word(): g.orOdd(g.word()), "a": g.orOdd("b")}
		case 1:
			drawn["annotations"] = map[string]any{g.word(): g.orOdd(g.word()), "a": g.orOdd(raw(pick(g, oddTexts)))}
		case 2:
			drawn["finalizers"] = []any{g.orOdd("example.com/" + g.word())}
		case 3:
			drawn["ownerReferences"] = []any{g.orOdd(map[string]any{
				"apiVersion": "v1", "kind": "Pod", "name": g.orOdd("a"), "uid": g.orOdd("b"), "controller": g.orOdd(true),
			})}
		case 4:
			drawn["managedFields"] = []any{g.orOdd(map[string]any{
				"manager": g.orOdd(g.word()), "operation": g.orOdd("Update"), "apiVersion": g.orOdd("idv.mandate.io/v1alpha1"),
				"time": g.orOdd(pick(g, oddTimes)), "fieldsType": g.orOdd("FieldsV1"), "subresource": g.orOdd("status"),
				"fieldsV1": g.orOdd(map[string]any{"f:spec": map[string]any{"f:" + g.word(): map[string]any{}}}),
			})}
		case 5:
			drawn["deletionGracePeriodSeconds"] = raw(pick(g, oddIntegers))
		case 6:
			name := pick(g, []string{"creationTimestamp", "deletionTimestamp"})
			drawn[name] = pick(g, oddTimes)
		default:
			name := pick(g, []string{"generation", "selfLink", "uid", "generateName", "clusterName", "unknown", "labels"})
			drawn[name] = g.orOdd(raw(pick(g, oddIntegers)))
		}
	}
	return drawn
}

func (g generator) orOdd(value any) any {
	if g.oneIn(12) {
		return raw(pick(g, oddValues))
	}
	return value
}
