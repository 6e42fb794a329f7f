package operator

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/connection"
)

// CacheOptions are those of an operator that watches a namespace, for the tests of package operator_test.
func CacheOptions(namespace string) cache.Options {
	options := cacheOptions([]string{namespace}, newWatches(clock.RealClock{}))
	options.Scheme = Scheme()
	return options
}

// Transform does with an object what the cache does.
func Transform() toolscache.TransformFunc {
	options := CacheOptions("default")
	return func(object any) (any, error) {
		for kind, by := range options.ByObject {
			if reflect.TypeOf(kind) == reflect.TypeOf(object) {
				return by.Transform(object)
			}
		}
		return options.DefaultTransform(object)
	}
}

// The cache has no personal data of a Mandate, and everything that reconciling it needs.
func TestCacheHasNoPersonalData(t *testing.T) {
	m := &v1alpha1.Mandate{}
	err := yaml.UnmarshalStrict([]byte(`
metadata: {name: acme}
spec:
  name: canary
  individuals:
  - {name: jane, detailsSecretRef: {name: jane}}
  - name: john
    email: canary@example.com
    title: canary
    firstName: canary
    middleName: canary
    lastName: canary
    dateOfBirth: "1908-02-10"
    gender: canary
    reference: canary
  checkReviews: [{individual: jane, check: liveness, evidence: a1b2c3d4, decision: Accept, comment: canary}]
`), m)
	if err != nil {
		t.Fatal(err)
	}
	m.Annotations = map[string]string{
		corev1.LastAppliedConfigAnnotation: "canary", "example.com/note": "canary",
		v1alpha1.ReconcileRequestAnnotation: "now", v1alpha1.CandidateAnnotation: "7, canary, 8",
	}
	m.Labels = map[string]string{"canary": "canary"}
	m.OwnerReferences = []metav1.OwnerReference{{Name: "canary"}}
	m.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "canary"}}
	quiet := m.DeepCopy() // nobody asks to reconcile it
	delete(quiet.Annotations, v1alpha1.ReconcileRequestAnnotation)
	delete(quiet.Annotations, v1alpha1.CandidateAnnotation)
	kept, err := stripMandate(newInterner())(m)
	quietKept, quietErr := stripMandate(newInterner())(quiet)
	if err = errors.Join(err, quietErr); err != nil {
		t.Fatal(err)
	}
	content, err := json.Marshal([]any{kept, quietKept})
	if err != nil {
		t.Fatal(err)
	}
	for _, canary := range []string{"canary", "1908-02-10"} {
		if strings.Contains(string(content), canary) {
			t.Errorf("the cache contains %s: %s", canary, content)
		}
	}
	if m.Spec.Individuals[0].DetailsSecretRef == nil || m.Spec.Individuals[1].Name != "john" ||
		m.Spec.CheckReviews[0].Check != "liveness" || m.Annotations[v1alpha1.ReconcileRequestAnnotation] != "now" ||
		m.Annotations[v1alpha1.CandidateAnnotation] != "7,8" {
		t.Errorf("the cache lacks fields: %s", content)
	}
}

// Of all kinds, the cache keeps of the metadata what is read.
func TestCacheHasLittleMetadata(t *testing.T) {
	metadata := metav1.ObjectMeta{
		Name: "acme", Namespace: "default", UID: "1", ResourceVersion: "7", Generation: 3, Finalizers: []string{"ours"},
		Labels:          map[string]string{"team": "a"},
		Annotations:     map[string]string{"note": "x", v1alpha1.ReconcileRequestAnnotation: strings.Repeat("y", 300)},
		OwnerReferences: []metav1.OwnerReference{{Name: "owner"}},
		ManagedFields:   []metav1.ManagedFieldsEntry{{Manager: "kubectl"}},
	}
	want := metav1.ObjectMeta{
		Name: "acme", Namespace: "default", UID: "1", ResourceVersion: "7", Generation: 3, Finalizers: []string{"ours"},
		Annotations: map[string]string{v1alpha1.ReconcileRequestAnnotation: strings.Repeat("y", 256)},
	}
	transform := CacheOptions("default").DefaultTransform
	for _, object := range []client.Object{
		&v1alpha1.IdentityService{}, &v1alpha1.ClusterIdentityService{}, &v1alpha1.MandateAction{}, connection.NewNamespace(),
	} {
		empty := reflect.ValueOf(object).Elem().FieldByName("ObjectMeta")
		empty.Set(reflect.ValueOf(*metadata.DeepCopy()))
		wanted := *want.DeepCopy()
		if _, ok := object.(*metav1.PartialObjectMetadata); ok {
			wanted.Labels = metadata.Labels
		}
		if _, err := transform(object); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(wanted, empty.Interface()); diff != "" {
			t.Errorf("%T (-want +got):\n%s", object, diff)
		}
	}
}
