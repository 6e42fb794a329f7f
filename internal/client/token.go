package client

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"
)

// token is a bearer token and when to replace it.
type token struct {
	value Secret
	renew time.Time
	// accepted is when the service last answered a request with this token otherwise than by refusing the token; nil:
	// never. If the service refuses a token that it has accepted, the token has expired or was revoked.
	accepted atomic.Pointer[time.Time]
}

func (t *token) accept() { t.accepted.Store(new(time.Now())) }

// doubt has the client find out whether the service still accepts the token.
func (t *token) doubt() {
	if t.accepted.Load() != nil {
		t.accepted.Store(new(time.Time))
	}
}

func (t *token) acceptedWithin(d time.Duration) bool {
	last := t.accepted.Load()
	return last != nil && time.Since(*last) < d
}

// tokenSource shares one token among all callers.
//
// A login may revoke earlier tokens, and repeated wrong passwords may lock the user (not documented: our reading). So
// there is at most one login at a time, and none for a while after the service refused one.
type tokenSource struct {
	requestToken func() (*token, *Error)
	holdOff      *loginHoldOff
	logins       singleflight.Group

	mu              sync.Mutex
	current, former *token // former is the one before
}

// get returns a token other than rejected, which is the one that the service just refused, or nil. Callers share a
// login: one whose context ends leaves it running for the others.
func (s *tokenSource) get(ctx context.Context, rejected *token) (*token, *Error) {
	if current, err := s.lookup(rejected); current != nil || err != nil {
		return current, err
	}
	login := s.logins.DoChan("", func() (any, error) { return s.login(rejected) })
	select {
	case result := <-login:
		if result.Err != nil {
			return nil, new(*failureOf(result.Err)) // each caller changes its own
		}
		current, _ := result.Val.(*token)
		return current, nil
	case <-ctx.Done():
		return nil, contextEnded(ctx, OpToken, NotSent, "while it waited for a login")
	}
}

// lookup returns a token, or why there may be none now, or neither: then a login has to be made.
func (s *tokenSource) lookup(rejected *token) (*token, *Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current != nil && s.current != rejected && time.Now().Before(s.current.renew) {
		return s.current, nil
	}
	return nil, s.holdOff.refusal()
}

// login gets a token, unless another login has begun and ended since the caller looked.
func (s *tokenSource) login(rejected *token) (*token, error) {
	current, err := s.lookup(rejected)
	if current == nil && err == nil {
		current, err = s.requestToken()
		err = s.holdOff.learn(err)
	}
	if err != nil { // a nil *Error is an error that is not nil
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if current != s.current {
		s.former, s.current = s.current, current
	}
	return current, nil
}

const (
	firstHoldOff = 30 * time.Second
	maxHoldOff   = 15 * time.Minute
)

// loginHoldOff keeps a user from logins after one that was refused. It outlives the client.
type loginHoldOff struct {
	mu      sync.Mutex
	cause   *Error        // the last refusal, without what the service says about it
	until   time.Time     // no login before it
	length  time.Duration // of the last one, 0 after a login that succeeded
	renewal time.Time     // before it, no login because of a token that was never accepted
}

// refusal is the error of a login that may not be sent now, or nil.
func (h *loginHoldOff) refusal() *Error {
	h.mu.Lock()
	defer h.mu.Unlock()
	wait := time.Until(h.until)
	if wait <= 0 {
		return nil
	}
	refusal := *h.cause
	refusal.RetryAfter = wait
	return &refusal
}

// learn takes over what came of a login. If the service may have refused the password, a hold-off begins.
func (h *loginHoldOff) learn(err *Error) *Error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err == nil {
		h.length = 0
		return nil
	}
	if !slices.Contains([]Kind{KindCredentials, KindForbidden, KindInvalid}, err.Kind) {
		return err
	}
	h.length = min(max(2*h.length, firstHoldOff), maxHoldOff)
	h.until = time.Now().Add(h.length)
	refused, cause := *err, *err
	refused.RetryAfter = h.length
	cause.Problem = nil // a hold-off is kept for long, and for many
	h.cause = &cause
	return &refused
}

// mayRenew reports whether a login may help after the service refused t. afterLogin: t came from such a login. If the
// service never accepted it, the credentials can log in but not use the API, and more logins would only add load.
func (h *loginHoldOff) mayRenew(t *token, afterLogin bool) bool {
	if t.accepted.Load() != nil {
		return true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if afterLogin {
		h.renewal = time.Now().Add(firstHoldOff)
	}
	return time.Now().After(h.renewal)
}
