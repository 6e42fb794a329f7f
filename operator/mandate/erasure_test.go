package mandate

import (
	"testing"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
)

// What was erased never creates, and what is due is erased after the outcome, once in a reconciliation.
func TestDecideErased(t *testing.T) {
	due := func(change func(*facts)) facts {
		return bound(func(f *facts) {
			f.outcome = v1alpha1.OutcomeCompleted
			f.erasure = erasureDue
			change(f)
		})
	}
	for name, c := range map[string]struct {
		facts facts
		want  decision
	}{
		"what it would be created from was erased": {
			newMandate(func(f *facts) { f.create.erased = true }), wait(v1alpha1.ReasonErased),
		},
		"after the outcome": {due(func(*facts) {}), decision{Step: stepErase}},
		"after Deleted, which can be taken back": {
			due(func(f *facts) {
				f.outcome, f.application = v1alpha1.OutcomeDeleted, applicationFacts{lookup: applicationMissing}
			}),
			wait(reasonVanished),
		},
		"after Deleted, for ever": {
			due(func(f *facts) {
				f.outcome, f.observe.vanished = v1alpha1.OutcomeDeleted, true
				f.application = applicationFacts{lookup: applicationMissing}
			}),
			decision{Step: stepErase},
		},
		"before the outcome": {due(func(f *facts) { f.outcome = "" }), wait(v1alpha1.ReasonAccepted)},
		"once":               {due(func(f *facts) { f.erasure = erasureTried }), wait(v1alpha1.ReasonAccepted)},
		"suspended":          {due(func(f *facts) { f.suspended = true }), wait(v1alpha1.ReasonSuspended)},
	} {
		t.Run(name, func(t *testing.T) {
			if got := decide(c.facts); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

// An individual that was erased is the one of its name, and nobody else.
func TestErasedDigests(t *testing.T) {
	one := &v1alpha1.MandateSpec{Individuals: []v1alpha1.Individual{{Name: "jane"}, {Name: "john"}}}
	request := func(email string) *idv.NewApplication {
		return &idv.NewApplication{Individuals: []idv.NewIndividual{{Email: idv.Hide(email)}, {Email: idv.Hide("john@x")}}}
	}
	recorded := specDigests("salt", one, request("jane@x"))
	erased := one.DeepCopy()
	erased.Individuals[0].Erased = true
	if fields := digestDifferences(recorded, specDigests("salt", erased, request(""))); fields != nil {
		t.Errorf("the erased spec differs in %v", fields)
	}
	other := erased.DeepCopy()
	other.Individuals[0].Name = "joe"
	for what, live := range map[string]*v1alpha1.SpecDigests{
		"another name":         specDigests("salt", other, request("")),
		"another person again": specDigests("salt", one, request("joe@x")),
	} {
		if digestDifferences(recorded, live) == nil {
			t.Errorf("%s: no difference", what)
		}
	}
}

// Where an individual was erased, what the service shows is too little to tell whose an application is.
func TestShowsWhatWasSent(t *testing.T) {
	spec := v1alpha1.MandateSpec{Individuals: []v1alpha1.Individual{{Name: "jane"}}}
	shown := &idv.Application{
		Name: idv.Hide("Acme"), MandateType: idv.Reference{ID: 1}, Individuals: []idv.Individual{{ID: 2}},
	}
	for _, erased := range []bool{false, true} {
		spec.Individuals[0].Erased = erased
		r := observer{scope: &scope{mandate: &v1alpha1.Mandate{Spec: spec}}}
		if got := r.showsWhatWasSent(shown); got == erased {
			t.Errorf("erased %t: enough to compare %t", erased, got)
		}
	}
}
