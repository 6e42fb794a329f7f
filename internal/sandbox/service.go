package sandbox

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/mandate-io/idv/internal/sandbox/delivery"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
	"github.com/mandate-io/idv/internal/sandbox/state"
)

// Service is a running sandbox. It is an http.Handler of the service's interface, the control API and the page.
type Service struct {
	options    Options
	clock      *state.Clock
	account    *state.Account
	tokens     *state.Tokens
	dialect    *dialect.Current
	queue      *delivery.Queue
	batches    batches
	reordered  atomic.Int64 // deliveries, of which every second one is late
	faults     faultQueue
	limiter    rateLimiter
	stats      statistics
	autoplayer *autoplayer
	mux        *http.ServeMux

	ctx    context.Context
	cancel context.CancelFunc
	done   sync.WaitGroup
}

// New starts a sandbox. Close stops it.
func New(options Options) *Service {
	options = options.withDefaults()
	s := &Service{
		options: options,
		clock:   state.NewClock(options.StartTime),
		dialect: dialect.NewCurrent(options.Dialect),
		mux:     http.NewServeMux(),
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.tokens = state.NewTokens(s.clock)
	s.queue = delivery.NewQueue(s.clock.Now, options.RemoteDeliveries)
	s.account = state.NewAccount(s.clock, s.dialect, options.Seed, s.deliver)
	s.autoplayer = newAutoplayer(s.account, options.autoplay())
	s.done.Go(func() { s.autoplayer.run(s.ctx) })
	s.routeInterface()
	s.routeControl()
	s.mux.HandleFunc("GET /{$}", servePage)
	return s
}

// ServeHTTP implements http.Handler.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Close stops the background work and aborts the requests that a fault delays, without carrying them out. Call it
// before you close the HTTP server, which waits for such requests.
func (s *Service) Close() {
	s.cancel()
	s.queue.Close()
	s.done.Wait()
}

// reset restores the state at the start.
func (s *Service) reset() {
	s.clock.Reset()
	s.dialect.Set(s.options.Dialect)
	s.autoplayer.set(s.options.autoplay())
	s.tokens.Revoke()
	s.faults.clear()
	s.account.Reset()
	s.queue.Clear()
	s.stats.reset()
}
