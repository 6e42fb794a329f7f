package v1alpha1_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// suite is what is tried on one kind. Every edit is a JSON merge patch, written as YAML.
type suite struct {
	// manifest is accepted.
	manifest string
	// create edits the manifest and creates it.
	create map[string]attempt
	// update edits an object that exists, in each of these states.
	update map[string]state
}

type state struct {
	// status is given to the object before the attempts; spec is an edit of the manifest.
	status, spec string
	attempts     map[string]attempt
}

type attempt struct {
	reason string
	edit   string
	// onStatus sends the edit to the status subresource.
	onStatus bool
	// want are the errors; none means that the edit is accepted.
	want []violation
}

type violation struct{ field, message string }

var suites = map[string]suite{
	"IdentityService":        identityServiceSuite.with(subscribingAttempts("{name: tokens}")),
	"ClusterIdentityService": clusterIdentityServiceSuite.with(subscribingAttempts("{namespace: platform, name: tokens}")),
	"Mandate":                mandateSuite,
	"MandateAction":          mandateActionSuite,
	"ApplicationRecord":      applicationRecordSuite,
}

func TestCreate(t *testing.T) {
	c := newClient(t)
	for kind, suite := range suites {
		namespace := env.Namespace(t)
		for name, attempt := range suite.create {
			t.Run(kind+"/"+name, func(t *testing.T) {
				object := &unstructured.Unstructured{Object: parse(t, suite.manifest)}
				object.SetNamespace(namespace)
				merge(object.Object, edit(t, attempt.edit))
				sent := object.DeepCopy()
				check(t, attempt, c.Create(t.Context(), object, client.DryRunAll), sent.Object)
			})
		}
	}
}

func TestUpdate(t *testing.T) {
	c := newClient(t)
	for kind, suite := range suites {
		for name, state := range suite.update {
			object := suite.existing(t, c, state)
			for name2, attempt := range state.attempts {
				t.Run(kind+"/"+name+"/"+name2, func(t *testing.T) {
					patch := client.RawPatch(types.MergePatchType, mustJSON(t, attempt.edit))
					sent := object.DeepCopy()
					merge(sent.Object, edit(t, attempt.edit))
					var err error
					if attempt.onStatus {
						err = c.Status().Patch(t.Context(), object.DeepCopy(), patch, client.DryRunAll)
					} else {
						err = c.Patch(t.Context(), object.DeepCopy(), patch, client.DryRunAll)
					}
					check(t, attempt, err, sent.Object)
				})
			}
		}
	}
}

// with is a suite with more to create.
func (s suite) with(create map[string]attempt) suite {
	s.create = both(s.create, create)
	return s
}

func (s suite) existing(t *testing.T, c client.Client, state state) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{Object: parse(t, s.manifest)}
	object.SetNamespace(env.Namespace(t))
	merge(object.Object, edit(t, state.spec))
	if err := c.Create(t.Context(), object); err != nil {
		t.Fatalf("creating: %v", err)
	}
	// One without a namespace would be in the way of the next.
	t.Cleanup(func() {
		if err := c.Delete(context.WithoutCancel(t.Context()), object); err != nil {
			t.Error(err)
		}
	})
	if state.status == "" {
		return object
	}
	patch := client.RawPatch(types.MergePatchType, mustJSON(t, state.status))
	if err := c.Status().Patch(t.Context(), object, patch); err != nil {
		t.Fatalf("patching the status: %v", err)
	}
	return object
}

func check(t *testing.T, attempt attempt, err error, sent map[string]any) {
	t.Helper()
	if err != nil && !apierrors.IsInvalid(err) {
		t.Fatalf("%s\nerror = %v, want one that says Invalid", attempt.reason, err)
	}
	want, got := withoutValues(attempt.want), withoutValues(violations(err))
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(violation{})); diff != "" {
		t.Errorf("%s\nviolations (-want +got):\n%s", attempt.reason, diff)
	}
	for _, value := range personal(sent) {
		if err != nil && strings.Contains(err.Error(), value) {
			t.Errorf("the error repeats the personal value %q: %v", value, err)
		}
	}
}

// violations are the errors in an API server's answer.
func violations(err error) []violation {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	var found []violation
	for _, cause := range status.Status().Details.Causes {
		if cause.Field != "<nil>" { // says that there may be more
			found = append(found, violation{cause.Field, strings.TrimPrefix(cause.Message, "Invalid value: ")})
		}
	}
	return found
}

// shown is what a message repeats of the value. Of what a CEL rule refuses, Kubernetes up to 1.34 writes the type.
var shown = regexp.MustCompile(`^("(?:[^"\\]|\\.)*"|true|false|\d+): |^(Duplicate value): .*`)

// withoutValues is sorted.
func withoutValues(violations []violation) []violation {
	var all []violation
	for _, v := range violations {
		all = append(all, violation{v.field, shown.ReplaceAllString(v.message, "$2")})
	}
	slices.SortFunc(all, func(a, b violation) int { return strings.Compare(a.field+a.message, b.field+b.message) })
	return all
}

// personal are the values in an object that may go nowhere else.
func personal(object map[string]any) []string {
	individuals, _, _ := unstructured.NestedSlice(object, "spec", "individuals")
	var values []string
	for _, individual := range individuals {
		fields, _ := individual.(map[string]any)
		for field, value := range fields {
			if text := fmt.Sprint(value); field != "name" && field != "detailsSecretRef" && text != "" {
				values = append(values, text)
			}
		}
	}
	return values
}

// TestEveryRuleIsBroken makes sure that for each CEL rule there is an attempt that it refuses.
func TestEveryRuleIsBroken(t *testing.T) {
	indices := regexp.MustCompile(`\[\d+\]`)
	for kind, crd := range crds(t) {
		broken := map[violation]bool{}
		collect := func(attempts map[string]attempt) {
			for _, attempt := range attempts {
				for _, v := range attempt.want {
					broken[violation{indices.ReplaceAllString(v.field, "[]"), v.message}] = true
				}
			}
		}
		collect(suites[kind].create)
		for _, state := range suites[kind].update {
			collect(state.attempts)
		}
		walk(schemaOf(crd), "", func(path string, schema *apiextensionsv1.JSONSchemaProps) {
			for _, rule := range schema.XValidations {
				field := strings.TrimPrefix(path+rule.FieldPath, ".")
				if !slices.ContainsFunc(keys(broken), func(v violation) bool {
					return v.field == field && strings.HasSuffix(v.message, rule.Message)
				}) {
					t.Errorf("%s: no attempt breaks the rule of %s: %s", kind, field, rule.Rule)
				}
			}
		})
	}
}

// walk calls do for a schema and everything below it. A path is that of an error's field, with [] for any index.
func walk(schema *apiextensionsv1.JSONSchemaProps, path string, do func(string, *apiextensionsv1.JSONSchemaProps)) {
	do(path, schema)
	for name, property := range schema.Properties {
		walk(&property, path+"."+name, do)
	}
	if schema.Items != nil {
		walk(schema.Items.Schema, path+"[]", do)
	}
}

func edit(t *testing.T, text string) map[string]any {
	t.Helper()
	if text == "" {
		return nil
	}
	object := parse(t, text)
	delete(object, "kind")
	return object
}

// merge applies a JSON merge patch.
func merge(object, patch map[string]any) {
	for key, value := range patch {
		below, isMap := value.(map[string]any)
		existing, hasMap := object[key].(map[string]any)
		switch {
		case value == nil:
			delete(object, key)
		case isMap && hasMap:
			merge(existing, below)
		default:
			object[key] = runtime.DeepCopyJSONValue(value)
		}
	}
}

func mustJSON(t *testing.T, text string) []byte {
	t.Helper()
	encoded, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}

func keys[K comparable, V any](m map[K]V) []K {
	all := make([]K, 0, len(m))
	for key := range m {
		all = append(all, key)
	}
	return all
}
