package mandate

import (
	"context"
	"testing"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// The individuals of an answer are matched by the references that were sent, until the status has all ids. The position
// is a guess, and what was guessed once would be an id that is known.
func TestReferencesAreRecalled(t *testing.T) {
	for name, c := range map[string]struct {
		shown []v1alpha1.IndividualStatus
		want  bool
	}{
		"before the first read":                     {nil, true},
		"after an answer that showed no individual": {[]v1alpha1.IndividualStatus{{Name: "jane"}}, true},
		"with the id":                               {[]v1alpha1.IndividualStatus{{Name: "jane", ID: 7}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld("acme")
			o := started(w)
			r := reconciler(&environment{world: w}, o)
			ctx := log.IntoContext(context.Background(), logr.Discard())
			mandate := o.mandates["acme"]
			mandate.Status.Individuals = c.shown
			p, err := r.newReconciliation(ctx, mandate)
			if err != nil {
				t.Fatal(err)
			}
			p.loadReferences(ctx)
			if len(p.request.Individuals) > 0 != c.want {
				t.Errorf("%d references were recalled", len(p.request.Individuals))
			}
		})
	}
}

// What the service shows as the reference.
func TestMatches(t *testing.T) {
	for name, c := range map[string]struct {
		id    int64
		shown string
		want  bool
	}{
		"the same":                          {7, "team.acme", true},
		"in other letters":                  {7, "TEAM.ACME", true},
		"none":                              {7, "", true},
		"another":                           {7, "team.beta", false},
		"the same, to adopt":                {0, "team.acme", true},
		"in other letters, to adopt":        {0, "TEAM.ACME", false},
		"none, to adopt: a person may err":  {0, "", false},
		"another, to adopt: a person erred": {0, "team.beta", false},
	} {
		p := &reconciliation{reference: "team.acme", facts: facts{id: c.id}}
		if got := p.matches(c.shown); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
