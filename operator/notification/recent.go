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
	// maxRecent is how many deliveries of a connection are remembered, and recentTTL for how long. With fifty a second,
	// these are those of twenty seconds: a create fails after twelve, and its status says so soon after.
	maxRecent, recentTTL = 1024, 10 * time.Minute
	// maxRecentInAll is how many deliveries of all connections are remembered: less than ten megabytes.
	maxRecentInAll = 16 * maxRecent
	// maxCreate is how long before the status of a Mandate says that an answer is lost, the create began.
	maxCreate = 30 * time.Second
)

// recentDeliveries remembers deliveries that named nothing known. The zero value, with a clock, is empty.
type recentDeliveries struct {
	clock clock.PassiveClock

	mu          sync.Mutex
	connections map[connection.Key]*ring
	count       int // of all deliveries
}

// ring has the last deliveries of a connection.
type ring struct {
	deliveries []unmatched
	next       int
}

// last is when the last one came. There is one.
func (o *ring) last() time.Time {
	return o.deliveries[(o.next+len(o.deliveries)-1)%len(o.deliveries)].at
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
	if len(of.deliveries) == maxRecent {
		of.deliveries[of.next] = d
		of.next = (of.next + 1) % maxRecent
		return
	}
	of.deliveries = append(of.deliveries, d)
	r.count++
	if r.count > maxRecentInAll {
		r.makeRoom(d.at)
	}
}

// makeRoom drops the connections without a recent delivery, or the one with the most deliveries, so that no connection
// costs others theirs. It is called with the lock.
func (r *recentDeliveries) makeRoom(now time.Time) {
	var largest connection.Key
	most := 0
	for key, of := range r.connections {
		if now.Sub(of.last()) >= recentTTL {
			r.drop(key)
		} else if len(of.deliveries) > most {
			largest, most = key, len(of.deliveries)
		}
	}
	if r.count > maxRecentInAll {
		r.drop(largest)
	}
}

// drop forgets the deliveries of a connection. It is called with the lock.
func (r *recentDeliveries) drop(key connection.Key) {
	r.count -= len(r.connections[key].deliveries)
	delete(r.connections, key)
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

// assign passes the ids that no Mandate was assigned to take, until take refuses one. Those that have come since the
// first create whose answer is lost come first, in their order: more may come than can be read. The others follow, the
// latest ones first. If since is zero, these are all.
func (r *recentDeliveries) assign(key connection.Key, since time.Time, take func(id int64) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	of := r.connections[key]
	if of == nil {
		return
	}
	takeAll := func(d *unmatched) bool {
		for ; d.unassigned > 0; d.unassigned-- {
			if !take(d.numbers[d.unassigned-1]) {
				return false
			}
		}
		return true
	}
	recent := of.since(r.clock.Now().Add(-recentTTL))
	first := len(recent)
	if !since.IsZero() {
		first, _ = slices.BinarySearchFunc(recent, since.Add(-maxCreate), func(d *unmatched, t time.Time) int {
			return d.at.Compare(t)
		})
	}
	for _, d := range recent[first:] {
		if !takeAll(d) {
			return
		}
	}
	for _, d := range slices.Backward(recent[:first]) {
		if !takeAll(d) {
			return
		}
	}
}

// since gives the deliveries after some time, the latest ones last.
func (o *ring) since(t time.Time) (recent []*unmatched) {
	for i := range o.deliveries {
		if d := &o.deliveries[(o.next+i)%len(o.deliveries)]; d.at.After(t) {
			recent = append(recent, d)
		}
	}
	return recent
}

// of gives the recent deliveries of a connection, the latest ones last.
func (r *recentDeliveries) of(key connection.Key) (recent []unmatched) {
	r.mu.Lock()
	defer r.mu.Unlock()
	of := r.connections[key]
	if of == nil {
		return nil
	}
	for _, d := range of.since(r.clock.Now().Add(-recentTTL)) {
		recent = append(recent, *d)
	}
	if len(recent) == 0 {
		r.drop(key)
	}
	return recent
}
