package operator_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/operator/connection"
)

// controllers starts the cluster's controllers of namespaces and of owner references, for the tests that need them.
var controllers = sync.OnceValue(func() error {
	_, err := env.StartControllerManager()
	return err
})

// deleteNoWait deletes objects without waiting for their finalizers.
func (w *world) deleteNoWait(what ...string) {
	w.Helper()
	w.kubectl(append([]string{"delete", "--wait=false"}, what...)...)
}

func (w *world) waitNamespaceGone() {
	w.Helper()
	w.eventually(func() (bool, string) {
		namespace := &corev1.Namespace{}
		err := w.Get(w.Context(), client.ObjectKey{Name: w.namespace}, namespace)
		return apierrors.IsNotFound(err), fmt.Sprintf("the namespace still exists: %+v", namespace.Status.Conditions)
	})
}

// withMandates is a world with a Mandate for each deletionPolicy, and a completed one with a report in a Secret.
func withMandates(t *testing.T, flags ...string) *world {
	t.Helper()
	w := newWorld(t, sandbox.Options{})
	w.check(controllers())
	w.connect()
	w.start(flags...)
	w.verified()
	w.mandate("retain", "{}")
	w.mandate("archive", "{deletionPolicy: Archive}")
	w.mandate("delete", "{deletionPolicy: Delete}")
	w.action("report", report)
	w.actionCompletes("report")
	for _, name := range []string{"retain", "archive", "delete"} {
		w.ready(name)
	}
	w.untilService(w.defaultService(), "protected", protected) // which may be after that
	return w
}

// A namespace is deleted, some of its objects before it. The cluster deletes the others in random order. The operator
// applies each deletionPolicy, and the namespace is deleted.
func TestNamespaceDeleted(t *testing.T) {
	t.Parallel()
	parts := map[string][]string{
		"secret":   {"secret", "idv"},
		"service":  {"identityservice", "default"},
		"mandates": {"mandates", "--all"},
	}
	worlds := map[string]*world{}
	for _, first := range []string{
		"", "secret service mandates", "secret mandates service", "service secret mandates", "service mandates secret",
		"mandates secret service", "mandates service secret",
	} {
		worlds[first] = withMandates(t)
	}
	for first, w := range worlds {
		for part := range strings.FieldsSeq(first) {
			w.deleteNoWait(parts[part]...)
		}
		w.deleteNoWait("namespace", w.namespace)
	}
	for first, w := range worlds { // the cluster deletes them concurrently
		w.waitNamespaceGone()
		want := []string{"acme archived=false", "archive archived=true", "retain archived=false"}
		if got := w.states(); !slices.Equal(got, want) {
			t.Errorf("after %q, the service has %q, want %q", first, got, want)
		}
		w.emails(4)
		w.checkCreates(4)
	}
}

// A namespace is deleted while the service is down, or the operator no longer has its credentials. The namespace waits
// no longer than any deletion does.
func TestNamespaceDeletedWithoutService(t *testing.T) {
	t.Parallel()
	cases := map[string]func(*world){
		"the service is down": func(w *world) { w.fault(serviceDown) },
		"the operator starts after the Secret is gone": func(w *world) {
			w.kill()
			w.deleteNoWait("secret", "idv")
			w.start("--deletion-give-up-after=10s")
		},
	}
	for name, disrupt := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := withMandates(t, "--deletion-give-up-after=10s")
			disrupt(w)
			w.deleteNoWait("namespace", w.namespace)
			w.condition("delete", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonDeletionWaiting)
			w.waitNamespaceGone()
			want := []string{
				"acme archived=false", "archive archived=false", "delete archived=false", "retain archived=false",
			}
			if got := w.states(); !slices.Equal(got, want) {
				t.Errorf("the service has %q, want %q", got, want)
			}
			w.emails(4)
			w.waitLogged("Releasing the Mandate, but its application may remain")
		})
	}
}

// A namespace is deleted, and the ledger with it, during creates. An application with deletionPolicy Delete is deleted.
// One with Retain is logged, because there is no other place left to record it.
func TestNamespaceDeletedWhileCreating(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{})
	w.check(controllers())
	w.connect()
	w.start()
	w.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)
	w.fault(control.Fault{Operation: control.CreateApplication, Kind: control.Slow, DelayMillis: 9000, Times: 2})
	w.mandate("delete", "{deletionPolicy: Delete}")
	w.mandate("retain", "{}")
	w.eventually(func() (bool, string) { return w.requests(control.CreateApplication) == 2, "no creates" })
	w.check(w.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}))
	// The namespace controller deletes them, too, but begins later, and on a busy machine after the answers.
	w.check(w.DeleteAllOf(t.Context(), &v1alpha1.ApplicationRecord{}, client.InNamespace(w.namespace)))
	w.waitNamespaceGone()
	w.eventually(func() (bool, string) {
		got := w.states()
		return slices.Equal(got, []string{"retain archived=false"}), fmt.Sprintf("the service has %q", got)
	})
	w.emails(2)
	w.checkCreates(2)
	w.waitLogged("Cannot record the id of a created application")
}

// In a namespace that is being deleted, archiving is begun without a record. The API server fails before it is sent, so
// it is begun again.
func TestArchivingBegunWithoutARecord(t *testing.T) {
	t.Parallel()
	w := connected(t)
	w.check(controllers())
	w.mandate("acme", "{deletionPolicy: Archive}")
	r := w.newManualReconciler()
	r.reconcileUntilCreated("acme")
	w.terminate()
	r.connect() // the service has another generation since
	r.beforeFirst("patch Mandate", func() { r.failing = "get Mandate" })
	r.reconcile("acme")
	if got, want := w.states(), []string{"acme archived=false"}; !slices.Equal(got, want) {
		t.Fatalf("the service has %q, want %q", got, want)
	}
	r.failing = ""
	w.eventually(func() (bool, string) {
		r.reconcile("acme")
		m := &v1alpha1.Mandate{}
		err := w.Get(t.Context(), w.key("acme"), m)
		return apierrors.IsNotFound(err), fmt.Sprintf("the Mandate still exists: %+v", m.Status.Conditions)
	})
	if got, want := w.states(), []string{"acme archived=true"}; !slices.Equal(got, want) {
		t.Errorf("the service has %q, want %q", got, want)
	}
	w.protectService("null")
	w.emails(1)
}

// A request to archive may have been carried out, or may still be, and its record goes with the namespace. Neither the
// process that sent it nor the next one sends it again.
func TestArchivingWhoseRecordGoes(t *testing.T) {
	t.Parallel()
	orders := map[string]func(*world){
		"deletionPolicy": func(w *world) { w.deleteNoWait("mandate", "acme") },
		"spec.archived":  func(w *world) { w.check(w.edit("acme", `{"archived": true}`)) },
	}
	answers := map[string]int{"accepted": http.StatusAccepted, "no clear answer": http.StatusGatewayTimeout}
	for name, status := range answers {
		for order, give := range orders {
			t.Run(name+", "+order, func(t *testing.T) {
				t.Parallel()
				w := connected(t)
				w.check(controllers())
				w.mandate("acme", "{deletionPolicy: Archive}")
				r := w.newManualReconciler()
				r.reconcileUntilCreated("acme")
				w.fault(control.Fault{Operation: control.ArchiveApplication, Kind: control.Answer, Status: status, Times: 1})
				give(w)
				w.eventually(func() (bool, string) {
					r.reconcile("acme")
					return w.requests(control.ArchiveApplication) == 1, "nothing is archived"
				})
				w.terminate()
				for _, process := range []*manualReconciler{r, w.newManualReconciler()} {
					process.connect() // the service has another generation since
					for range 5 {
						process.reconcile("acme")
					}
				}
				if sent := w.requests(control.ArchiveApplication); sent != 1 {
					t.Errorf("the operator asked %d times to archive, want once", sent)
				}
				r.release()
			})
		}
	}
}

// The credentials become those of another account, and then the namespace is deleted, and the record goes with it. That
// the other account has no such application says nothing.
func TestAccountThatNobodyKnowsAnyMore(t *testing.T) {
	t.Parallel()
	w := connected(t)
	w.check(controllers())
	w.mandate("acme", "{deletionPolicy: Delete}")
	r := w.newManualReconciler()
	r.reconcileUntilCreated("acme")
	w.terminate()
	missing := alwaysAnswers(control.RetrieveApplication, 404)
	missing.Body = "problem"
	w.fault(missing)
	r.connectAs(func(c *connection.Connection) {
		c.Account = connection.NewAccount("", v1alpha1.GrantTypePassword, "another", "")
	})
	for range 3 {
		r.reconcile("acme")
	}
	w.checkCondition("acme", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonDeletionRefused)
	w.checkProblems("acme", wrong("spec.deletionPolicy", v1alpha1.ReasonDeletionRefused,
		"The ApplicationRecord is gone, and nothing shows that this account has the application."))
	r.release()
}

// release lets acme and its service go, after one e-mail.
func (r *manualReconciler) release() {
	w := r.world
	w.Helper()
	w.check(w.edit("acme", `{"deletionPolicy": "Retain"}`))
	r.reconcile("acme")
	w.protectService("null")
	w.emails(1)
}

// A create has no answer, and its record goes with the namespace before the status can say so. The process that sent it
// says that its application may exist.
func TestReleasedAfterACreateWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	w := connected(t)
	w.check(controllers())
	w.mandate("acme", "{deletionPolicy: Delete}")
	r := w.newManualReconciler()
	recorder := events.NewFakeRecorder(100)
	r.Events = recorder
	r.setSettleDelay(r.SettleDelay)
	w.fault(answerLost)
	r.failing = "patch status of Mandate"
	w.eventually(func() (bool, string) {
		r.reconcile("acme")
		return w.requests(control.CreateApplication) == 1, "there is no create"
	})
	w.terminate()
	r.failing = ""
	r.connect() // the service has another generation since
	w.eventually(func() (bool, string) {
		r.reconcile("acme")
		err := w.Get(t.Context(), w.key("acme"), &v1alpha1.Mandate{})
		return apierrors.IsNotFound(err), "the Mandate still exists"
	})
	var said []string
	for len(recorder.Events) > 0 {
		said = append(said, <-recorder.Events)
	}
	if !strings.Contains(strings.Join(said, "\n"), "its application may exist") {
		t.Errorf("the events are %q", said)
	}
	w.protectService("null")
	w.emails(1)
}

// protectService sets the finalizers of the service, as the operator does while Mandates need it.
func (w *world) protectService(finalizers string) {
	w.Helper()
	w.kubectl("patch", "identityservice", "default", "--type=merge", "-p", `{"metadata":{"finalizers":`+finalizers+`}}`)
}

// terminate deletes the namespace until the record of acme is gone, and acme and its service wait for their finalizers.
// The namespace controller takes one kind after the other.
func (w *world) terminate() {
	w.Helper()
	w.protectService(`["` + v1alpha1.ServiceFinalizer + `"]`)
	w.deleteNoWait("namespace", w.namespace)
	w.eventually(func() (bool, string) {
		service, m := &v1alpha1.IdentityService{}, &v1alpha1.Mandate{}
		w.check(w.Get(w.Context(), w.key("default"), service))
		w.check(w.Get(w.Context(), w.key("acme"), m))
		gone := apierrors.IsNotFound(w.Get(w.Context(), w.key("acme"), &v1alpha1.ApplicationRecord{}))
		return gone && service.DeletionTimestamp != nil && m.DeletionTimestamp != nil, "not all of them are being deleted"
	})
}

// waitLogged waits until the operator has logged a text.
func (w *world) waitLogged(what string) {
	w.Helper()
	w.eventually(func() (bool, string) {
		return strings.Contains(logTail(w.operator.Log), what), "the log lacks: " + what
	})
}

// A namespace is deleted while the outcome of a create is unknown: the operator logs it.
func TestNamespaceDeletedWithUnknownOutcome(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{})
	w.check(controllers())
	w.connect()
	w.start()
	w.fault(answerLost)
	w.mandate("acme", "{deletionPolicy: Delete}")
	w.stalled("acme", v1alpha1.ReasonOutcomeUnknown)
	w.deleteNoWait("namespace", w.namespace)
	w.waitNamespaceGone()
	w.waitLogged("but its application may exist")
	w.emails(1)
}

// A report is deleted with its action. The ledger has no owner: it outlives its Mandates.
func TestOwners(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.check(controllers())
	w.verified()
	w.action("short", "{type: DownloadReport, reportSecretRef: {name: short-report}, ttlSecondsAfterFinished: 5}")
	w.action("report", report)
	w.checkReport(w.actionCompletes("report"), "application/pdf", "%PDF-")
	collected := func(secret string) {
		t.Helper()
		w.eventually(func() (bool, string) {
			err := w.Get(t.Context(), client.ObjectKey{Namespace: w.namespace, Name: secret}, &corev1.Secret{})
			return apierrors.IsNotFound(err), "the Secret " + secret + " still exists"
		})
	}
	collected("short-report")
	w.secretNamed("jane-report")
	w.kubectl("delete", "mandate", "acme", "--cascade=foreground")
	w.kubectl("delete", "mandateaction", "report")
	collected("jane-report") // dependents of the Mandate would be deleted by then, too
	record := w.onlyRecord()
	if len(record.OwnerReferences) > 0 || record.Spec.ApplicationID == nil {
		t.Errorf("the record of a deleted Mandate is %+v", record)
	}
	w.emails(1)
}
