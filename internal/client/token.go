package client

import (
	"context"
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

func (t *token) accept() {
	now := time.Now()
	t.accepted.Store(&now)
}

// doubt has the client find out whether the service still accepts the token.
func (t *token) doubt() {
	if t.accepted.Load() != nil {
		t.accepted.Store(new(time.Time))
	}
}

// acceptedWithin reports whether the service has accepted the token within a time.
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
	login := s.logins.DoChan("", func() (any, error) {
		// Between the look and this login, another one may have begun and ended.
		current, err := s.lookup(rejected)
		if current == nil && err == nil {
			current, err = s.login()
		}
		if err != nil { // a nil *Error is an error that is not nil
			return nil, err
		}
		return current, nil
	})
	select {
	case result := <-login:
		if result.Err != nil {
			failure := *failureOf(result.Err) // each caller changes its own
			return nil, &failure
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

func (s *tokenSource) login() (*token, *Error) {
	current, err := s.requestToken()
	if err != nil {
		return nil, s.holdOff.failed(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.former, s.current = s.current, current
	s.holdOff.succeeded()
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

// failed begins a hold-off if the service may have looked at the password, and adds it to the error.
func (h *loginHoldOff) failed(err *Error) *Error {
	if err.Kind != KindCredentials && err.Kind != KindForbidden && err.Kind != KindInvalid {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.length = min(max(2*h.length, firstHoldOff), maxHoldOff)
	h.until = time.Now().Add(h.length)
	refused, cause := *err, *err
	refused.RetryAfter = h.length
	cause.Problem = nil // a hold-off is kept for long, and for many
	h.cause = &cause
	return &refused
}

func (h *loginHoldOff) succeeded() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.length = 0
}

// mayRenew reports whether a login may help after the service refused t. afterLogin says that t itself came from such a
// login. If the service never accepted it, the credentials can log in but may not use the API, and more logins would
// only add load.
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
