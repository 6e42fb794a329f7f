package v1alpha1_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// bound is a limit in a schema. For the refused value, the API server's error names the field and has these words. For
// the allowed value it does not, but there may be an error of another rule.
type bound struct {
	path             string
	allowed, refused any
	words            string
}

// TestBounds tries every bound of every schema at its limit and beyond, with characters of two bytes each.
func TestBounds(t *testing.T) {
	c := newClient(t)
	for kind, crd := range crds(t) {
		existing := suites[kind].existing(t, c, state{})
		all := bounds(schemaOf(crd))
		if len(all) < 10 {
			t.Fatalf("%s: found %d bounds only", kind, len(all))
		}
		for _, bound := range all {
			t.Run(kind+"/"+bound.path+" "+bound.words, func(t *testing.T) {
				try := func(value any) error {
					return attemptValue(t, c, existing, schemaOf(crd), bound.path, value)
				}
				complains := func(err error) bool {
					return slices.ContainsFunc(violations(err), func(v violation) bool {
						return v.field == bound.path && strings.Contains(v.message, bound.words)
					})
				}
				if err := try(bound.allowed); complains(err) {
					t.Errorf("the value at the limit was refused: %v", err)
				}
				if err := try(bound.refused); !complains(err) {
					t.Errorf("the value beyond the limit was not refused: %v", err)
				}
			})
		}
	}
}

// attemptValue sends a value at a path: in the spec of a new object, or in the status of the existing one.
func attemptValue(
	t *testing.T, c client.Client, existing *unstructured.Unstructured, schema *apiextensionsv1.JSONSchemaProps,
	path string, value any,
) error {
	t.Helper()
	object := existing.DeepCopy()
	set(t, object.Object, schema, path, value)
	if strings.HasPrefix(path, "status") {
		return c.Status().Update(t.Context(), object, client.DryRunAll)
	}
	object = &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": object.GetAPIVersion(), "kind": object.GetKind(), "spec": object.Object["spec"]}}
	object.SetName("another")
	object.SetNamespace(existing.GetNamespace())
	return c.Create(t.Context(), object, client.DryRunAll)
}

func bounds(root *apiextensionsv1.JSONSchemaProps) []bound {
	var all []bound
	walk(root, "", func(path string, s *apiextensionsv1.JSONSchemaProps) {
		path = strings.ReplaceAll(strings.TrimPrefix(path, "."), "[]", "[0]")
		add := func(words string, allowed, refused any) {
			all = append(all, bound{path, allowed, refused, words})
		}
		if s.MaxLength != nil {
			add("Too long", strings.Repeat("é", int(*s.MaxLength)), strings.Repeat("é", int(*s.MaxLength)+1))
		}
		if s.MinLength != nil {
			add("should be at least", strings.Repeat("é", int(*s.MinLength)), strings.Repeat("é", int(*s.MinLength)-1))
		}
		if s.Minimum != nil {
			add("should be greater than or equal to", int64(*s.Minimum), int64(*s.Minimum)-1)
		}
		if s.Maximum != nil {
			add("should be less than or equal to", int64(*s.Maximum), int64(*s.Maximum)+1)
		}
		if s.MaxItems != nil && s.Type == "array" {
			add("must have at most", items(s, *s.MaxItems), items(s, *s.MaxItems+1))
		}
		if s.MinItems != nil && s.Type == "array" {
			add("should have at least", items(s, *s.MinItems), items(s, *s.MinItems-1))
		}
		for _, value := range s.Enum {
			var allowed string
			if err := json.Unmarshal(value.Raw, &allowed); err != nil {
				panic(err)
			}
			add("Unsupported value", allowed, strings.ToUpper(allowed)+"X")
		}
	})
	return all
}

func items(s *apiextensionsv1.JSONSchemaProps, n int64) []any {
	list := []any{}
	for i := range n {
		list = append(list, sample(s.Items.Schema, int(i)))
	}
	return list
}

// sample is the smallest value of a schema; two with different numbers are different.
func sample(s *apiextensionsv1.JSONSchemaProps, number int) any {
	switch {
	case len(s.Enum) > 0:
		var value any
		if err := json.Unmarshal(s.Enum[0].Raw, &value); err != nil {
			panic(err)
		}
		return value
	case s.Type == "object":
		object := map[string]any{}
		for _, name := range s.Required {
			property := s.Properties[name]
			object[name] = sample(&property, number)
		}
		return object
	case s.Type == "array":
		return []any{sample(s.Items.Schema, number)}
	case s.Type == "integer":
		return int64(number) + 1
	case s.Type == "boolean":
		return false
	case s.Format == "date-time":
		return "2026-01-01T00:00:00.000000Z"
	default:
		return fmt.Sprintf("x%d", number)
	}
}

// set sets the value at a path such as spec.individuals[0].email, and makes samples of what is missing on the way.
func set(t *testing.T, object map[string]any, schema *apiextensionsv1.JSONSchemaProps, path string, value any) {
	t.Helper()
	name, rest, more := strings.Cut(path, ".")
	name, indexed := strings.CutSuffix(name, "[0]")
	property, ok := schema.Properties[name]
	if !ok {
		t.Fatalf("no property %s", name)
	}
	if !more && !indexed {
		object[name] = runtime.DeepCopyJSONValue(value)
		return
	}
	if _, ok := object[name]; !ok {
		object[name] = sample(&property, 0)
	}
	if !more {
		object[name] = []any{value}
		return
	}
	below, within := object[name], &property
	if list, ok := below.([]any); ok {
		below, within = list[0], property.Items.Schema
	}
	fields, ok := below.(map[string]any)
	if !ok {
		t.Fatalf("%s has no fields", name)
	}
	set(t, fields, within, rest, value)
}
