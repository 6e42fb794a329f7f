package chaos_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// maxReads is how many reads of one kind are disturbed: how many there are depends on how long it takes.
const maxReads = 2

// reference gives what there is to disturb, from a life in which nothing goes wrong.
func referenceRun(t *testing.T) []effect {
	t.Helper()
	calm.Do(func() { calm.ends, calm.effects, calm.err = liveCalmly(t.Context()) })
	if calm.err != nil {
		t.Fatalf("the calm run: %v", calm.err)
	}
	return calm.effects
}

func liveCalmly(ctx context.Context) (map[string]string, []effect, error) {
	c, err := muster(ctx, []plan{nil})
	if err != nil {
		return nil, nil, err
	}
	defer c.disband()
	c.mu.Lock()
	err = c.start()
	c.mu.Unlock()
	if err != nil {
		return nil, nil, err
	}
	for _, l := range c.lives {
		return l.calmly(ctx)
	}
	return nil, nil, nil
}

func (l *life) calmly(ctx context.Context) (ends map[string]string, effects []effect, err error) {
	for _, stage := range []func(context.Context) error{l.apply, l.review, l.delete, l.finish, l.rest} {
		if err := stage(ctx); err != nil {
			return nil, nil, fmt.Errorf("%w\n%s", err, l.trace())
		}
	}
	s, err := l.look(ctx)
	if err != nil {
		return nil, nil, err
	}
	ends = map[string]string{}
	for _, mandate := range mandates {
		ends[mandate] = l.mandateEnd(ctx, mandate, &s)
	}
	for _, order := range orders {
		ends[order] = l.orderEnd(ctx, order)
	}
	for _, h := range l.happened() {
		if h.effect.nth <= maxReads || !strings.HasPrefix(h.effect.what, "service: GET") {
			effects = append(effects, h.effect)
		}
	}
	slices.SortStableFunc(effects, func(a, b effect) int { return strings.Compare(a.String(), b.String()) })
	return ends, effects, nil
}

// finish waits for what people wait for.
func (l *life) finish(ctx context.Context) error {
	return l.until(ctx, func() string {
		s, err := l.look(ctx)
		if err != nil {
			return err.Error()
		}
		for mandate, want := range map[string]string{plain: "Ready=True/Accepted", archived: "archived=true []", decided: "Completed=True/Completed", deleted: "gone"} {
			if got := l.mandateEnd(ctx, mandate, &s); !strings.Contains(got, want) {
				return fmt.Sprintf("%s is not %s: %s", mandate, want, got)
			}
		}
		for _, order := range orders {
			if got := l.orderEnd(ctx, order); got != "Complete=True/CarriedOut" {
				return fmt.Sprintf("%s: %s", order, got)
			}
		}
		return ""
	})
}

// The calm run is what all others are compared with: it has to be right itself.
func TestCalm(t *testing.T) {
	for i, e := range referenceRun(t) {
		t.Logf("%3d %s", i+1, e)
	}
	for name, end := range calm.ends {
		t.Logf("%s: %s", name, end)
	}
}
