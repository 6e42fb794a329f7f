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
	flow := w.flow()
	if _, waits := q.queues[flow]; !waits {
		q.flows = append(q.flows, flow)
	}
	q.queues[flow] = append(q.queues[flow], w)
}

// pop takes out the next waiter of a class that is admitted, if take takes it. It gives nil if there is none.
func (q *fairQueue) pop(admitted map[Class]bool, take func(*waiter) bool) *waiter {
	for i := 0; i < len(q.flows); {
		next := q.flows[i]
		queue := q.trim(next)
		switch {
		case len(queue) == 0:
			delete(q.queues, next)
			q.flows = slices.Delete(q.flows, i, i+1)
		case admitted[next.class] && take(queue[0]):
			q.flows = append(slices.Delete(q.flows, i, i+1), next)
			q.queues[next] = queue[1:]
			return queue[0]
		default:
			i++
		}
	}
	return nil
}

// waiters are those that still wait.
func (q *fairQueue) waiters() (all []*waiter) {
	for _, flow := range q.flows {
		for _, w := range q.queues[flow] {
			if w.state == waiting {
				all = append(all, w)
			}
		}
	}
	return all
}

// trim drops those at the front that wait no more.
func (q *fairQueue) trim(flow flow) []*waiter {
	queue := q.queues[flow]
	for len(queue) > 0 && queue[0].state != waiting {
		queue = queue[1:]
	}
	q.queues[flow] = queue
	return queue
}

// maxUrgentInARow is how many urgent waiters in a row are served while others wait.
const maxUrgentInARow = 3

// waitQueue serves urgent waiters before others, but not always.
type waitQueue struct {
	urgent, others fairQueue
	urgentInARow   int
}

func (q *waitQueue) push(w *waiter) {
	if w.urgent {
		q.urgent.push(w)
	} else {
		q.others.push(w)
	}
}

// pop is fairQueue.pop.
func (q *waitQueue) pop(admitted map[Class]bool, take func(*waiter) bool) *waiter {
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
	switch {
	case w == nil:
	case w.urgent:
		q.urgentInARow++
	default:
		q.urgentInARow = 0
	}
	return w
}
