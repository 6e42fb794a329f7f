package notification

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/engine"
)

// manyLost are more than one annotation has room for.
const manyLost = 100

// wantGiven checks that every id is given to a Mandate, and to few.
func (n *notified) wantGiven(name func(int) string) {
	n.Helper()
	carriers := map[int64]int{}
	for i := range manyLost {
		named := engine.ParseCandidates(n.api.annotation(n.T, name(i), v1alpha1.CandidateAnnotation))
		if len(named) > maxAssigned {
			n.Errorf("%s was given %d", name(i), named)
		}
		for _, id := range named {
			carriers[id]++
		}
	}
	for i := range manyLost {
		if got := carriers[int64(1000+i)]; got == 0 || got > assignmentsPerID {
			n.Errorf("%d is given to %d", 1000+i, got)
		}
	}
}

func lostName(i int) string { return fmt.Sprint("lost-", i) }

// Many answers are lost at once, and the deliveries have no references.
func TestManyLostIDs(t *testing.T) {
	notify(t, func(n *notified) {
		for i := range manyLost {
			n.api.store(waitingMandate(lostName(i)))
		}
		for i := range manyLost {
			n.deliver(fmt.Sprintf(`{"id":%d}`, 1000+i))
		}
		n.wait(2 * interval)
		n.wantGiven(lostName)
	})
	notify(t, func(n *notified) { // the deliveries are early
		for i := range manyLost {
			n.deliver(fmt.Sprintf(`{"id":%d}`, 1000+i))
		}
		for i := range manyLost {
			n.api.store(waitingMandate(lostName(i)))
			n.wait(0)
		}
		n.wait(2 * interval)
		n.wantGiven(lostName)
	})
	notify(t, func(n *notified) { // in few deliveries, to one Mandate and then to others
		for i := 0; i < manyLost; i += maxCandidates {
			ids := ""
			for j := range maxCandidates {
				ids += fmt.Sprintf(`{"id":%d},`, 1000+i+j)
			}
			n.deliver("[" + ids + "0]")
		}
		for i := range manyLost {
			n.api.store(waitingMandate(lostName(i)))
		}
		n.wait(2 * interval)
		n.wantGiven(lostName)
	})
}

// Who waits alone gets all ids, though not at once. Those that are suspended, and those that a person binds, get none.
func TestFewWait(t *testing.T) {
	notify(t, func(n *notified) {
		suspended, adopts := waitingMandate("suspended"), waitingMandate("adopts")
		suspended.Spec.Suspend = true
		adopts.Spec.Adopt = &v1alpha1.Adoption{ApplicationID: 7}
		n.api.store(suspended)
		n.api.store(adopts)
		n.api.store(waitingMandate("lost"))
		n.wantAllGiven("lost")
		for _, name := range []string{"suspended", "adopts"} {
			n.wantAnnotation("does not look", name, v1alpha1.CandidateAnnotation, "")
		}
		suspended = suspended.DeepCopy()
		suspended.Spec.Suspend = false
		n.api.store(suspended)
		n.deliver(`{"id":5000}`)
		n.wait(interval)
		n.wantAnnotation("no longer suspended", "suspended", v1alpha1.CandidateAnnotation, "5000")
	})
}

// wantAllGiven delivers more ids than an annotation has, and checks that a Mandate is given all of them in the end.
func (n *notified) wantAllGiven(name string) {
	n.Helper()
	const ids = 30
	for i := range ids {
		n.deliver(fmt.Sprintf(`{"id":%d}`, 1000+i))
	}
	seen := map[int64]bool{}
	for range 5 {
		n.wait(interval)
		for _, id := range engine.ParseCandidates(n.api.annotation(n.T, name, v1alpha1.CandidateAnnotation)) {
			seen[id] = true
		}
	}
	if len(seen) != ids {
		n.Errorf("%s was given %d ids, want %d", name, len(seen), ids)
	}
}

// Mandates that never look for their application, or cannot now, take no id from one that can.
func TestMandatesThatCannotLook(t *testing.T) {
	change := func(m *v1alpha1.Mandate, conditionType, reason string) {
		meta.SetStatusCondition(&m.Status.Conditions, metav1.Condition{
			Type: conditionType, Status: metav1.ConditionUnknown, Reason: reason,
		})
	}
	for name, cannotLook := range map[string]func(*v1alpha1.Mandate){
		"the application is expired": func(m *v1alpha1.Mandate) { m.Status.Outcome = v1alpha1.OutcomeExpired },
		"another reference": func(m *v1alpha1.Mandate) {
			change(m, v1alpha1.ConditionCreated, v1alpha1.ReasonApplicationExists)
		},
		"another service": func(m *v1alpha1.Mandate) {
			change(m, v1alpha1.ConditionCreated, v1alpha1.ReasonIdentityServiceMismatch)
		},
		"a service that is not allowed": func(m *v1alpha1.Mandate) {
			change(m, v1alpha1.ConditionReady, v1alpha1.ReasonIdentityServiceNotAllowed)
		},
		"a reference that is not allowed": func(m *v1alpha1.Mandate) {
			change(m, v1alpha1.ConditionReady, v1alpha1.ReasonReferenceNotAllowed)
		},
	} {
		t.Run(name, func(t *testing.T) {
			notify(t, func(n *notified) {
				for i := range 10 {
					m := waitingMandate(lostName(i))
					cannotLook(m)
					n.api.store(m)
				}
				n.api.store(waitingMandate("looks"))
				n.wantAllGiven("looks")
			})
		})
	}
}

// One that can look begins to wait after an id was given to one that cannot.
func TestIDsOfMandatesThatCannotLook(t *testing.T) {
	notify(t, func(n *notified) {
		blocked := waitingMandate("blocked")
		meta.SetStatusCondition(&blocked.Status.Conditions, metav1.Condition{
			Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonIdentityServiceNotAllowed,
		})
		n.api.store(blocked)
		n.deliver(`{"id":4711}`)
		n.wait(interval)
		n.api.store(waitingMandate("looks"))
		n.wait(interval)
		n.wantAnnotation("it looks", "looks", v1alpha1.CandidateAnnotation, "4711")
	})
}

// A namespace may be allowed again, so its Mandates keep the ids that no other one looks for.
func TestOnlyMandatesThatCannotLookNow(t *testing.T) {
	notify(t, func(n *notified) {
		m := waitingMandate("lost")
		meta.SetStatusCondition(&m.Status.Conditions, metav1.Condition{
			Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonIdentityServiceNotAllowed,
		})
		n.api.store(m)
		n.deliver(`{"id":4711}`)
		n.wait(interval)
		n.wantAnnotation("nobody else looks", "lost", v1alpha1.CandidateAnnotation, "4711")
	})
}

// Deliveries about applications of others come faster than they can be read. The ones that matter come when an answer
// is lost, so they are not the last to be read, also beside a Mandate whose application nobody finds. Which of the two
// reads an application does not matter: it shows whose it is.
func TestManyForeignIDs(t *testing.T) {
	for name, ago := range map[string]time.Duration{"alone": 0, "beside an old one": 14 * 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			notify(t, func(n *notified) {
				if ago > 0 {
					old := waitingMandate("old")
					old.Status.Conditions[0].LastTransitionTime = metav1.NewTime(time.Now().Add(-ago))
					n.api.store(old)
				}
				n.foreign(600)
				n.deliver(`{"id":4711}`)
				found := n.foreign(10)
				lost := waitingMandate("lost")
				lost.Status.Conditions[0].LastTransitionTime = metav1.Now()
				n.api.store(lost)
				found = n.foreign(300) || found
				if !found {
					n.Error("the application is not read")
				}
			})
		})
	}
}

// foreign delivers two ids of others each second, and reports whether 4711 was given to a Mandate meanwhile.
func (n *notified) foreign(seconds int) (found bool) {
	for range seconds {
		for range 2 {
			n.deliver(fmt.Sprintf(`{"id":%d}`, time.Now().UnixNano()))
			n.wait(time.Second / 2)
		}
		for _, name := range []string{"old", "lost"} {
			if n.api.mandates[nameOf(name)] != nil {
				ids := engine.ParseCandidates(n.api.annotation(n.T, name, v1alpha1.CandidateAnnotation))
				found = found || slices.Contains(ids, 4711)
			}
		}
	}
	return found
}

// A Mandate that was given ids of others is bound, or goes, before these are read.
func TestIDsAreGivenAgain(t *testing.T) {
	notify(t, func(n *notified) {
		for _, name := range []string{"one", "two", "three"} {
			n.api.store(waitingMandate(name))
		}
		n.deliver(`{"id":4711}`)
		carriers := 0
		for _, name := range []string{"one", "two"} {
			if n.api.annotation(n.T, name, v1alpha1.CandidateAnnotation) != "" {
				carriers++
			}
			n.api.store(bound(name, int64(len(name))))
		}
		if carriers == 0 {
			t.Error("nobody was given the id")
		}
		n.wait(interval)
		n.wantAnnotation("the last one that waits", "three", v1alpha1.CandidateAnnotation, "4711")
		n.index.OnDelete(n.api.mandates[nameOf("three")])
		n.api.store(waitingMandate("four"))
		n.wait(interval)
		n.wantAnnotation("after a deletion", "four", v1alpha1.CandidateAnnotation, "4711")
		n.api.store(bound("three", 4711))
		n.api.store(bound("four", 4))
		n.api.store(waitingMandate("five"))
		n.wait(interval)
		n.wantAnnotation("an id that is known", "five", v1alpha1.CandidateAnnotation, "")
		n.mu.Lock()
		defer n.mu.Unlock()
		if len(n.assigned) > 0 {
			t.Errorf("ids are remembered for %v", n.assigned)
		}
	})
}
