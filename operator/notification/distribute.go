package notification

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/connection"
)

// A delivery may name the id of an application whose create had no answer, and no reference. When many answers are lost
// at once, nobody knows which Mandate waits for that id. So each id is assigned to few of those that wait. The
// application is read for one of them and shows its reference. Then it is read for the Mandate that has this reference.

const (
	// assignmentsPerID is how many Mandates an id is assigned to. One of them may be gone before it is read.
	assignmentsPerID = 2
	// maxAssigned is how many ids a Mandate is assigned in an interval: half of what its annotation has. So neither these
	// nor those that come with its reference keep each other out.
	maxAssigned = v1alpha1.MaxCandidates / 2
	// maxRememberedIDs is how many of the ids assigned to a Mandate are remembered, until it does not wait any more.
	maxRememberedIDs = 100
)

// assignments counts the ids that a Mandate was assigned within an interval.
type assignments struct {
	since time.Time
	count int
}

// add counts another id.
func (a *assignments) add(now time.Time) {
	if now.Sub(a.since) >= interval {
		*a = assignments{since: now}
	}
	a.count++
}

func (a *assignments) full(now time.Time) bool {
	return a.count >= maxAssigned && now.Sub(a.since) < interval
}

// distribute assigns the ids of recent deliveries to Mandates that wait for one. What exceeds their capacity stays
// until they have some.
func (n *Notifier) distribute(key connection.Key) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.assignRecent(key)
}

// assignRecent does so. It is called with the lock.
func (n *Notifier) assignRecent(key connection.Key) {
	now := n.clock.Now()
	found := n.index.waiting(key, now.Add(-recentTTL)) // no delivery before that is remembered
	waiting := found.able
	if len(waiting) > 0 {
		n.release(key, found.blocked...)
	} else if waiting = found.blocked; len(waiting) == 0 {
		return
	}
	waiting = slices.DeleteFunc(waiting, func(name types.NamespacedName) bool {
		h := n.pending[name]
		return h != nil && h.assignments.full(now)
	})
	n.recent.assign(key, found.since, func(id int64) bool {
		if n.index.known(key, id) {
			return true
		}
		assignees := min(assignmentsPerID, len(waiting))
		for _, name := range waiting[:assignees] {
			h := n.hint(key, name)
			h.candidates = latest(h.candidates, []int64{id})
			h.assignments.add(now)
			n.assigned[name] = append(n.assigned[name], id)
			n.assigned[name] = n.assigned[name][max(len(n.assigned[name])-maxRememberedIDs, 0):]
			if !h.assignments.full(now) {
				waiting = append(waiting, name)
			}
		}
		waiting = waiting[assignees:]
		return assignees > 0
	})
}

// release takes the ids of Mandates back, for others. It is called with the lock.
func (n *Notifier) release(key connection.Key, from ...types.NamespacedName) {
	for _, name := range from {
		n.recent.remember(key, n.assigned[name], nil, false)
		delete(n.assigned, name)
	}
}

// reassign assigns the ids of a Mandate that does not wait any more to others: it may have got its application before
// any other was read for it.
func (n *Notifier) reassign(key connection.Key, name types.NamespacedName) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.assigned[name]) > 0 {
		n.release(key, name)
		n.assignRecent(key)
	}
}

// latest appends ids, and keeps the last ones: half of what the annotation has. So neither the ids that come with the
// reference of a Mandate nor the others keep each other out.
func latest(ids, more []int64) []int64 {
	all := merge(ids, more)
	return all[max(len(all)-v1alpha1.MaxCandidates/2, 0):]
}

// merge appends ids, each once and where it was named last.
func merge(ids, more []int64) []int64 {
	for _, id := range more {
		ids = append(slices.DeleteFunc(ids, func(other int64) bool { return other == id }), id)
	}
	return ids
}
