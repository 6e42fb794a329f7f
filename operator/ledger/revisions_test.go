package ledger_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/ledger"
)

// restored is an API server whose etcd was restored from a backup: it gives out old resourceVersions again. A real one
// takes no restore while it runs.
type restored struct{ client.Writer }

func (r restored) Patch(
	ctx context.Context, object client.Object, patch client.Patch, options ...client.PatchOption,
) error {
	err := r.Writer.Patch(ctx, object, patch, options...)
	object.SetResourceVersion("1")
	return err
}

// Once the API server has gone backwards, no call begins, and the process says so, also when the API server goes on.
func TestBackwards(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Revisions = &ledger.Revisions{}
	record := f.claimed()
	writer := f.Writer
	f.Writer = restored{writer}
	complete := ledger.New(v1alpha1.CallComplete, time.Now())
	if _, err := f.Begin(t.Context(), record, complete, nil); !errors.Is(err, ledger.ErrBackwards) {
		t.Errorf("a begin after a restore of etcd: %v, want ErrBackwards", err)
	}
	f.Writer = writer
	current, err := f.Get(t.Context(), f.key("acme"))
	f.check(err)
	if _, err := f.Begin(t.Context(), current, complete, nil); !errors.Is(err, ledger.ErrBackwards) {
		t.Errorf("a later begin: %v, want ErrBackwards", err)
	}
	if _, err := f.claim("globex"); !errors.Is(err, ledger.ErrBackwards) {
		t.Errorf("a claim: %v, want ErrBackwards", err)
	}
	if f.Revisions.Check(nil) == nil {
		t.Error("/readyz does not fail")
	}
}

// Writes whose answers come in another order than they were made are no restore.
func TestConcurrentWrites(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Revisions = &ledger.Revisions{}
	errs := make(chan error)
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		go func() {
			_, err := f.claim(name)
			errs <- err
		}()
	}
	for range 8 {
		f.check(<-errs)
	}
	f.check(f.Revisions.Check(nil))
}
