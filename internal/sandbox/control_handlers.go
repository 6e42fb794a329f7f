package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
	"github.com/mandate-io/idv/internal/sandbox/state"
)

func (a *account) overview() control.Overview {
	emails, applications := a.data.Outbox(), a.data.Applications()
	deliveries := a.queue.Log()
	overview := control.Overview{
		Account:      a.config.Name,
		Now:          a.clock.Now(),
		Autoplay:     a.autoplayer.get(),
		Emails:       newestFirst(emails),
		Applications: newestFirst(applications),
		Deliveries:   newestFirst(deliveries),
		Faults:       a.faults.all(),
		Dialects:     a.dialect.Get().Switches(),
		Statistics:   a.stats.get(),
		Totals: control.Totals{
			Emails: len(emails), Applications: len(applications), Deliveries: len(deliveries),
		},
	}
	for _, other := range a.service.accounts {
		overview.Accounts = append(overview.Accounts, other.config.Name)
	}
	return overview
}

func newestFirst[T any](oldestFirst []T) []T {
	newest := append([]T{}, oldestFirst[max(0, len(oldestFirst)-control.OverviewLimit):]...)
	slices.Reverse(newest)
	return newest
}

func (a *account) outbox(after int64) []control.Email {
	return slices.DeleteFunc(append([]control.Email{}, a.data.Outbox()...), func(e control.Email) bool {
		return e.Sequence <= after
	})
}

func (a *account) requests(after int64) []control.Request {
	all, _ := a.service.journal.selected(control.RequestQuery{})
	return slices.DeleteFunc(all, func(r control.Request) bool { return r.Sequence <= after })
}

// verifyRequests is an error that lists the requests, unless there are as many as wanted.
func (a *account) verifyRequests(r *http.Request) (any, error) {
	wanted, err := decode[control.RequestVerification](r)
	if err != nil {
		return nil, err
	}
	wanted.Account = cmp.Or(wanted.Account, r.URL.Query().Get(control.AccountParameter))
	if _, err := a.service.controlled(wanted.Account); err != nil {
		return nil, err
	}
	operations := append(control.Operations(), control.Unknown)
	if err := checkWanted(wanted.Count, "operation", wanted.Operation, operations); err != nil {
		return nil, err
	}
	got, complete := a.service.journal.selected(wanted.RequestQuery)
	if !complete {
		return nil, &state.RefusedError{Reason: "the journal has no room for all requests; empty it at the start of a test"}
	}
	return got, verify("requests", *wanted.Count, got, func(r control.Request) string {
		return fmt.Sprintf("%s %s: %d", r.Method, r.Path, r.Status)
	})
}

func (a *account) verifyEmails(wanted control.EmailVerification) ([]control.Email, error) {
	if err := checkWanted(wanted.Count, "kind", wanted.Kind, control.EmailKinds()); err != nil {
		return nil, err
	}
	got := slices.DeleteFunc(a.outbox(0), func(e control.Email) bool { return !wanted.Matches(e) })
	return got, verify("e-mails", *wanted.Count, got, func(e control.Email) string {
		return fmt.Sprintf("%s of application %d", e.Kind, e.ApplicationID)
	})
}

// checkWanted refuses what would count nothing because of a mistake.
func checkWanted[T ~string](count *int, field string, value T, known []T) error {
	if value != "" && !slices.Contains(known, value) {
		return fmt.Errorf("%s: must be one of %v", field, known)
	}
	if count == nil {
		return errors.New("count: is required; 0 means none")
	}
	return nil
}

func verify[T any](what string, count int, got []T, describe func(T) string) error {
	if len(got) == count {
		return nil
	}
	const shown = 10
	lines := []string{fmt.Sprintf("%d %s match, want %d", len(got), what, count)}
	for _, one := range got[:min(len(got), shown)] {
		lines = append(lines, describe(one))
	}
	return &state.RefusedError{Reason: strings.Join(lines, "\n- ")}
}

func (a *account) time() control.Clock { return control.Clock{Now: a.clock.Now()} }

// wantedTime is a text, so that its error can say how a time is written.
type wantedTime struct {
	Now string `json:"now"`
}

func (a *account) setClock(wanted wantedTime) (control.Clock, error) {
	now, err := control.ParseTime("now", wanted.Now)
	if err != nil {
		return control.Clock{}, err
	}
	a.clock.Set(now)
	return a.time(), nil
}

func (a *account) advanceClock(step control.ClockStep) (control.Clock, error) {
	const longest = 2 * control.MaxClockYears * 366 * 24 * 60 * 60 // leaves the range from every time
	by := time.Duration(min(max(step.Seconds, -longest), longest)) * time.Second
	if err := control.CheckTime("seconds: the new time", a.clock.Now().Add(by)); err != nil {
		return control.Clock{}, err
	}
	return control.Clock{Now: a.clock.Advance(by)}, nil
}

// wantedAutoplay has the members of a control.Autoplay that are to change.
type wantedAutoplay struct {
	Enabled     *bool  `json:"enabled,omitempty"`
	DelayMillis *int64 `json:"delay_ms,omitempty"`
}

func (a *account) setAutoplay(wanted wantedAutoplay) (none, error) {
	mode := a.autoplayer.get()
	if wanted.Enabled != nil {
		mode.Enabled = *wanted.Enabled
	}
	if wanted.DelayMillis != nil {
		mode.DelayMillis = *wanted.DelayMillis
	}
	if mode.DelayMillis < 1 || mode.DelayMillis > control.MaxDelayMillis {
		return none{}, fmt.Errorf("delay_ms: must be 1 to %d", control.MaxDelayMillis)
	}
	a.autoplayer.set(mode)
	return none{}, nil
}

func (a *account) setDialects(values map[string]any) (none, error) {
	return none{}, a.dialect.Change(func(d *dialect.Dialect) error { return d.SetAll(values) })
}

func (a *account) postReset(r *http.Request) (any, error) {
	accounts := a.service.accounts
	if r.URL.Query().Has(control.AccountParameter) {
		accounts = []*account{a}
	} else {
		a.service.journal.clear()
	}
	for _, one := range accounts {
		if err := one.reset(); err != nil {
			return nil, err
		}
	}
	return none{}, nil
}
