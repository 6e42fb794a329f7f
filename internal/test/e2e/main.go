// Command e2e runs the operator on a Kubernetes node of its own, and checks what only a node can show: see `make e2e`.
// Everything runs in namespaces that end with it. It exits with 0 if all is well, with 3 if this machine cannot run it,
// with 130 after Ctrl-C, and else with 1. With the argument "check", it only says whether this machine can run it.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// The exit codes, besides 0.
const (
	exitFailed      = 1
	exitUnsupported = 3
	exitInterrupted = 130
)

// The stages of the program: each runs the next one inside the namespaces.
const (
	stageCheck = "check" // says whether this machine can run it
	stageInit  = "init"  // the first process of the namespaces
	stageProbe = "probe" // prepares the machine, and that is all
	stageRun   = "run"   // starts the node and runs the steps
)

func main() {
	log.SetLogger(logr.Discard()) // controller-runtime prints a warning without a logger
	stage := ""
	if len(os.Args) > 1 {
		stage = os.Args[1]
	}
	var code int
	var err error
	switch stage {
	case stageInit:
		code, err = runAsInit(os.Args[2:])
	case stageProbe:
		err = prepareMachine()
	case stageRun:
		code, err = interruptible(run)
	case stageCheck:
		code, err = check()
	default:
		if code, err = check(); code == 0 && err == nil {
			code, err = repeat()
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		code = max(code, exitFailed)
	}
	os.Exit(code)
}

// repeat runs the steps COUNT times, each time on a new node, until a run fails.
func repeat() (code int, err error) {
	options, err := newOptions()
	for i := 1; i <= options.count && code == 0 && err == nil; i++ {
		if options.count > 1 {
			fmt.Printf("== run %d of %d\n", i, options.count)
		}
		code, err = isolate(os.Stderr, stageRun)
	}
	return code, err
}

// check says what this machine lacks.
func check() (int, error) {
	if reason := unsupported(); reason != nil {
		return exitUnsupported, fmt.Errorf("SKIPPED: %w", reason)
	}
	return 0, nil
}

// interruptible runs a function until a signal.
func interruptible(work func(context.Context) error) (int, error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := work(ctx)
	if ctx.Err() != nil {
		return exitInterrupted, errors.New("interrupted; everything is stopped")
	}
	return 0, err
}
