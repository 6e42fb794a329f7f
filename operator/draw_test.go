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

// drawer draws values that a schema allows, and a few that it does not: what it allows is for the API server to say.
type drawer struct{ *rand.Rand }

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

func pick[T any](d drawer, values []T) T { return values[d.IntN(len(values))] }

// oneIn is true once in n times.
func (d drawer) oneIn(n int) bool { return d.IntN(n) == 0 }

// value draws a value of a schema.
func (d drawer) value(s *apiextensionsv1.JSONSchemaProps) any {
	switch {
	case d.oneIn(25):
		return raw(pick(d, oddValues))
	case len(s.Enum) > 0:
		return raw(string(pick(d, s.Enum).Raw))
	}
	switch s.Type {
	case "object":
		return d.object(s)
	case "array":
		return d.array(s)
	case "integer":
		return d.integer(s)
	case "boolean":
		return d.oneIn(2)
	default:
		return d.text(s)
	}
}

func (d drawer) object(s *apiextensionsv1.JSONSchemaProps) any {
	object := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		property := s.Properties[name]
		if slices.Contains(s.Required, name) && !d.oneIn(50) || d.oneIn(3) {
			object[name] = d.value(&property)
		}
	}
	if s.AdditionalProperties != nil {
		for range d.IntN(4) {
			object[d.word()] = d.value(s.AdditionalProperties.Schema)
		}
	}
	if d.oneIn(20) {
		object[d.word()] = raw(pick(d, oddValues))
	}
	return object
}

// array draws a list, the items of which differ in the keys of the list.
func (d drawer) array(s *apiextensionsv1.JSONSchemaProps) any {
	count := d.IntN(4)
	if s.MaxItems != nil && d.oneIn(40) {
		count = int(*s.MaxItems) + d.IntN(2)
	}
	items := []any{}
	for i := range count {
		item := d.value(s.Items.Schema)
		if fields, ok := item.(map[string]any); ok && !d.oneIn(20) {
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

func (d drawer) integer(s *apiextensionsv1.JSONSchemaProps) any {
	switch limit := d.IntN(6); {
	case limit == 0 && s.Minimum != nil:
		return int64(*s.Minimum) + d.Int64N(3) - 1
	case limit == 1 && s.Maximum != nil:
		return int64(*s.Maximum) + d.Int64N(3) - 1
	case limit < 3:
		return d.Int64N(100) + 1
	default:
		return raw(pick(d, oddIntegers))
	}
}

func (d drawer) text(s *apiextensionsv1.JSONSchemaProps) any {
	switch {
	case s.Format == "date-time":
		return pick(d, oddTimes)
	case d.oneIn(4):
		return raw(pick(d, oddTexts))
	case s.MaxLength != nil && d.oneIn(20):
		return strings.Repeat(pick(d, []string{"a", "é", "\U0001f600"}), int(*s.MaxLength)+d.IntN(2))
	default:
		return d.word()
	}
}

// word draws a text that most rules allow.
func (d drawer) word() string {
	return pick(d, []string{
		"jane", "acme", "x1", "Ready", "True", "kyc", "ab12cd", "https://idv.example.com", "jane@example.com", "1990-02-28",
	})
}

// vary changes some part of a value of a schema.
func (d drawer) vary(s *apiextensionsv1.JSONSchemaProps, value any) any {
	switch value := value.(type) {
	case map[string]any:
		if len(s.Properties) == 0 || d.oneIn(10) {
			return d.value(s)
		}
		varied := maps.Clone(value)
		name := pick(d, slices.Sorted(maps.Keys(s.Properties)))
		property := s.Properties[name]
		if below, ok := value[name]; ok {
			varied[name] = d.vary(&property, below)
		} else {
			varied[name] = d.value(&property)
		}
		return varied
	case []any:
		if len(value) == 0 || d.oneIn(5) {
			return d.value(s)
		}
		varied := slices.Clone(value)
		i := d.IntN(len(value))
		varied[i] = d.vary(s.Items.Schema, value[i])
		return varied
	default:
		return d.value(s)
	}
}

// metadata draws some fields of metadata, which has no schema. What they may hold is written in Go.
func (d drawer) metadata() map[string]any {
	drawn := map[string]any{}
	for range d.IntN(3) + 1 {
		switch d.IntN(8) {
		case 0:
			drawn["labels"] = map[string]any{d.word(): d.orOdd(d.word()), "a": d.orOdd("b")}
		case 1:
			drawn["annotations"] = map[string]any{d.word(): d.orOdd(d.word()), "a": d.orOdd(raw(pick(d, oddTexts)))}
		case 2:
			drawn["finalizers"] = []any{d.orOdd("example.com/" + d.word())}
		case 3:
			drawn["ownerReferences"] = []any{d.orOdd(map[string]any{
				"apiVersion": "v1", "kind": "Pod", "name": d.orOdd("a"), "uid": d.orOdd("b"), "controller": d.orOdd(true),
			})}
		case 4:
			drawn["managedFields"] = []any{d.orOdd(map[string]any{
				"manager": d.orOdd(d.word()), "operation": d.orOdd("Update"), "apiVersion": d.orOdd("idv.mandate.io/v1alpha1"),
				"time": d.orOdd(pick(d, oddTimes)), "fieldsType": d.orOdd("FieldsV1"), "subresource": d.orOdd("status"),
				"fieldsV1": d.orOdd(map[string]any{"f:spec": map[string]any{"f:" + d.word(): map[string]any{}}}),
			})}
		case 5:
			drawn["deletionGracePeriodSeconds"] = raw(pick(d, oddIntegers))
		case 6:
			name := pick(d, []string{"creationTimestamp", "deletionTimestamp"})
			drawn[name] = pick(d, oddTimes)
		default:
			name := pick(d, []string{"generation", "selfLink", "uid", "generateName", "clusterName", "unknown", "labels"})
			drawn[name] = d.orOdd(raw(pick(d, oddIntegers)))
		}
	}
	return drawn
}

func (d drawer) orOdd(value any) any {
	if d.oneIn(12) {
		return raw(pick(d, oddValues))
	}
	return value
}
