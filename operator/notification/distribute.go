package notification

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/connection"
)

// A delivery may name the id of an application whose create had no answer, and no reference. When many answers are lost
// at once, nobody knows which Mandate waits for that id. So each id is given to few of those that wait: the application
// is read for one of them, shows its reference, and is looked at for the Mandate that has it.

const (
	// copies is how many Mandates an id is given to. One of them may be gone before it is read.
	copies = 2
	// maxGiven is how many ids a Mandate is given in an interval: half of what its annotation has. So neither these nor
	// those that come with its reference keep each other out.
	maxGiven = v1alpha1.MaxCandidates / 2
	// maxCarried is how many of the ids that a Mandate was given are remembered, until it does not wait any more.
	maxCarried = 100
)

// given is how many ids a Mandate was given since some time.
type given struct {
	since time.Time
	ids   int
}

// add counts another id.
func (g *given) add(now time.Time) {
	if now.Sub(g.since) >= interval {
		*g = given{since: now}
	}
	g.ids++
}

func (g *given) full(now time.Time) bool { return g.ids >= maxGiven && now.Sub(g.since) < interval }

// distribute gives the ids of recent deliveries to Mandates that wait for one. What they have no room for stays until
// they have.
func (n *Notifier) distribute(key connection.Key) {
	waiting := n.index.waiting(key)
	if len(waiting) == 0 {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	now := n.clock.Now()
	waiting = slices.DeleteFunc(waiting, func(name types.NamespacedName) bool {
		h := n.pending[name]
		return h != nil && h.given.full(now)
	})
	n.recent.give(key, func(id int64) bool {
		if n.index.known(key, id) {
			return true
		}
		carriers := min(copies, len(waiting))
		for _, name := range waiting[:carriers] {
			h := n.hint(key, name)
			h.candidates = latest(h.candidates, []int64{id})
			h.given.add(now)
			n.carried[name] = append(n.carried[name], id)
			n.carried[name] = n.carried[name][max(len(n.carried[name])-maxCarried, 0):]
			if !h.given.full(now) {
				waiting = append(waiting, name)
			}
		}
		waiting = waiting[carriers:]
		return carriers > 0
	})
}

// giveAgain gives the ids of a Mandate that does not wait any more to others: it may have got its application before
// any other was read for it.
func (n *Notifier) giveAgain(key connection.Key, name types.NamespacedName) {
	n.mu.Lock()
	ids := n.carried[name]
	delete(n.carried, name)
	n.mu.Unlock()
	if len(ids) > 0 {
		n.recent.remember(key, ids, nil, false)
		n.distribute(key)
	}
}

// addNamed adds ids that came with the reference of a Mandate.
func (n *Notifier) addNamed(key connection.Key, name types.NamespacedName, ids []int64) {
	n.add(key, name, func(h *hint) { h.read, h.named = true, latest(h.named, ids) })
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
