package client

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// logins is a login that takes its time, counts, and can be told to fail.
type logins struct {
	count    atomic.Int64
	takes    time.Duration
	lifetime time.Duration
	err      atomic.Pointer[Error]
}

func (l *logins) login() (*token, *Error) {
	l.count.Add(1)
	<-time.After(l.takes)
	if err := l.err.Load(); err != nil {
		return nil, err
	}
	return &token{value: Hide("token"), renew: time.Now().Add(l.lifetime)}, nil
}

func (l *logins) expect(t *testing.T, want int64, when string) {
	t.Helper()
	if got := l.count.Load(); got != want {
		t.Errorf("%d logins %s, want %d", got, when, want)
	}
}

var errRefusedLogin = &Error{
	Operation: OpToken, Outcome: Refused, Kind: KindCredentials, Status: http.StatusUnauthorized,
}

func TestCallersShareALogin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &logins{takes: time.Second, lifetime: time.Minute}
		source := &tokenSource{requestToken: l.login, holdOff: &loginHoldOff{}}
		all := func(rejected *token) (got *token) {
			var callers sync.WaitGroup
			var mu sync.Mutex
			for range 200 {
				callers.Go(func() {
					token, err := source.get(t.Context(), rejected)
					if err != nil || token == rejected {
						t.Errorf("got %p, %v", token, err)
					}
					mu.Lock()
					defer mu.Unlock()
					got = token
				})
			}
			callers.Wait()
			return got
		}
		first := all(nil)
		l.expect(t, 1, "at first")
		all(nil)
		l.expect(t, 1, "while the token lifetime")
		all(first)
		l.expect(t, 2, "after a 401 to everybody")
		all(first)
		l.expect(t, 2, "after another who was late with the same token")
		<-time.After(time.Minute)
		all(nil)
		l.expect(t, 3, "after the token grew old")
	})
}

func TestAHangingLoginHangsNobodyForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &logins{takes: 10 * time.Second, lifetime: time.Minute}
		source := &tokenSource{requestToken: l.login, holdOff: &loginHoldOff{}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		_, err := source.get(ctx, nil)
		expectFailure(t, err, NotSent, KindTimeout)
		if took := time.Since(start); took != time.Second {
			t.Errorf("gave up after %v", took)
		}
		if _, err := source.get(t.Context(), nil); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took != l.takes {
			t.Errorf("the second caller waited until %v; the first one's login was under way", took)
		}
		l.expect(t, 1, "for both")
	})
}

func TestRefusedCredentialsAreHeldOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &logins{lifetime: time.Minute}
		l.err.Store(errRefusedLogin)
		source := &tokenSource{requestToken: l.login, holdOff: &loginHoldOff{}}
		start := time.Now()
		var at []time.Duration // of logins
		for time.Since(start) < time.Hour {
			before := l.count.Load()
			_, err := source.get(t.Context(), nil)
			if e := expectFailure(t, err, Refused, KindCredentials); e.RetryAfter <= 0 || e.RetryAfter > maxHoldOff {
				t.Fatalf("hold-off of %v", e.RetryAfter)
			}
			if l.count.Load() > before {
				at = append(at, time.Since(start).Truncate(time.Second))
			}
			<-time.After(100 * time.Millisecond)
		}
		want := "[0s 30s 1m30s 3m30s 7m30s 15m30s 30m30s 45m30s]"
		if got := fmt.Sprint(at); got != want {
			t.Errorf("logins at %v, want %v", got, want)
		}

		l.err.Store(nil)
		<-time.After(maxHoldOff)
		first, err := source.get(t.Context(), nil)
		if err != nil {
			t.Fatalf("no recovery: %v", err)
		}
		l.err.Store(errRefusedLogin)
		if _, err := source.get(t.Context(), first); err.RetryAfter != firstHoldOff {
			t.Errorf("after a login that went well, the hold-off begins anew with %v, not %v", firstHoldOff, err.RetryAfter)
		}
	})
}

func TestOtherLoginFailuresCauseNoHoldOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &logins{lifetime: time.Minute}
		source := &tokenSource{requestToken: l.login, holdOff: &loginHoldOff{}}
		for i, kind := range []Kind{
			KindServer, KindUnreachable, KindTimeout, KindUnproven, KindNotFound, KindUnreadable, KindRateLimited,
		} {
			l.err.Store(&Error{Operation: OpToken, Kind: kind})
			_, err := source.get(t.Context(), nil)
			expectFailure(t, err, Unknown, kind)
			l.expect(t, int64(i+1), "after "+string(kind))
		}
		l.err.Store(nil)
		if _, err := source.get(t.Context(), nil); err != nil {
			t.Error(err)
		}
	})
}

// TestLoginsThatMayHaveBeenLookedAtAreHeldOff: the service may have counted a wrong password.
func TestLoginsThatMayHaveBeenLookedAtAreHeldOff(t *testing.T) {
	for _, kind := range []Kind{KindCredentials, KindForbidden, KindInvalid} {
		l := &logins{}
		l.err.Store(&Error{Operation: OpToken, Outcome: Refused, Kind: kind})
		source := &tokenSource{requestToken: l.login, holdOff: &loginHoldOff{}}
		for range 3 {
			_, err := source.get(t.Context(), nil)
			if e := expectFailure(t, err, Refused, kind); e.RetryAfter <= 0 {
				t.Errorf("%s: a hold-off of %v", kind, e.RetryAfter)
			}
		}
		l.expect(t, 1, "after "+string(kind))
	}
}

func TestTokenRefusedByTheService(t *testing.T) {
	ok, refused := answers(200, someApplication), answers(401, "")
	for name, test := range map[string]struct {
		answers          []http.HandlerFunc
		times            int
		fails            Outcome // Done: it does not
		requests, logins int
	}{
		"revoked before its first use": {[]http.HandlerFunc{refused, ok}, 1, Done, 2, 2},
		"revoked later":                {[]http.HandlerFunc{ok, refused, ok}, 2, Done, 3, 2},
		"no permission":                {[]http.HandlerFunc{refused}, 20, Forbidden, 21, 2},
		"forbidden":                    {[]http.HandlerFunc{answers(403, "")}, 20, Forbidden, 20, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, inSequence(test.answers...), false)
			s.references = answers(200, `{}`)
			c := s.client(t)
			var err error
			for range test.times {
				_, err = c.RetrieveApplication(t.Context(), 4711)
			}
			if test.fails == Forbidden {
				if e := expectFailure(t, err, Forbidden, KindForbidden); e.Login || !IsForbidden(err) {
					t.Error("it was not the login that failed")
				}
			} else if err != nil {
				t.Error(err)
			}
			s.expect(t, test.requests, test.logins)
		})
	}
}

// TestOneOperationWithoutPermission: that the others work shows that the credentials do, so they go on working. A read
// costs a login each time, because its 401 could as well mean that the token was revoked. What may e-mail people costs
// a read that shows that the token is good.
func TestOneOperationWithoutPermission(t *testing.T) {
	for path, test := range map[string]struct {
		run                      func(context.Context, *Client) error
		requests, logins, checks int
	}{
		"/ext/individuals/1": {func(ctx context.Context, c *Client) error {
			return errorOf(c.RetrieveIndividual(ctx, 1))
		}, 30, 11, 0},
		"/check/1/accept": {func(ctx context.Context, c *Client) error {
			return errorOf(c.AcceptCheck(ctx, 1, CheckReview{}))
		}, 20, 1, 10},
	} {
		s := newService(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == apiPrefix+path {
				answers(401, aboutNothing)(w, r)
				return
			}
			answers(200, someApplication)(w, r)
		}, false)
		s.references = answers(200, `{}`)
		c := s.client(t)
		for range 10 {
			if _, err := c.RetrieveApplication(t.Context(), 4711); err != nil {
				t.Fatal(err)
			}
			expectFailure(t, test.run(t.Context(), c), Forbidden, KindForbidden)
		}
		s.expect(t, test.requests, test.logins)
		if s.checks != test.checks {
			t.Errorf("%s: %d reads of the reference data, want %d", path, s.checks, test.checks)
		}
	}
}

func TestCloseEndsALogin(t *testing.T) {
	s := newService(t, answers(200, someApplication), false)
	begun := make(chan struct{})
	s.login = func(_ http.ResponseWriter, r *http.Request) {
		close(begun)
		<-r.Context().Done()
	}
	c := s.client(t)
	failure := make(chan error)
	go func() { failure <- exampleOf(t, OpCreateApplication).run(context.WithoutCancel(t.Context()), c) }()
	<-begun
	c.Close()
	if e := expectFailure(t, <-failure, NotSent, KindCanceled); !e.Login {
		t.Error("it was the login that ended")
	}
	s.expect(t, 0, 1)
}
