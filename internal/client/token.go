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
	holdOff      *loginHoldOff

	mu      sync.Mutex
	current *token
	former  *token        // the one before the current
	pending *pendingLogin // nil if there is none
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

func newTokenSource(requestToken func() (*token, *Error), holdOff *loginHoldOff) *tokenSource {
	return &tokenSource{requestToken: requestToken, holdOff: holdOff}
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
	switch refusal := s.holdOff.refusal(); {
	case s.current != nil && s.current != rejected && time.Now().Before(s.current.renew):
		return s.current, nil, nil
	case refusal != nil:
		return nil, nil, refusal
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
		s.former, s.current = s.current, p.token
		s.holdOff.succeeded()
	case p.err.Kind == KindCredentials:
		p.err = s.holdOff.refused(p.err)
	}
	close(p.done)
}

// recent returns the tokens that a response may be about.
func (s *tokenSource) recent() []Secret {
	s.mu.Lock()
	defer s.mu.Unlock()
	var values []Secret
	for _, t := range []*token{s.former, s.current} {
		if t != nil {
			values = append(values, t.value)
		}
	}
	return values
}

// shouldLogin reports whether a login may help after the service answered 401 to t. afterLogin says that t itself came
// from such a login. If the service never accepted it, the credentials can log in but may not use the API, and more
// logins would only add load.
func (s *tokenSource) shouldLogin(t *token, afterLogin bool) bool {
	if t.accepted.Load() {
		return true
	}
	return s.holdOff.allows(afterLogin)
}

// loginHoldOff keeps a user from logins after one that was refused. It outlives the client.
type loginHoldOff struct {
	mu           sync.Mutex
	cause        *Error        // the last refusal, without what the service says about it
	until        time.Time     // no login before it
	length       time.Duration // of the last one, 0 after a login that succeeded
	backoffUntil time.Time     // until then, a 401 causes no login
}

// refusal is the error of a login that may not be sent now, or nil.
func (h *loginHoldOff) refusal() *Error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if wait := time.Until(h.until); wait > 0 {
		return h.cause.withRetryAfter(wait)
	}
	return nil
}

// refused begins a hold-off, and adds it to the error.
func (h *loginHoldOff) refused(err *Error) *Error {
	h.mu.Lock()
	defer h.mu.Unlock()
	cause := *err
	cause.Problem = nil // a hold-off is kept for long, and for many
	h.cause = &cause
	h.length = min(max(2*h.length, firstHoldOff), maxHoldOff)
	h.until = time.Now().Add(h.length)
	return err.withRetryAfter(h.length)
}

func (h *loginHoldOff) succeeded() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.length = 0
}

// allows is shouldLogin of a token that the service has not accepted yet.
func (h *loginHoldOff) allows(afterLogin bool) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if afterLogin {
		h.backoffUntil = time.Now().Add(firstHoldOff)
	}
	return time.Now().After(h.backoffUntil)
}
