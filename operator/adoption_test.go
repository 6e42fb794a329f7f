package operator_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// An application that was created without this operator, or whose id was lost, is adopted by its id.
func TestAdopt(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		before func(*world) (id int64)
		emails int
	}{
		"created at the service": {
			before: func(w *world) int64 { return w.foreign("acme-1") },
			emails: 1,
		},
		"created by a request whose answer was lost": {
			reason: "adoption resolves OutcomeUnknown, which is final otherwise",
			before: func(w *world) int64 {
				w.fault(answerLost)
				w.mandate("acme", "{reference: acme-1}")
				w.stalled("acme", v1alpha1.ReasonOutcomeUnknown)
				return w.applicationID("acme-1")
			},
			emails: 1,
		},
		"after a wrong id": {
			reason: "spec.adopt may change as long as no application is bound",
			before: func(w *world) int64 {
				id := w.foreign("acme-1")
				w.mandate("acme", fmt.Sprintf("{reference: acme-1, adopt: {applicationID: %d}}", w.foreign("another")))
				w.stalled("acme", v1alpha1.ReasonAdoptionRefused)
				return id
			},
			emails: 2,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := running(t)
			id := c.before(w)
			sent := w.requests(control.CreateApplication)
			w.mandate("acme", fmt.Sprintf("{reference: acme-1, adopt: {applicationID: %d}}", id))
			w.condition("acme", v1alpha1.ConditionCreated, metav1.ConditionTrue, v1alpha1.ReasonAdopted)
			m := w.ready("acme")
			if m.Status.ApplicationID == nil || *m.Status.ApplicationID != id {
				t.Errorf("application %v is bound, want %d", m.Status.ApplicationID, id)
			}
			w.checkCreates(sent)
			w.emails(c.emails)
			if c.reason != "" && t.Failed() {
				t.Log(c.reason)
			}

			// It is managed as if the operator had created it, and a new Mandate of the same name finds it again.
			w.complete(m)
			w.condition("acme", v1alpha1.ConditionCompleted, metav1.ConditionTrue, string(v1alpha1.OutcomeCompleted))
			w.kubectl("delete", "mandate", "acme")
			w.mandate("acme", "{reference: acme-1}")
			if again := w.ready("acme"); *again.Status.ApplicationID != id {
				t.Errorf("applied again, the Mandate has application %d, want %d", *again.Status.ApplicationID, id)
			}
			w.checkCreates(sent)
		})
	}
}

// Once an application is bound, spec.adopt can be removed, changed and added: a GitOps tool removes what a person has
// set. Nothing comes of it.
func TestAdoptHasNoEffectOnceBound(t *testing.T) {
	t.Parallel()
	w := running(t)
	adopted, other := w.foreign("adopted"), w.foreign("other")
	removed, wrong := "", fmt.Sprintf("adopt: {applicationID: %d}", other)
	right := fmt.Sprintf("adopt: {applicationID: %d}", adopted)
	for _, c := range []struct {
		name, spec, reason string
		edits              []string
	}{
		{"adopted", right, v1alpha1.ReasonAdopted, []string{removed, wrong, right, removed}},
		{"created", removed, v1alpha1.ReasonCreated, []string{wrong, right, removed}},
	} {
		w.kubectlApply(c.name, c.spec)
		w.ready(c.name)
		before := w.condition(c.name, v1alpha1.ConditionCreated, metav1.ConditionTrue, c.reason)
		sent := w.effects()
		for _, spec := range c.edits {
			w.kubectlApply(c.name, spec)
			now := w.condition(c.name, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAccepted)
			if now.Generation == before.Generation {
				t.Fatalf("%s: the edit to {%s} changed nothing", c.name, spec)
			}
			if diff := cmp.Diff(withoutGenerations(before.Status), withoutGenerations(now.Status)); diff != "" {
				t.Errorf("%s: the status after the edit to {%s} (-before +now):\n%s", c.name, spec, diff)
			}
			before.Generation = now.Generation
		}
		if got := w.effects(); got != sent {
			t.Errorf("%s: %d requests were sent that change something", c.name, got-sent)
		}
	}
	w.emails(3)
}

// kubectlApply applies a Mandate as a person does at a terminal: fields that were applied before and are gone are
// removed.
func (w *world) kubectlApply(name, spec string) {
	w.Helper()
	object := w.parse(mandateManifest(name, "{reference: "+name+", "+spec+"}"))
	content, err := yaml.Marshal(object.Object)
	w.check(err)
	file := filepath.Join(w.TempDir(), "mandate.yaml")
	w.check(os.WriteFile(file, content, 0o600))
	w.kubectl("apply", "-f", file)
}

// effects is the number of requests that the service got and that change something there.
func (w *world) effects() int64 {
	w.Helper()
	stats, err := w.sandbox.Stats(w.Context())
	w.check(err)
	var n int64
	for operation := range stats.Operations {
		switch operation {
		case control.Token, control.RetrieveApplication, control.References:
		default:
			n += stats.Requests(operation)
		}
	}
	return n
}

// withoutGenerations is a status without the generations that it describes, and without the time of the last read,
// which is written when something else is.
func withoutGenerations(status v1alpha1.MandateStatus) *v1alpha1.MandateStatus {
	s := status.DeepCopy()
	s.ObservedGeneration, s.LastReadTime = 0, nil
	for i := range s.Conditions {
		s.Conditions[i].ObservedGeneration = 0
	}
	return s
}

// A Mandate cannot adopt the application of another one, nothing is created instead, and it does not take the other
// one's outcome, which is final.
func TestAdoptionRefused(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("owner", "{reference: owned}")
	owner := w.ready("owner")
	owned := *owner.Status.ApplicationID
	w.complete(owner)
	w.until("owner", "completed", func(m *v1alpha1.Mandate) bool { return m.Status.Outcome == v1alpha1.OutcomeCompleted })
	sent := w.requests(control.CreateApplication)
	for name, spec := range map[string]string{
		"missing":   "{reference: missing, adopt: {applicationID: 9}}",
		"other":     fmt.Sprintf("{reference: other, adopt: {applicationID: %d}}", owned),
		"recorded":  fmt.Sprintf("{reference: owned, adopt: {applicationID: %d}}", owned),
		"suspended": fmt.Sprintf("{reference: owned, suspend: true, adopt: {applicationID: %d}}", owned),
	} {
		w.mandate(name, spec)
		if name == "suspended" {
			w.condition(name, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonSuspended)
		} else {
			w.stalled(name, v1alpha1.ReasonAdoptionRefused)
		}
		if status := w.get(name).Status; status.ApplicationID != nil || status.Outcome != "" {
			t.Errorf("%s: application %v is bound, with the outcome %q", name, status.ApplicationID, status.Outcome)
		}
	}
	w.checkCreates(sent)
	w.emails(1)
}

// A Mandate cannot adopt an application of another namespace, which its ledger does not have.
func TestAdoptionFromAnotherNamespace(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{reference: shared}")
	id := *w.ready("acme").Status.ApplicationID
	other := newWorld(t, sandbox.Options{})
	other.url, other.sandbox = w.url, w.sandbox
	other.connect()
	other.start("--watch-namespaces=" + w.namespace + "," + other.namespace)
	other.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)
	other.mandate("acme", fmt.Sprintf("{reference: shared, adopt: {applicationID: %d}}", id))
	other.stalled("acme", v1alpha1.ReasonAdoptionRefused)
}

// foreign creates an application without the operator.
func (w *world) foreign(reference string) int64 {
	w.Helper()
	created, err := w.client(w.url).CreateApplication(w.Context(), idv.NewApplication{
		Name: idv.Hide("Created without the operator"), Reference: reference, MandateTypeID: w.mandateType(),
		Individuals: []idv.NewIndividual{
			{Email: idv.Hide(reference + "@example.com"), Reference: idv.Hide(reference + ".jane")},
		},
	})
	w.check(err)
	return created.ID
}

// applicationID is the id of the application with a reference.
func (w *world) applicationID(reference string) int64 {
	w.Helper()
	applications, err := w.sandbox.Applications(w.Context())
	w.check(err)
	for _, a := range applications {
		if a.Reference == reference {
			return a.ID
		}
	}
	w.Fatalf("the service has no application %s", reference)
	return 0
}

// client is a client of the service for requests without the operator.
func (w *world) client(url string) *idv.Client {
	w.Helper()
	c, err := idv.New(idv.Config{
		BaseURL: url, RequestsPerSecond: -1,
		Credentials: idv.Credentials{Username: sandbox.DefaultUsername, Password: idv.Hide(sandbox.DefaultPassword)},
	})
	w.check(err)
	w.Cleanup(c.Close)
	return c
}

func (w *world) mandateType() int64 {
	w.Helper()
	references, err := w.client(w.url).RetrieveReferences(w.Context())
	w.check(err)
	return references.MandateTypes[0].ID
}
