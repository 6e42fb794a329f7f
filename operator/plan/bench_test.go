package plan_test

import (
	"fmt"
	"maps"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/plan"
)

const namespace = "onboarding"

// service is an IdentityService that works.
func service() *v1alpha1.IdentityService {
	s := &v1alpha1.IdentityService{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: "default", UID: "service", Generation: 1,
	}}
	s.Spec.BaseURL = "https://idv.example.com"
	s.Status.Account = "0123456789abcdef0123456789abcdef"
	s.Status.MandateTypes = []v1alpha1.MandateType{{ID: 1, Code: "kyc"}}
	s.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue}}
	return s
}

// manifestOf is a Mandate of two people.
func manifestOf(name string, spec map[string]any) plan.Manifest {
	fields := map[string]any{
		"mandateType": map[string]any{"code": "kyc"},
		"individuals": []any{
			map[string]any{"name": "director", "email": "director-" + name + "@example.com"},
			map[string]any{"name": "owner", "email": "owner-" + name + "@example.com"},
		},
	}
	maps.Copy(fields, spec)
	return plan.Manifest{Object: &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1alpha1.SchemeGroupVersion.String(), "kind": "Mandate",
		"metadata": map[string]any{"namespace": namespace, "name": name}, "spec": fields,
	}}}
}

// BenchmarkThousand plans for a thousand manifests of new Mandates.
func BenchmarkThousand(b *testing.B) {
	input := plan.Input{Cluster: []client.Object{service()}, Now: time.Now()}
	for i := range 1000 {
		input.Manifests = append(input.Manifests, manifestOf(fmt.Sprintf("mandate-%d", i), nil))
	}
	for b.Loop() {
		made, err := plan.Make(b.Context(), input)
		if err != nil {
			b.Fatal(err)
		}
		if made.Emails != 2000 {
			b.Fatalf("%d e-mails are planned, want 2000", made.Emails)
		}
	}
}
