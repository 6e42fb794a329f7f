package ledger_test

import (
	"context"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mandate-io/idv/operator/ledger"
)

// A record is deleted when its Mandate has been gone for as long as it is kept, by the clock of the API server. A time
// from the future is not believed, nor is anything before that clock is known.
func TestRetentionUsesTheClockOfTheAPIServer(t *testing.T) {
	t.Parallel()
	const keep = 10 * time.Second                            // swept every second
	start := time.Now().Add(time.Hour).Truncate(time.Second) // after the record was made, on a busy machine, too
	for name, tc := range map[string]struct {
		since, now time.Time
		deleted    bool
		want       time.Time // of the annotation afterwards
	}{
		"not long enough": {since: start, now: start.Add(keep - time.Second), want: start},
		"long enough":     {since: start, now: start.Add(keep), deleted: true},
		"from the future": {since: start.Add(2 * keep), now: start.Add(keep), want: start.Add(keep)},
		"not known yet":   {since: start, want: start},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			record, err := f.claim("acme")
			f.check(err)
			record.Annotations = map[string]string{ledger.GoneSinceAnnotation: tc.since.UTC().Format(time.RFC3339)}
			f.check(f.client.Update(t.Context(), record))
			f.sweepTwice(keep, tc.now)
			err = f.client.Get(t.Context(), f.key("acme"), record)
			if apierrors.IsNotFound(err) && tc.deleted {
				return
			}
			f.check(err)
			since, err := time.Parse(time.RFC3339, record.Annotations[ledger.GoneSinceAnnotation])
			if err != nil || tc.deleted || !since.Equal(tc.want) {
				t.Errorf("the record is there, without a Mandate since %s (%v), want %s, deleted %t", since, err, tc.want,
					tc.deleted)
			}
		})
	}
}

// sweepTwice waits until two sweeps are over.
func (f *fixture) sweepTwice(keep time.Duration, now time.Time) {
	f.Helper()
	f.Namespaces = []string{f.namespace}
	ctx, cancel := context.WithCancel(f.Context())
	swept := make(chan struct{}, 1)
	retention := &ledger.Retention{
		Ledger: f.Ledger, Mandates: f.client, Keep: keep, Clock: func() time.Time { return now },
		Unreadable: func(map[types.NamespacedName][]string) {
			select {
			case swept <- struct{}{}:
			case <-ctx.Done():
			}
		},
	}
	var sweeping sync.WaitGroup
	sweeping.Go(func() { _ = retention.Start(ctx) })
	<-swept
	<-swept
	cancel()
	sweeping.Wait()
}
