package operator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// kubectl can select Mandates and MandateActions by each selectable field.
func TestFieldSelectors(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{reference: ACME-1}")
	w.mandate("waits", "{}")
	w.mandate("suspended", "{suspend: true}")
	w.mandate("other-service", "{serviceRef: {name: another}}")
	w.mandate("filed", "{archived: true}")
	w.ready("waits")
	w.condition("suspended", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonSuspended)
	w.until("filed", "archived", func(m *v1alpha1.Mandate) bool { return m.Status.Archived })
	w.complete(w.ready("acme"))
	m := w.condition("acme", v1alpha1.ConditionCompleted, metav1.ConditionTrue, string(v1alpha1.OutcomeCompleted))
	w.action("resend", resend)
	w.action("report", report)
	for selector, want := range map[string]string{
		"mandates spec.serviceRef.name=default":                                  "acme filed suspended waits",
		"mandates spec.serviceRef.name=another":                                  "other-service",
		"mandates spec.suspend=true":                                             "suspended",
		"mandates status.outcome=Completed":                                      "acme",
		"mandates status.archived=true":                                          "filed",
		"mandates status.state=completed":                                        "acme",
		"mandates status.reference=ACME-1":                                       "acme",
		fmt.Sprintf("mandates status.applicationID=%d", *m.Status.ApplicationID): "acme",
		"mandates status.outcome!=Completed,spec.suspend!=true":                  "filed other-service waits",
		"mandateactions spec.mandateRef.name=acme":                               "report resend",
		"mandateactions spec.mandateRef.name=waits":                              "",
		"mandateactions spec.type=ResendInvite":                                  "resend",
		"mandateactions spec.individual=jane":                                    "report resend",
	} {
		resource, fields, _ := strings.Cut(selector, " ")
		const output = "--output=jsonpath={.items[*].metadata.name}"
		names := strings.Fields(w.kubectl("get", resource, "--field-selector", fields, output))
		slices.Sort(names)
		if got := strings.Join(names, " "); got != want {
			t.Errorf("kubectl get %s --field-selector %s gives %q, want %q", resource, fields, got, want)
		}
	}
}
