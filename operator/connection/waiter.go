package connection

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// waiter is an object that waits for a slot, or uses one.
type waiter struct {
	object types.NamespacedName
	class  Class
	urgent bool
	queued time.Time // when it began to wait
	// informed: its status says that it waits.
	informed bool
	offered  bool      // it was woken up, and a slot is kept for it
	since    time.Time // when it took its slot
	removed  bool      // a queue has it still, and skips it
}

// isSlow reports whether it reads, and has had its slot for long.
func (w *waiter) isSlow() bool { return w.class.reads() && time.Since(w.since) > slowRead }

// maxUrgentInARow is how many urgent waiters in a row are served while others wait.
const maxUrgentInARow = 3

// waiters are the objects that wait for a slot. The circuit breaker counts them.
type waiters struct {
	offers         int // that were woken up, and have not taken their slot yet
	byName         map[types.NamespacedName]*waiter
	urgent, others fairQueue
	urgentInARow   int
}

// add adds an object, or keeps the place that it has.
func (q *waiters) add(w waiter, breaker *CircuitBreaker) {
	before := q.byName[w.object]
	if before != nil && before.class == w.class && before.urgent == w.urgent {
		before.informed = before.informed || w.informed
		return
	}
	q.remove(w.object, breaker)
	if q.byName == nil {
		q.byName = map[types.NamespacedName]*waiter{}
	}
	q.byName[w.object] = &w
	breaker.count(w.class, 1, 0)
	if w.urgent {
		q.urgent.push(&w)
	} else {
		q.others.push(&w)
	}
}

// remove removes an object, and returns it if it was woken up.
func (q *waiters) remove(object types.NamespacedName, breaker *CircuitBreaker) (offered *waiter) {
	w := q.byName[object]
	if w == nil {
		return nil
	}
	delete(q.byName, object)
	w.removed = true
	if !w.offered {
		breaker.count(w.class, -1, 0)
		return nil
	}
	q.offers--
	breaker.count(w.class, -1, -1)
	return w
}

// any reports whether there may be one to wake up.
func (q *waiters) any() bool { return len(q.byName) > q.offers }

// offer takes the first object that the circuit breaker admits and take takes. Flows are served round robin, and urgent
// objects are before others, but not always. It gives nil if there is none.
func (q *waiters) offer(breaker *CircuitBreaker, take func(*waiter) bool) *waiter {
	admitted := map[Class]bool{}
	for _, class := range []Class{Read, Write, Recovery, Subscription} {
		if breaker.mayOffer(class) {
			admitted[class] = true
		}
	}
	if len(admitted) == 0 {
		return nil
	}
	first, second := &q.urgent, &q.others
	if q.urgentInARow >= maxUrgentInARow {
		first, second = second, first
	}
	w := first.pop(admitted, take)
	if w == nil {
		w = second.pop(admitted, take)
	}
	if w == nil {
		return nil
	}
	q.urgentInARow++
	if !w.urgent {
		q.urgentInARow = 0
	}
	w.offered = true
	q.offers++
	breaker.count(w.class, 0, 1)
	return w
}

// removeUninformed removes the urgent objects whose status does not say that they wait.
func (q *waiters) removeUninformed(breaker *CircuitBreaker) (uninformed []waiter) {
	for _, of := range q.urgent.flows {
		for _, w := range q.urgent.queues[of] {
			if !w.removed && !w.informed {
				q.remove(w.object, breaker)
				uninformed = append(uninformed, *w)
			}
		}
	}
	return uninformed
}
