package client

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// token is a bearer token and when to replace it.
type token struct {
	value Secret
	renew time.Time
	// taken: the service has accepted it. A 401 to such a token means that it expired or was revoked.
	taken atomic.Bool
}

// tokenSource shares one token among all callers.
//
// A login may revoke the tokens before it (not documented: our reading), and repeated wrong passwords may lock the user
// out. So there is never more than one login under way, and none at all for a while after the service refused one.
type tokenSource struct {
	login func() (*token, *Error)

	mu      sync.Mutex
	current *token
	flight  *flight // the login under way, nil if there is none

	refused *Error        // why the credentials are held off
	until   time.Time     // end of the hold-off
	holdOff time.Duration // length of the last one, 0 after a login that went well
	futile  time.Time     // until then, a 401 is not answered by a login
}

// flight is one login. done is closed when the others are set.
type flight struct {
	done  chan struct{}
	token *token
	err   *Error
}

const (
	firstHoldOff = 30 * time.Second
	maxHoldOff   = 15 * time.Minute
)

func newTokenSource(login func() (*token, *Error)) *tokenSource { return &tokenSource{login: login} }

// get gives a token other than spent, which is the one that the service just answered with 401, or nil. A login belongs
// to everybody who waits for it: a caller whose context ends leaves it running.
func (s *tokenSource) get(ctx context.Context, spent *token) (*token, *Error) {
	current, flight, err := s.look(spent)
	if flight == nil {
		return current, err
	}
	select {
	case <-flight.done:
		return flight.token, flight.err
	case <-ctx.Done():
		return nil, contextEnded(ctx, OpToken, NotSent, "while it waited for a login")
	}
}

// look gives a token, or why there is none, or the login to wait for. All three are decided under one lock: between a
// look and a login, another login could come and go.
func (s *tokenSource) look(spent *token) (*token, *flight, *Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch wait := time.Until(s.until); {
	case s.current != nil && s.current != spent && time.Now().Before(s.current.renew):
		return s.current, nil, nil
	case wait > 0:
		return nil, nil, heldOff(s.refused, wait)
	case s.flight == nil:
		s.flight = &flight{done: make(chan struct{})}
		go s.fly(s.flight)
	}
	return nil, s.flight, nil
}

func (s *tokenSource) fly(f *flight) {
	f.token, f.err = s.login()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flight = nil
	switch {
	case f.err == nil:
		s.current, s.holdOff = f.token, 0
	case f.err.Kind == KindCredentials:
		s.holdOff = min(max(2*s.holdOff, firstHoldOff), maxHoldOff)
		s.refused, s.until = f.err, time.Now().Add(s.holdOff)
		f.err = heldOff(f.err, s.holdOff)
	}
	close(f.done)
}

func heldOff(why *Error, wait time.Duration) *Error {
	held := *why
	held.RetryAfter = wait
	return &held
}

// worthLogin tells whether a login may help after the service answered 401 to t. fresh says that t itself came from such
// a login: if the service never took it, the credentials can log in but may not use the API, and more logins only hammer.
func (s *tokenSource) worthLogin(t *token, fresh bool) bool {
	if t.taken.Load() {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if fresh {
		s.futile = time.Now().Add(firstHoldOff)
	}
	return time.Now().After(s.futile)
}
