package sandbox

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

// faultQueue holds the faults to inject, oldest first.
type faultQueue struct {
	mu      sync.Mutex
	pending []control.Fault
}

func (q *faultQueue) add(fault control.Fault) error {
	if err := checkFault(fault); err != nil {
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

func checkFault(fault control.Fault) error {
	switch {
	case fault.Operation != control.AnyOperation && !slices.Contains(control.Operations(), fault.Operation):
		return fmt.Errorf("operation: must be * or one of %v", control.Operations())
	case !slices.Contains(control.FaultKinds(), fault.Kind):
		return fmt.Errorf("kind: must be one of %v", control.FaultKinds())
	case fault.Times < control.Always:
		return fmt.Errorf("times: must be 1 or more, or %d for every request", control.Always)
	case fault.DelayMillis < 0 || fault.DelayMillis > maxDelayMillis:
		return fmt.Errorf("delay_ms: must be 0 to %d", maxDelayMillis)
	case fault.Status != 0 && (fault.Status < 200 || fault.Status > 599):
		return fmt.Errorf("status: must be 200 to 599")
	}
	if fault.Body != "" {
		if err := new(dialect.Dialect).Set(errorBodySwitch, fault.Body); err != nil {
			return fmt.Errorf("body: %w", err)
		}
	}
	return nil
}
