package client

import (
	"context"
	"math"
	"math/big"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func newLimits(perSecond float64, maxWait time.Duration) *Limits {
	config := Config{RequestsPerSecond: perSecond, MaxRateLimitWait: maxWait}.withDefaults()
	return config.limits()
}

// departures starts callers at the same time and returns when each one could go, rounded to 10 ms.
func departures(ctx context.Context, l *Limits, callers int) []time.Duration {
	start := time.Now()
	var mu sync.Mutex
	var at []time.Duration
	var group sync.WaitGroup
	for range callers {
		group.Go(func() {
			if l.wait(ctx) > 0 || ctx.Err() != nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			at = append(at, time.Since(start).Round(10*time.Millisecond))
		})
	}
	group.Wait()
	slices.Sort(at)
	return at
}

func TestRateLimit(t *testing.T) {
	for name, test := range map[string]struct {
		perSecond float64
		callers   int
		last      time.Duration
		inBurst   int
	}{
		"default, 10 a second": {0, 60, 5 * time.Second, 10},
		"2 a second":           {2, 12, 5 * time.Second, 2},
		"one in two seconds":   {0.5, 4, 6 * time.Second, 1},
		"no limit":             {-1, 1000, 0, 1000},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				at := departures(t.Context(), newLimits(test.perSecond, time.Minute), test.callers)
				if len(at) != test.callers || at[test.inBurst-1] != 0 || at[len(at)-1] != test.last {
					t.Errorf("%d went, at %v", len(at), at)
				}
			})
		})
	}
}

func TestRateLimitBeyondMaxWaitReservesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimits(10, time.Second)
		// 10 go at once and 10 within the second; the others are turned away, and must not make the queue longer.
		if at := departures(t.Context(), l, 5000); len(at) != 20 || at[19] != time.Second {
			t.Errorf("%d went, at %v", len(at), at)
		}
		<-time.After(100 * time.Millisecond)
		if at := departures(t.Context(), l, 5000); len(at) != 11 || at[0] != 0 {
			t.Errorf("afterwards %d went, at %v", len(at), at)
		}
	})
}

func TestRateLimitBeyondTheDeadlineFailsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimits(1, time.Minute)
		departures(t.Context(), l, 1)
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		start := time.Now()
		if tooFar := l.wait(ctx); tooFar != time.Second || time.Since(start) != 0 {
			t.Errorf("said %v after %v", tooFar, time.Since(start))
		}
	})
}

func TestReservationOfACanceledRequestIsReturned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimits(1, time.Minute)
		departures(t.Context(), l, 1)
		ctx, cancel := context.WithCancel(t.Context())
		left := make(chan bool)
		go func() {
			defer close(left)
			l.wait(ctx)
		}()
		synctest.Wait()
		cancel()
		<-left
		if at := departures(t.Context(), l, 1); at[0] != time.Second {
			t.Errorf("the next one went after %v", at[0])
		}
	})
}

func TestRetryAfterHoldsEverybody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimits(10, time.Minute)
		l.holdOff(5 * time.Second)
		// They do not all leave when the gate opens: ten do, then the rate holds again.
		at := departures(t.Context(), l, 30)
		if at[0] != 5*time.Second || at[9] != 5*time.Second || at[10] != 5100*time.Millisecond || at[29] != 7*time.Second {
			t.Errorf("went at %v", at)
		}
	})
	t.Run("those who sleep as well", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := newLimits(1, time.Minute)
			time.AfterFunc(1500*time.Millisecond, func() { l.holdOff(10 * time.Second) })
			at := departures(t.Context(), l, 3)
			if at[1] != time.Second || at[2] < 11500*time.Millisecond {
				t.Errorf("went at %v", at)
			}
		})
	})
	t.Run("but not for ever", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := newLimits(1, time.Hour)
			l.holdOff(1000 * time.Hour)
			l.holdOff(time.Second) // a shorter one does not open the gate
			if at := departures(t.Context(), l, 1); at[0] != maxRetryAfter {
				t.Errorf("went at %v", at)
			}
		})
	})
	t.Run("nobody waits longer than allowed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := newLimits(1, 15*time.Second)
			l.holdOff(time.Minute)
			if tooFar := l.wait(t.Context()); tooFar != time.Minute {
				t.Errorf("said %v", tooFar)
			}
		})
	})
}

func TestParseRetryAfter(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"":                              0,
		"0":                             0,
		"7":                             7 * time.Second,
		"-7":                            0,
		"1.5":                           0,
		"soon":                          0,
		"900":                           maxRetryAfter,
		"901":                           maxRetryAfter,
		"9223372036854775807":           maxRetryAfter,
		"99999999999999999999":          maxRetryAfter,
		"-99999999999999999999":         0,
		"Wed, 01 Jul 2026 12:00:30 GMT": 30 * time.Second,
		"Wed, 01 Jul 2026 11:00:00 GMT": 0,
		"Fri, 31 Dec 9999 23:59:59 GMT": maxRetryAfter,
	} {
		if got := parseRetryAfter(value, now); got != want {
			t.Errorf("%q: %v, want %v", value, got, want)
		}
	}
	if got := parseRetryAfter(strconv.Itoa(math.MaxInt32), now); got != maxRetryAfter {
		t.Errorf("%v", got)
	}
}

func TestRetryAfterOfAnAnswer(t *testing.T) {
	wait := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "60")
			w.WriteHeader(status)
		}
	}
	for status, holds := range map[int]bool{429: true, 503: true, 500: false, 404: false} {
		s := newService(t, wait(status), false)
		c := s.signedIn(t)
		began := time.Now()
		err := exampleOf(t, OpCreateApplication).run(t.Context(), c)
		if got := RetryAfterOf(err) == time.Minute; got != holds {
			t.Errorf("%d: Retry-After %v", status, RetryAfterOf(err))
		}
		requests, _ := s.seen()
		err = exampleOf(t, OpDeleteApplication).run(t.Context(), c)
		if holds {
			if e := expectFailure(t, err, NotSent, KindRateLimited); e.RetryAfter < time.Minute-time.Since(began) {
				t.Errorf("%d: the next caller is told to wait %v", status, e.RetryAfter)
			}
			s.expect(t, len(requests), 0)
		} else {
			s.expect(t, len(requests)+1, 0)
		}
	}
}

func TestLoginObeysRetryAfter(t *testing.T) {
	s := newService(t, answers(200, someApplication), false)
	s.login = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "60")
		w.WriteHeader(http.StatusTooManyRequests)
	}
	c := s.client(t)
	_, err := c.AccessToken(t.Context())
	expectFailure(t, err, Refused, KindRateLimited)
	_, err = c.AccessToken(t.Context())
	expectFailure(t, err, NotSent, KindRateLimited)
	expectFailure(t, exampleOf(t, OpCreateApplication).run(t.Context(), c), NotSent, KindRateLimited)
	s.expect(t, 0, 1)
}

// FuzzRetryAfter: a wait is never negative and never above the cap; a plain number is that many seconds.
func FuzzRetryAfter(f *testing.F) {
	for _, seed := range []string{"", "0", "7", "-7", "+7", "1e3", "0x10", "1_0", "９", "99999999999999999999",
		"-99999999999999999999", "Wed, 01 Jul 2026 12:00:30 GMT",
		"Wednesday, 01-Jul-26 12:00:30 GMT", "Wed Jul  1 12:00:30 2026", "Fri, 31 Dec 9999 23:59:59 GMT",
		"Mon, 01 Jan 0001 00:00:00 GMT"} {
		f.Add(seed, int64(1782907200))
	}
	f.Add("Fri, 31 Dec 9999 23:59:59 GMT", int64(math.MinInt64))
	f.Fuzz(func(t *testing.T, value string, unix int64) {
		got := parseRetryAfter(value, time.Unix(unix, 0))
		if got < 0 || got > 15*time.Minute {
			t.Fatalf("%v", got)
		}
		if value != "" && strings.Trim(value, "0123456789") == "" {
			seconds, _ := new(big.Int).SetString(value, 10)
			want := 15 * time.Minute
			if seconds.Cmp(big.NewInt(900)) < 0 {
				want = time.Duration(seconds.Int64()) * time.Second
			}
			if got != want {
				t.Errorf("%v, want %v", got, want)
			}
		}
	})
}

// Reading the delay reserves nothing.
func TestRateLimitDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimits(2, time.Minute)
		wants := func(want time.Duration) {
			t.Helper()
			for range 3 {
				if got := (&Client{limits: l}).RateLimitDelay().Round(time.Millisecond); got != want {
					t.Errorf("the delay is %s, want %s", got, want)
				}
			}
		}
		wants(0)
		departures(t.Context(), l, 2)
		wants(500 * time.Millisecond)
		<-time.After(600 * time.Millisecond)
		wants(0)
		l.holdOff(time.Minute)
		wants(time.Minute)
	})
}

// A client that replaces another continues with what the other has used.
func TestLimitsOutliveTheClient(t *testing.T) {
	replaced := func(l *Limits, perSecond float64) *Limits {
		return (&Config{Limits: l, RequestsPerSecond: perSecond, MaxRateLimitWait: time.Minute}).limits()
	}
	t.Run("the rate limit", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := newLimits(2, time.Minute)
			departures(t.Context(), l, 2)
			if at := departures(t.Context(), replaced(l, 10), 10); at[0] != 100*time.Millisecond || at[9] != time.Second {
				t.Errorf("went at %v", at)
			}
		})
	})
	t.Run("a Retry-After", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := newLimits(10, time.Minute)
			l.holdOff(5 * time.Second)
			var callers sync.WaitGroup
			callers.Go(func() { departures(t.Context(), l, 20) }) // from 5 s to 6 s
			synctest.Wait()
			<-time.After(time.Second)
			if at := departures(t.Context(), replaced(l, 10), 10); at[0] < 5*time.Second || at[9] != 6*time.Second {
				t.Errorf("went at %v, counted from a second after the Retry-After began", at)
			}
			callers.Wait()
		})
	})
	t.Run("the hold-off after a refused login", func(t *testing.T) {
		s := newService(t, answers(http.StatusOK, someApplication), false)
		s.login = answers(http.StatusUnauthorized, "")
		limits, began := new(Limits), time.Now()
		for i, authorization := range []TokenAuthorization{"", TokenAuthorizationAuto, TokenAuthorizationNone, ""} {
			c := s.client(t, func(config *Config) {
				config.Limits, config.TokenAuthorization = limits, authorization
				config.RequestsPerSecond = float64(i + 1)
			})
			_, err := c.AccessToken(t.Context())
			if e := expectFailure(t, err, Refused, KindCredentials); e.RetryAfter < firstHoldOff-time.Since(began) {
				t.Errorf("hold-off of %v", e.RetryAfter)
			}
			c.Close()
		}
		s.expect(t, 0, 2) // None is another request
	})
}
