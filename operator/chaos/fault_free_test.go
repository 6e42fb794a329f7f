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

// effects are all effects of a fault-free scenario, which the fault-free run verifies. Of the polls, it has the first
// two.
var effects = []effect{
	{"service: POST authentications/token", everyMandate, 1},
	{"service: GET references", everyMandate, 1},
	{"PATCH identityservices/status", "default", 1},
	{"PATCH identityservices", "default", 1}, // the finalizer, while Mandates need it
	{"POST events", everyMandate, 1},

	{"POST applicationrecords", plain, 1},
	{"service: POST applications", plain, 1},
	{"PATCH applicationrecords", plain, 1},
	{"service: GET applications/ID", plain, 1},
	{"PATCH mandates/status", plain, 1},
	{"service: GET applications/ID", plain, 2},
	{"PATCH applicationrecords", plain, 2}, // the resend begins
	{"service: POST individuals/ID/invites/resend", plain, 1},
	{"PATCH applicationrecords", plain, 3},
	{"PATCH mandateactions/status", resend, 1},

	{"POST applicationrecords", archived, 1},
	{"service: POST applications", archived, 1},
	{"PATCH applicationrecords", archived, 1},
	{"service: GET applications/ID", archived, 1},
	{"PATCH mandates", archived, 1}, // the mark
	{"PATCH applicationrecords", archived, 2},
	{"service: PATCH applications/ID/archive", archived, 1},
	{"PATCH applicationrecords", archived, 3},
	{"service: GET applications/ID", archived, 2},
	{"PATCH mandates/status", archived, 1},

	{"POST applicationrecords", decided, 1},
	{"service: POST applications", decided, 1},
	{"PATCH applicationrecords", decided, 1},
	{"service: GET applications/ID", decided, 1},
	{"PATCH mandates/status", decided, 1},
	{"PATCH applicationrecords", decided, 2},
	{"service: PATCH check/ID/accept", decided, 1},
	{"PATCH applicationrecords", decided, 3},
	{"service: GET applications/ID", decided, 2},
	{"PATCH applicationrecords", decided, 4},
	{"service: PATCH applications/ID/complete", decided, 1},
	{"PATCH applicationrecords", decided, 5},
	{"PATCH mandates/status", decided, 2},
	{"service: GET individuals/ID/report", decided, 1},
	{"POST secrets", everyMandate, 1},
	{"PATCH mandateactions/status", report, 1},

	{"PATCH mandates", deleted, 1}, // the finalizer
	{"POST applicationrecords", deleted, 1},
	{"service: POST applications", deleted, 1},
	{"PATCH applicationrecords", deleted, 1},
	{"service: GET applications/ID", deleted, 1},
	{"PATCH mandates/status", deleted, 1},
	{"service: GET applications/ID", deleted, 2},
	{"PATCH applicationrecords", deleted, 2},
	{"service: DELETE applications/ID", deleted, 1},
	{"PATCH applicationrecords", deleted, 3},
	{"service: GET applications/ID", deleted, 3},
	{"PATCH mandates", deleted, 2},

	{"POST applicationrecords", rejected, 1},
	{"service: POST applications", rejected, 1},
	{"PATCH applicationrecords", rejected, 1},
	{"service: GET applications/ID", rejected, 1},
	{"PATCH mandates/status", rejected, 1},
	{"service: GET applications/ID", rejected, 2},
	{"PATCH mandates/status", rejected, 2},
	{"PATCH applicationrecords", rejected, 2},
	{"service: PATCH check/ID/accept", rejected, 1},
	{"PATCH applicationrecords", rejected, 3},
	{"PATCH applicationrecords", rejected, 4},
	{"service: POST individuals/ID/reset", rejected, 1},
	{"PATCH applicationrecords", rejected, 5},
	{"PATCH mandateactions/status", reset, 1},
	{"PATCH mandates/status", rejected, 3},
	{"PATCH mandates/status", rejected, 4},
	{"PATCH applicationrecords", rejected, 6},
	{"service: PATCH check/ID/reject", rejected, 1},
	{"PATCH applicationrecords", rejected, 7},
	{"PATCH mandates/status", rejected, 5},
	{"PATCH applicationrecords", rejected, 8},
	{"service: PATCH applications/ID/reject", rejected, 1},
	{"PATCH applicationrecords", rejected, 9},
	{"PATCH mandates/status", rejected, 6},
}

// faultFree is the final state of every Mandate and action without faults.
var faultFree = sync.OnceValues(func() (map[string]string, error) {
	f, err := newFleet(context.Background(), [][]plan{nil})
	if err != nil {
		return nil, err
	}
	defer f.close()
	f.mu.Lock()
	err = f.start()
	f.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return slices.Collect(maps.Values(f.scenarios))[0].runFaultFree(f.ctx)
})

// expected is the final state that all other scenarios are compared with. requireFaultFree sets it.
var expected map[string]string

func requireFaultFree(t *testing.T) {
	t.Helper()
	var err error
	if expected, err = faultFree(); err != nil {
		t.Fatalf("the fault-free run: %v", err)
	}
}

func (s *scenario) runFaultFree(ctx context.Context) (map[string]string, error) {
	for _, step := range append(s.steps(), s.waitDone, s.checkQuiet) {
		if err := step(ctx); err != nil {
			return nil, fmt.Errorf("%w\n%s", err, s.trace())
		}
	}
	seen, err := s.observe(ctx)
	if err != nil {
		return nil, err
	}
	summaries := map[string]string{}
	for _, mandate := range mandates {
		summaries[mandate] = s.mandateSummary(ctx, mandate, &seen)
	}
	for _, action := range actions {
		summaries[action] = s.actionSummary(ctx, action)
	}
	return summaries, s.checkEffects()
}

// checkEffects checks that effects lists what occurred, and nothing else.
func (s *scenario) checkEffects() error {
	var occurred []effect
	for _, o := range s.occurrences() {
		occurred = append(occurred, o.effect)
	}
	for _, e := range effects {
		if !slices.Contains(occurred, e) {
			return fmt.Errorf("without faults, the effect %s does not occur: remove it from effects\n%s", e, s.trace())
		}
	}
	for _, e := range occurred {
		if e.nth == 1 && !slices.Contains(effects, e) {
			return fmt.Errorf("no fault is injected at %s: add it to effects", e)
		}
	}
	return nil
}

// waitDone waits for the final state that users wait for.
func (s *scenario) waitDone(ctx context.Context) error {
	return s.until(ctx, func() string {
		seen, err := s.observe(ctx)
		if err != nil {
			return err.Error()
		}
		for mandate, want := range map[string]string{
			plain:    "Ready=True/Accepted",
			archived: "archived=true []",
			decided:  "Completed=True/Completed",
			deleted:  "gone",
			rejected: "Completed=True/Rejected",
		} {
			if got := s.mandateSummary(ctx, mandate, &seen); !strings.Contains(got, want) {
				return fmt.Sprintf("%s is not %s: %s", mandate, want, got)
			}
		}
		for _, action := range actions {
			if got := s.actionSummary(ctx, action); got != "Complete=True/CarriedOut" {
				return fmt.Sprintf("%s: %s", action, got)
			}
		}
		return ""
	})
}

// All other runs are compared with the fault-free one: it has to be right itself.
func TestFaultFree(t *testing.T) {
	requireFaultFree(t)
	for name, parts := range map[string][]string{
		plain: {
			"Ready=True/Accepted", "has the application of plain",
			"e-mails: invite to canary-reference 1 invite to plain.jane 1",
		},
		archived: {
			"Ready=True/Accepted", "has the application of archived", "service: created archived=true",
			"e-mails: invite to archived.jane 1",
		},
		decided: {
			"Completed=True/Completed", "has the application of decided", "service: completed",
			"address=manually_accepted", "e-mails: invite to decided.jane 1",
		},
		deleted: {
			"gone | record of deleted Create=Done has the application of deleted | e-mails: invite to deleted.jane 1",
		},
		rejected: {
			"Completed=True/Rejected", "has the application of rejected", "service: rejected",
			"address=manually_rejected", "Reject of address of jane",
			"e-mails: invite to rejected.jane 1 invite to rejected.john 1",
		},
	} {
		for _, part := range parts {
			if !strings.Contains(expected[name], part) {
				t.Errorf("the final state of %s lacks %q: %s", name, part, expected[name])
			}
		}
	}
}
