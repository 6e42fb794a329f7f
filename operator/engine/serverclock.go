package engine

import (
	"time"

	"k8s.io/utils/clock"
)

// ServerClock shows the time of the API server, by its answers; the zero time while it is not known. Nil: it never is.
// It and the clocks of this machine are compared here alone.
type ServerClock func() time.Time

// Period is a period from a time that the API server has set, such as that of a deletion, to one of a clock of this
// machine: longer by as much as that clock is fast. A process whose clock is a day fast must not give up what has just
// begun.
func (c ServerClock) Period(period time.Duration, of clock.PassiveClock) time.Duration {
	if c == nil {
		return period
	}
	server := c()
	if server.IsZero() {
		return period
	}
	return period + of.Now().Sub(server)
}
