package mandate

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/connection"
)

// Another application proves that the account is the right one if it was there when the missing one was last seen.
func TestAnotherApplicationIsRead(t *testing.T) {
	t.Parallel()
	service := connection.Key{Name: "default"}
	const here, another connection.Account = "here", "another"
	for name, c := range map[string]struct {
		service connection.Key
		by      connection.Account
		created time.Time
		proves  bool
	}{
		"older":                     {service, here, now.Add(-2 * time.Hour), true},
		"younger":                   {service, here, now, false},
		"by another account":        {service, another, now.Add(-2 * time.Hour), false},
		"by way of another service": {connection.Key{Name: "other"}, here, now.Add(-2 * time.Hour), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var missing missingApplications
			acme := types.NamespacedName{Name: "acme"}
			entry := missingApplication{service: service, account: here, lastKnown: now.Add(-time.Hour)}
			if missing.add(acme, entry) {
				t.Error("it is believed at once")
			}
			missing.read(c.service, c.by, c.created)
			if got := missing.add(acme, entry); got != c.proves {
				t.Errorf("that proves it: %t, want %t", got, c.proves)
			}
			missing.remove(acme)
			if missing.add(acme, entry) {
				t.Error("the proof outlives the read of the application itself")
			}
		})
	}
}

// For eight weeks, a Deleted application is looked for. What is so old that it has expired is not Deleted.
func TestDeletedForEightWeeks(t *testing.T) {
	t.Parallel()
	w := newWorld("acme")
	o := started(w)
	reconcile := func() (outcome, *v1alpha1.Mandate) {
		last := outcome{}
		gets := 0
		for !last.ended {
			last = take(w, o, "acme", faultNone)
			w, o = last.world, last.operator
			gets += last.gets
		}
		o.seeMandates(w)
		last.gets = gets
		return last, w.mandates["acme"]
	}
	reconcile()
	w.changeSite(firstURL, func(s *site) { s.applications[len(s.applications)-1].gone = true })
	looks, total := 0, time.Duration(0)
	for range 500 {
		made, m := reconcile()
		looks += made.gets
		if total > time.Minute && m.Status.Outcome != v1alpha1.OutcomeDeleted {
			t.Fatalf("after %s, the outcome is %q", total, m.Status.Outcome)
		}
		if made.after == 0 {
			break
		}
		total += made.after
		w, o = w.aged(made.after), o.aged(made.after)
	}
	if total < retention-2*day || total > retention || looks < 54 || looks > 110 {
		t.Errorf("it was looked for %d times within %s", looks, total)
	}
}
