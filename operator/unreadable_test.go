package operator_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/test/await"
	"github.com/mandate-io/idv/internal/test/testenv"
)

// unreadableValue is a time that the format date-time allows and Go cannot read.
const unreadableValue = "2026-12-31t00:00:00z"

// store changes the spec or status of a stored object, past the rules of its CRD.
func (w *world) store(plural, name, fields string) {
	w.Helper()
	var changed map[string]any
	w.check(yaml.Unmarshal([]byte(fields), &changed))
	resource, namespace := v1alpha1.SchemeGroupVersion.Group+"/"+plural, w.namespace
	if plural == "clusteridentityservices" {
		namespace = ""
	}
	w.check(w.env.EditStored(w.Context(), resource, namespace, name, func(object map[string]any) {
		for section, values := range changed {
			for field, value := range values.(map[string]any) { // the operator may not have written a status yet
				w.check(unstructured.SetNestedField(object, value, section, field))
			}
		}
	}))
}

// Objects that were stored past the rules, and that Go cannot read, harm only themselves: all others are served, before
// and after a restart of the operator.
func TestUnreadableObjects(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{})
	w.connect()
	address := testenv.FreeAddress(t)
	flags := []string{"--metrics-bind-address=" + address, "--record-retention=10s"}
	w.start(flags...)
	w.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)
	cluster := w.namespace
	w.apply(fmt.Sprintf(`{kind: ClusterIdentityService, metadata: {name: %s}, spec: {baseURL: %q,
		credentialsSecretRef: {name: idv, namespace: %s}}}`, cluster, w.url, w.namespace))
	t.Cleanup(func() {
		shared := &v1alpha1.ClusterIdentityService{ObjectMeta: metav1.ObjectMeta{Name: cluster}}
		w.check(w.Delete(context.WithoutCancel(t.Context()), shared))
	})
	w.newService("odd", fmt.Sprintf("baseURL: %q", w.url))
	w.mandate("odd", "{suspend: true}")
	w.mandate("recorded", "{}")
	w.ready("recorded")
	resend := "{kind: MandateAction, metadata: {name: %s}, spec: {mandateRef: {name: %s}, type: ResendInvite, " +
		"individual: jane}}"
	w.apply(fmt.Sprintf(resend, "odd", "later"))

	// Without what cannot be decoded, each of them would be ready to be carried out.
	w.store("mandates", "odd", fmt.Sprintf("spec: {suspend: false, createBefore: %q}", unreadableValue))
	w.store("mandateactions", "odd", fmt.Sprintf("status: {startedTime: %q}", unreadableValue))
	w.store("identityservices", "odd", "spec: {requestsPerSecond: canary}")
	w.store("clusteridentityservices", cluster, "status: {observedGeneration: 1e100}")
	w.store("applicationrecords", "recorded", "spec: {calls: [{startedTime: canary}]}")
	w.mandate("later", "{}")
	w.ready("later")
	w.mandate("waits", "{serviceRef: {name: odd}}")
	w.condition("waits", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonIdentityServiceNotReady)

	check := func(name string) {
		t.Helper()
		w.mandate(name, "{}")
		w.ready(name)
		w.apply(fmt.Sprintf(resend, name, name))
		w.kubectl("wait", "--for=condition=Complete", await.Timeout(t), "mandateaction/"+name)
		w.eventually(func() (bool, string) {
			series := w.scrape(address)
			for _, kind := range []string{
				"Mandate", "MandateAction", "IdentityService", "ClusterIdentityService", "ApplicationRecord",
			} {
				if !strings.Contains(series, fmt.Sprintf("idv_unreadable_objects{kind=%q} 1\n", kind)) {
					return false, kind + " is not counted"
				}
			}
			return true, ""
		})
	}
	check("before")
	w.check(w.operator.Stop())
	w.start(flags...)
	check("after")
	w.until("recorded", "the problem with its record", func(m *v1alpha1.Mandate) bool {
		return slices.Contains(m.Status.Problems, wrong("ApplicationRecord", v1alpha1.ReasonReadFailed,
			"The operator cannot read the ApplicationRecord: it has fields that cannot be decoded."))
	})

	w.emails(6) // of four Mandates and two actions
	w.checkApplications(4)

	log, err := os.ReadFile(w.operator.Log)
	w.check(err)
	for _, object := range []string{
		`"kind":"Mandate","namespace":"` + w.namespace + `","name":"odd","fields":["spec.createBefore"]`,
		`"kind":"MandateAction","namespace":"` + w.namespace + `","name":"odd","fields":["status.startedTime"]`,
		`"kind":"IdentityService","namespace":"` + w.namespace + `","name":"odd","fields":["spec.requestsPerSecond"]`,
		`"kind":"ClusterIdentityService","namespace":"","name":"` + cluster + `","fields":["status.observedGeneration"]`,
		`"kind":"ApplicationRecord","namespace":"` + w.namespace + `","name":"recorded","fields":["spec.calls"]`,
	} {
		if n := strings.Count(string(log), object); n != 2 {
			t.Errorf("the log has %s %d times, want once for each start", object, n)
		}
	}
	for _, value := range []string{unreadableValue, "canary", "1e+100"} {
		if strings.Contains(string(log), value) {
			t.Errorf("the log has the value %s", value)
		}
	}

	w.store("mandates", "odd", `spec: {createBefore: "2099-12-31T00:00:00Z"}`)
	w.store("mandateactions", "odd", "status: {startedTime: null}")
	w.store("identityservices", "odd", "spec: {requestsPerSecond: 10}")
	w.ready("odd")
	w.ready("waits")
	w.kubectl("wait", "--for=condition=Complete", await.Timeout(t), "mandateaction/odd")
	w.emails(9)
	w.checkApplications(6)
	w.eventually(func() (bool, string) {
		return strings.Contains(w.scrape(address), `idv_unreadable_objects{kind="Mandate"} 0`), "it is still counted"
	})
}
