package mandate

import (
	"cmp"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/reference"
	"github.com/mandate-io/idv/operator/engine"
)

// forgedID is of no application.
const forgedID = 999

// notificationMoves are deliveries. They come in any sequence, early, late, again and again, or never. They name the
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

// annotate does what the receiver of notifications does.
func (w *world) annotate(name string, id int64, request string) {
	m := w.mandates[name].DeepCopy()
	ids := slices.DeleteFunc(engine.Candidates(m), func(other int64) bool { return other == id })
	m.Annotations = map[string]string{
		v1alpha1.CandidateAnnotation:        engine.FormatCandidates(append(ids, id)),
		v1alpha1.ReconcileRequestAnnotation: v1alpha1.NotificationRequestPrefix + request,
	}
	w.store(m)
}

// all gives what every connection has shown.
func (s *candidateReferences) all() map[candidateID]referenceDigest {
	all := map[candidateID]referenceDigest{}
	for service, shown := range s.shown {
		for id, reference := range shown.references {
			all[candidateID{service, shown.by, id}] = reference
		}
	}
	return all
}

// wasNamed reports whether a notification has named the application that was created for a Mandate, whose spec asks for
// what was sent (I14): to that one, or to another one that waits.
func (w *world) wasNamed(m *v1alpha1.Mandate) bool {
	var named []int64
	for _, other := range w.mandates {
		looks := other.Status.ApplicationID == nil && other.Generation == 1 && other.Namespace == m.Namespace &&
			is(other, v1alpha1.ConditionCreated) == metav1.ConditionUnknown
		if other == m || looks {
			named = append(named, engine.Candidates(other)...)
		}
	}
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
