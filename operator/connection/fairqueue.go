package connection

import "slices"

// fairQueue holds waiters in one queue a flow, and serves the flows round robin, as API Priority and Fairness does. A
// queue is first in, first out.
type fairQueue struct {
	flows  []flow // those that have waiters, the next one first
	queues map[flow][]*waiter
}

func (q *fairQueue) push(w *waiter) {
	if q.queues == nil {
		q.queues = map[flow][]*waiter{}
	}
	of := w.flow()
	if _, waits := q.queues[of]; !waits {
		q.flows = append(q.flows, of)
	}
	q.queues[of] = append(q.queues[of], w)
}

// pop takes out the next waiter of a class that is admitted, if take takes it. It gives nil if there is none.
func (q *fairQueue) pop(admitted map[Class]bool, take func(*waiter) bool) *waiter {
	for i := 0; i < len(q.flows); {
		of := q.flows[i]
		queue := q.trim(of)
		switch {
		case len(queue) == 0:
			delete(q.queues, of)
			q.flows = slices.Delete(q.flows, i, i+1)
		case admitted[of.class] && take(queue[0]):
			q.flows = append(slices.Delete(q.flows, i, i+1), of)
			q.queues[of] = queue[1:]
			return queue[0]
		default:
			i++
		}
	}
	return nil
}

// trim drops those at the front that were removed meanwhile.
func (q *fairQueue) trim(of flow) []*waiter {
	queue := q.queues[of]
	for len(queue) > 0 && queue[0].removed {
		queue = queue[1:]
	}
	q.queues[of] = queue
	return queue
}
