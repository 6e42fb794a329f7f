package connection

import (
	"k8s.io/apimachinery/pkg/types"
)

// waiter is an object that waits for a slot.
type waiter struct {
	object types.NamespacedName
	class  Class
	urgent bool
	// informed: its status says that it waits.
	informed bool
	offered  bool // it was woken up
	removed  bool // a queue has it still, and skips it
}

// waiters are the objects that wait for a slot, in the order in which they came. The circuit breaker counts them.
type waiters struct {
	offers         int // that were woken up, and have not taken their slot yet
	byName         map[types.NamespacedName]*waiter
	urgent, others []*waiter
}

// add adds an object, or keeps the place that it has.
func (q *waiters) add(w waiter, breaker *CircuitBreaker) {
	before := q.byName[w.object]
	if before != nil && !before.offered && before.class == w.class && before.urgent == w.urgent {
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
		q.urgent = append(q.urgent, &w)
	} else {
		q.others = append(q.others, &w)
	}
}

func (q *waiters) remove(object types.NamespacedName, breaker *CircuitBreaker) {
	w := q.byName[object]
	if w == nil {
		return
	}
	delete(q.byName, object)
	w.removed = true
	offered := 0
	if w.offered {
		offered = 1
	}
	q.offers -= offered
	breaker.count(w.class, -1, -offered)
}

// offered reports whether an object was woken up and has not taken its slot.
func (q *waiters) offered(object types.NamespacedName) bool {
	w := q.byName[object]
	return w != nil && w.offered
}

// any reports whether there may be one to wake up.
func (q *waiters) any() bool { return len(q.byName) > q.offers }

// offer takes the first object that the circuit breaker admits, urgent ones before others. It gives nil if there is
// none.
func (q *waiters) offer(breaker *CircuitBreaker) *waiter {
	admitted := map[Class]bool{Read: breaker.mayOffer(Read), Write: breaker.mayOffer(Write)}
	if !admitted[Read] && !admitted[Write] {
		return nil
	}
	for _, queue := range []*[]*waiter{&q.urgent, &q.others} {
		for len(*queue) > 0 && ((*queue)[0].removed || (*queue)[0].offered) {
			*queue = (*queue)[1:]
		}
		for _, w := range *queue {
			if !w.removed && !w.offered && admitted[w.class] {
				w.offered = true
				q.offers++
				breaker.count(w.class, 0, 1)
				return w
			}
		}
	}
	return nil
}

// removeUninformed removes the urgent objects whose status does not say that they wait.
func (q *waiters) removeUninformed(breaker *CircuitBreaker) (uninformed []waiter) {
	for _, w := range q.urgent {
		if !w.removed && !w.offered && !w.informed {
			q.remove(w.object, breaker)
			uninformed = append(uninformed, *w)
		}
	}
	return uninformed
}
