package sandbox

import (
	"cmp"
	"slices"
	"sync"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

// faultQueue holds the faults to inject, oldest first.
type faultQueue struct {
	mu      sync.Mutex
	pending []control.Fault
}

func (q *faultQueue) add(fault control.Fault) error {
	if err := fault.Check(); err != nil {
		return err
	}
	fault.Times = cmp.Or(fault.Times, 1)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.pending = append(q.pending, fault)
	return nil
}

func (q *faultQueue) all() []control.Fault {
	q.mu.Lock()
	defer q.mu.Unlock()
	return append([]control.Fault{}, q.pending...)
}

func (q *faultQueue) clear() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.pending = nil
}

// next returns the oldest fault for an operation and decrements its count.
func (q *faultQueue) next(op control.Operation) (control.Fault, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.IndexFunc(q.pending, func(fault control.Fault) bool {
		return fault.Operation == op || fault.Operation == control.AnyOperation
	})
	if i < 0 {
		return control.Fault{}, false
	}
	fault := q.pending[i]
	if fault.Times != control.Always {
		q.pending[i].Times--
		if q.pending[i].Times == 0 {
			q.pending = slices.Delete(q.pending, i, i+1)
		}
	}
	return fault, true
}
