package operator_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

// A Mandate is deleted and applied again with another spec, as GitOps tools do with force. Its application is that of
// the first spec: it is not bound, and nothing is sent. The spec that was sent binds it again.
func TestSpecDiffers(t *testing.T) {
	t.Parallel()
	const sent = `{name: Acme Ltd, individuals: [
		{name: jane, email: jane@example.com}, {name: john, detailsSecretRef: {name: john}}]}`
	details := map[string]string{"email": "john@example.com"}
	cases := map[string]struct {
		spec    string
		details map[string]string // of john
		field   string            // that the status names
	}{
		"with another person": {
			spec:  strings.Replace(sent, "jane@", "canary@", 1),
			field: "spec.individuals[jane].email",
		},
		"with another handle": {
			spec:  strings.Replace(sent, "name: jane", "name: canary", 1),
			field: "spec.individuals[canary].reference",
		},
		"with one person less": {
			spec:  `{name: Acme Ltd, individuals: [{name: jane, email: jane@example.com}]}`,
			field: "spec.individuals",
		},
		"with another Secret": {
			spec:    sent,
			details: map[string]string{"email": "canary@example.com"},
			field:   "spec.individuals[john].email",
		},
		"with another mandate type": {
			spec:  strings.Replace(sent, "{name: Acme", "{mandateType: {code: address}, name: Acme", 1),
			field: "spec.mandateType",
		},
		"with another name": {
			spec:  strings.Replace(sent, "Acme Ltd", "Canary Ltd", 1),
			field: "spec.name",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := running(t)
			w.secret("john", details)
			w.mandate("acme", sent)
			before := w.ready("acme")
			w.play(before, control.ResultReview)
			before = w.inReview("acme")
			effects := w.effects()
			w.kubectl("delete", "mandate", "acme")
			if c.details != nil {
				w.secret("john", c.details)
			}
			w.mandate("acme", c.spec[:len(c.spec)-1]+", "+decision(before, v1alpha1.DecisionComplete)+"}")
			m := w.stalled("acme", v1alpha1.ReasonSpecDiffers)
			if m.Status.ApplicationID != nil || m.Status.State != "" {
				t.Errorf("the application is shown: %+v", m.Status)
			}
			w.checkDiffers(c.field)
			w.action("resend", resend)
			w.actionWaits("resend", v1alpha1.ReasonMandateStalled)
			if got := w.effects(); got != effects {
				t.Errorf("%d requests were sent that change something", got-effects)
			}
			w.kubectl("delete", "mandateaction", "resend")
			w.secret("john", details)
			w.mandate("acme", sent)
			if m := w.ready("acme"); *m.Status.ApplicationID != *before.Status.ApplicationID {
				t.Errorf("the Mandate has application %d, want %d", *m.Status.ApplicationID, *before.Status.ApplicationID)
			}
			w.emails(2)
		})
	}
}

// A service that shows neither references nor addresses of individuals does not tell for whom an application was
// created. The record does, and so does that of an application that a person adopted.
func TestSpecDiffersFromWhatIsNotShown(t *testing.T) {
	t.Parallel()
	const jane, reference = "individuals: [{name: jane, email: jane@example.com}]", "reference: acme-1"
	other := strings.Replace(jane, "jane@", "canary@", 1)
	for name, adopted := range map[string]bool{"created": false, "adopted": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := runningAs(t, dialect.Dialect{
				IndividualReference: dialect.IndividualReferenceHidden, IndividualEmail: dialect.IndividualEmailHidden,
			})
			spec := reference
			if adopted {
				spec += fmt.Sprintf(", adopt: {applicationID: %d}", w.foreign("acme-1"))
			}
			w.mandate("acme", "{"+spec+", "+jane+"}")
			before := w.ready("acme")
			effects := w.effects()
			w.kubectl("delete", "mandate", "acme")
			w.mandate("acme", "{"+reference+", "+other+"}")
			if m := w.stalled("acme", v1alpha1.ReasonSpecDiffers); m.Status.ApplicationID != nil || m.Status.State != "" {
				t.Errorf("the application is shown: %+v", m.Status)
			}
			w.checkDiffers("spec.individuals[jane]")
			w.mandate("acme", "{"+reference+", "+jane+"}")
			if m := w.ready("acme"); *m.Status.ApplicationID != *before.Status.ApplicationID {
				t.Errorf("the Mandate has application %d, want %d", *m.Status.ApplicationID, *before.Status.ApplicationID)
			}
			if got := w.effects(); got != effects {
				t.Errorf("%d requests were sent that change something", got-effects)
			}
			w.emails(1)
		})
	}
}

// A manifest still has the spec.adopt by which a person bound the application. It is replaced by one for another
// person: that is compared, and only a person who has seen the difference overrides it.
func TestAdoptionLeftOver(t *testing.T) {
	t.Parallel()
	w := running(t)
	adopt := fmt.Sprintf("reference: acme-1, adopt: {applicationID: %d}, ", w.foreign("acme-1"))
	const jane = "individuals: [{name: jane, reference: acme-1.jane, email: acme-1@example.com}]"
	other := strings.Replace(jane, "acme-1@", "canary@", 1)
	w.mandate("acme", "{"+adopt+jane+"}")
	before := w.ready("acme")
	effects := w.effects()
	w.kubectl("delete", "mandate", "acme")
	w.mandate("acme", "{"+adopt+other+"}")
	w.stalled("acme", v1alpha1.ReasonSpecDiffers)
	w.checkDiffers("spec.individuals[jane].email")
	w.checkDiffers("spec.adopt.applicationID")
	w.mandate("acme", "{"+adopt+"deletionPolicy: Archive, "+other+"}") // an edit of something else says nothing of it
	w.until("acme", "compared again", func(m *v1alpha1.Mandate) bool {
		return m.Status.ObservedGeneration == m.Generation && len(m.Finalizers) == 1
	})
	if m := w.stalled("acme", v1alpha1.ReasonSpecDiffers); m.Status.AdoptableApplicationID != nil {
		t.Errorf("the status shows the application %d before the adoption is removed", *m.Status.AdoptableApplicationID)
	}
	w.mandate("acme", "{reference: acme-1, deletionPolicy: Archive, "+other+"}")
	w.until("acme", "shown what differs", func(m *v1alpha1.Mandate) bool {
		id := m.Status.AdoptableApplicationID
		return id != nil && *id == *before.Status.ApplicationID
	})
	w.checkDiffers("spec.individuals[jane].email")
	if got := w.effects(); got != effects {
		t.Errorf("%d requests were sent that change something", got-effects)
	}
	w.mandate("acme", "{"+adopt+"deletionPolicy: Archive, "+other+"}")
	if m := w.until("acme", "bound", isBound); *m.Status.ApplicationID != *before.Status.ApplicationID ||
		m.Status.AdoptableApplicationID != nil {
		t.Errorf("the Mandate has %+v", m.Status)
	}
	w.emails(1)
}

func isBound(m *v1alpha1.Mandate) bool { return m.Status.ApplicationID != nil }

// checkDiffers checks that the status of acme names a field that differs, and no value.
func (w *world) checkDiffers(field string) {
	w.Helper()
	problems, named := w.get("acme").Status.Problems, false
	for _, p := range problems {
		named = named || p.Field == field
		if p.Reason != v1alpha1.ReasonSpecDiffers || strings.Contains(strings.ToLower(p.Message), "canary") {
			w.Errorf("the status says %+v", p)
		}
	}
	if !named {
		w.Errorf("the status says %+v, want the field %s", problems, field)
	}
}
