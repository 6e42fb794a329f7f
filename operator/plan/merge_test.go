package plan_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/plan"
)

// ownedBy says who has applied the manifest of a Mandate, and who has set a field of its spec.
func ownedBy(m *v1alpha1.Mandate, author, field, owner string) {
	entry := func(manager, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, FieldsV1: metav1.NewFieldsV1(fields)}
	}
	m.ManagedFields = []metav1.ManagedFieldsEntry{
		entry(author, `{"f:spec":{"f:mandateType":{},"f:individuals":{}}}`),
		entry(owner, fmt.Sprintf(`{"f:spec":{%s}}`, field)),
	}
}

// TestFieldsOfOthersStay applies a manifest without fields that somebody has set.
func TestFieldsOfOthersStay(t *testing.T) {
	t.Parallel()
	review := map[string]any{
		"individual": "director", "check": "liveness", "evidence": "deadbeef", "decision": "Accept",
	}
	suspended := map[string]any{"suspend": true}
	reviewed := map[string]any{"checkReviews": []any{review}}
	const suspendField, decisionField = `"f:suspend":{}`, `"f:decision":{}`
	const lastSuspended = `{"spec":{"suspend":true}}`
	decided := map[string]any{"decision": decisionOutdated}
	for name, tc := range map[string]struct {
		spec          map[string]any
		fields, owner string
		want          plan.Change
		last          string // that kubectl applied
	}{
		"kubectl has suspended it":      {suspended, suspendField, "kubectl-patch", plan.Unchanged, ""},
		"the manifest had it suspended": {suspended, suspendField, "gitops", plan.Changed, ""},
		"somebody has reviewed a check": {reviewed, reviewField, "plugin", plan.Unchanged, ""},
		"the manifest had the review":   {reviewed, reviewField, "gitops", plan.Changed, ""},
		"a default that nobody has set": {map[string]any{"archived": false}, "", "gitops", plan.Unchanged, ""},
		"it had a decision":             {decided, decisionField, "gitops", plan.Changed, ""},
		"kubectl applied that last":     {suspended, suspendField, "kubectl-patch", plan.Changed, lastSuspended},
		"kubectl applied another":       {suspended, suspendField, "gitops", plan.Unchanged, `{"spec":{}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects := bound(t, "acme", 7, tc.spec)
			ownedBy(objects[0].(*v1alpha1.Mandate), "gitops", tc.fields, tc.owner)
			objects[0].SetAnnotations(map[string]string{corev1.LastAppliedConfigAnnotation: tc.last})
			made, err := plan.Make(t.Context(), plan.Input{
				Cluster: append([]client.Object{service()}, objects...), Manifests: []plan.Manifest{manifestOf("acme", nil)},
				Now: now,
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := made.Items[0].Change; got != tc.want {
				t.Errorf("the Mandate is %s, want %s: %+v", got, tc.want, made.Items[0])
			}
			if author := plan.AuthorOf(objects[0]); author != "gitops" {
				t.Errorf("the author is %s", author)
			}
		})
	}
}

const reviewField = `"f:checkReviews":{"k:{\"check\":\"liveness\",\"individual\":\"director\"}":` +
	`{".":{},"f:check":{},"f:individual":{},"f:evidence":{},"f:decision":{}}}`

var decisionOutdated = map[string]any{"outcome": "Reject", "evidence": "deadbeef-1"}

// TestSuspensionStays applies a service with another budget, while somebody has suspended it: nothing is created.
func TestSuspensionStays(t *testing.T) {
	t.Parallel()
	for owner, want := range map[string]plan.Action{"mandate-plugin": plan.Wait, "gitops": plan.Create} {
		s, manifest := service(), serviceManifest("default")
		s.Spec.Creation.Suspend = true
		s.ManagedFields = []metav1.ManagedFieldsEntry{
			{Manager: "gitops", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:baseURL":{}}}`)},
			{Manager: owner, FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:creation":{"f:suspend":{}}}}`)},
		}
		manifest.Object.Object["spec"] = map[string]any{
			"baseURL": s.Spec.BaseURL, "credentialsSecretRef": map[string]any{"name": "idv"},
			"creation": map[string]any{"maxPerHour": int64(7)},
		}
		made, err := plan.Make(t.Context(), plan.Input{
			Cluster: []client.Object{s}, Manifests: []plan.Manifest{manifest, manifestOf("acme", nil)}, Now: now,
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := made.Items[0].Actions; len(got) != 1 || got[0] != want {
			t.Errorf("%s has suspended the service: %+v, want %s", owner, made.Items, want)
		}
	}
}
