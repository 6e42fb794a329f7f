package state

import (
	"time"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

// attempt refuses a change, or returns its work.
type attempt func() (work func(), err error)

// nothing is the work of a change that was done before.
func nothing() {}

// delayedChange is a change that the service accepted, and does later.
type delayedChange struct {
	due time.Time
	try attempt
}

// carryOut tries a change. It does the work at once, later or never, as the dialect says. A delayed change is tried
// again when it is due, and can then fail without a trace. The caller holds the lock.
func (a *Account) carryOut(op control.Operation, try attempt) error {
	work, err := try()
	if err != nil {
		return err
	}
	switch delay, done := a.dialect.Get().Work(op); {
	case !done:
	case delay > 0:
		a.delayed = append(a.delayed, delayedChange{a.clock.Now().Add(delay), try})
		time.AfterFunc(delay, func() { a.lock()() })
	default:
		work()
	}
	return nil
}

// doDelayed does the delayed changes that are due.
func (a *Account) doDelayed() {
	waiting, now := a.delayed, a.clock.Now()
	a.delayed = nil
	for _, change := range waiting {
		if now.Before(change.due) {
			a.delayed = append(a.delayed, change)
		} else if work, err := change.try(); err == nil {
			work()
		}
	}
}

// change carries out a change of one object, and returns what view shows of the object afterwards.
func change[T, V any](
	a *Account, op control.Operation, objects *table[T], id int64, try func(T) (work func(), err error), view func(T) V,
) (V, error) {
	defer a.lock()()
	var object T
	err := a.carryOut(op, func() (work func(), err error) {
		if object, err = objects.find(id); err != nil {
			return nil, err
		}
		return try(object)
	})
	if err != nil {
		var none V
		return none, err
	}
	return view(object), nil
}
