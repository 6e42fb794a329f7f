package chaos_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
)

// effects are what there is to disturb: all that the operator does to the world outside in a calm life, in the order of the
// Mandates' lives. The calm run shows that the list is complete. Of the polls, the first two are disturbed.
var effects = []effect{
	{"service: POST authentications/token", everybody, 1},
	{"service: GET references", everybody, 1},
	{"PATCH identityservices/status", "default", 1},
	{"PATCH identityservices", "default", 1}, // the finalizer, while Mandates need it
	{"POST events", everybody, 1},

	{"POST applicationrecords", plain, 1},
	{"service: POST applications", plain, 1},
	{"PATCH applicationrecords", plain, 1},
	{"service: GET applications/ID", plain, 1},
	{"PATCH mandates/status", plain, 1},
	{"service: GET applications/ID", plain, 2},
	{"PATCH mandateactions/status", resend, 1},
	{"service: POST individuals/ID/invites/resend", plain, 1},
	{"PATCH mandateactions/status", resend, 2},

	{"POST applicationrecords", archived, 1},
	{"service: POST applications", archived, 1},
	{"PATCH applicationrecords", archived, 1},
	{"service: GET applications/ID", archived, 1},
	{"service: PATCH applications/ID/archive", archived, 1},
	{"service: GET applications/ID", archived, 2},
	{"PATCH mandates/status", archived, 1},

	{"POST applicationrecords", decided, 1},
	{"service: POST applications", decided, 1},
	{"PATCH applicationrecords", decided, 1},
	{"service: GET applications/ID", decided, 1},
	{"PATCH mandates/status", decided, 1},
	{"service: PATCH check/ID/accept", decided, 1},
	{"service: GET applications/ID", decided, 2},
	{"service: PATCH applications/ID/complete", decided, 1},
	{"PATCH mandates/status", decided, 2},
	{"PATCH mandateactions/status", report, 1},
	{"service: GET individuals/ID/report", decided, 1},
	{"POST secrets", everybody, 1},
	{"PATCH mandateactions/status", report, 2},

	{"PATCH mandates", deleted, 1}, // the finalizer
	{"POST applicationrecords", deleted, 1},
	{"service: POST applications", deleted, 1},
	{"PATCH applicationrecords", deleted, 1},
	{"service: GET applications/ID", deleted, 1},
	{"PATCH mandates/status", deleted, 1},
	{"service: GET applications/ID", deleted, 2},
	{"service: DELETE applications/ID", deleted, 1},
	{"PATCH mandates", deleted, 2},
}

// calm is how every Mandate and order ends when nothing goes wrong.
var calm = sync.OnceValues(func() (map[string]string, error) {
	c, err := muster(context.Background(), [][]plan{nil})
	if err != nil {
		return nil, err
	}
	defer c.disband()
	c.mu.Lock()
	err = c.start()
	c.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return slices.Collect(maps.Values(c.lives))[0].calmly(c.ctx)
})

// ends is what calmEnds sets.
var ends map[string]string

// calmEnds sets what all other lives are compared with.
func calmEnds(t *testing.T) {
	t.Helper()
	var err error
	if ends, err = calm(); err != nil {
		t.Fatalf("the calm run: %v", err)
	}
}

func (l *life) calmly(ctx context.Context) (map[string]string, error) {
	for _, stage := range append(l.stages(), l.finish, l.rest) {
		if err := stage(ctx); err != nil {
			return nil, fmt.Errorf("%w\n%s", err, l.trace())
		}
	}
	s, err := l.look(ctx)
	if err != nil {
		return nil, err
	}
	ends := map[string]string{}
	for _, mandate := range mandates {
		ends[mandate] = l.mandateEnd(ctx, mandate, &s)
	}
	for _, order := range orders {
		ends[order] = l.orderEnd(ctx, order)
	}
	return ends, l.complete()
}

// complete checks that effects lists what happened, and nothing else.
func (l *life) complete() error {
	var happened []effect
	for _, h := range l.happened() {
		happened = append(happened, h.effect)
	}
	for _, e := range effects {
		if !slices.Contains(happened, e) {
			return fmt.Errorf("in a calm life, the operator does no %s\n%s", e, l.trace())
		}
	}
	for _, e := range happened {
		if e.nth == 1 && !slices.Contains(effects, e) {
			return fmt.Errorf("the operator does a %s, which is disturbed by nothing: add it to effects", e)
		}
	}
	return nil
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
	calmEnds(t)
	for name, words := range map[string][]string{
		plain:    {"Ready=True/Accepted", "has the application of plain", "e-mails: invite to canary-reference 1 invite to plain.jane 1"},
		archived: {"Ready=True/Accepted", "has the application of archived", "service: created archived=true", "e-mails: invite to archived.jane 1"},
		decided:  {"Completed=True/Completed", "has the application of decided", "service: completed", "address=manually_accepted", "e-mails: invite to decided.jane 1"},
		deleted:  {"gone | record of deleted sent=true  has the application of deleted | e-mails: invite to deleted.jane 1"},
	} {
		for _, word := range words {
			if !strings.Contains(ends[name], word) {
				t.Errorf("%s ended without %q: %s", name, word, ends[name])
			}
		}
	}
}
