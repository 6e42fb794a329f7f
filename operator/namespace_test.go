package operator_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// controllers of the cluster, for the tests that need them: those of namespaces and of owners.
var controllers = sync.OnceValue(func() error {
	_, err := env.StartControllerManager()
	return err
})

// removes deletes something without waiting for its end.
func (w *world) removes(what ...string) {
	w.Helper()
	w.kubectl(append([]string{"delete", "--wait=false"}, what...)...)
}

func (w *world) namespaceGone() {
	w.Helper()
	w.eventually(func() (bool, string) {
		namespace := &corev1.Namespace{}
		err := w.Get(w.Context(), client.ObjectKey{Name: w.namespace}, namespace)
		return apierrors.IsNotFound(err), fmt.Sprintf("the namespace is still there: %+v", namespace.Status.Conditions)
	})
}

// populated is a world with a Mandate for each deletionPolicy, and one that is completed and has a report in a Secret.
func populated(t *testing.T, flags ...string) *world {
	t.Helper()
	w := newWorld(t, sandbox.Options{})
	w.check(controllers())
	w.connect()
	w.start(flags...)
	w.verified()
	for name, spec := range map[string]string{"retain": "{}", "archive": "{deletionPolicy: Archive}", "delete": "{deletionPolicy: Delete}"} {
		w.mandate(name, spec)
	}
	w.order("report", report)
	w.completes("report")
	for _, name := range []string{"retain", "archive", "delete"} {
		w.ready(name)
	}
	return w
}

// Somebody deletes a namespace with all that it has, some of it before. The cluster deletes the rest in no order at all.
// What deletionPolicy says is done, and the namespace goes.
func TestNamespaceDeleted(t *testing.T) {
	t.Parallel()
	parts := map[string][]string{"secret": {"secret", "idv"}, "service": {"identityservice", "default"}, "mandates": {"mandates", "--all"}}
	worlds := map[string]*world{}
	for _, first := range []string{
		"", "secret service mandates", "secret mandates service", "service secret mandates", "service mandates secret", "mandates secret service", "mandates service secret",
	} {
		worlds[first] = populated(t)
	}
	for first, w := range worlds {
		for part := range strings.FieldsSeq(first) {
			w.removes(parts[part]...)
		}
		w.removes("namespace", w.namespace)
	}
	for first, w := range worlds { // they wait for the cluster's controller at the same time
		w.namespaceGone()
		if got, want := w.states(), []string{"acme archived=false", "archive archived=true", "retain archived=false"}; !slices.Equal(got, want) {
			t.Errorf("after %q, the service has %q, want %q", first, got, want)
		}
		w.emails(4)
		w.creates(4)
	}
}

// The same while the service is away, or when the operator cannot know the credentials any more: the namespace waits for it,
// and no longer than an operator waits for any deletion.
func TestNamespaceDeletedWithoutService(t *testing.T) {
	t.Parallel()
	cases := map[string]func(*world){
		"away": func(w *world) { w.fault(down) },
		"the operator starts after the Secret is gone": func(w *world) {
			w.kill()
			w.removes("secret", "idv")
			w.start("--deletion-give-up-after=10s")
		},
	}
	for name, hinder := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := populated(t, "--deletion-give-up-after=10s")
			hinder(w)
			w.removes("namespace", w.namespace)
			w.condition("delete", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonDeletionWaiting)
			w.namespaceGone()
			if got, want := w.states(), []string{"acme archived=false", "archive archived=false", "delete archived=false", "retain archived=false"}; !slices.Equal(got, want) {
				t.Errorf("the service has %q, want %q", got, want)
			}
			w.emails(4)
			w.logged("Deleted the Mandate, but not its application")
		})
	}
}

// Creates are under way when the namespace goes, and with it the ledger. An application that is to be deleted with its
// Mandate is; one that is to stay is told of in the log, because nobody else can.
func TestNamespaceDeletedWhileCreating(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{})
	w.check(controllers())
	w.connect()
	w.start()
	w.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)
	// The namespace's controller begins five seconds after the deletion.
	w.fault(control.Fault{Operation: control.CreateApplication, Kind: control.Slow, DelayMillis: 9000, Times: 2})
	w.mandate("delete", "{deletionPolicy: Delete}")
	w.mandate("retain", "{}")
	w.eventually(func() (bool, string) { return w.requests(control.CreateApplication) == 2, "no creates" })
	w.removes("namespace", w.namespace)
	w.namespaceGone()
	w.eventually(func() (bool, string) {
		got := w.states()
		return slices.Equal(got, []string{"retain archived=false"}), fmt.Sprintf("the service has %q", got)
	})
	w.emails(2)
	w.creates(2)
	w.logged("Cannot record the id of a created application")
}

// logged waits until the operator has logged something.
func (w *world) logged(what string) {
	w.Helper()
	w.eventually(func() (bool, string) {
		return strings.Contains(story(w.operator.Log), what), "the log does not say: " + what
	})
}

// A namespace goes while nobody knows whether a create was carried out: it does not go without a word.
func TestNamespaceDeletedWithUnknownOutcome(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{})
	w.check(controllers())
	w.connect()
	w.start()
	w.fault(lost)
	w.mandate("acme", "{deletionPolicy: Delete}")
	w.stalled("acme", v1alpha1.ReasonOutcomeUnknown)
	w.removes("namespace", w.namespace)
	w.namespaceGone()
	w.logged("but its application may exist")
	w.emails(1)
}

// A report goes with the order that it belongs to, however that goes. The ledger belongs to nobody: it outlives its Mandates.
func TestOwners(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.check(controllers())
	w.verified()
	w.order("short", "{type: DownloadReport, reportSecretRef: {name: short-report}, ttlSecondsAfterFinished: 5}")
	w.order("report", report)
	w.reported(w.completes("report"), "application/pdf", "%PDF-")
	collected := func(secret string) {
		t.Helper()
		w.eventually(func() (bool, string) {
			err := w.Get(t.Context(), client.ObjectKey{Namespace: w.namespace, Name: secret}, &corev1.Secret{})
			return apierrors.IsNotFound(err), "the Secret " + secret + " is still there"
		})
	}
	collected("short-report")
	w.secretNamed("jane-report")
	w.kubectl("delete", "mandate", "acme", "--cascade=foreground")
	w.kubectl("delete", "mandateaction", "report")
	collected("jane-report") // by then, what belonged to the Mandate would be gone, too
	record := w.theRecord()
	if len(record.OwnerReferences) > 0 || record.Spec.ApplicationID == nil {
		t.Errorf("the record of a Mandate that is gone: %+v", record)
	}
	w.emails(1)
}
