package mandate

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
)

// individualID is the id of an individual, by its place in the spec.
func (a *application) individualID(place int) int64 { return 10*a.id + int64(place) }

// individuals are those of an application, as a service shows them.
func (a *application) individuals(as presentation) []idv.Individual {
	var all []idv.Individual
	for place, p := range a.people {
		one := idv.Individual{ID: a.individualID(place)}
		if as != showsWithoutReferences {
			one.Reference, one.Email = idv.Hide(p.reference), idv.Hide(p.email)
		}
		if a.check != 0 {
			check := idv.Check{ID: a.check + checksApart*int64(place), Name: reviewedCheck, State: idv.State{Name: a.state}}
			one.Checks = []idv.Check{check}
		}
		all = append(all, one)
	}
	switch as {
	case showsReversed:
		slices.Reverse(all)
	case showsLast:
		all = all[max(len(all)-1, 0):]
	}
	return all
}

// individualMoves change what shows which individual is which, and for whom a Mandate is.
func individualMoves(s *state, spend spender) {
	url := s.world.site()
	for as := range presentations {
		if as != s.world.sites[url].shown {
			spend(present, "the service shows individuals as "+strconv.Itoa(int(as)),
				changeOf(url, func(s *site) { s.shown = as }))
		}
	}
	for _, name := range sorted(s.world.mandates) {
		m := s.world.mandates[name]
		spend(another, "a user deletes "+name+" and applies it for another person", changed(func(w *world) {
			w.remove(name)
			w.reapply(name, m, func(s *v1alpha1.MandateSpec) {
				s.Individuals[0].Email, s.Adopt = "other@example.com", nil
			})
		}))
		if m.DeletionTimestamp == nil && m.Status.Outcome != "" && !m.Spec.Individuals[0].Erased {
			spend(erase, "a user erases the individual of "+name, changed(func(w *world) {
				w.edit(name, func(s *v1alpha1.MandateSpec) {
					s.Individuals[0] = v1alpha1.Individual{Name: s.Individuals[0].Name, Erased: true}
				})
			}))
		}
	}
	spend(hide, "a user deletes a Secret, or restores it", changed(func(w *world) { w.secretGone = !w.secretGone }))
}

// wrongPerson (I12): the status shows of no individual what is another's, and the application of a Mandate was created
// for the people of its spec, unless a person named it in spec.adopt.
func wrongPerson(w *world) string {
	for _, name := range sorted(w.mandates) {
		m := w.mandates[name]
		a := w.applicationOf(m)
		if a == nil || a.mandate == "" {
			continue
		}
		for _, shown := range m.Status.Individuals {
			place := slices.IndexFunc(m.Spec.Individuals, func(i v1alpha1.Individual) bool { return i.Name == shown.Name })
			if shown.ID != 0 && shown.ID != a.individualID(place) {
				return fmt.Sprintf("I12: %s shows individual %d as %s", name, shown.ID, shown.Name)
			}
		}
		adopted := m.Spec.Adopt != nil && m.Spec.Adopt.ApplicationID == a.id
		if !adopted && !m.Spec.Individuals[0].Erased && a.people[0].email != m.Spec.Individuals[0].Email {
			return fmt.Sprintf("I12: %s is bound to an application that was created for another person", name)
		}
	}
	return ""
}

// createdFromErased (I21): nothing was created from a spec whose individual was erased, and says nobody to e-mail.
func createdFromErased(w *world) string {
	for _, url := range sorted(w.sites) {
		for _, a := range w.sites[url].applications {
			if a.mandate != "" && a.people[0].email == "" {
				return fmt.Sprintf("I21: application %d was created from an erased spec", a.id)
			}
		}
	}
	return ""
}

// applicationOf is the application that a Mandate is bound to, nil if there is none.
func (w *world) applicationOf(m *v1alpha1.Mandate) *application {
	if m.Status.ApplicationID == nil {
		return nil
	}
	for _, url := range sorted(w.sites) {
		for _, a := range w.sites[url].applications {
			if a.id == *m.Status.ApplicationID && a.reference == m.Status.Reference {
				return &a
			}
		}
	}
	return nil
}
