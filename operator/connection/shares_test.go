package connection

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
)

func waiterOf(namespace, name string, class Class) *waiter {
	return &waiter{object: types.NamespacedName{Namespace: namespace, Name: name}, class: class, state: waiting}
}

// drawClass draws what a reconciliation is for.
func drawClass(t *rapid.T) Class { return rapid.SampledFrom([]Class{Read, Write}).Draw(t, "class") }

// In any order of use and release, the slots suffice, reads leave some to writes, and a flow that uses none gets one if
// any is free.
func TestSharesSuffice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := shares{
			capacity: rapid.IntRange(1, 12).Draw(t, "capacity"), weight: rapid.IntRange(0, 4).Draw(t, "weight"),
		}
		s.writes = s.capacity / writesPart
		var used []*waiter
		for range rapid.IntRange(1, 60).Draw(t, "changes") {
			w := waiterOf(rapid.StringMatching("[a-e]").Draw(t, "namespace"), "", drawClass(t))
			if len(used) > 0 && rapid.Bool().Draw(t, "release") {
				s.count(used[0], -1)
				used = used[1:]
			}
			free := s.capacity - s.used
			if w.class == Read {
				free = min(free, s.capacity-s.writes-s.reads)
			}
			admitted := s.admits(w)
			if admitted && free == 0 || !admitted && free > 0 && s.flows[w.flow()] == 0 {
				t.Fatalf("admitted: %t, %d slots are free: %+v", admitted, free, s)
			}
			if admitted {
				s.count(w, 1)
				used = append(used, w)
			}
			if s.used != len(used) || s.used > s.capacity || s.reads > s.capacity-s.writes {
				t.Fatalf("%d slots are in use: %+v", len(used), s)
			}
		}
	})
}

// Four namespaces take all slots that they get, in any order, and hold them. A fifth one can still read and write.
func TestSharesLeaveSome(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]shares{
		"of a pool": newLimiters(10).pool, "of a small pool": newLimiters(1).pool,
		"of a shared connection": newObservedIn(newLimiters(10), true).slots,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				s := s
				s.flows = nil
				namespaces := rapid.Permutation([]string{"a", "b", "c", "d"}).Draw(t, "namespaces")
				atOnce := rapid.Bool().Draw(t, "at once")
				for more := true; more; {
					more = false
					for _, namespace := range namespaces {
						for w := waiterOf(namespace, "", Read); s.admits(w); {
							s.count(w, 1)
							more = true
							if atOnce {
								break
							}
						}
					}
				}
				for _, class := range []Class{Read, Write} {
					if !s.admits(waiterOf("e", "", class)) {
						t.Errorf("four namespaces took all slots for %s: %+v", class, s)
					}
				}
			})
		})
	}
}

// Namespaces are served round robin, and in a namespace the first to come is the first to be served. Those that are
// gone are skipped, and nobody is lost.
func TestFairQueue(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var q fairQueue
		waiting := map[string][]*waiter{}
		passed := map[string]int{} // how often others were served while a namespace waited
		for i := range rapid.IntRange(1, 100).Draw(t, "changes") {
			namespace := rapid.StringMatching("[a-e]").Draw(t, "namespace")
			switch rapid.IntRange(0, 3).Draw(t, "change") {
			case 0, 1:
				w := waiterOf(namespace, fmt.Sprint(i), Read)
				q.push(w)
				waiting[namespace] = append(waiting[namespace], w)
			case 2:
				if queue := waiting[namespace]; len(queue) > 0 {
					queue[len(queue)-1].state = gone
					waiting[namespace] = queue[:len(queue)-1]
					if len(queue) == 1 {
						delete(passed, namespace) // it does not wait any more
					}
				}
			case 3:
				served(t, &q, waiting, passed)
			}
		}
		for len(q.flows) > 0 {
			served(t, &q, waiting, passed)
		}
		for namespace, queue := range waiting {
			if len(queue) > 0 {
				t.Errorf("%d waiters of %s were not served", len(queue), namespace)
			}
		}
	})
}

// served takes the next one out of the queue, and checks that it was next.
func served(t *rapid.T, q *fairQueue, waiting map[string][]*waiter, passed map[string]int) {
	w := q.pop(map[Class]bool{Read: true}, func(*waiter) bool { return true })
	if w == nil {
		return
	}
	namespace := w.object.Namespace
	if queue := waiting[namespace]; len(queue) == 0 || queue[0] != w {
		t.Fatalf("%v was served, and another one of its namespace was first", w.object)
	}
	waiting[namespace] = waiting[namespace][1:]
	delete(passed, namespace)
	for other, queue := range waiting {
		if other == namespace || len(queue) == 0 {
			delete(passed, other)
			continue
		}
		passed[other]++
		if passed[other] >= 5 {
			t.Fatalf("of five namespaces, %s was passed over %d times", other, passed[other])
		}
	}
}
