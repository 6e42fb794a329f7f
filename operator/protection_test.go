package operator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/test/await"
)

// untilService waits until done with an IdentityService or ClusterIdentityService, which is nil if it does not exist.
func (w *world) untilService(s client.Object, what string, done func(client.Object) bool) {
	w.Helper()
	w.eventually(func() (bool, string) {
		err := w.Get(w.Context(), client.ObjectKeyFromObject(s), s)
		if apierrors.IsNotFound(err) {
			return done(nil), "the service does not exist, want " + what
		}
		w.check(err)
		return done(s), fmt.Sprintf("the service is not %s: %+v", what, s)
	})
}

func (w *world) defaultService() *v1alpha1.IdentityService {
	return &v1alpha1.IdentityService{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "default"}}
}

func protected(s client.Object) bool {
	return s != nil && slices.Contains(s.GetFinalizers(), v1alpha1.ServiceFinalizer)
}

func absent(s client.Object) bool { return s == nil }

// A deleted IdentityService stays until no Mandate needs it: applications are completed, and no new ones created.
func TestServiceInUse(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.kubectl("delete", "identityservice", "default", await.Timeout(t)) // no Mandate needs it
	w.connect()
	w.mandate("acme", "{}")
	w.mandate("globex", "{}")
	w.ready("globex")
	acme := w.ready("acme")
	w.untilService(w.defaultService(), "protected", protected)

	w.kubectl("delete", "identityservice", "default", "--wait=false")
	s := w.defaultService()
	inUse := func(n int) func(client.Object) bool {
		return func(client.Object) bool {
			c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionInUse)
			return c != nil && c.Status == metav1.ConditionTrue && c.Reason == v1alpha1.ReasonMandatesRemain &&
				strings.Contains(c.Message, fmt.Sprintf("service: %d.", n))
		}
	}
	w.untilService(s, "in use by two", inUse(2))
	if ready := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionReady); ready == nil ||
		ready.Status != metav1.ConditionTrue {
		t.Errorf("the service is not Ready while it is in use: %+v", ready)
	}
	w.mandate("initech", "{}")
	w.condition("initech", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonIdentityServiceNotReady)
	w.kubectl("delete", "mandate", "globex")
	w.untilService(s, "in use by one", inUse(1))
	w.play(acme, control.ResultPass)
	w.condition("acme", v1alpha1.ConditionCompleted, metav1.ConditionFalse, v1alpha1.ReasonInProgress)
	w.decide("acme", v1alpha1.DecisionComplete)
	w.condition("acme", v1alpha1.ConditionCompleted, metav1.ConditionTrue, string(v1alpha1.OutcomeCompleted))
	w.untilService(s, "gone", absent)
	w.condition("initech", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonIdentityServiceNotFound)
	w.emails(2)
}

// A service whose first create is under way is in use: without it, the deletionPolicy of the Mandate could not be
// carried out.
func TestServiceInUseByACreate(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.fault(control.Fault{Operation: control.CreateApplication, Kind: control.Slow, DelayMillis: 5000, Times: 1})
	w.mandate("acme", "{deletionPolicy: Delete}")
	w.eventually(func() (bool, string) { return w.requests(control.CreateApplication) == 1, "no create" })
	w.untilService(w.defaultService(), "protected", protected)
	if record := w.onlyRecord(); record.Spec.ApplicationID != nil {
		t.Errorf("the service is protected only when the create has ended: %+v", record.Spec)
	}
	w.kubectl("delete", "secret/idv", "identityservice/default", "mandate/acme", "--wait=false")
	w.waitGone("acme")
	w.untilService(w.defaultService(), "gone", absent)
	if got := w.states(); len(got) > 0 {
		t.Errorf("the service has %q, want no application", got)
	}
	w.emails(1)
}

// All objects of a namespace are deleted at once, in any order: they are all deleted, and so are applications with the
// deletionPolicy Delete.
func TestEverythingDeletedAtOnce(t *testing.T) {
	t.Parallel()
	for _, sequence := range []string{
		"secret identityservice mandates", "identityservice mandates secret", "mandates secret identityservice",
	} {
		t.Run(sequence, func(t *testing.T) {
			t.Parallel()
			w := running(t)
			w.mandate("deleted", "{deletionPolicy: Delete}")
			w.mandate("retained", "{}")
			w.ready("deleted")
			w.ready("retained")
			w.untilService(w.defaultService(), "protected", protected)
			for kind := range strings.FieldsSeq(sequence) {
				w.kubectl("delete", kind, "--all", "--wait=false")
			}
			w.waitGone("deleted")
			w.waitGone("retained")
			w.untilService(w.defaultService(), "gone", absent)
			if got, want := w.states(), []string{"retained archived=false"}; !slices.Equal(got, want) {
				t.Errorf("the service has %q, want %q", got, want)
			}
		})
	}
}

// The deletion of an IdentityService that Mandates need finishes after the time limit.
func TestServiceDeletionGivesUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{})
	w.connect()
	w.start("--deletion-give-up-after=5s")
	w.mandate("acme", "{}")
	w.ready("acme")
	w.untilService(w.defaultService(), "protected", protected)
	w.kubectl("delete", "identityservice", "default", "--wait=false")
	w.untilService(w.defaultService(), "gone", absent)
	w.eventsOf("IdentityService", "default", v1alpha1.ReasonMandatesRemain, "DeletionGivenUp")
	w.connect()
	w.ready("acme")
	w.emails(1)
}

// forceDeleteService deletes the IdentityService although Mandates need it, by removing its finalizer.
func (w *world) forceDeleteService() {
	w.Helper()
	w.untilService(w.defaultService(), "protected", protected)
	w.kubectl("delete", "identityservice", "default", "--wait=false")
	w.kubectl("patch", "identityservice", "default", "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
}
