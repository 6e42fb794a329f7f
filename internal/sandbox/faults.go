package sandbox

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

// faults are the faults that have yet to strike. The zero value has none.
type faults struct {
	mu      sync.Mutex
	waiting []control.Fault
}

func (f *faults) add(fault control.Fault) error {
	if err := checkFault(fault); err != nil {
		return err
	}
	fault.Times = cmp.Or(fault.Times, 1)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waiting = append(f.waiting, fault)
	return nil
}

func (f *faults) all() []control.Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]control.Fault{}, f.waiting...)
}

func (f *faults) clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waiting = nil
}

// take returns the oldest fault for an operation and uses it up by one.
func (f *faults) take(op control.Operation) (control.Fault, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.IndexFunc(f.waiting, func(fault control.Fault) bool {
		return fault.Operation == op || fault.Operation == control.AnyOperation
	})
	if i < 0 {
		return control.Fault{}, false
	}
	fault := f.waiting[i]
	if fault.Times != control.Always {
		f.waiting[i].Times--
		if f.waiting[i].Times == 0 {
			f.waiting = slices.Delete(f.waiting, i, i+1)
		}
	}
	return fault, true
}

func checkFault(fault control.Fault) error {
	switch {
	case fault.Operation != control.AnyOperation && !slices.Contains(control.Operations(), fault.Operation):
		return fmt.Errorf("operation: it is * or one of %v", control.Operations())
	case !slices.Contains(control.FaultKinds(), fault.Kind):
		return fmt.Errorf("kind: it is one of %v", control.FaultKinds())
	case fault.Times < control.Always:
		return fmt.Errorf("times: it is 1 or more, or %d for every request", control.Always)
	case fault.DelayMillis < 0 || fault.DelayMillis > maxDelayMillis:
		return fmt.Errorf("delay_ms: it is 0 to %d", maxDelayMillis)
	case fault.Status != 0 && (fault.Status < 200 || fault.Status > 599):
		return fmt.Errorf("status: it is 200 to 599")
	}
	return nil
}
