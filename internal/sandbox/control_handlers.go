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

// The limits of the control API. They keep every duration from overflowing.
const (
	maxClockYears  = 100
	maxDelayMillis = 60 * 60 * 1000
)

var clockRange = fmt.Sprintf("must be within %d years of the time of this machine", maxClockYears)

func outOfClockRange(t time.Time) bool {
	now := time.Now()
	return t.After(now.AddDate(maxClockYears, 0, 0)) || t.Before(now.AddDate(-maxClockYears, 0, 0))
}

func (s *Service) getOverview(*http.Request) (any, error) {
	emails := s.account.Outbox()
	applications := s.account.Applications()
	deliveries := s.queue.Log()
	return control.Overview{
		Now:          s.clock.Now(),
		Autoplay:     s.autoplayer.get(),
		Emails:       newestFirst(emails),
		Applications: newestFirst(applications),
		Deliveries:   newestFirst(deliveries),
		Faults:       s.faults.all(),
		Dialects:     s.dialect.Get().Switches(),
		Statistics:   s.stats.get(),
		Totals: control.Totals{
			Emails: len(emails), Applications: len(applications), Deliveries: len(deliveries),
		},
	}, nil
}

func newestFirst[T any](oldestFirst []T) []T {
	newest := append([]T{}, oldestFirst[max(0, len(oldestFirst)-control.OverviewLimit):]...)
	slices.Reverse(newest)
	return newest
}

func (s *Service) getOutbox(r *http.Request) (any, error) {
	emails := append([]control.Email{}, s.account.Outbox()...)
	if text := r.URL.Query().Get("after"); text != "" {
		after, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("after: must be the sequence number of an e-mail")
		}
		emails = slices.DeleteFunc(emails, func(e control.Email) bool { return e.Sequence <= after })
	}
	return emails, nil
}

func (s *Service) getApplications(*http.Request) (any, error) { return s.account.Applications(), nil }

func (s *Service) postPlay(r *http.Request) (any, error) {
	var play control.Play
	if err := readJSON(r, &play); err != nil {
		return nil, err
	}
	return s.account.Play(play)
}

func (s *Service) postState(r *http.Request) (any, error) {
	var wanted control.StateChange
	if err := readJSON(r, &wanted); err != nil {
		return nil, err
	}
	return s.account.SetState(wanted)
}

func (s *Service) getClock(*http.Request) (any, error) { return control.Clock{Now: s.clock.Now()}, nil }

func (s *Service) putClock(r *http.Request) (any, error) {
	var body struct {
		Now string `json:"now"`
	}
	if err := readJSON(r, &body); err != nil {
		return nil, err
	}
	now, err := time.Parse(time.RFC3339, body.Now)
	if err != nil {
		return nil, fmt.Errorf("now: must be a time in RFC 3339 format, for example 2026-01-31T12:00:00Z")
	}
	if outOfClockRange(now) {
		return nil, fmt.Errorf("now: %s", clockRange)
	}
	s.clock.Set(now)
	return s.getClock(r)
}

func (s *Service) postClockAdvance(r *http.Request) (any, error) {
	var step control.ClockStep
	if err := readJSON(r, &step); err != nil {
		return nil, err
	}
	const longest = int64(2 * maxClockYears * 366 * 24 * time.Hour / time.Second)
	by := time.Duration(step.Seconds) * time.Second
	if step.Seconds > longest || step.Seconds < -longest || outOfClockRange(s.clock.Now().Add(by)) {
		return nil, fmt.Errorf("seconds: the new time %s", clockRange)
	}
	return control.Clock{Now: s.clock.Advance(by)}, nil
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
	var fault control.Fault
	if err := readJSON(r, &fault); err != nil {
		return nil, err
	}
	return nil, s.faults.add(fault)
}

func (s *Service) deleteFaults(*http.Request) (any, error) {
	s.faults.clear()
	return nil, nil
}

func (s *Service) getDeliveries(*http.Request) (any, error) { return s.queue.Log(), nil }

func (s *Service) getAutoplay(*http.Request) (any, error) { return s.autoplayer.get(), nil }

func (s *Service) putAutoplay(r *http.Request) (any, error) {
	mode := s.autoplayer.get()
	if err := readJSON(r, &mode); err != nil {
		return nil, err
	}
	if mode.DelayMillis < 1 || mode.DelayMillis > maxDelayMillis {
		return nil, fmt.Errorf("delay_ms: must be 1 to %d", maxDelayMillis)
	}
	s.autoplayer.set(mode)
	return nil, nil
}

func (s *Service) getDialects(*http.Request) (any, error) { return s.dialect.Get().Switches(), nil }

func (s *Service) putDialects(r *http.Request) (any, error) {
	var values map[string]any
	if err := readJSON(r, &values); err != nil {
		return nil, err
	}
	return nil, s.dialect.Change(func(d *dialect.Dialect) error {
		for name, value := range values {
			// A number may come as a JSON number or as a string.
			if err := d.Set(name, fmt.Sprint(value)); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *Service) deleteDialects(*http.Request) (any, error) {
	s.dialect.Set(dialect.Dialect{})
	return nil, nil
}

func (s *Service) postReset(*http.Request) (any, error) {
	s.reset()
	return nil, nil
}
