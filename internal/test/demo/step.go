package main

import (
	"context"
	"fmt"
	"time"
)

// step is one step of the demo. Its work returns details to show after the label.
type step struct {
	label string
	work  func(context.Context) (detail string, err error)
}

// runningStep is the step that runs.
type runningStep struct {
	label   string
	started time.Time
	frame   int
}

const (
	drawInterval = 120 * time.Millisecond
	// progressInterval is the time between two progress lines of a step, without a terminal.
	progressInterval = 10 * time.Second
)

var spinner = []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")

// step runs a step, and shows its progress, result and duration.
func (s *screen) step(ctx context.Context, step step) error {
	s.mu.Lock()
	s.running = &runningStep{label: step.label, started: time.Now()}
	s.redraw(nil)
	s.mu.Unlock()
	stop := s.animate()
	detail, err := step.work(ctx)
	stop()

	s.mu.Lock()
	defer s.mu.Unlock()
	mark := s.paint(green, "✓")
	if err != nil {
		mark = s.paint(red, "✗")
	}
	text := step.label
	if detail != "" && err == nil {
		text += ": " + detail
	}
	result := fmt.Sprintf("%s %s %s", mark, s.paint(dim, seconds(s.running.started)), text)
	s.running = nil
	s.redraw([]string{result})
	return err
}

// animate shows the progress of the running step until stop.
func (s *screen) animate() (stop func()) {
	interval := drawInterval
	if s.width() == 0 {
		interval = progressInterval
	}
	ticker := time.NewTicker(interval)
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				s.tick()
			}
		}
	}()
	return func() {
		ticker.Stop()
		close(done)
		<-stopped
	}
}

func (s *screen) tick() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running.frame++
	if s.width() > 0 {
		s.redraw(nil)
		return
	}
	s.redraw([]string{fmt.Sprintf("… %s %s", seconds(s.running.started), s.running.label)})
}

func seconds(since time.Time) string {
	return fmt.Sprintf("%5.1f s", time.Since(since).Seconds())
}
