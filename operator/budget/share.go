package budget

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// A Waiter is a Mandate or a MandateAction.
type Waiter struct {
	Action bool
	types.NamespacedName
}

// share is what this process has reserved of the budget of one service.
type share struct {
	reserved time.Time // as in the status
	until    time.Time // it can be used; by the clock of this process
	unused   int       // what everybody may take
	// admitted are those that it is kept for, until admittedUntil: one may have been deleted meanwhile.
	admitted      map[Waiter]bool
	admittedUntil time.Time

	queue []Waiter // those that wait after them, the oldest first
	// served are those whose status may still say that they wait, with the reservation that they took a part of.
	served map[Waiter]time.Time

	nothing    bool      // there was nothing left
	nothingFor time.Time // until when, by the clock of this process
}

// usable reports whether the reservation is not too old, by the time that has passed for this process and, in case the
// machine slept, by the time of day.
func (s *share) usable(now time.Time) bool {
	return now.Before(s.until) && now.Round(0).Before(s.until.Round(0))
}

func newShare() share { return share{admitted: map[Waiter]bool{}, served: map[Waiter]time.Time{}} }

// admittedFor is how long a part is kept for those that have waited.
const admittedFor = time.Minute

// release has everybody take what was kept for others that did not come.
func (s *share) release(now time.Time) {
	if !now.Before(s.admittedUntil) {
		s.unused += len(s.admitted)
		clear(s.admitted)
	}
}

// wait is for a request that comes after others, or for which nothing is left.
func (s *share) wait(waiter Waiter, now time.Time) time.Duration {
	s.release(now)
	usable := s.usable(now)
	switch {
	case usable && (s.admitted[waiter] || s.unused > 0):
		return 0
	case usable && len(s.admitted) > 0:
		return s.admittedUntil.Sub(now)
	case s.nothing && now.Before(s.nothingFor):
		return s.nothingFor.Sub(now)
	default:
		return 0
	}
}

// take uses a part of what is reserved.
func (s *share) take(waiter Waiter) bool {
	now := time.Now()
	s.release(now)
	usable := s.usable(now)
	switch {
	case usable && s.admitted[waiter]:
		delete(s.admitted, waiter)
	case usable && s.unused > 0:
		s.unused--
	default:
		return false
	}
	s.served[waiter] = s.reserved
	return true
}

// giveBack is for a part that was not used. Where its reservation is too old, or of another generation of the service,
// the next one counts it as free. It reports whether others can take it now.
func (s *share) giveBack(waiter Waiter) bool {
	of, ok := s.served[waiter]
	delete(s.served, waiter)
	if !ok || !of.Equal(s.reserved) {
		return false
	}
	s.unused++
	return s.usable(time.Now())
}

// admit gives what was reserved to the oldest of those that wait.
func (s *share) admit(waiting []Waiter, size int) {
	first := min(size, len(waiting))
	s.unused, s.queue = size-first, waiting[first:]
	s.admitted = make(map[Waiter]bool, first)
	for _, w := range waiting[:first] {
		s.admitted[w] = true
	}
}
