package operator_test

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
)

// GitOps tools delete a Mandate and apply it again when they cannot patch it. Whatever was edited meanwhile, its name
// has one application.
func TestRecreatedWithAnEdit(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		before, after string // the spec of the Mandate
		edit          func(*world) (other *world)
		reason        string
	}{
		"reference": {
			before: "{reference: ACME-1}", after: "{reference: ACME-2}", reason: v1alpha1.ReasonApplicationExists,
		},
		"no reference any more": {before: "{reference: ACME-1}", after: "{}", reason: v1alpha1.ReasonApplicationExists},
		"referencePrefix": {
			before: "{}", after: "{}", edit: (*world).anotherPrefix,
			reason: v1alpha1.ReasonApplicationExists,
		},
		"serviceRef": {
			before: "{}", after: "{serviceRef: {name: other}}", edit: (*world).anotherService,
			reason: v1alpha1.ReasonIdentityServiceMismatch,
		},
		"serviceRef and reference": {
			before: "{}", after: "{serviceRef: {name: other}, reference: ACME-2}", edit: (*world).anotherService,
			reason: v1alpha1.ReasonIdentityServiceMismatch,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := running(t)
			w.mandate("acme", c.before)
			first := w.ready("acme")
			var other *world
			if c.edit != nil {
				other = c.edit(w)
			}
			w.kubectl("delete", "mandate", "acme")
			w.mandate("acme", c.after)
			again := w.stalled("acme", c.reason)
			if again.Status.ApplicationID != nil || again.Status.Reference != first.Status.Reference {
				t.Errorf("the status has application %v, %q, want none, and the reference %q of the one that exists",
					again.Status.ApplicationID, again.Status.Reference, first.Status.Reference)
			}
			w.checkCondition("acme", v1alpha1.ConditionCreated, metav1.ConditionUnknown, c.reason)
			w.checkCreates(1)
			w.emails(1)

			// The edit is undone: the Mandate has its application again.
			if c.edit != nil {
				w.patchService("{referencePrefix: \"\"}")
			}
			w.kubectl("delete", "mandate", "acme")
			w.mandate("acme", c.before)
			if id := *w.ready("acme").Status.ApplicationID; id != *first.Status.ApplicationID {
				t.Errorf("the Mandate has application %d, want %d", id, *first.Status.ApplicationID)
			}
			w.checkCreates(1)
			w.emails(1)
			if other != nil {
				other.checkCreates(0)
			}
		})
	}
}

// anotherPrefix edits the referencePrefix of the IdentityService.
func (w *world) anotherPrefix() (none *world) {
	w.Helper()
	w.patchService("{referencePrefix: eu-}")
	w.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)
	return nil
}

// anotherService applies the IdentityService "other", which leads to a sandbox of its own.
func (w *world) anotherService() (other *world) {
	w.Helper()
	other = newWorld(w.T, sandbox.Options{})
	w.newService("other", fmt.Sprintf("baseURL: %q", other.url))
	w.serviceIs("other", metav1.ConditionTrue, v1alpha1.ReasonConnected)
	return other
}

// A reference that provably created nothing may be edited: the record of the Mandate is used again.
func TestReferenceEditedAfterARefusal(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("beta", "{reference: ACME-1}")
	w.ready("beta")
	w.mandate("acme", "{reference: ACME-1}")
	w.stalled("acme", v1alpha1.ReasonReferenceConflict)
	w.mandate("acme", "{reference: ACME-2}")
	if m := w.ready("acme"); m.Status.Reference != "ACME-2" {
		t.Errorf("the application has the reference %q, want ACME-2", m.Status.Reference)
	}
	w.emails(2)
}
