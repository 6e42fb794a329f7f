package operator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// waitGone waits until a Mandate no longer exists.
func (w *world) waitGone(name string) {
	w.Helper()
	w.eventually(func() (bool, string) {
		m := &v1alpha1.Mandate{}
		err := w.Get(w.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, m)
		return apierrors.IsNotFound(err), fmt.Sprintf("the Mandate %s still exists: %+v", name, m.Status.Conditions)
	})
}

// deleteMandate deletes a Mandate without waiting for its finalizer.
func (w *world) deleteMandate(name string) {
	w.Helper()
	w.kubectl("delete", "mandate", name, "--wait=false")
}

// states are the references of the service's applications, and whether they are archived.
func (w *world) states() []string {
	w.Helper()
	applications, err := w.sandbox.Applications(w.Context())
	w.check(err)
	states := make([]string, 0, len(applications))
	for i := range applications {
		name := strings.TrimPrefix(applications[i].Reference, w.namespace+".")
		states = append(states, fmt.Sprintf("%s archived=%t", name, applications[i].Archived))
	}
	slices.Sort(states)
	return states
}

func TestDeletionPolicies(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("retain", "{}")
	w.mandate("archive", "{deletionPolicy: Archive}")
	w.mandate("delete", "{deletionPolicy: Delete}")
	w.mandate("changed", "{deletionPolicy: Delete}")
	w.mandate("vanished", "{deletionPolicy: Delete}")
	w.mandate("never", "{deletionPolicy: Delete, mandateType: {code: unknown}}")
	for name, finalizers := range map[string]int{"retain": 0, "archive": 1, "delete": 1, "changed": 1, "vanished": 1} {
		if got := w.ready(name).Finalizers; len(got) != finalizers {
			t.Errorf("%s has the finalizers %v, want %d", name, got, finalizers)
		}
	}
	w.stalled("never", v1alpha1.ReasonMandateTypeNotFound)
	w.mandate("changed", "{deletionPolicy: Retain}")
	w.until("changed", "without a finalizer", func(m *v1alpha1.Mandate) bool { return len(m.Finalizers) == 0 })
	_, err := w.client(w.url).DeleteApplication(t.Context(), *w.get("vanished").Status.ApplicationID)
	w.check(err)
	for _, name := range []string{"retain", "archive", "delete", "changed", "vanished", "never"} {
		w.deleteMandate(name)
	}
	for _, name := range []string{"retain", "archive", "delete", "changed", "vanished", "never"} {
		w.waitGone(name)
	}
	want := []string{"archive archived=true", "changed archived=false", "retain archived=false"}
	if got := w.states(); !slices.Equal(got, want) {
		t.Errorf("the service has %q, want %q", got, want)
	}

	// Applied again, the Mandate finds its deleted application in the ledger, and creates nothing.
	sent := w.requests(control.CreateApplication)
	w.mandate("delete", "{}")
	w.condition("delete", v1alpha1.ConditionCompleted, metav1.ConditionTrue, string(v1alpha1.OutcomeDeleted))
	w.checkCreates(sent)
	w.emails(5)
}

// serviceDown makes every request fail.
var serviceDown = alwaysAnswers(control.AnyOperation, 500)

// A deletion reports why it waits for the service, continues by itself, and finishes in any case.
func TestDeletionWaits(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		disrupt func(*world)
		shows   string
		repair  func(*world) // nil if nobody does
		left    []string     // at the service
		flags   []string
		event   string
	}{
		"for the credentials": {
			reason: "an operator that has restarted since does not know them",
			disrupt: func(w *world) {
				w.untilService(w.defaultService(), "protected", protected) // which may be after the Mandate is Ready
				w.kill()
				w.deleteNoWait("secret", "idv")
				w.deleteNoWait("identityservice", "default")
				w.start()
			},
			shows:  v1alpha1.ReasonDeletionWaiting,
			repair: func(w *world) { w.credentials() },
		},
		"until the service accepts it": {
			disrupt: func(w *world) {
				w.fault(control.Fault{Operation: control.DeleteApplication, Kind: control.Answer, Status: 409, Times: 3})
			},
			shows:  v1alpha1.ReasonDeletionRefused,
			repair: func(*world) {},
		},
		"until a read says so as well": {
			reason: "a 404 is not believed of an application that the service still shows",
			disrupt: func(w *world) {
				w.fault(control.Fault{Operation: control.DeleteApplication, Kind: control.Answer, Status: 404, Times: 3})
			},
			shows:  v1alpha1.ReasonDeletionRefused,
			repair: func(*world) {},
		},
		"until a user edits the policy": {
			disrupt: func(w *world) { w.fault(serviceDown) },
			shows:   v1alpha1.ReasonDeletionWaiting,
			repair: func(w *world) {
				w.kubectl("patch", "mandate", "acme", "--type=merge", "-p", `{"spec":{"deletionPolicy":"Retain"}}`)
			},
			left: []string{"acme archived=false"},
		},
		"until it gives up": {
			disrupt: func(w *world) { w.fault(serviceDown) },
			left:    []string{"acme archived=false"},
			event:   "DeletionGivenUp",
			flags:   []string{"--deletion-give-up-after=4s"},
		},
		"not for another service": {
			reason: "its 404 proves nothing, and the id may belong to another application there",
			disrupt: func(w *world) {
				other := newWorld(w.T, sandbox.Options{})
				w.patchService(fmt.Sprintf("{baseURL: %q}", other.url))
				w.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)
			},
			shows:  v1alpha1.ReasonDeletionRefused,
			repair: func(w *world) { w.patchService(fmt.Sprintf("{baseURL: %q}", w.url)) },
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, sandbox.Options{})
			w.connect()
			w.start(c.flags...)
			w.mandate("acme", "{deletionPolicy: Delete}")
			w.ready("acme")
			c.disrupt(w)
			w.deleteMandate("acme")
			if c.shows != "" {
				w.condition("acme", v1alpha1.ConditionReady, metav1.ConditionFalse, c.shows)
			}
			if c.repair != nil {
				c.repair(w)
			}
			w.waitGone("acme")
			if c.event != "" {
				w.events("acme", c.event)
			}
			if got := w.states(); !slices.Equal(got, c.left) {
				t.Errorf("the service has %q, want %q: %s", got, c.left, c.reason)
			}
		})
	}
}

// A Mandate is deleted during its create: the application is deleted, too.
func TestDeletedWhileCreating(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.fault(slowed(control.CreateApplication, slowAnswer))
	w.mandate("acme", "{deletionPolicy: Delete}")
	w.creating()
	w.deleteMandate("acme")
	w.waitGone("acme")
	if got := w.states(); len(got) != 0 {
		t.Errorf("the service has %q", got)
	}
	w.emails(1)
}
