package mandate

import (
	"fmt"
	"strings"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/reference"
)

// wrongIn holds a state to what must be so in every state, whatever has happened; "" if it is. That no create goes out
// that is not on record, and that nothing is done to an application of somebody else, is checked where it would happen:
// in fakeService. That an id never changes, the API server sees to.
func wrongIn(s *state) string {
	checks := []func(*state) string{
		emailedTwice, lostSilently, lostID, sharedID, wrongID, deletedTooSoon, wrongPerson, foreignNamespace,
		subscribedTwice, falselySubscribed,
	}
	for _, check := range checks {
		if wrong := check(s); wrong != "" {
			return wrong
		}
	}
	return ""
}

// emailedTwice (I1): over the whole history one e-mail for a reference at an account, one for a Mandate at all
// accounts, and one for the name of a Mandate, whatever reference, prefix or service it has, as long as the ledger
// remembers.
func emailedTwice(s *state) string {
	type key struct{ of, what string }
	counts := map[key]int{}
	for _, url := range sorted(s.world.sites) {
		for _, a := range s.world.sites[url].applications {
			if a.mandate == "" {
				continue
			}
			keys := []key{{"the reference", url + " " + a.reference}, {"the Mandate", string(a.mandate)}}
			if !s.world.forgotten {
				keys = append(keys, key{"the name", a.name})
			}
			for _, k := range keys {
				counts[k]++
				if counts[k] > 1 {
					return fmt.Sprintf("I1: two applications were created for %s %q", k.of, k.what)
				}
			}
		}
	}
	return ""
}

// lostSilently (I2): the ledger knows every application that exists, or that it may exist, or a process is about to
// tell.
func lostSilently(s *state) string {
	for _, url := range sorted(s.world.sites) {
		for _, a := range s.world.sites[url].applications {
			if a.mandate == "" || a.gone || s.world.forgotten {
				continue
			}
			if !s.known(url, &a) && !s.suspected(url, &a) {
				return fmt.Sprintf("I2: nothing mentions application %d, %q", a.id, a.reference)
			}
		}
	}
	return ""
}

// lostID (I4): an id that reached a living process is stored, or that process still has it.
func lostID(s *state) string {
	for _, url := range sorted(s.world.sites) {
		for _, a := range s.world.sites[url].applications {
			if a.learned && !a.excused && !s.world.forgotten && !s.known(url, &a) {
				return fmt.Sprintf("I4: the id of application %d, %q, was learned and is lost", a.id, a.reference)
			}
		}
	}
	return ""
}

// known reports whether the id of an application is stored, or in a process that will store it.
func (s *state) known(url string, a *application) bool {
	if s.world.recorded(url, a.id) {
		return true
	}
	for _, m := range s.world.mandates {
		if m.Status.ApplicationID != nil && *m.Status.ApplicationID == a.id {
			return true
		}
	}
	for _, o := range s.ops {
		if o.current != nil && o.current.facts.attempt.id == a.id && o.current.session.Connection.URL == url {
			return true
		}
	}
	return false
}

// suspected reports whether the ledger says that an application may exist.
func (s *state) suspected(url string, a *application) bool {
	for _, r := range s.world.records {
		if r.Spec.ServiceURL == url && r.Spec.Reference == a.reference && r.Spec.Attempt != nil && r.Spec.Attempt.Sent {
			return true
		}
	}
	return false
}

// sharedID (I3): no two Mandates have one application.
func sharedID(s *state) string {
	seen := map[int64]string{}
	for _, name := range sorted(s.world.mandates) {
		m := s.world.mandates[name]
		if m.Status.ApplicationID == nil {
			continue
		}
		if other := seen[*m.Status.ApplicationID]; other != "" {
			return fmt.Sprintf("I3: %s and %s are both bound to application %d", other, name, *m.Status.ApplicationID)
		}
		seen[*m.Status.ApplicationID] = name
	}
	return ""
}

// foreignNamespace (I13): no Mandate is bound to the application of another namespace, as long as the ledger remembers.
// With namespaced references, none is in any case, and no namespace takes the reference of another one.
func foreignNamespace(s *state) string {
	of := func(name string) string {
		return map[bool]string{true: otherNamespace, false: namespace}[name == "copy"]
	}
	for _, url := range sorted(s.world.sites) {
		for _, a := range s.world.sites[url].applications {
			if a.mandate == "" {
				continue
			}
			if s.world.namespaced && !reference.InNamespace(a.reference, "", of(a.name)) {
				return fmt.Sprintf("I13: %s took the reference %s of another namespace", a.name, a.reference)
			}
			for _, name := range sorted(s.world.mandates) {
				id := s.world.mandates[name].Status.ApplicationID
				if id != nil && *id == a.id && of(name) != of(a.name) && (s.world.namespaced || !s.world.forgotten) {
					return fmt.Sprintf("I13: %s is bound to the application of %s", name, a.name)
				}
			}
		}
	}
	return ""
}

// deletedTooSoon (I11): no application that exists is Deleted within a day of an exchange of the credentials. Later it
// may be, until it can be read again: that is checked at rest (I5).
func deletedTooSoon(s *state) string {
	for _, name := range sorted(s.world.mandates) {
		m := s.world.mandates[name]
		exists := s.world.shows(firstURL, m) || s.world.shows(otherURL, m)
		recent := s.world.exchangedTime.IsZero() || now.Sub(s.world.exchangedTime) < missingGracePeriod
		if m.Status.Outcome == v1alpha1.OutcomeDeleted && exists && recent && s.world.credentials != [32]byte{} {
			return "I11: " + name + " is Deleted, but its application exists, and the credentials have just been exchanged"
		}
	}
	return ""
}

// wrongID (I3): the application of a Mandate has its reference, and that is the one that its manifest asks for.
func wrongID(s *state) string {
	for _, name := range sorted(s.world.mandates) {
		m := s.world.mandates[name]
		if m.Status.ApplicationID == nil {
			continue
		}
		found := false
		for _, here := range s.world.sites {
			for _, a := range here.applications {
				found = found || a.id == *m.Status.ApplicationID && a.reference == m.Status.Reference
			}
		}
		if m.Generation == 1 && !asksFor(m, m.Status.Reference) {
			return fmt.Sprintf(
				"I3: %s asks for the reference %q, and is bound to an application with %q",
				name,
				m.Spec.Reference,
				m.Status.Reference,
			)
		}
		if !found {
			return fmt.Sprintf("I3: %s is bound to application %d, which never had its reference", name, *m.Status.ApplicationID)
		}
	}
	return ""
}

// asksFor reports whether a Mandate that nobody has edited asks for a reference, or for the default one, which it may
// be: the prefix may have been edited since.
func asksFor(m *v1alpha1.Mandate, of string) bool {
	return m.Spec.Reference == of ||
		m.Spec.Reference == "" && strings.HasSuffix(of, reference.Mandate("", m.Namespace, m.Name))
}
