package operator_test

import (
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/test/await"
	"github.com/mandate-io/idv/operator/ledger"
)

// slowAnswer delays a create long enough to kill the operator meanwhile, and less than the settle delay.
var slowAnswer = await.Stretch(2*time.Second, slowdown)

// The operator is killed at different steps of a create, and restarted: nobody is e-mailed twice.
func TestKilled(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		fault  *control.Fault
		// kill waits for the moment of the kill, settled for the final state of the Mandate.
		kill    func(*world)
		settled func(*world)
		emails  int
	}{
		"before the create": {
			reason:  "the read of references is delayed and ends with its connection",
			fault:   &control.Fault{Operation: control.References, Kind: control.Slow, DelayMillis: 1000},
			kill:    func(*world) {},
			settled: func(w *world) { w.ready("acme") },
			emails:  1,
		},
		"while the service executes the create": {
			reason:  "the service commits after the connection is lost: the application exists, and its id is lost",
			fault:   new(slowed(control.CreateApplication, slowAnswer)),
			kill:    func(w *world) { w.creating() },
			settled: func(w *world) { w.stalled("acme", v1alpha1.ReasonOutcomeUnknown) },
			emails:  1,
		},
		"while the create takes longer than the settle delay": {
			reason:  "the reference is sent again before the first create commits: the service rejects one of the two",
			fault:   new(slowed(control.CreateApplication, 10*settleDelay+slowAnswer)),
			kill:    func(w *world) { w.creating() },
			settled: func(w *world) { w.ready("acme") },
			emails:  1,
		},
		"after it was created": {
			kill: func(w *world) {
				w.eventually(func() (bool, string) { return w.requests(control.CreateApplication) == 1, "no create" })
			},
			settled: func(w *world) { w.until("acme", "settled", settled) },
			emails:  1,
		},
		"when it was Ready": {
			kill:    func(w *world) { w.ready("acme") },
			settled: func(w *world) { w.ready("acme") },
			emails:  1,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := running(t)
			if c.fault != nil {
				w.fault(*c.fault)
			}
			w.mandate("acme", "{}")
			c.kill(w)
			w.kill()
			w.start()
			c.settled(w)
			w.emails(c.emails)
			w.checkApplications(1)
			if t.Failed() {
				t.Log(c.reason)
			}
		})
	}
}

// settled reports whether a Mandate is Ready or Stalled.
func settled(m *v1alpha1.Mandate) bool {
	return meta.IsStatusConditionTrue(m.Status.Conditions, v1alpha1.ConditionReady) ||
		meta.IsStatusConditionTrue(m.Status.Conditions, v1alpha1.ConditionStalled)
}

// creating waits until the operator has claimed the record and sent the create.
func (w *world) creating() {
	w.Helper()
	w.eventually(func() (bool, string) {
		records := w.records()
		return len(records) == 1 && ledger.CreateOf(&records[0]).Sends > 0 &&
			w.requests(control.CreateApplication) == 1, "no create is in progress"
	})
}

func (w *world) records() []v1alpha1.ApplicationRecord {
	w.Helper()
	var records v1alpha1.ApplicationRecordList
	w.check(w.List(w.Context(), &records, client.InNamespace(w.namespace)))
	return records.Items
}

func TestAnswerLost(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.fault(control.Fault{Operation: control.CreateApplication, Kind: control.Close, AfterWork: true})
	w.mandate("acme", "{}")
	m := w.stalled("acme", v1alpha1.ReasonOutcomeUnknown)
	w.checkCondition("acme", v1alpha1.ConditionCreated, metav1.ConditionUnknown, v1alpha1.ReasonOutcomeUnknown)
	if m.Status.ApplicationID != nil {
		t.Errorf("the status has the id %d, which was lost", *m.Status.ApplicationID)
	}
	w.emails(1)
	w.events("acme", v1alpha1.ReasonOutcomeUnknown)

	// Neither a new reference, nor a restart, nor a new Mandate of the name sends another request.
	w.mandate("acme", "{reference: another}")
	w.stalled("acme", v1alpha1.ReasonApplicationExists)
	w.kill()
	w.start()
	w.kubectl("delete", "mandate", "acme")
	w.mandate("acme", "{}")
	w.stalled("acme", v1alpha1.ReasonOutcomeUnknown)
	w.emails(1)
	w.checkCreates(2) // the lost one, and the one that found its reference taken
}

func TestRequestLost(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]control.Fault{
		"connection closed before the create": {Kind: control.Close},
		"500 before the create":               {Kind: control.Answer, Status: 500},
		"429":                                 {Kind: control.Answer, Status: 429, RetryAfter: "1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := running(t)
			fault.Operation = control.CreateApplication
			w.fault(fault)
			w.mandate("acme", "{}")
			w.ready("acme")
			w.emails(1)
		})
	}
}

// The token was revoked, and the login fails with a 404: that proves nothing about the application, which is created as
// soon as the login works.
func TestLoginFailsWhileCreating(t *testing.T) {
	t.Parallel()
	w := running(t)
	_, err := w.sandbox.RevokeTokens(t.Context())
	w.check(err)
	w.fault(control.Fault{Operation: control.Token, Kind: control.Answer, Status: 404, Times: 2})
	w.mandate("acme", "{}")
	answered := func(m *v1alpha1.Mandate) bool {
		return slices.Contains([]string{v1alpha1.ReasonAccepted, v1alpha1.ReasonRefusedForNow}, readyReason(m))
	}
	for i := 0; readyReason(w.until("acme", "ready, or to be sent again", answered)) != v1alpha1.ReasonAccepted; i++ {
		w.request("mandate/acme", strconv.Itoa(i)) // it would be sent again after five minutes, too
	}
	w.ready("acme")
	w.emails(1)
}

func TestTokensRevoked(t *testing.T) {
	t.Parallel()
	w := running(t)
	_, err := w.sandbox.RevokeTokens(t.Context())
	w.check(err)
	w.mandate("acme", "{}")
	w.ready("acme")
	w.emails(1)
	w.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)
}

func TestAppliedAgain(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{}")
	first := w.ready("acme")
	w.kubectl("delete", "mandate", "acme")
	w.mandate("acme", "{}")
	second := w.ready("acme")
	if *first.Status.ApplicationID != *second.Status.ApplicationID || first.UID == second.UID {
		t.Errorf(
			"applied again, the Mandate has application %d, want %d",
			*second.Status.ApplicationID,
			*first.Status.ApplicationID,
		)
	}
	if !first.Status.CreatedTime.Equal(second.Status.CreatedTime) {
		t.Errorf("its age starts at %s, want %s", second.Status.CreatedTime, first.Status.CreatedTime)
	}
	w.emails(1)
	w.checkCreates(1)
}

func TestClone(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{reference: shared}")
	w.ready("acme")
	w.mandate("clone", "{reference: shared}")
	w.stalled("clone", v1alpha1.ReasonReferenceConflict)
	w.emails(1)
	w.checkCreates(2) // the service refused the second one
	w.mandate("clone", "{reference: own}")
	w.ready("clone")
}

func TestReferenceTakenAtTheService(t *testing.T) {
	t.Parallel()
	w := running(t)
	other := newWorld(t, sandbox.Options{})
	other.url, other.sandbox = w.url, w.sandbox
	other.connect()
	other.start()
	other.mandate("acme", "{reference: shared}")
	other.ready("acme")
	w.mandate("acme", "{reference: shared}")
	m := w.stalled("acme", v1alpha1.ReasonReferenceConflict)
	if m.Status.ApplicationID != nil {
		t.Errorf("another Mandate's application was bound: %d", *m.Status.ApplicationID)
	}
	w.mandate("acme", "{reference: own}")
	w.ready("acme")
	w.emails(2)
}

func TestRefused(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{mandateType: {id: 999999}}")
	w.condition("acme", v1alpha1.ConditionCreated, metav1.ConditionFalse, v1alpha1.ReasonRefused)
	w.stalled("acme", v1alpha1.ReasonRefused)
	w.kill()
	w.start()
	w.mandate("other", "{}")
	w.ready("other")
	w.checkCreates(2) // a refused application is not sent again
	w.mandate("acme", "{mandateType: {code: kyc}}")
	w.ready("acme")

	w.mandate("unknown", "{mandateType: {code: no-such-type}}")
	w.condition("unknown", v1alpha1.ConditionCreated, metav1.ConditionFalse, v1alpha1.ReasonCreating) // nothing was sent
	w.stalled("unknown", v1alpha1.ReasonMandateTypeNotFound)
}

func TestVanished(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{}")
	w.ready("acme")
	_, err := w.sandbox.Advance(t.Context(), 57*24*time.Hour)
	w.check(err)
	m := w.condition("acme", v1alpha1.ConditionCompleted, metav1.ConditionTrue, string(v1alpha1.OutcomeDeleted))
	if m.Status.Outcome != v1alpha1.OutcomeDeleted {
		t.Errorf("outcome %s, want Deleted: by the operator's clock it is too young to have expired", m.Status.Outcome)
	}
	w.kubectl("delete", "mandate", "acme")
	w.mandate("acme", "{}")
	w.condition("acme", v1alpha1.ConditionCompleted, metav1.ConditionTrue, string(v1alpha1.OutcomeDeleted))
	w.checkCreates(1) // a 404 never leads to a create
}

func TestReadLag(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.check(w.sandbox.SetDialect(t.Context(), "readLag", "3"))
	w.mandate("acme", "{}")
	m := w.ready("acme")
	if m.Status.Outcome != "" {
		t.Errorf("a read that lags behind the create was mistaken for a deletion: %s", m.Status.Outcome)
	}
	w.emails(1)
}

func TestCreateBefore(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{createBefore: 2020-01-01T00:00:00Z}")
	w.stalled("acme", v1alpha1.ReasonCreateDeadlinePassed)
	w.emails(0)
}

// After SIGTERM during a create, the operator exits within twenty seconds, and records the id.
func TestTerminatedWhileCreating(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.fault(slowed(control.CreateApplication, slowAnswer))
	w.mandate("acme", "{}")
	w.creating()
	await.Within(t, 20*time.Second, func() {
		w.check(syscall.Kill(w.operator.PID(), syscall.SIGTERM))
		await.Receive(t, w.operator.Exited(), "the operator does not exit")
	})
	if records := w.records(); len(records) != 1 || records[0].Spec.ApplicationID == nil {
		t.Fatalf("the id of the application was lost: %+v", records)
	}
	w.start()
	w.ready("acme")
	w.emails(1)
	w.checkCreates(1)
}
