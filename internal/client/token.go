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
	// accepted: the service has accepted it. A 401 to such a token means that it expired or was revoked.
	accepted atomic.Bool
}

// tokenSource shares one token among all callers.
//
// A login may revoke the tokens before it (not documented: our reading), and repeated wrong passwords may lock the user
// out. So there is never more than one login under way, and none at all for a while after the service refused one.
type tokenSource struct {
	requestToken func() (*token, *Error)

	mu      sync.Mutex
	current *token
	pending  *pendingLogin // the login under way, nil if there is none

	refusal *Error        // why the credentials are held off
	holdOffUntil   time.Time     // end of the hold-off
	holdOff time.Duration // length of the last one, 0 after a login that went well
	backoffUntil  time.Time     // until then, a 401 is not answered by a login
}

// pendingLogin is one login. done is closed when the others are set.
type pendingLogin struct {
	done  chan struct{}
	token *token
	err   *Error
}

const (
	firstHoldOff = 30 * time.Second
	maxHoldOff   = 15 * time.Minute
)

func newTokenSource(login func() (*token, *Error)) *tokenSource { return &tokenSource{requestToken: login} }

// get gives a token other than spent, which is the one that the service just answered with 401, or nil. A login belongs
// to everybody who waits for it: a caller whose context ends leaves it running.
func (s *tokenSource) get(ctx context.Context, spent *token) (*token, *Error) {
	current, flight, err := s.lookup(spent)
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

// lookup gives a token, or why there is none, or the login to wait for. All three are decided under one lock: between a
// lookup and a login, another login could come and go.
func (s *tokenSource) lookup(spent *token) (*token, *pendingLogin, *Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch wait := time.Until(s.holdOffUntil); {
	case s.current != nil && s.current != spent && time.Now().Before(s.current.renew):
		return s.current, nil, nil
	case wait > 0:
		return nil, nil, withRetryAfter(s.refusal, wait)
	case s.pending == nil:
		s.pending = &pendingLogin{done: make(chan struct{})}
		go s.login(s.pending)
	}
	return nil, s.pending, nil
}

func (s *tokenSource) login(f *pendingLogin) {
	f.token, f.err = s.requestToken()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending = nil
	switch {
	case f.err == nil:
		s.current, s.holdOff = f.token, 0
	case f.err.Kind == KindCredentials:
		s.holdOff = min(max(2*s.holdOff, firstHoldOff), maxHoldOff)
		s.refusal, s.holdOffUntil = f.err, time.Now().Add(s.holdOff)
		f.err = withRetryAfter(f.err, s.holdOff)
	}
	close(f.done)
}

func withRetryAfter(why *Error, wait time.Duration) *Error {
	held := *why
	held.RetryAfter = wait
	return &held
}

// shouldLogin tells whether a login may help after the service answered 401 to t. fresh says that t itself came from such
// a login: if the service never took it, the credentials can log in but may not use the API, and more logins only hammer.
func (s *tokenSource) shouldLogin(t *token, fresh bool) bool {
	if t.accepted.Load() {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if fresh {
		s.backoffUntil = time.Now().Add(firstHoldOff)
	}
	return time.Now().After(s.backoffUntil)
}
