package operator_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

func TestWrongCredentials(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{})
	w.connect()
	w.secret("idv", map[string]string{"username": sandbox.DefaultUsername, "password": "wrong"})
	w.start()
	w.mandate("acme", "{}")
	started := time.Now()
	w.serviceReady(metav1.ConditionFalse, v1alpha1.ReasonCredentialsInvalid)
	w.checkServiceProblems(wrong("spec.credentialsSecretRef", v1alpha1.ReasonCredentialsInvalid, "The request to the "+
		"service failed: login failed: HTTP 401 Unauthorized: the service rejected the credentials; check them."))
	w.condition("acme", v1alpha1.ConditionResolvedRefs, metav1.ConditionFalse, v1alpha1.ReasonIdentityServiceNotReady)
	w.secret("idv", map[string]string{"username": sandbox.DefaultUsername, "password": sandbox.DefaultPassword})
	w.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)
	stats, err := w.sandbox.Stats(t.Context())
	w.check(err)
	if limit := int64(5 * (1 + time.Since(started)/(30*time.Second))); stats.Requests(control.Token) > limit {
		t.Errorf("%d logins in %s, want at most %d", stats.Requests(control.Token), time.Since(started), limit)
	}
	w.ready("acme")
	w.emails(1)
}

// A wrong password is not tried again because a tool stamps the Secret, or because somebody edits the service.
func TestWrongCredentialsInAStampedSecret(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{})
	w.connect()
	w.secret("idv", map[string]string{"username": sandbox.DefaultUsername, "password": "wrong"})
	w.start()
	w.serviceReady(metav1.ConditionFalse, v1alpha1.ReasonCredentialsInvalid)
	const edits = 12
	started := time.Now()
	for i := range edits {
		w.kubectl("annotate", "secret", "idv", "--overwrite", fmt.Sprintf("replicated-at=%d", i))
		w.newService("default", fmt.Sprintf("baseURL: %q, requestsPerSecond: %d", w.url, 50+i)) // it is reconciled at once
		w.serviceReady(metav1.ConditionFalse, v1alpha1.ReasonCredentialsInvalid)
		w.sleep(time.Second)
	}
	most := int64(5 * (1 + time.Since(started)/(30*time.Second)))
	if logins := w.requests(control.Token); logins > most {
		t.Errorf("%d logins with a wrong password, want at most %d", logins, most)
	}
	w.credentials()
	w.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)
}

// A connection that only a person can correct is Stalled, so that a GitOps tool fails at once instead of waiting, also
// when it worked before. What may heal by itself is not.
func TestServiceStalled(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.serviceProgress(status.CurrentStatus)
	w.mandate("acme", "{}")
	w.ready("acme")
	spoilSpec := `{caBundle: "-----BEGIN CERTIFICATE-----\nnot one\n-----END CERTIFICATE-----"}`
	for _, c := range []struct {
		reason        string
		spoil, repair func()
		kstatus       status.Status
	}{
		{
			reason:  v1alpha1.ReasonCredentialsInvalid,
			spoil:   func() { w.secret("idv", map[string]string{"username": sandbox.DefaultUsername, "password": "wrong"}) },
			repair:  w.credentials,
			kstatus: status.FailedStatus,
		},
		{
			reason:  v1alpha1.ReasonSecretInvalid,
			spoil:   func() { w.secret("idv", map[string]string{"username": "alone"}) },
			repair:  w.credentials,
			kstatus: status.FailedStatus,
		},
		{
			reason:  v1alpha1.ReasonCABundleInvalid,
			spoil:   func() { w.patchService(spoilSpec) },
			repair:  func() { w.patchService(`{caBundle: null}`) },
			kstatus: status.FailedStatus,
		},
		{
			reason: v1alpha1.ReasonCredentialsInvalid, // the Secret is as it was, and the service refuses what is in it
			spoil: func() {
				w.fault(alwaysAnswers(control.Token, 401))
				_, err := w.sandbox.RevokeTokens(t.Context())
				w.check(err)
			},
			repair: func() {
				w.check(w.sandbox.ClearFaults(t.Context()))
				w.credentials()
			},
			kstatus: status.FailedStatus,
		},
		{
			reason:  v1alpha1.ReasonIdentityServiceError,
			spoil:   func() { w.fault(alwaysAnswers(control.References, 500)) },
			repair:  func() { w.check(w.sandbox.ClearFaults(t.Context())) },
			kstatus: status.InProgressStatus,
		},
	} {
		c.spoil()
		w.request("identityservice/default", c.reason+" is expected")
		w.serviceReady(metav1.ConditionFalse, c.reason)
		w.serviceProgress(c.kstatus)
		c.repair()
		w.request("identityservice/default", c.reason+" is over")
		w.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)
		w.serviceProgress(status.CurrentStatus)
	}
	w.emails(1)
}

// serviceProgress checks what GitOps tools make of the IdentityService, and its condition Stalled.
func (w *world) serviceProgress(want status.Status) {
	w.Helper()
	s := &v1alpha1.IdentityService{}
	w.check(w.Get(w.Context(), client.ObjectKey{Namespace: w.namespace, Name: "default"}, s))
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(s)
	w.check(err)
	computed, err := status.Compute(&unstructured.Unstructured{Object: object})
	w.check(err)
	if computed.Status != want {
		w.Errorf("kstatus says %s, want %s: %+v", computed.Status, want, s.Status.Conditions)
	}
	ready := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionReady)
	stalled := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionStalled)
	if want != status.FailedStatus {
		if stalled != nil {
			w.Errorf("Ready is %s, and Stalled is there: %+v", ready.Reason, stalled)
		}
		return
	}
	if stalled == nil || stalled.Status != metav1.ConditionTrue || stalled.Reason != ready.Reason ||
		stalled.ObservedGeneration != s.Generation {
		w.Errorf("Stalled is %+v, want True with reason %s", stalled, ready.Reason)
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{})
	w.connect()
	w.newService("default", `baseURL: "http://127.0.0.1:1"`)
	w.start()
	w.mandate("acme", "{}")
	w.serviceReady(metav1.ConditionFalse, v1alpha1.ReasonUnreachable)
	w.checkServiceProblems(wrong("spec.baseURL", v1alpha1.ReasonUnreachable, "The request to the service failed: "+
		"login failed: no connection could be made to the service; check the base URL and the network."))
	w.eventsOf("IdentityService", "default", v1alpha1.ReasonUnreachable)
	w.condition("acme", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonIdentityServiceNotReady)
	w.connect()
	w.ready("acme")
	w.emails(1)
}

func TestServiceOutage(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{}")
	before := w.ready("acme")
	w.fault(serviceDown)
	w.serviceReady(metav1.ConditionFalse, v1alpha1.ReasonReadsFailing) // the first that failed
	w.checkServiceProblems(wrong("spec.baseURL", v1alpha1.ReasonReadsFailing,
		"The request to the service failed: HTTP 500 Internal Server Error."))
	during := w.ready("acme")
	if before.ResourceVersion != during.ResourceVersion {
		t.Errorf(
			"an outage of the service was written to a Mandate that is not waiting for it: %+v",
			during.Status.Conditions,
		)
	}
	w.check(w.sandbox.ClearFaults(t.Context()))
	w.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)
	w.play(before, control.ResultPass)
	w.until("acme", "in review", func(m *v1alpha1.Mandate) bool { return m.Status.State == "in review" })
}

func TestMissingParts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{})
	w.start()
	w.mandate("acme", "{individuals: [{name: jane, detailsSecretRef: {name: jane}}]}")
	w.condition("acme", v1alpha1.ConditionResolvedRefs, metav1.ConditionFalse, v1alpha1.ReasonIdentityServiceNotFound)
	w.connect()
	w.condition("acme", v1alpha1.ConditionResolvedRefs, metav1.ConditionFalse, v1alpha1.ReasonSecretNotFound)
	w.secret("jane", map[string]string{"first_name": "Jane", "eMail": "jane@example.com"})
	w.condition("acme", v1alpha1.ConditionResolvedRefs, metav1.ConditionFalse, v1alpha1.ReasonSecretInvalid)
	w.checkProblems("acme",
		wrong("spec.individuals[jane].detailsSecretRef", v1alpha1.ReasonSecretInvalid,
			"The key eMail of the Secret jane must be called email."),
		wrong("spec.individuals[jane].detailsSecretRef", v1alpha1.ReasonSecretInvalid,
			"The key email of the Secret jane is missing, or not an e-mail address."))
	w.emails(0)
	if records := w.records(); len(records) != 0 {
		t.Errorf("a record was claimed for an incomplete Mandate: %+v", records)
	}
	w.secret("jane", map[string]string{"first_name": "Jane", "email": "jane@example.com"})
	w.ready("acme")
	if got := w.emails(1)[0].Address; got != "jane@example.com" {
		t.Errorf("the invite went to %s", got)
	}
}

func TestCredentialsSecretMissing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{})
	w.connect()
	w.check(w.Delete(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "idv"}}))
	w.start()
	w.serviceReady(metav1.ConditionFalse, v1alpha1.ReasonSecretNotFound)
	w.secret("idv", map[string]string{"username": "alone"})
	w.serviceReady(metav1.ConditionFalse, v1alpha1.ReasonSecretInvalid)
	w.checkServiceProblems(wrong("spec.credentialsSecretRef", v1alpha1.ReasonSecretInvalid, "The Secret idv cannot be "+
		"used: credentials: username and password go together; set the missing one."))
	w.eventsOf("IdentityService", "default", v1alpha1.ReasonSecretNotFound, v1alpha1.ReasonSecretInvalid)
	w.connect()
	w.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)
	w.checkServiceProblems()
}

// Personal data is in the spec, the Secret and the requests to the service, and nowhere else, even at the highest log
// level.
func TestNoPersonalData(t *testing.T) {
	t.Parallel()
	w := running(t)
	canaries := map[string]string{
		"email": "canary1@example.com", "first_name": "canary2", "middle_name": "canary3", "last_name": "canary4",
		"date_of_birth": "1907-01-09", "gender": "canary5", "title": "canary6", "reference": "canary7",
	}
	w.secret("jane", canaries)
	w.mandate("acme", `{individuals: [
		{name: jane, detailsSecretRef: {name: jane}},
		{name: john, email: canary8@example.com, firstName: canary9, middleName: canary10, lastName: canary11,
			dateOfBirth: "1908-02-10", gender: canary12, title: canary13, reference: canary14}]}`)
	m := w.ready("acme")
	w.complete(m)
	m = w.condition("acme", v1alpha1.ConditionCompleted, metav1.ConditionTrue, string(v1alpha1.OutcomeCompleted))
	w.mandate("refused", `{individuals: [{name: john, email: canary15@example.com, reference: canary14}]}`)
	refused := w.stalled("refused", v1alpha1.ReasonRefused)
	w.check(w.operator.Stop())

	var events corev1.EventList
	w.check(w.List(t.Context(), &events, client.InNamespace(w.namespace)))
	log, err := os.ReadFile(w.operator.Log)
	w.check(err)
	for where, content := range map[string]any{
		"the status": m.Status, "the status of a refused Mandate": refused.Status, "events": events.Items,
		"the ledger": w.records(), "the log": string(log),
	} {
		data, err := json.Marshal(content)
		w.check(err)
		for _, canary := range append([]string{"canary", sandbox.DefaultPassword}, "1907-01-09", "1908-02-10") {
			if i := bytes.Index(data, []byte(canary)); i >= 0 {
				t.Errorf("%s contains %q: ...%s...", where, canary, data[max(0, i-200):min(len(data), i+50)])
			}
		}
	}
	if !strings.Contains(string(log), "The service carried out the request") {
		t.Error("the log does not mention the create: the search proves nothing")
	}
}
