package engine_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
)

var acme = types.NamespacedName{Namespace: "default", Name: "acme"}

func starting(f *fake) func() (engine.Reconciliation[step], error) {
	return func() (engine.Reconciliation[step], error) { return f, nil }
}

// A reconciliation whose step cannot be recorded goes on with that step, however often it takes, and none of the object
// begins meanwhile.
func TestRunnerGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var runner engine.Runner[step]
		first := &fake{plan: []step{"a", "b"}, unrecorded: 3}
		second := &fake{plan: []step{"c"}}
		for try, reconciliation := range []*fake{first, second} {
			result, err := runner.Run(t.Context(), acme, starting(reconciliation))
			if err != nil || result.RequeueAfter == 0 || result.RequeueAfter > engine.WriteBackoff.Max {
				t.Fatalf("try %d gave %+v, %v", try, result, err)
			}
			if runner.Unrecorded() != 1 || runner.UnrecordedOf(connection.Key{Name: "default"}) != 1 ||
				runner.UnrecordedOf(connection.Key{Name: "other"}) != 0 || first.parked != 1 {
				t.Fatalf("after try %d, %d are not recorded", try, runner.Unrecorded())
			}
		}
		<-time.After(3 * engine.WriteBackoff.Max)
		synctest.Wait()
		if runner.Unrecorded() != 0 || runner.FailedRecords() != 3 {
			t.Fatalf("%d are not recorded, and %d tries failed", runner.Unrecorded(), runner.FailedRecords())
		}
		if want := []string{"a", "a", "a", "a", "b", "finish Done"}; !slices.Equal(first.log, want) || len(second.log) != 0 {
			t.Errorf("it did %q, and then %q; want %q", first.log, second.log, want)
		}
		if first.released != 1 {
			t.Errorf("it was released %d times", first.released)
		}
		if result, err := runner.Run(t.Context(), acme, starting(second)); err != nil || result.RequeueAfter != 7 {
			t.Errorf("the next one gave %+v, %v", result, err)
		}
	})
}

// A defect ends what goes on in the background, and nothing else.
func TestRunnerEndsAfterADefect(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var runner engine.Runner[step]
		panicking := &fake{plan: []step{"a"}, unrecorded: 1, failing: "a", panics: true}
		_, _ = runner.Run(t.Context(), acme, starting(panicking))
		<-time.After(engine.WriteBackoff.Max)
		synctest.Wait()
		if panicking.released != 1 || runner.Unrecorded() != 0 {
			t.Errorf("it was released %d times, and %d are not recorded", panicking.released, runner.Unrecorded())
		}
	})
}

// An error ends a reconciliation, and does not repeat what the API server said.
func TestRunnerRedacts(t *testing.T) {
	t.Parallel()
	var runner engine.Runner[step]
	failing := &fake{plan: []step{"a"}, failing: "a"}
	_, err := runner.Run(t.Context(), acme, starting(failing))
	if err == nil || !strings.Contains(err.Error(), "403") || strings.Contains(err.Error(), "canary") {
		t.Errorf("the error is %v", err)
	}
	if failing.released != 1 {
		t.Errorf("it was released %d times", failing.released)
	}
	func() {
		defer func() { _ = recover() }()
		panicking := &fake{plan: []step{"a"}, failing: "a", panics: true}
		defer func() {
			if panicking.released != 1 {
				t.Errorf("after a panic, it was released %d times", panicking.released)
			}
		}()
		_, _ = runner.Run(t.Context(), acme, starting(panicking))
	}()
	failed := func() (engine.Reconciliation[step], error) { return nil, errors.New("no cache") }
	if _, err := runner.Run(t.Context(), acme, failed); err == nil {
		t.Error("no error")
	}
}

// A shutdown admits no attempts, waits for those under way, and does not wait for ever.
func TestDrain(t *testing.T) {
	t.Parallel()
	var runner engine.Runner[step]
	for range 2 {
		if !runner.TryBegin() {
			t.Fatal("an attempt was not admitted")
		}
	}
	runner.Done()
	drained := make(chan struct{})
	go func() {
		runner.Drain(t.Context())
		close(drained)
	}()
	for runner.TryBegin() { // until the shutdown has begun
		runner.Done()
		runtime.Gosched()
	}
	expired, cancel := context.WithCancel(t.Context())
	cancel()
	runner.Drain(expired) // returns although an attempt is under way
	select {
	case <-drained:
		t.Error("the shutdown did not wait for an attempt")
	default:
	}
	runner.Done()
	<-drained
}

// A shutdown waits for what goes on in the background, until it is recorded or time is up.
func TestDrainRecords(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		unrecorded int
		left       int
	}{"in time": {5, 0}, "not in time": {20, 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var runner engine.Runner[step]
				attempt := &attempt{fake: fake{plan: []step{"a"}, unrecorded: test.unrecorded}, runner: &runner}
				runner.TryBegin()
				start := func() (engine.Reconciliation[step], error) { return attempt, nil }
				if _, err := runner.Run(t.Context(), acme, start); err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 18*time.Second)
				defer cancel()
				runner.Drain(ctx)
				if got := runner.Unrecorded(); got != test.left {
					t.Errorf("%d attempts are not recorded, want %d", got, test.left)
				}
				<-time.After(time.Minute) // until it ends
			})
		})
	}
}

// attempt is a fake that a shutdown waits for.
type attempt struct {
	fake
	runner *engine.Runner[step]
}

func (a *attempt) Release() { a.runner.Done() }
