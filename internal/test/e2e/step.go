package main

import (
	"context"
	"fmt"
	"time"
)

// step is one step. Its work returns what it found, in a few words. STEPS selects steps by their keys. Those without
// one run always.
type step struct {
	key  string
	name string
	work func(context.Context) (detail string, err error)
}

// progressInterval is the time between two lines about a step that runs.
const progressInterval = 10 * time.Second

// runSteps runs steps up to the first that fails. It prints a line for each, and at the end how long each took.
func runSteps(ctx context.Context, steps []step) error {
	started := time.Now()
	took := make([]time.Duration, 0, len(steps))
	var failed error
	for _, s := range steps {
		stepStarted := time.Now()
		detail, err := runStep(ctx, s)
		took = append(took, time.Since(stepStarted))
		if err != nil {
			failed = fmt.Errorf("%s: %w", s.name, err)
			fmt.Printf("FAILED  %s\n", s.name)
			break
		}
		fmt.Printf("ok      %s: %s\n", s.name, detail)
	}
	result := "passed"
	if failed != nil {
		result = "failed"
	}
	fmt.Printf("== make e2e: %s, %.0f s\n", result, time.Since(started).Seconds())
	for i, duration := range took {
		fmt.Printf("%6.1f s  %s\n", duration.Seconds(), steps[i].name)
	}
	return failed
}

func runStep(ctx context.Context, s step) (string, error) {
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	started := time.Now()
	done := make(chan struct{})
	defer close(done)
	go func() {
		ticker := time.NewTicker(progressInterval)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				fmt.Printf("…       %s: %.0f s\n", s.name, time.Since(started).Seconds())
			}
		}
	}()
	return s.work(ctx)
}
