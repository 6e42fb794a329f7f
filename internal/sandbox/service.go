package sandbox

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/mandate-io/idv/internal/sandbox/config"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/state"
)

// Service is a running sandbox. It is an http.Handler of the service's interface, the control API and the page.
type Service struct {
	accounts []*account // the first one gets what belongs to none
	journal  journal
	logger   *slog.Logger
	mux      *http.ServeMux

	ctx    context.Context
	cancel context.CancelFunc
	done   sync.WaitGroup
}

// New starts a sandbox with one account. Close stops it.
func New(options Options) *Service {
	s, err := Open(options.config(), Process{Logger: options.Logger})
	if err != nil {
		panic(err) // a test has options that make no sense
	}
	return s
}

// Open starts a sandbox with the accounts of a configuration, or returns an error that names the field that is wrong.
// Close stops it.
func Open(c config.Config, process Process) (*Service, error) {
	c, err := c.Complete()
	if err != nil {
		return nil, err
	}
	s := &Service{
		logger: process.Logger, mux: http.NewServeMux(), journal: journal{withBodies: c.RecordBodies},
	}
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	ids := state.NewIDs(c.Seed)
	for i, one := range c.Accounts {
		opened := newAccount(s, one, ids, process.RemoteDeliveries)
		s.accounts = append(s.accounts, opened)
		s.done.Go(func() { opened.autoplayer.run(s.ctx) })
		if err := opened.seed(); err != nil {
			s.Close()
			return nil, fmt.Errorf("accounts[%d].%w", i, err)
		}
	}
	s.routeInterface()
	s.routeControl()
	s.routeDocuments()
	s.mux.HandleFunc("GET /{$}", servePage)
	s.mux.HandleFunc("GET /healthz", serveHealth)
	return s, nil
}

// ServeHTTP implements http.Handler.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Close stops the background work and aborts the requests that a fault delays, without carrying them out. Call it
// before you close the HTTP server, which waits for such requests.
func (s *Service) Close() {
	s.cancel()
	for _, a := range s.accounts {
		a.queue.Close()
	}
	s.done.Wait()
}

// serveHealth answers as long as the process serves requests.
func serveHealth(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("ok\n"))
}

// accountOf returns the account of a request: by the token, or by the credentials of a token request. A token begins
// with the name of its account, so that one that has expired still belongs to it.
func (s *Service) accountOf(r *request) *account {
	if r.isLogin() {
		return s.find(func(a *account) bool { return a.isOf(r) })
	}
	name, _, _ := strings.Cut(bearerToken(r.Request), ".")
	return s.find(func(a *account) bool { return a.config.Name == name })
}

func (s *Service) find(wanted func(*account) bool) *account {
	return s.accounts[max(0, slices.IndexFunc(s.accounts, wanted))]
}

// controlled returns the account that a request of the control API names, or the first one if the name is empty.
func (s *Service) controlled(name string) (*account, error) {
	a := s.find(func(a *account) bool { return a.config.Name == name })
	if name != "" && a.config.Name != name {
		return nil, fmt.Errorf("%s: there is no account %q (%w)", control.AccountParameter, name, state.ErrNotFound)
	}
	return a, nil
}
