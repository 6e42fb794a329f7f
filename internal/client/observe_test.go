package client

import (
	"errors"
	"net/http"
	"testing"
	"time"
)

// An operation is reported once, whatever its retries, with the error that its caller gets: an answer that cannot be
// read is a failure, too. If MayRetry says so, or the id may be of nothing, there is one request.
func TestEveryOperationIsReported(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer   http.HandlerFunc
		mayRetry bool
		foreign  bool
		kind     Kind
		requests int
	}{
		"success":                    {answers(200, someApplication), true, false, "", 1},
		"a fault and its retries":    {answers(500, ""), true, false, KindServer, maxAttempts},
		"a fault without retries":    {answers(500, ""), false, false, KindServer, 1},
		"a fault of an untrusted id": {answers(500, ""), true, true, KindServer, 1},
		"a page of a proxy":          {answers(200, "<html>"), true, false, KindUnreadable, 1},
		"the application of another": {answers(200, `{"id": 1}`), true, false, KindUnreadable, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, test.answer, false)
			var results []OperationResult
			c := s.client(t, func(config *Config) {
				config.ObserveOperation = func(r OperationResult) { results = append(results, r) }
				config.MayRetry = func() bool { return test.mayRetry }
			})
			ctx := t.Context()
			if test.foreign {
				ctx = WithUntrustedID(ctx)
			}
			before := time.Now()
			_, err := c.RetrieveApplication(ctx, 4711)
			took := time.Since(before)
			if len(results) != 1 || !errors.Is(results[0].Err, err) || results[0].Operation != OpRetrieveApplication {
				t.Fatalf("reported %+v, want one result with %v", results, err)
			}
			if kind := KindOf(results[0].Err); kind != test.kind {
				t.Errorf("the kind is %q, want %q", kind, test.kind)
			}
			if r := results[0]; r.Slowest <= 0 || r.Slowest > took || r.Started.Before(before) {
				t.Errorf("started at %s, slowest request %s, of %s since %s", r.Started, r.Slowest, took, before)
			}
			if results[0].UntrustedID != test.foreign {
				t.Errorf("reported as that of an untrusted id: %t", results[0].UntrustedID)
			}
			if requests, _ := s.seen(); len(requests) != test.requests {
				t.Errorf("%d requests, want %d", len(requests), test.requests)
			}
		})
	}
}
