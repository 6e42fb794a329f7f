// Command demo runs the whole project on this machine: see `make demo`. With KEEP=1 in its environment, it runs until
// Ctrl-C. The exit code is 0 if every Mandate reached its expected outcome, 130 if the demo was interrupted before
// that, and else 1.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

func main() {
	log.SetLogger(logr.Discard()) // controller-runtime prints a warning without a logger
	executable, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // a second Ctrl-C exits at once
	code := run(ctx, newScreen(os.Stdout), filepath.Dir(executable), keep(os.Getenv("KEEP")))
	stop()
	os.Exit(code)
}

// keep parses KEEP: any value but a false one is true.
func keep(text string) bool {
	yes, err := strconv.ParseBool(text)
	return text != "" && (yes || err != nil)
}

// run runs the demo with the programs in a directory, prints the result, stops everything, and returns the exit code.
func run(ctx context.Context, screen *screen, programs string, keep bool) int {
	d, err := newDemo(screen, programs)
	if err != nil {
		screen.print("demo: " + err.Error())
		return 1
	}
	err = d.runSteps(ctx)
	if err == nil {
		d.printResult()
		if keep {
			err = d.keepRunning(ctx)
		}
	}
	interrupted := ctx.Err() != nil
	if err != nil && !interrupted {
		d.printFailure(err)
	}
	if closeErr := d.Close(); closeErr != nil {
		screen.print("", "Failed to stop everything: "+closeErr.Error())
		return 1
	}
	switch {
	case err == nil && keep:
		screen.print("Everything is stopped.")
	case err == nil:
		screen.print("Everything is stopped. To keep it running and use kubectl, run `make demo KEEP=1`.")
	case interrupted:
		screen.print("", "Interrupted. Everything is stopped.")
		return 130
	default:
		return 1
	}
	return 0
}
