// Command demo runs all of the project together on this machine: see `make demo`. With KEEP=1 in its environment, it
// goes on until Ctrl-C. It exits with 0 if every Mandate reached its expected outcome, with 1 if not, and with 130 if
// it was interrupted before that.
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
	log.SetLogger(logr.Discard()) // or controller-runtime complains that nobody has set one
	executable, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // a second Ctrl-C does not wait
	code := run(ctx, newScreen(os.Stdout), filepath.Dir(executable), keep(os.Getenv("KEEP")))
	stop()
	os.Exit(code)
}

// keep is what KEEP says: anything but a no.
func keep(text string) bool {
	yes, err := strconv.ParseBool(text)
	return text != "" && (yes || err != nil)
}

// run runs the demo with the programs in a directory, says what came of it, ends everything, and returns the exit code.
func run(ctx context.Context, screen *screen, programs string, keep bool) int {
	d, err := newDemo(screen, programs)
	if err != nil {
		screen.print("demo: " + err.Error())
		return 1
	}
	err = d.play(ctx)
	if err == nil {
		d.sayResult()
		if keep {
			err = d.keepRunning(ctx)
		}
	}
	interrupted := ctx.Err() != nil
	if err != nil && !interrupted {
		d.sayFailure(err)
	}
	if closeErr := d.close(); closeErr != nil {
		screen.print("", "Not everything ended as it should: "+closeErr.Error())
		return 1
	}
	switch {
	case err == nil && keep:
		screen.print("Everything has ended.")
	case err == nil:
		screen.print("Everything has ended; `make demo KEEP=1` keeps it running, to look around with kubectl.")
	case interrupted:
		screen.print("", "Interrupted. Everything has ended.")
		return 130
	default:
		return 1
	}
	return 0
}
