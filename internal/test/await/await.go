// Package await is how tests wait. Its only limit against a hang is the -timeout of go test, so that a test beside
// other work takes longer, and does not fail. To see sooner what a test waits for, run it with a shorter -timeout.
package await

import (
	"context"
	"errors"
	"testing"
	"time"
)

const (
	// The interval between two polls is a twentieth of the time that has passed, within bounds: what takes long would
	// otherwise keep the machine busy with polls.
	minInterval, maxInterval = 50 * time.Millisecond, 500 * time.Millisecond
	// margin is what a wait that fails leaves of the -timeout, to say so and to stop what runs. Of a short time, it leaves
	// a quarter.
	margin = 15 * time.Second
	// unlimited is the timeout of commands that need one, with -timeout=0.
	unlimited = 24 * time.Hour
)

var errTimeout = errors.New("the -timeout of go test has passed, nearly")

// deadline is when waits of a test fail, if they do. Benchmarks have none.
func deadline(tb testing.TB) (time.Time, bool) {
	tb.Helper()
	limited, ok := tb.(interface{ Deadline() (time.Time, bool) })
	if !ok {
		return time.Time{}, false
	}
	end, ok := limited.Deadline()
	return end.Add(-min(margin, max(0, time.Until(end)/4))), ok
}

// Context ends with the test, and shortly before the -timeout of go test. It is for requests and commands.
func Context(tb testing.TB) context.Context {
	tb.Helper()
	end, ok := deadline(tb)
	if !ok {
		return tb.Context()
	}
	ctx, cancel := context.WithDeadlineCause(tb.Context(), end, errTimeout)
	tb.Cleanup(cancel)
	return ctx
}

// Timeout is the flag of a command such as kubectl wait, for as long as Context lasts.
func Timeout(tb testing.TB) string {
	tb.Helper()
	left := unlimited
	if end, ok := deadline(tb); ok {
		left = time.Until(end)
	}
	return "--timeout=" + max(left, time.Second).Round(time.Second).String()
}

// Until polls done until it returns true. If it never does, it fails the test with the last state.
func Until(tb testing.TB, done func() (ok bool, state string)) {
	tb.Helper()
	ctx := Context(tb)
	began := time.Now()
	for {
		ok, state := done()
		if ok {
			return
		}
		select {
		case <-ctx.Done():
			tb.Fatalf("%v, and still: %s", context.Cause(ctx), state)
		case <-time.After(max(minInterval, min(time.Since(began)/20, maxInterval))):
		}
	}
}

// Receive waits for a value, or for the end of a channel. If none comes, it fails the test and says what is missing.
func Receive[T any](tb testing.TB, from <-chan T, missing string) T {
	tb.Helper()
	ctx := Context(tb)
	select {
	case value := <-from:
		return value
	case <-ctx.Done():
		tb.Fatalf("%v, and still: %s", context.Cause(ctx), missing)
		panic("unreachable")
	}
}
