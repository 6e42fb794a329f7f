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
)

// untilService waits until an IdentityService or ClusterIdentityService is as wanted; nil is one that does not exist.
func (w *world) untilService(s client.Object, what string, done func(client.Object) bool) {
	w.Helper()
	w.eventually(func() (bool, string) {
		err := w.Get(w.Context(), client.ObjectKeyFromObject(s), s)
		if apierrors.IsNotFound(err) {
			return done(nil), "the service does not exist, and should be " + what
		}
		w.check(err)
		return done(s), fmt.Sprintf("the service is not %s: %+v", what, s)
	})
}

func (w *world) theService() *v1alpha1.IdentityService {
	return &v1alpha1.IdentityService{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "default"}}
}

func protected(s client.Object) bool {
	return s != nil && slices.Contains(s.GetFinalizers(), v1alpha1.ServiceFinalizer)
}

func absent(s client.Object) bool { return s == nil }

// An IdentityService that Mandates need is not gone at once: what was begun is brought to its end, and nothing is begun.
func TestServiceInUse(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.kubectl("delete", "identityservice", "default", "--timeout=20s") // nobody needs it
	w.connect()
	w.mandate("acme", "{}")
	w.mandate("globex", "{}")
	w.ready("globex")
	acme := w.ready("acme")
	w.untilService(w.theService(), "protected", protected)

	w.kubectl("delete", "identityservice", "default", "--wait=false")
	s := w.theService()
	inUse := func(n int) func(client.Object) bool {
		return func(client.Object) bool {
			c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionInUse)
			return c != nil && c.Status == metav1.ConditionTrue && c.Reason == v1alpha1.ReasonMandatesRemain && strings.Contains(c.Message, fmt.Sprintf("service: %d.", n))
		}
	}
	w.untilService(s, "in use by two", inUse(2))
	if ready := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionReady); ready == nil || ready.Status != metav1.ConditionTrue {
		t.Errorf("it does not work any more: %+v", ready)
	}
	w.mandate("initech", "{}")
	w.condition("initech", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonServiceNotReady)
	w.kubectl("delete", "mandate", "globex")
	w.untilService(s, "in use by one", inUse(1))
	w.play(acme, control.Pass)
	w.condition("acme", v1alpha1.ConditionCompleted, metav1.ConditionFalse, v1alpha1.ReasonInProgress)
	w.mandate("acme", "{decision: Complete}")
	w.condition("acme", v1alpha1.ConditionCompleted, metav1.ConditionTrue, string(v1alpha1.OutcomeCompleted))
	w.untilService(s, "gone", absent)
	w.condition("initech", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonServiceNotFound)
	w.emails(2)
}

// Everything of a namespace is deleted at once, as when the namespace is, in whatever order: it ends, and what is to be
// deleted at the service is.
func TestEverythingDeletedAtOnce(t *testing.T) {
	t.Parallel()
	for _, order := range []string{"secret identityservice mandates", "identityservice mandates secret", "mandates secret identityservice"} {
		t.Run(order, func(t *testing.T) {
			t.Parallel()
			w := running(t)
			w.mandate("deleted", "{deletionPolicy: Delete}")
			w.mandate("retained", "{}")
			w.ready("deleted")
			w.ready("retained")
			w.untilService(w.theService(), "protected", protected)
			for kind := range strings.FieldsSeq(order) {
				w.kubectl("delete", kind, "--all", "--wait=false")
			}
			w.gone("deleted")
			w.gone("retained")
			w.untilService(w.theService(), "gone", absent)
			if got, want := w.states(), []string{"retained archived=false"}; !slices.Equal(got, want) {
				t.Errorf("the service has %q, want %q", got, want)
			}
		})
	}
}

// A deletion that Mandates hold up ends in any case.
func TestServiceDeletionGivesUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{})
	w.connect()
	w.start("--deletion-give-up-after=5s")
	w.mandate("acme", "{}")
	w.ready("acme")
	w.untilService(w.theService(), "protected", protected)
	w.kubectl("delete", "identityservice", "default", "--wait=false")
	w.untilService(w.theService(), "gone", absent)
	w.eventsOf("IdentityService", "default", v1alpha1.ReasonMandatesRemain, "DeletionGivenUp")
	w.connect()
	w.ready("acme")
	w.emails(1)
}

// dropService deletes the IdentityService although Mandates need it, as a person can who knows how.
func (w *world) dropService() {
	w.Helper()
	w.untilService(w.theService(), "protected", protected)
	w.kubectl("delete", "identityservice", "default", "--wait=false")
	w.kubectl("patch", "identityservice", "default", "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
}
