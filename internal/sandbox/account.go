package sandbox

import (
	"fmt"
	"sync/atomic"

	"github.com/mandate-io/idv/internal/sandbox/config"
	"github.com/mandate-io/idv/internal/sandbox/delivery"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
	"github.com/mandate-io/idv/internal/sandbox/state"
)

// account is one account of the service, with all that controls its behavior. It carries out the requests that belong
// to it.
type account struct {
	config     config.Account
	service    *Service
	clock      *state.Clock
	data       *state.Account
	tokens     *state.Tokens
	dialect    *dialect.Current
	queue      *delivery.Queue
	batches    batches
	reordered  atomic.Int64 // deliveries, of which every second one is late
	faults     faultQueue
	limiter    rateLimiter
	stats      statistics
	autoplayer *autoplayer
}

func newAccount(s *Service, c config.Account, ids *state.IDs, remoteDeliveries bool) *account {
	a := &account{
		config: c, service: s, clock: state.NewClock(c.StartTime), dialect: dialect.NewCurrent(c.Dialect),
	}
	a.tokens = state.NewTokens(a.clock, c.Name+".")
	a.queue = delivery.NewQueue(a.clock.Now, remoteDeliveries)
	a.data = state.NewAccount(a.clock, a.dialect, ids, state.NewReferences(c), a.deliver)
	a.autoplayer = newAutoplayer(a.data, c.Autoplay)
	return a
}

// seed adds what the account has at the start.
func (a *account) seed() error {
	for i, app := range a.config.Applications {
		if err := a.data.Seed(app); err != nil {
			return fmt.Errorf("applications[%d]: %w", i, err)
		}
	}
	for _, fault := range a.config.Faults {
		if err := a.faults.add(fault); err != nil {
			return err
		}
	}
	return nil
}

// reset restores what the account has at the start.
func (a *account) reset() error {
	a.clock.Reset()
	a.dialect.Set(a.config.Dialect)
	a.autoplayer.set(a.config.Autoplay)
	a.tokens.Reset()
	a.faults.clear()
	a.data.Reset()
	a.queue.Clear()
	a.stats.reset()
	return a.seed()
}
