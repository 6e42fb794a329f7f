package mandate

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/reference"
	"github.com/mandate-io/idv/operator/engine"
)

// forgedID is of no application.
const forgedID = 999

// notificationMoves name an application to a Mandate: the leader does for one that shows its reference, and who may
// annotate Mandates for any. They come in any sequence, early, late, again and again, or never. They name the
// applications of all accounts, those of others, and numbers that somebody has made up.
func notificationMoves(s *state, spend spender) {
	if s.budget[deliver] == 0 {
		return
	}
	ids := []int64{forgedID}
	for _, url := range sorted(s.world.sites) {
		for _, a := range s.world.sites[url].applications {
			if !slices.Contains(ids, a.id) {
				ids = append(ids, a.id)
			}
		}
	}
	for _, name := range sorted(s.world.mandates) {
		if s.world.mandates[name].Status.ApplicationID != nil {
			continue
		}
		for _, id := range ids {
			spend(deliver, "a notification names "+strconv.FormatInt(id, 10)+" to "+name, changed(func(w *world) {
				w.annotate(name, id, strconv.Itoa(int(s.budget[deliver])))
			}))
		}
	}
}

// annotate does what package notification does with an application that shows a reference.
func (w *world) annotate(name string, id int64, request string) {
	m := w.mandates[name].DeepCopy()
	ids := slices.DeleteFunc(engine.IDsIn(m, v1alpha1.CandidateAnnotation), func(other int64) bool { return other == id })
	m.Annotations = map[string]string{
		v1alpha1.CandidateAnnotation:        engine.FormatIDs(append(ids, id)),
		v1alpha1.ReconcileRequestAnnotation: v1alpha1.NotificationRequestPrefix + request,
	}
	w.store(m)
}

// wasNamed reports whether the application was named to a Mandate that was created for it, and whose spec asks for what
// was sent (I14).
func (w *world) wasNamed(m *v1alpha1.Mandate) bool {
	named := engine.IDsIn(m, v1alpha1.CandidateAnnotation)
	here := w.sites[w.site()]
	if here.silent || m.Spec.Adopt != nil { // such a service does not show whose it is
		return false
	}
	return slices.ContainsFunc(here.applications, func(a application) bool {
		return !a.gone && a.mandate == m.UID && w.asksForAll(m, a) && slices.Contains(named, a.id)
	})
}

// asksForAll reports whether the spec and the service of a Mandate ask for an application as it was sent.
func (w *world) asksForAll(m *v1alpha1.Mandate, a application) bool {
	of := cmp.Or(m.Spec.Reference, reference.Mandate(w.service.Spec.ReferencePrefix, m.Namespace, m.Name))
	same := func(asked v1alpha1.Individual, sent person) bool {
		return asked.DetailsSecretRef != nil || asked.Email == sent.email
	}
	return of == a.reference && slices.EqualFunc(m.Spec.Individuals, a.people, same)
}
