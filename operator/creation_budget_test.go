package operator_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/test/testenv"
)

// An hour of a budget is this long in tests.
const window = 10 * time.Second

var creationHour = "--creation-hour=" + window.String()

// limit sets fields of spec.creation.
func (w *world) limit(fields string) {
	w.Helper()
	patch := fmt.Sprintf(`{"spec":{"creation":{%s}}}`, fields)
	w.kubectl("patch", "identityservice", "default", "--type=merge", "--patch", patch)
}

// sent are the times of the e-mails so far.
func (w *world) sent() []time.Time {
	w.Helper()
	emails, err := w.sandbox.Outbox(w.Context())
	w.check(err)
	var times []time.Time
	for _, email := range emails {
		times = append(times, email.Time)
	}
	return times
}

// within checks that no hour has more e-mails than are allowed.
func (w *world) within(times []time.Time, limit int) {
	w.Helper()
	for i, end := range times {
		n := 0
		for _, t := range times[:i+1] {
			if end.Sub(t) < window {
				n++
			}
		}
		if n > limit {
			w.Fatalf("%d e-mails in the hour before %s, and %d are allowed", n, end, limit)
		}
	}
}

// usedUp is a world in which two Mandates have used the budget of an hour.
func usedUp(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, sandbox.Options{})
	w.connect()
	w.limit(`"maxPerHour":2,"maxPerDay":1000`)
	w.start("--creation-hour=1h", settlesSlowly)
	for _, name := range []string{"first", "second"} {
		w.mandate(name, "{}")
		w.ready(name)
	}
	return w
}

func number(name string, fallback int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return fallback
}

// More Mandates than the budget allows wait, are created in the order of their creation, and never in one hour more
// than it allows: whichever replica leads, and whenever one is killed. BUDGET_MANDATES, BUDGET_LIMIT and BUDGET_KILLS
// make it longer.
func TestCreationBudgetHolds(t *testing.T) {
	t.Parallel()
	mandates, kills := number("BUDGET_MANDATES", 60), number("BUDGET_KILLS", 3)
	limit := number("BUDGET_LIMIT", 20)
	w := newWorld(t, sandbox.Options{})
	election, err := env.GrantLeaderElection(t.Context(), w.namespace)
	w.check(err)
	w.connect()
	w.limit(fmt.Sprintf(`"maxPerHour":%d,"maxPerDay":%d`, limit, 24*limit))
	election = append(election, creationHour)
	w.start(election...)
	replicas := []*testenv.Process{w.operator}
	w.start(election...)
	replicas = append(replicas, w.operator)
	for i := range mandates {
		w.mandate(fmt.Sprintf("acme-%04d", i), "{}")
	}
	for kill := range kills {
		w.eventually(func() (bool, string) {
			sent := int(w.requests(control.CreateApplication))
			return sent >= (kill+1)*mandates/(kills+2), fmt.Sprintf("%d creates after %d kills", sent, kill)
		})
		w.check(replicas[kill%2].Kill())
		w.start(election...)
		replicas[kill%2] = w.operator
	}
	w.eventually(func() (bool, string) {
		sent := int(w.requests(control.CreateApplication))
		return sent >= mandates && len(w.sent()) == mandates, fmt.Sprintf("%d of %d are sent", sent, mandates)
	})
	times := w.sent()
	w.within(times, limit)
	t.Logf("%d Mandates in %s with %d an hour of %s and %d kills", mandates,
		times[len(times)-1].Sub(times[0]).Round(time.Second), limit, window, kills)
	w.eventually(func() (bool, string) {
		s := w.service("default")
		return !meta.IsStatusConditionTrue(s.Status.Conditions, v1alpha1.ConditionCreationBudgetReached) &&
			s.Status.Creation.Waiting == 0, fmt.Sprintf("the service still says that Mandates wait: %+v", s.Status.Creation)
	})
}

// Those that wait say so, with their service, and are created in the order in which they were applied.
func TestCreationBudgetReached(t *testing.T) {
	t.Parallel()
	w := usedUp(t)
	waiting := []string{"d", "b", "c", "a"}
	for i, name := range waiting {
		w.mandate(name, "{}")
		last := i == len(waiting)-1
		m := w.condition(name, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonCreationBudgetReached)
		w.condition(name, v1alpha1.ConditionReconciling, metav1.ConditionTrue, v1alpha1.ReasonCreationBudgetReached)
		w.eventually(func() (bool, string) { // creation times have full seconds
			return last || time.Since(m.CreationTimestamp.Time) > 1100*time.Millisecond, "the second does not pass"
		})
	}
	w.emails(2)
	w.eventually(func() (bool, string) {
		s := w.service("default")
		c := s.Status.Creation
		return meta.IsStatusConditionTrue(s.Status.Conditions, v1alpha1.ConditionCreationBudgetReached) && c != nil &&
			c.Waiting == 4 && c.LastHour == 2 && c.NextTime != nil, fmt.Sprintf("the service does not say it: %+v", c)
	})
	w.limit(`"maxPerHour":3`)
	w.ready("d")
	w.limit(`"maxPerHour":100`)
	for _, name := range waiting {
		w.ready(name)
	}
	var created []string
	for _, email := range w.emails(6)[2:] {
		created = append(created, email.Reference[strings.LastIndex(email.Reference, ".")+1:])
	}
	if created[0] != "d" {
		t.Errorf("created in the order %v", created)
	}
}

// A lower limit holds at once, also for what an operator has reserved and not used.
func TestCreationBudgetLowered(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{})
	w.connect()
	w.start("--creation-hour=1h", settlesSlowly)
	w.mandate("first", "{}")
	w.ready("first")
	w.limit(`"maxPerHour":2`)
	w.until("first", "the service has the limit", func(*v1alpha1.Mandate) bool {
		s := w.service("default")
		return s.Status.ObservedGeneration == s.Generation
	})
	w.mandate("second", "{}")
	w.ready("second")
	for _, name := range []string{"third", "fourth"} {
		w.mandate(name, "{}")
		w.condition(name, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonCreationBudgetReached)
	}
	w.emails(2)
}

// Resends and resets count, too, and wait.
func TestActionsWaitForTheBudget(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{})
	w.connect()
	w.limit(`"maxPerHour":1,"maxPerDay":1`)
	w.start("--creation-hour=1h", settlesSlowly)
	w.mandate("acme", "{}")
	w.ready("acme")
	w.action("again", resend)
	w.actionWaits("again", v1alpha1.ReasonCreationBudgetReached)
	w.eventually(func() (bool, string) {
		c := w.service("default").Status.Creation
		return c != nil && c.Waiting == 1, fmt.Sprintf("the service does not count the action: %+v", c)
	})
	w.emails(1)
	w.limit(`"maxPerHour":2,"maxPerDay":2`)
	w.actionCompletes("again")
	w.emails(2)
}

// Where the status of a service was lost, the ledger tells what was sent.
func TestCreationBudgetWithoutStatus(t *testing.T) {
	t.Parallel()
	w := usedUp(t)
	w.check(w.operator.Stop())
	w.kubectl("patch", "identityservice", "default", "--subresource=status", "--type=json", "--patch",
		`[{"op":"remove","path":"/status/creation"}]`)
	w.start("--creation-hour=1h", settlesSlowly)
	w.mandate("third", "{}")
	w.condition("third", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonCreationBudgetReached)
	w.emails(2)
	if c := w.service("default").Status.Creation; c == nil || c.LastHour != 2 {
		t.Errorf("the status counts %+v", c)
	}
}

// The brake holds from the second on in which it was acknowledged, for creates, resends and resets, until it is lifted.
func TestCreationSuspended(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{}")
	w.ready("acme")
	for i := range 60 {
		w.mandate(fmt.Sprintf("acme-%02d", i), "{}")
		if i == 30 {
			w.limit(`"suspend":true`)
		}
	}
	acknowledged := time.Now()
	for name, spec := range map[string]string{"resend": resend, "reset": reset} {
		w.action(name, spec)
		w.actionWaits(name, v1alpha1.ReasonCreationSuspended)
	}
	w.condition("acme-59", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonCreationSuspended)
	w.eventually(func() (bool, string) {
		s := w.service("default")
		return meta.IsStatusConditionTrue(s.Status.Conditions, v1alpha1.ConditionCreationSuspended),
			fmt.Sprintf("the service does not say it: %+v", s.Status.Conditions)
	})
	before := w.sent()
	if last := slices.MaxFunc(before, time.Time.Compare); last.Sub(acknowledged) > time.Second {
		t.Errorf("an e-mail was sent %s after the brake", last.Sub(acknowledged))
	}
	if len(before) >= 61 {
		t.Errorf("%d e-mails were sent", len(before))
	}
	w.waitPolls(3) // reads go on
	w.emails(len(before))
	w.limit(`"suspend":false`)
	w.ready("acme-59")
	w.eventually(func() (bool, string) {
		return len(w.sent()) >= 62 && w.requests(control.ResendInvites) == 1, "not all of it continues"
	})
	w.eventually(func() (bool, string) {
		return strings.Contains(w.kubectl("get", "events"), "CreationResumed"), "no event says that the brake was lifted"
	})
}
