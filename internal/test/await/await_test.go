package await_test

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mandate-io/idv/internal/test/await"
)

func TestUntil(t *testing.T) {
	tries := 0
	await.Until(t, func() (bool, string) {
		tries++
		return tries == 3, "it does not come"
	})
	if tries != 3 {
		t.Errorf("%d tries, want 3", tries)
	}
	closed := make(chan int)
	close(closed)
	if got := await.Receive(t, closed, "it is open"); got != 0 {
		t.Errorf("received %d", got)
	}
}

// hang names the part of TestHangs that runs in a process of its own.
const hang = "AWAIT_HANG"

// A wait for what does not come ends before the -timeout, and says what it waited for.
func TestHangs(t *testing.T) {
	switch os.Getenv(hang) {
	case "Until":
		await.Until(t, func() (bool, string) { return false, "the moon is not blue" })
	case "Receive":
		await.Receive(t, make(chan int), "the moon is not blue")
	case "Context":
		ctx, flag := await.Context(t), await.Timeout(t)
		<-ctx.Done()
		t.Fatalf("the moon is not blue: %v, with %s", context.Cause(ctx), flag)
	}
	if os.Getenv(hang) != "" {
		return
	}
	for _, part := range []string{"Until", "Receive", "Context"} {
		t.Run(part, func(t *testing.T) {
			t.Parallel()
			run := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHangs$", "-test.timeout=4s")
			run.Env = append(os.Environ(), hang+"="+part)
			output, err := run.CombinedOutput()
			text := string(output)
			for _, want := range []string{"the moon is not blue", "-timeout of go test"} {
				if err == nil || !strings.Contains(text, want) || strings.Contains(text, "panic") {
					t.Errorf("%v, want %q:\n%s", err, want, text)
				}
			}
			if hasFlag := strings.Contains(text, "--timeout=3s"); hasFlag != (part == "Context") {
				t.Errorf("the flag of a command is not what is left:\n%s", text)
			}
		})
	}
}

// Three times as much other work as there are processors.
func TestSlowdown(t *testing.T) {
	alone := await.Slowdown()
	var stop atomic.Bool
	for range 3 * runtime.NumCPU() {
		go func() {
			for !stop.Load() {
			}
		}()
	}
	beside := await.Slowdown()
	stop.Store(true)
	t.Logf("%.1f alone, %.1f beside other work", alone, beside)
	if alone < 1 || beside < 1.5 {
		t.Errorf("%.1f alone, %.1f beside other work; want 1 and 1.5 at least", alone, beside)
	}
	if got := await.Stretch(time.Second, 2.5); got != 2500*time.Millisecond {
		t.Errorf("stretched to %s", got)
	}
}

func TestAsleep(t *testing.T) {
	before := time.Now()
	after := await.Asleep(before, 3600)
	if monotonic, day := after.Sub(before), after.Round(0).Sub(before.Round(0)); monotonic != 0 || day != time.Hour {
		t.Errorf("%v passed by the monotonic clock, want 0, and %v by the time of day, want an hour", monotonic, day)
	}
}
