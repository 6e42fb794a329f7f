package sandbox

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

// What the control API takes at most, so that no duration overflows.
const (
	maxClockStep   = 100 * 366 * 24 * 60 * 60
	maxDelayMillis = 60 * 60 * 1000
)

func (s *Service) getOutbox(r *http.Request) (any, error) {
	emails := append([]control.Email{}, s.account.Outbox()...)
	if text := r.URL.Query().Get("after"); text != "" {
		after, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("after is a sequence number")
		}
		emails = slices.DeleteFunc(emails, func(e control.Email) bool { return e.Sequence <= after })
	}
	return emails, nil
}

func (s *Service) getApplications(*http.Request) (any, error) { return s.account.Applications(), nil }

func (s *Service) postPlay(r *http.Request) (any, error) {
	play, err := readJSON[control.Play](r)
	if err != nil {
		return nil, err
	}
	return s.account.Play(play)
}

func (s *Service) getClock(*http.Request) (any, error) { return control.Clock{Now: s.clock.Now()}, nil }

func (s *Service) putClock(r *http.Request) (any, error) {
	clock, err := readJSON[control.Clock](r)
	if err != nil {
		return nil, err
	}
	if clock.Now.IsZero() {
		return nil, fmt.Errorf("now is a time written as in RFC 3339")
	}
	s.clock.Set(clock.Now)
	return s.getClock(r)
}

func (s *Service) postClockAdvance(r *http.Request) (any, error) {
	step, err := readJSON[control.ClockStep](r)
	if err != nil {
		return nil, err
	}
	if step.Seconds > maxClockStep || step.Seconds < -maxClockStep {
		return nil, fmt.Errorf("seconds is at most %d either way", maxClockStep)
	}
	return control.Clock{Now: s.clock.Advance(time.Duration(step.Seconds) * time.Second)}, nil
}

func (s *Service) getStats(*http.Request) (any, error) { return s.stats.get(), nil }

func (s *Service) deleteStats(*http.Request) (any, error) {
	s.stats.reset()
	return nil, nil
}

func (s *Service) postTokensRevoke(*http.Request) (any, error) {
	return control.Revoked{Revoked: s.tokens.Revoke()}, nil
}

func (s *Service) getFaults(*http.Request) (any, error) { return s.faults.all(), nil }

func (s *Service) postFault(r *http.Request) (any, error) {
	fault, err := readJSON[control.Fault](r)
	if err != nil {
		return nil, err
	}
	return nil, s.faults.add(fault)
}

func (s *Service) deleteFaults(*http.Request) (any, error) {
	s.faults.clear()
	return nil, nil
}

func (s *Service) getDeliveries(*http.Request) (any, error) { return s.queue.Log(), nil }

func (s *Service) getAutoplay(*http.Request) (any, error) { return s.player.get(), nil }

func (s *Service) putAutoplay(r *http.Request) (any, error) {
	mode, err := readJSON[control.Autoplay](r)
	if err != nil {
		return nil, err
	}
	if mode.DelayMillis < 0 || mode.DelayMillis > maxDelayMillis {
		return nil, fmt.Errorf("delay_ms is 1 to %d, or 0 to leave it as it is", maxDelayMillis)
	}
	s.player.set(mode)
	return nil, nil
}

func (s *Service) getDialects(*http.Request) (any, error) { return s.dialect.Get().Switches(), nil }

func (s *Service) putDialects(r *http.Request) (any, error) {
	values, err := readJSON[map[string]string](r)
	if err != nil {
		return nil, err
	}
	spoken := s.dialect.Get()
	for name, value := range values {
		if err := spoken.Set(name, value); err != nil {
			return nil, err
		}
	}
	s.dialect.Speak(spoken)
	return nil, nil
}

func (s *Service) deleteDialects(*http.Request) (any, error) {
	s.dialect.Speak(dialect.Dialect{})
	return nil, nil
}

func (s *Service) postReset(*http.Request) (any, error) {
	s.reset()
	return nil, nil
}
