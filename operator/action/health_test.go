package action

import (
	"os"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/gitops"
)

// What Argo CD reports for an action with each reason.
func TestArgoCDHealth(t *testing.T) {
	script, err := os.ReadFile("../../examples/gitops/argocd/health.lua")
	if err != nil {
		t.Fatal(err)
	}
	want := map[progress]string{open: "Progressing", complete: "Healthy", failed: "Degraded"}
	for reason, spec := range conditionSpecs {
		action := &v1alpha1.MandateAction{ObjectMeta: metav1.ObjectMeta{Generation: 3}}
		r := &reconciliation{action: action, facts: facts{now: time.Now(), emails: true}}
		r.statusFor(&action.Status, reason)
		object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(action)
		if err != nil {
			t.Fatal(err)
		}
		health, err := gitops.ArgoCDHealth(string(script), object)
		if err != nil {
			t.Fatal(err)
		}
		if health != want[spec.progress] {
			t.Errorf("%s: Argo CD says %s, want %s", reason, health, want[spec.progress])
		}
	}
}
