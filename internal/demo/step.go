package main

import (
	"context"
	"fmt"
	"time"
)

// step is one line of the demo. It returns what there is to say about it beside its label.
type step struct {
	label string
	work  func(context.Context) (detail string, err error)
}

// running is the step that is being taken.
type running struct {
	label   string
	started time.Time
	frame   int
}

const (
	drawInterval = 120 * time.Millisecond
	// sayInterval is how often a step that takes long says that it is still there, where nothing is drawn.
	sayInterval = 10 * time.Second
)

var frames = []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")

// step runs a step, shows that it is running, and then how it ended and how long it took.
func (s *screen) step(ctx context.Context, step step) error {
	s.mu.Lock()
	s.running = &running{label: step.label, started: time.Now()}
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
	line := fmt.Sprintf("%s %s %s", mark, s.paint(dim, seconds(s.running.started)), text)
	s.running = nil
	s.redraw([]string{line})
	return err
}

// animate shows that a step is still running, until the returned function is called.
func (s *screen) animate() (stop func()) {
	interval := drawInterval
	if s.width() == 0 {
		interval = sayInterval
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
