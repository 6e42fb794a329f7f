package main

import (
	"context"
	"time"
)

const watchInterval = 500 * time.Millisecond

// startWatch updates the table until stopWatch.
func (d *demo) startWatch(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	d.stopWatch = func() {
		cancel()
		<-done
	}
	go func() {
		defer close(done)
		ticker := time.NewTicker(watchInterval)
		defer ticker.Stop()
		for ctx.Err() == nil {
			_ = d.showTable(ctx) // a step with kubectl reports a lasting error
			select {
			case <-ctx.Done():
			case <-ticker.C:
			}
		}
	}()
}

func (d *demo) showTable(ctx context.Context) error {
	printed, err := d.kubectl.run(ctx, "get", "mandates")
	if err != nil {
		return err
	}
	d.screen.show(parseTable(printed))
	return nil
}
