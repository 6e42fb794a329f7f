package mandate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/reference"
	"github.com/mandate-io/idv/operator/ledger"
)

// wrongIn holds a state to what must be so in every state; "" if it is. That no create goes out that is not on record,
// and that nothing is done to an application of somebody else, is checked where it would happen: in fakeService. That
// an id never changes, the API server sees to.
func (x *explorer) wrongIn(s *state) string {
	w := once(x, holding{s.world}, s.world.holds)
	return cmp.Or(w.wrong, lostSilently(s, w.unmentioned), lostID(s, w.unrecorded))
}

type (
	holding struct{ world *world }
	// verdict is what is wrong with a world by itself, and which of its applications only a process may know.
	verdict struct {
		wrong                   string
		unmentioned, unrecorded []at
	}
	// at is an application, and the URL of its account.
	at struct {
		url string
		application
	}
)

func (w *world) holds() (found verdict) {
	for _, check := range []func(*world) string{
		emailedTwice, sharedID, wrongID, deletedTooSoon, wrongPerson, createdFromErased, foreignNamespace,
		subscribedTwice, falselySubscribed,
	} {
		found.wrong = cmp.Or(found.wrong, check(w))
	}
	for _, url := range sorted(w.sites) {
		for _, a := range w.sites[url].applications {
			if w.forgotten || w.stores(url, &a) {
				continue
			}
			if a.mandate != "" && !a.gone && !w.mayHave(url, &a) {
				found.unmentioned = append(found.unmentioned, at{url, a})
			}
			if a.learned && !a.excused {
				found.unrecorded = append(found.unrecorded, at{url, a})
			}
		}
	}
	return found
}

// emailedTwice (I1): over the whole history one e-mail for a reference at an account, one for a Mandate at all
// accounts, and one for the name of a Mandate, whatever reference, prefix or service it has, as long as the ledger
// remembers.
func emailedTwice(w *world) string {
	type key struct{ of, what string }
	counts := map[key]int{}
	for _, url := range sorted(w.sites) {
		for _, a := range w.sites[url].applications {
			if a.mandate == "" {
				continue
			}
			keys := []key{{"the reference", url + " " + a.reference}, {"the Mandate", string(a.mandate)}}
			if !w.forgotten {
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
func lostSilently(s *state, unmentioned []at) string {
	for _, a := range unmentioned {
		if !s.isKnown(a) {
			return fmt.Sprintf("I2: nothing mentions application %d, %q", a.id, a.reference)
		}
	}
	return ""
}

// lostID (I4): an id that reached a living process is stored, or that process still has it.
func lostID(s *state, unrecorded []at) string {
	for _, a := range unrecorded {
		if !s.isKnown(a) {
			return fmt.Sprintf("I4: the id of application %d, %q, was learned and is lost", a.id, a.reference)
		}
	}
	return ""
}

// isKnown reports whether a process has the id of an application, and will store it.
func (s *state) isKnown(a at) bool {
	return slices.ContainsFunc(s.ops[:], func(o *operator) bool {
		return o.current != nil && o.current.facts.attempt.id == a.id &&
			siteOfConnection(&o.current.session.Connection) == a.url
	})
}

// stores reports whether the id of an application is stored.
func (w *world) stores(url string, a *application) bool {
	if w.recorded(url, a.id) {
		return true
	}
	for _, m := range w.mandates {
		if m.Status.ApplicationID != nil && *m.Status.ApplicationID == a.id {
			return true
		}
	}
	return false
}

// mayHave reports whether the ledger says that an application may exist.
func (w *world) mayHave(url string, a *application) bool {
	for _, r := range w.records {
		if siteOfRecord(r) == url && r.Spec.Reference == a.reference && ledger.MayExist(r) {
			return true
		}
		if r.Name == a.name && r.Spec.RecordUID != "" && r.Spec.RecordUID != r.UID { // which says that it may lack it
			return true
		}
	}
	return false
}

// sharedID (I3): no two Mandates have one application.
func sharedID(w *world) string {
	seen := map[int64]string{}
	for _, name := range sorted(w.mandates) {
		m := w.mandates[name]
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
func foreignNamespace(w *world) string {
	of := func(name string) string {
		return map[bool]string{true: otherNamespace, false: namespace}[name == "copy"]
	}
	for _, url := range sorted(w.sites) {
		for _, a := range w.sites[url].applications {
			if a.mandate == "" {
				continue
			}
			if w.namespaced && !reference.InNamespace(a.reference, "", of(a.name)) {
				return fmt.Sprintf("I13: %s took the reference %s of another namespace", a.name, a.reference)
			}
			for _, name := range sorted(w.mandates) {
				id := w.mandates[name].Status.ApplicationID
				if id != nil && *id == a.id && of(name) != of(a.name) && (w.namespaced || !w.forgotten) {
					return fmt.Sprintf("I13: %s is bound to the application of %s", name, a.name)
				}
			}
		}
	}
	return ""
}

// deletedTooSoon (I11): no application that exists is Deleted because another account does not have it.
func deletedTooSoon(w *world) string {
	for _, name := range sorted(w.mandates) {
		m := w.mandates[name]
		exists := w.shows(firstURL, m) || w.shows(otherURL, m) || w.shows(exchangedSite, m)
		exchanged := w.credentials == ofAnotherAccount && w.url() == firstURL
		if m.Status.Outcome == v1alpha1.OutcomeDeleted && exists && exchanged {
			return "I11: " + name + " is Deleted, but its application exists, and the credentials are those of another account"
		}
	}
	return ""
}

// wrongID (I3): the application of a Mandate has its reference, and that is the one that its manifest asks for.
func wrongID(w *world) string {
	for _, name := range sorted(w.mandates) {
		m := w.mandates[name]
		if m.Status.ApplicationID == nil {
			continue
		}
		found := false
		for _, here := range w.sites {
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
