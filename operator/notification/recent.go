package notification

import (
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
	// maxRecent is how many deliveries of a connection are remembered, and recentTTL for how long.
	maxRecent, recentTTL = 512, 10 * time.Minute
)

// recentDeliveries remembers deliveries that named nothing known. The zero value, with a clock, is empty.
type recentDeliveries struct {
	clock clock.PassiveClock

	mu          sync.Mutex
	connections map[connection.Key]*ring
}

// ring has the last deliveries of a connection.
type ring struct {
	deliveries []unmatched
	next       int
}

// unmatched is what is remembered of a delivery: its numbers and the hashes of its texts.
type unmatched struct {
	at         time.Time
	numbers    []int64
	references []uint64
	// unassigned is how many of the numbers, the first ones, no Mandate was assigned.
	unassigned int
}

// remember keeps a delivery. It may be known which Mandates its numbers are for.
func (r *recentDeliveries) remember(key connection.Key, numbers []int64, references []uint64, assigned bool) {
	if len(numbers)+len(references) == 0 {
		return
	}
	d := unmatched{r.clock.Now(), numbers, references, len(numbers)}
	if assigned {
		d.unassigned = 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	of := r.connections[key]
	if of == nil {
		if r.connections == nil {
			r.connections = map[connection.Key]*ring{}
		}
		of = &ring{}
		r.connections[key] = of
	}
	if len(of.deliveries) < maxRecent {
		of.deliveries = append(of.deliveries, d)
		return
	}
	of.deliveries[of.next] = d
	of.next = (of.next + 1) % maxRecent
}

// contains reports whether a recent delivery named an application or a reference.
func (r *recentDeliveries) contains(key connection.Key, t terms) bool {
	for _, d := range r.of(key) {
		if t.application != 0 && slices.Contains(d.numbers, t.application) ||
			t.reference != 0 && slices.Contains(d.references, t.reference) {
			return true
		}
	}
	return false
}

// idsWithReference gives the ids that recent deliveries named together with a reference, the latest ones last.
func (r *recentDeliveries) idsWithReference(key connection.Key, reference uint64) (ids []int64) {
	for _, d := range r.of(key) {
		if slices.Contains(d.references, reference) {
			ids = append(ids, d.numbers...)
		}
	}
	return ids
}

// assign passes the ids that no Mandate was assigned to take, the latest ones first, until take refuses one.
func (r *recentDeliveries) assign(key connection.Key, take func(id int64) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	of := r.connections[key]
	if of == nil {
		return
	}
	now := r.clock.Now()
	for i := range of.deliveries {
		d := &of.deliveries[(of.next+len(of.deliveries)-1-i)%len(of.deliveries)]
		if now.Sub(d.at) >= recentTTL {
			return
		}
		for ; d.unassigned > 0; d.unassigned-- {
			if !take(d.numbers[d.unassigned-1]) {
				return
			}
		}
	}
}

// of gives the recent deliveries of a connection, the latest ones last.
func (r *recentDeliveries) of(key connection.Key) (recent []unmatched) {
	r.mu.Lock()
	defer r.mu.Unlock()
	of := r.connections[key]
	if of == nil {
		return nil
	}
	now := r.clock.Now()
	for i := range of.deliveries {
		if d := of.deliveries[(of.next+i)%len(of.deliveries)]; now.Sub(d.at) < recentTTL {
			recent = append(recent, d)
		}
	}
	if len(recent) == 0 {
		delete(r.connections, key)
	}
	return recent
}
