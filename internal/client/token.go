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
// A login may revoke earlier tokens, and repeated wrong passwords may lock the user (not documented: our reading). So
// there is at most one login at a time, and none for a while after the service refused one.
type tokenSource struct {
	requestToken func() (*token, *Error)

	mu      sync.Mutex
	current *token
	pending *pendingLogin // nil if there is none

	refusal      *Error        // why there is a hold-off
	holdOffUntil time.Time     // no login before it
	holdOff      time.Duration // length of the last one, 0 after a login that succeeded
	backoffUntil time.Time     // until then, a 401 causes no login
}

// pendingLogin is one login. done is closed when token or err is set.
type pendingLogin struct {
	done  chan struct{}
	token *token
	err   *Error
}

const (
	firstHoldOff = 30 * time.Second
	maxHoldOff   = 15 * time.Minute
)

func newTokenSource(requestToken func() (*token, *Error)) *tokenSource {
	return &tokenSource{requestToken: requestToken}
}

// get returns a token other than rejected, which is the one that the service just answered with 401, or nil. Callers
// share a login: one whose context ends leaves it running for the others.
func (s *tokenSource) get(ctx context.Context, rejected *token) (*token, *Error) {
	current, pending, err := s.lookup(rejected)
	if pending == nil {
		return current, err
	}
	select {
	case <-pending.done:
		return pending.token, pending.err
	case <-ctx.Done():
		return nil, contextEnded(ctx, OpToken, NotSent, "while it waited for a login")
	}
}

// lookup returns a token, or why there is none, or the login to wait for. One lock covers all three: between a lookup
// and a login, another login could begin and end.
func (s *tokenSource) lookup(rejected *token) (*token, *pendingLogin, *Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch wait := time.Until(s.holdOffUntil); {
	case s.current != nil && s.current != rejected && time.Now().Before(s.current.renew):
		return s.current, nil, nil
	case wait > 0:
		return nil, nil, s.refusal.withRetryAfter(wait)
	case s.pending == nil:
		s.pending = &pendingLogin{done: make(chan struct{})}
		go s.login(s.pending)
	}
	return nil, s.pending, nil
}

func (s *tokenSource) login(p *pendingLogin) {
	p.token, p.err = s.requestToken()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending = nil
	switch {
	case p.err == nil:
		s.current = p.token
		s.holdOff = 0
	case p.err.Kind == KindCredentials:
		s.refusal = p.err
		s.holdOff = min(max(2*s.holdOff, firstHoldOff), maxHoldOff)
		s.holdOffUntil = time.Now().Add(s.holdOff)
		p.err = p.err.withRetryAfter(s.holdOff)
	}
	close(p.done)
}

// shouldLogin reports whether a login may help after the service answered 401 to t. afterLogin says that t itself came
// from such a login. If the service never accepted it, the credentials can log in but may not use the API, and more
// logins would only add load.
func (s *tokenSource) shouldLogin(t *token, afterLogin bool) bool {
	if t.accepted.Load() {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if afterLogin {
		s.backoffUntil = time.Now().Add(firstHoldOff)
	}
	return time.Now().After(s.backoffUntil)
}
