package mandate

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
)

// TestDifferences: a new object gets the application of its name if its spec is the recorded one. Where the record does
// not tell, the service has to show for whom the application is, unless the spec is the one that was sent.
func TestDifferences(t *testing.T) {
	t.Parallel()
	spec, request := twoPeople()
	_, other := twoPeople()
	other.Individuals[0].Email = idv.Hide("other@example.com")
	shownOf := func(request *idv.NewApplication) *idv.Application {
		shown := &idv.Application{}
		for _, one := range request.Individuals {
			shown.Individuals = append(shown.Individuals, idv.Individual{Email: one.Email})
		}
		return shown
	}
	const jane = "spec.individuals[jane]"
	cases := map[string]struct {
		live      *idv.NewApplication
		recorded  bool
		sent      bool // the spec is the one of the create
		edited    bool // and that of an earlier request is another one
		candidate bool
		shown     *idv.Application
		want      []string
	}{
		"as recorded, and nothing shows":       {live: request, recorded: true, shown: &idv.Application{}},
		"as recorded, and changed there since": {live: request, recorded: true, shown: shownOf(other)},
		"a hint, as recorded, that shows another person": {
			live: request, recorded: true, candidate: true, shown: shownOf(other), want: []string{jane + ".reference"},
		},
		"for another person, and nothing shows": {
			live: other, recorded: true, shown: &idv.Application{}, want: []string{jane},
		},
		"not recorded, and shown":            {live: request, shown: shownOf(request)},
		"not recorded, and another is shown": {live: request, shown: shownOf(other), want: []string{jane + ".reference"}},
		"not recorded, and nothing shows":    {live: request, shown: &idv.Application{}, want: []string{"spec.individuals"}},
		"as it was sent, and nothing shows":  {live: request, sent: true, shown: &idv.Application{}},
		"as it was sent, but not at first, and nothing shows": {
			live: request, sent: true, edited: true, shown: &idv.Application{}, want: []string{"spec.individuals"},
		},
		"as it was sent, and another is shown": {
			live: request, sent: true, shown: shownOf(other), want: []string{jane + ".reference"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := connected(NewReconciler(Config{}), scope{
				mandate: &v1alpha1.Mandate{Spec: *spec},
				record:  &v1alpha1.ApplicationRecord{Spec: v1alpha1.ApplicationRecordSpec{Salt: "salt"}},
			}, nil)
			if c.recorded {
				r.record.Spec.SpecDigests = specDigests("salt", spec, request)
			}
			r.observer.readingCandidate = c.candidate
			if c.sent {
				create := v1alpha1.Call{Kind: v1alpha1.CallCreate, Sends: 1, Inputs: "1", Edited: c.edited}
				r.record.Spec.Calls = []v1alpha1.Call{create}
			}
			if diff := cmp.Diff(c.want, r.observer.differences(liveSpec{request: *c.live, inputs: "1"}, c.shown)); diff != "" {
				t.Errorf("the fields that differ (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNewObject: what is bound without a comparison is what was created for the spec as it is, or what a person names.
func TestNewObject(t *testing.T) {
	t.Parallel()
	id, create := int64(7), v1alpha1.Call{Kind: v1alpha1.CallCreate, Sends: 1, Generation: 1}
	for name, c := range map[string]struct {
		change func(*reconciliation)
		want   bool
	}{
		"created for this one": {change: func(*reconciliation) {}},
		"created for another one of the name": {
			change: func(r *reconciliation) { r.record.Spec.MandateRef.UID = "before" }, want: true,
		},
		"adopted by another one of the name": {
			change: func(r *reconciliation) { r.record.Spec.MandateRef.UID, r.record.Spec.Calls = "before", nil }, want: true,
		},
		"and named by this one since before the differences were shown": {
			change: func(r *reconciliation) { r.record.Spec.MandateRef.UID, r.facts.create.adopt = "before", 7 }, want: true,
		},
		"and by this one after that": {
			change: func(r *reconciliation) {
				r.record.Spec.MandateRef.UID, r.facts.create.adopt = "before", 7
				r.mandate.Status.AdoptableApplicationID = &id
			},
		},
		"and named by this one since before, at a service that has moved": {
			change: func(r *reconciliation) {
				r.record.Spec.MandateRef.UID, r.facts.create.adopt = "before", 7
				r.facts.id, r.facts.record.otherURL = 0, true
			},
			want: true,
		},
		"and by this one after those of another application": {
			change: func(r *reconciliation) {
				r.record.Spec.MandateRef.UID, r.facts.create.adopt = "before", 7
				r.mandate.Status.AdoptableApplicationID = new(int64(8))
			},
			want: true,
		},
		"adopted by this one": {
			change: func(r *reconciliation) { r.record.Spec.Calls, r.facts.create.adopt = nil, 7 },
		},
		"adopted by this one, which does not name it any more": {
			change: func(r *reconciliation) { r.record.Spec.Calls = nil }, want: true,
		},
		"edited since, and named by this one": {
			change: func(r *reconciliation) { r.mandate.Generation, r.facts.create.adopt = 2, 7 },
		},
		"edited since": {change: func(r *reconciliation) { r.mandate.Generation = 2 }, want: true},
		"edited before the last request": {
			change: func(r *reconciliation) { r.record.Spec.Calls[0].Edited = true }, want: true,
		},
		"shown in the status": {
			change: func(r *reconciliation) { r.mandate.Status.ApplicationID, r.mandate.Generation = &id, 2 },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := connected(&Reconciler{}, scope{
				mandate: &v1alpha1.Mandate{}, record: &v1alpha1.ApplicationRecord{},
			}, nil)
			r.mandate.UID, r.mandate.Generation = "uid", 1
			r.facts.id, r.facts.record.id = 7, 7
			r.record.Spec.MandateRef.UID, r.record.Spec.Calls = "uid", []v1alpha1.Call{create}
			c.change(r)
			if got := r.observer.newObject(); got != c.want {
				t.Errorf("it is compared: %t, want %t", got, c.want)
			}
		})
	}
}
