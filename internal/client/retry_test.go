package client

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

func TestReadsAreRetried(t *testing.T) {
	ok := answers(200, someApplication)
	for name, test := range map[string]struct {
		answers  []http.HandlerFunc
		fails    Kind
		requests int
	}{
		"500, 503, then good":     {[]http.HandlerFunc{answers(500, ""), answers(503, "<html>"), ok}, "", 3},
		"408, then good":          {[]http.HandlerFunc{answers(408, ""), ok}, "", 2},
		"425, then good":          {[]http.HandlerFunc{answers(425, ""), ok}, "", 2},
		"429, then good":          {[]http.HandlerFunc{answers(429, ""), ok}, "", 2},
		"connection broken":       {[]http.HandlerFunc{abort, ok}, "", 2},
		"answer broken":           {[]http.HandlerFunc{abortInside, ok}, "", 2},
		"500 for ever":            {[]http.HandlerFunc{answers(500, "")}, KindServer, 3},
		"404":                     {[]http.HandlerFunc{answers(404, aboutNothing), ok}, KindNotFound, 1},
		"500, then 404":           {[]http.HandlerFunc{answers(500, ""), answers(404, aboutNothing)}, KindNotFound, 2},
		"404 of somebody else":    {[]http.HandlerFunc{answers(404, ""), ok}, KindUnproven, 1},
		"400":                     {[]http.HandlerFunc{answers(400, ""), ok}, KindInvalid, 1},
		"403":                     {[]http.HandlerFunc{answers(403, ""), ok}, KindForbidden, 1},
		"200 that is unreadable":  {[]http.HandlerFunc{answers(200, "<html>"), ok}, KindUnreadable, 1},
		"another application":     {[]http.HandlerFunc{answers(200, `{"id":1}`), ok}, KindUnreadable, 1},
		"another status than any": {[]http.HandlerFunc{answers(599, ""), ok}, "", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, inSequence(test.answers...), false)
			s.references = answers(200, `{}`)
			_, err := s.client(t).RetrieveApplication(t.Context(), 4711)
			if KindOf(err) != test.fails || test.fails == KindNotFound && OutcomeOf(err) != Refused {
				t.Errorf("got %v, want kind %q", err, test.fails)
			}
			s.expect(t, test.requests, 1)
		})
	}
}

func abort(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

func abortInside(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "100")
	_, _ = w.Write([]byte(someApplication[:10]))
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

func TestASilentServerLeavesTimeForAnotherAttempt(t *testing.T) {
	t.Parallel()
	silent := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	s := newService(t, inSequence(silent, answers(200, someApplication)), false)
	c := s.client(t, func(config *Config) { config.RequestTimeout = 3 * time.Second })
	if _, err := c.RetrieveApplication(t.Context(), 4711); err != nil {
		t.Error(err)
	}
	s.expect(t, 2, 1)
}

// TestWhatEmailsIsSentOnce holds the promise for every operation that may e-mail people, whatever the service or
// anybody between answers. Completing and rejecting are tried in another form once the application was read, and not
// by then: here, it cannot be read.
func TestWhatEmailsIsSentOnce(t *testing.T) {
	changes := func(handler http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				answers(500, "")(w, r)
				return
			}
			handler(w, r)
		}
	}
	for op := range emailing {
		for _, status := range []int{
			202, 302, 307, 308, 400, 401, 402, 403, 404, 405, 408, 409, 413, 415, 422, 423, 425, 429, 500, 502, 503, 504,
		} {
			for _, body := range []string{"", "<html>", aboutNothing, `{"success":false}`} {
				s := newService(t, changes(answers(status, body)), false)
				s.references = answers(200, `{}`)
				noRetries := func(c *Config) { c.MayRetry = func() bool { return false } } // of the reads
				_ = exampleOf(t, op).run(t.Context(), s.client(t, noRetries))
				s.expectChanges(t, 1, fmt.Sprintf("%s, %d %s", op, status, body))
				s.Close()
			}
		}
		for name, handler := range map[string]http.HandlerFunc{"aborted": abort, "answer aborted": abortInside} {
			for _, secure := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %s, secure=%v", op, name, secure), func(t *testing.T) {
					s := newService(t, changes(handler), secure)
					err := exampleOf(t, op).run(t.Context(), s.signedIn(t))
					expectFailure(t, err, Unknown, KindConnection)
					s.expect(t, 1, 0)
				})
			}
		}
	}
}

// expectChanges counts the requests that are no reads.
func (s *service) expectChanges(t *testing.T, want int, when string) {
	t.Helper()
	requests, _ := s.seen()
	got := 0
	for _, r := range requests {
		if r.method != http.MethodGet {
			got++
		}
	}
	if got != want {
		t.Errorf("%s: %d changes were sent, want %d", when, got, want)
	}
}

// TestWhatEmailsIsNotCutShort: once it left, neither a caller who gives up nor Close may lose the answer.
func TestWhatEmailsIsNotCutShort(t *testing.T) {
	for op := range emailing {
		for _, secure := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, secure=%v", op, secure), func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				var c *Client
				s := newService(t, func(w http.ResponseWriter, r *http.Request) {
					cancel()
					c.Close()
					select {
					case <-r.Context().Done():
						t.Error("it was cut short")
					case <-time.After(100 * time.Millisecond):
					}
					answers(200, someApplication)(w, r)
				}, secure)
				c = s.signedIn(t)
				if err := exampleOf(t, op).run(ctx, c); err != nil {
					t.Error(err)
				}
			})
		}
	}
	t.Run("but a caller who gave up before sends nothing", func(t *testing.T) {
		s := newService(t, answers(200, someApplication), false)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		expectFailure(t, exampleOf(t, OpCreateApplication).run(ctx, s.client(t)), NotSent, KindCanceled)
		s.expect(t, 0, 0)
	})
}

func TestMutationsAreRepeatedOnlyIfNothingWasDone(t *testing.T) {
	// aboutField is not about the form of the request, which has several readings.
	const aboutField = `{"title":"x","exception":{"name":["x"]}}`
	type counts map[Operation]int
	for name, test := range map[string]struct {
		status   int
		body     string
		requests counts
	}{
		"429 of the service":      {429, aboutField, counts{OpDeleteApplication: 2, OpSubscribeWebhook: 2}},
		"429 of somebody between": {429, "", counts{OpDeleteApplication: 2, OpSubscribeWebhook: 1}},
		"500":                     {500, aboutField, counts{OpDeleteApplication: 1, OpSubscribeWebhook: 1}},
		"503":                     {503, aboutField, counts{OpDeleteApplication: 1, OpSubscribeWebhook: 1}},
		"408":                     {408, aboutField, counts{OpDeleteApplication: 1, OpSubscribeWebhook: 1}},
		"400":                     {400, aboutField, counts{OpDeleteApplication: 1, OpSubscribeWebhook: 1}},
		"404":                     {404, aboutField, counts{OpDeleteApplication: 1, OpSubscribeWebhook: 1}},
		"409":                     {409, aboutField, counts{OpDeleteApplication: 1, OpSubscribeWebhook: 1}},
	} {
		for op, requests := range test.requests {
			t.Run(fmt.Sprintf("%s, %s", op, name), func(t *testing.T) {
				t.Parallel()
				s := newService(t, inSequence(answers(test.status, test.body), answers(200, "")), false)
				err := exampleOf(t, op).run(t.Context(), s.client(t))
				if (err == nil) != (requests == 2) {
					t.Errorf("got %v", err)
				}
				s.expect(t, requests, 1)
			})
		}
	}
}

func TestNothingUnknownIsRepeatedUnlessItIsSafe(t *testing.T) {
	kinds := []Kind{
		KindCanceled, KindTimeout, KindUnreachable, KindConnection, KindCredentials, KindForbidden, KindExpiredToken,
		KindInvalid, KindDuplicateReference, KindNotFound, KindMethodNotAllowed, KindConflict, KindRateLimited,
		KindRejected, KindUnproven, KindNotReady, KindServer, KindUnreadable, KindTooLarge,
	}
	for _, kind := range kinds {
		for _, outcome := range []Outcome{Unknown, NotSent, Refused, Forbidden, Candidate, Accepted, Done} {
			e := &Error{Outcome: outcome, Kind: kind, Status: 500}
			for of := effectEmails; of <= effectLogin; of++ {
				may := of == effectNone || (of == effectLasts || of == effectRepeatable) && outcome.NothingDone()
				if retryable(t.Context(), of, e) && !may {
					t.Errorf("%v, %s is repeated with effect %d", outcome, kind, of)
				}
				if retryable(WithUntrustedID(t.Context()), of, e) {
					t.Errorf("%v, %s is repeated for an untrusted id", outcome, kind)
				}
			}
		}
	}
}

// TestARefusedConnectionIsTriedAgain: a connection that was refused carried nothing.
func TestARefusedConnectionIsTriedAgain(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	for _, op := range []Operation{OpRetrieveReferences, OpSubscribeWebhook} {
		observed := make(chan RequestResult, 10)
		c := newClient(t, Config{
			BaseURL:     "http://" + address,
			Credentials: Credentials{Username: "u", Password: Hide("p")},
			Observe:     func(r RequestResult) { observed <- r },
		})
		expectFailure(t, exampleOf(t, op).run(t.Context(), c), NotSent, KindUnreachable)
		if len(observed) != maxAttempts {
			t.Errorf("%s: %d attempts", op, len(observed))
		}
	}
}

func TestRetriesHaveABudget(t *testing.T) {
	t.Parallel()
	s := newService(t, answers(500, ""), false)
	c := s.client(t)
	start := time.Now()
	for range 30 {
		expectFailure(t, exampleOf(t, OpRetrieveReferences).run(t.Context(), c), Unknown, KindServer)
	}
	requests, _ := s.seen()
	if most := 30 + 10 + 1 + int(time.Since(start)/time.Second); len(requests) > most {
		t.Errorf("%d requests for 30 operations in an outage of %v", len(requests), time.Since(start))
	}
}

func TestPauses(t *testing.T) {
	for name, test := range map[string]struct {
		attempt     int
		retryAfter  time.Duration
		timeout     time.Duration
		least, most time.Duration
		goesOn      bool
	}{
		"first":                    {1, 0, time.Minute, 50 * time.Millisecond, 250 * time.Millisecond, true},
		"second":                   {2, 0, time.Minute, 100 * time.Millisecond, 500 * time.Millisecond, true},
		"as long as asked":         {1, 7 * time.Second, time.Minute, 7 * time.Second, 7 * time.Second, true},
		"not beyond the deadline":  {1, 7 * time.Second, 5 * time.Second, 0, 0, false},
		"not beyond what is worth": {1, 16 * time.Second, time.Minute, 0, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				chain := &retrier{client: &Client{limits: newLimits(1, 15*time.Second)}}
				ctx, cancel := context.WithTimeout(t.Context(), test.timeout)
				defer cancel()
				start := time.Now()
				goesOn := chain.backOff(ctx, test.attempt, &Error{RetryAfter: test.retryAfter})
				if took := time.Since(start); goesOn != test.goesOn || took < test.least || took > test.most {
					t.Errorf("went on: %v, after %v", goesOn, took)
				}
			})
		})
	}
}

func TestEveryRequestIsObserved(t *testing.T) {
	observed := make(chan RequestResult, 10)
	s := newService(t, inSequence(answers(500, ""), answers(200, someApplication)), false)
	c := s.client(t, func(config *Config) { config.Observe = func(r RequestResult) { observed <- r } })
	if _, err := c.RetrieveApplication(t.Context(), 4711); err != nil {
		t.Fatal(err)
	}
	var got []string
	for range 3 {
		r := <-observed
		if r.Duration <= 0 {
			t.Error("it took no time")
		}
		got = append(got, fmt.Sprint(
			r.Operation, " ", r.Method, " ", r.Status, " ", OutcomeOf(r.Err), " ", KindOf(r.Err),
		))
	}
	want := "[get access token POST 200 Done  retrieve application GET 500 Unknown Server " +
		"retrieve application GET 200 Done ]"
	if fmt.Sprint(got) != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestAfterARefusalNothingIsNotSent: what arrived once, and was turned away, was sent, whatever came of the next
// request.
func TestAfterARefusalNothingIsNotSent(t *testing.T) {
	for name, login := range map[string]http.HandlerFunc{
		"login fails":      answers(500, ""),
		"login is refused": answers(401, ""),
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, answers(401, aboutNothing), false)
			s.login = inSequence(s.login, login)
			e := asError(t, exampleOf(t, OpSubscribeWebhook).run(t.Context(), s.client(t)))
			if !e.Outcome.NothingDone() || e.Outcome == NotSent || !e.Login {
				t.Errorf("%v, login %v: %v", e.Outcome, e.Login, e)
			}
		})
	}
	t.Run("no time for another attempt", func(t *testing.T) {
		s := newService(t, answers(429, aboutNothing), false)
		c := s.client(t, func(config *Config) { config.RequestsPerSecond, config.MaxRateLimitWait = 0.001, time.Second })
		e := expectFailure(t, exampleOf(t, OpSubscribeWebhook).run(t.Context(), c), Refused, KindRateLimited)
		if e.Login {
			t.Error("it was not the login that failed")
		}
	})
	nothing := []Outcome{NotSent, Refused, Forbidden}
	for _, one := range append(nothing, Unknown) {
		for _, other := range append(nothing, Unknown) {
			want := other
			switch {
			case one == Unknown:
				want = Unknown
			case other == NotSent:
				want = one
			}
			if got := effectRepeatable.worst(one, other); got != want {
				t.Errorf("%v and %v are %v, want %v", one, other, got, want)
			}
			if want = other; other == NotSent {
				want = one
			}
			if got := effectNone.worst(one, other); got != want {
				t.Errorf("of reads, %v and %v are %v, want %v", one, other, got, want)
			}
		}
	}
}
