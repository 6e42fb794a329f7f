package notification

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/mandate-io/idv/operator/connection"
)

// A delivery may come before what it is about is known here: the service creates an application, and notifies before
// its answer to the create has arrived and the status of the Mandate has the id. Or that answer is lost, and the
// Mandate does not say so yet.

const (
	// maxRecent is how many deliveries of a connection are remembered, and recentTTL for how long. With fifty a second,
	// these are those of twenty seconds: a create fails after twelve, and its status says so soon after.
	maxRecent, recentTTL = 1024, 10 * time.Minute
	// maxRecentInAll is how many deliveries all connections share: less than ten megabytes.
	maxRecentInAll = 16 * maxRecent
	// maxCreate is how long before the status of a Mandate says that an answer is lost, the create began.
	maxCreate = 30 * time.Second
)

// recentDeliveries remembers deliveries that named something unknown. The zero value, with a clock, is empty.
type recentDeliveries struct {
	clock clock.PassiveClock

	mu          sync.Mutex
	connections map[connection.Key][]*unmatched
}

// unmatched is what is remembered of a delivery: its ids, those of them that were not written yet, and the hashes of
// its texts.
type unmatched struct {
	at         time.Time
	ids, left  []int64
	references []uint64
}

// remember keeps a delivery. The more connections have some, the fewer each may have.
func (r *recentDeliveries) remember(key connection.Key, ids []int64, references []uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.connections == nil {
		r.connections = map[connection.Key][]*unmatched{}
	}
	if r.connections[key] == nil {
		for other := range r.connections {
			if len(r.of(other)) == 0 {
				delete(r.connections, other)
			}
		}
	}
	share := min(maxRecent, max(maxRecentInAll/(len(r.connections)+1), 1))
	r.connections[key] = append(r.connections[key], &unmatched{r.clock.Now(), ids, ids, references})
	r.connections[key] = r.connections[key][max(len(r.connections[key])-share, 0):]
}

// of gives the recent deliveries of a connection, the latest ones last. It is called with the lock.
func (r *recentDeliveries) of(key connection.Key) []*unmatched {
	all, after := r.connections[key], r.clock.Now().Add(-recentTTL)
	first := slices.IndexFunc(all, func(d *unmatched) bool { return d.at.After(after) })
	if first < 0 {
		return nil
	}
	return all[first:]
}

// contains reports whether a recent delivery named an application or a reference.
func (r *recentDeliveries) contains(key connection.Key, t terms) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.of(key), func(d *unmatched) bool {
		return slices.Contains(d.ids, t.application) || t.reference != 0 && slices.Contains(d.references, t.reference)
	})
}

// keys are the connections that may have ids that were not written.
func (r *recentDeliveries) keys() (keys []connection.Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key := range r.connections {
		keys = append(keys, key)
	}
	return keys
}

// take gives the next ids to be written for those who wait, which count as written then, and reports whether there are
// more. Those that came with a reference of theirs are first. Then come those since the first create whose answer is
// lost, in their order, because more may come than can be read. The others follow, the latest ones first.
func (r *recentDeliveries) take(
	key connection.Key, waiting waiters, most int, isKnown func(int64) bool,
) (ids []int64, more bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	order := func(d *unmatched) (int, time.Duration) {
		switch since := waiting.since; {
		case slices.ContainsFunc(d.references, func(hash uint64) bool { return waiting.references[hash] }):
			return 0, 0
		case !since.IsZero() && d.at.After(since.Add(-maxCreate)):
			return 1, d.at.Sub(since)
		default:
			return 2, r.clock.Now().Sub(d.at)
		}
	}
	recent := slices.Clone(r.of(key))
	slices.SortStableFunc(recent, func(a, b *unmatched) int {
		classA, timeA := order(a)
		classB, timeB := order(b)
		return cmp.Or(cmp.Compare(classA, classB), cmp.Compare(timeA, timeB))
	})
	for _, d := range recent {
		for ; len(d.left) > 0; d.left = d.left[1:] {
			switch id := d.left[0]; {
			case isKnown(id), slices.Contains(ids, id):
			case len(ids) == most:
				return ids, true
			default:
				ids = append(ids, id)
			}
		}
	}
	return ids, false
}
