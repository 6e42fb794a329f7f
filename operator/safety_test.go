package operator_test

import (
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// slow holds a create up for so long that the operator can be killed while it waits, and still less than the settle delay.
const slowAnswer = 2 * time.Second

// Killed with SIGKILL and started again, at different moments of a Mandate's life: nobody is e-mailed twice.
func TestKilled(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		fault  *control.Fault
		// kill says when; settled what becomes of the Mandate in the end.
		kill    func(*world)
		settled func(*world)
		emails  int
	}{
		"before the service was asked": {
			reason:  "the request is held up and dies with its connection; the sandbox commits nothing before it answers",
			fault:   &control.Fault{Operation: control.References, Kind: control.Slow, DelayMillis: 1000},
			kill:    func(*world) {},
			settled: func(w *world) { w.ready("acme") },
			emails:  1,
		},
		"while the service works on the create": {
			reason:  "the service commits although nobody waits: the application exists and its id is lost",
			fault:   &control.Fault{Operation: control.CreateApplication, Kind: control.Slow, DelayMillis: slowAnswer.Milliseconds()},
			kill:    func(w *world) { w.creating() },
			settled: func(w *world) { w.stalled("acme", v1alpha1.ReasonOutcomeUnknown) },
			emails:  1,
		},
		"while the service works for longer than the settle delay": {
			reason:  "the reference is sent again before the first create commits: the service itself refuses one of the two",
			fault:   &control.Fault{Operation: control.CreateApplication, Kind: control.Slow, DelayMillis: (2*settleDelay + slowAnswer).Milliseconds()},
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
			if applications, err := w.sandbox.Applications(t.Context()); err != nil || len(applications) != 1 {
				t.Errorf("%d applications, want 1 (%v)\n%s", len(applications), err, c.reason)
			}
		})
	}
}

// settled is Ready, or stalled because a person must act.
func settled(m *v1alpha1.Mandate) bool {
	return meta.IsStatusConditionTrue(m.Status.Conditions, v1alpha1.ConditionReady) || meta.IsStatusConditionTrue(m.Status.Conditions, v1alpha1.ConditionStalled)
}

// creating waits until the operator has claimed the record, so that its request is under way.
func (w *world) creating() {
	w.Helper()
	w.eventually(func() (bool, string) {
		records := w.records()
		return len(records) == 1 && records[0].Spec.Attempt.Sent && w.requests(control.CreateApplication) == 1, "no create is under way"
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
	w.condition("acme", v1alpha1.ConditionReconciling, metav1.ConditionTrue, v1alpha1.ReasonSettling)
	m := w.stalled("acme", v1alpha1.ReasonOutcomeUnknown)
	if c := meta.FindStatusCondition(m.Status.Conditions, v1alpha1.ConditionCreated); c.Status != metav1.ConditionUnknown || c.Reason != v1alpha1.ReasonOutcomeUnknown {
		t.Errorf("Created is %s with reason %s, want Unknown and OutcomeUnknown", c.Status, c.Reason)
	}
	if m.Status.ApplicationID != nil {
		t.Errorf("an id is shown that nobody knows: %d", *m.Status.ApplicationID)
	}
	w.emails(1)
	w.events("acme", v1alpha1.ReasonOutcomeUnknown)

	// Neither an edit, nor a new reference, nor a restart, nor a new Mandate of the name sends anything more.
	w.mandate("acme", "{reference: another}")
	w.stalled("acme", v1alpha1.ReasonOutcomeUnknown)
	w.kill()
	w.start()
	w.kubectl("delete", "mandate", "acme")
	w.mandate("acme", "{}")
	w.stalled("acme", v1alpha1.ReasonOutcomeUnknown)
	w.emails(1)
	if got := w.requests(control.CreateApplication); got != 2 {
		t.Errorf("%d create requests, want 2: the lost one and the one that found out", got)
	}
}

func TestRequestLost(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]control.Fault{
		"connection closed before anything was done": {Operation: control.CreateApplication, Kind: control.Close},
		"500 before anything was done":               {Operation: control.CreateApplication, Kind: control.Answer, Status: 500},
		"429":                                        {Operation: control.CreateApplication, Kind: control.Answer, Status: 429, RetryAfter: "1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := running(t)
			w.fault(fault)
			w.mandate("acme", "{}")
			w.ready("acme")
			w.emails(1)
		})
	}
}

// The token was revoked, and the login that is needed now meets something else than the service: that says nothing about
// the application, which is created as soon as the login works.
func TestLoginFailsWhileCreating(t *testing.T) {
	t.Parallel()
	w := running(t)
	_, err := w.sandbox.RevokeTokens(t.Context())
	w.check(err)
	w.fault(control.Fault{Operation: control.Token, Kind: control.Answer, Status: 404, Times: 2})
	w.mandate("acme", "{}")
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
		t.Errorf("a Mandate that was deleted and applied again has application %d, want %d", *second.Status.ApplicationID, *first.Status.ApplicationID)
	}
	if !first.Status.CreatedTime.Equal(second.Status.CreatedTime) {
		t.Errorf("its age starts at %s, want %s", second.Status.CreatedTime, first.Status.CreatedTime)
	}
	w.emails(1)
	if got := w.requests(control.CreateApplication); got != 1 {
		t.Errorf("%d create requests, want 1", got)
	}
}

func TestClone(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{reference: shared}")
	w.ready("acme")
	w.mandate("clone", "{reference: shared}")
	w.stalled("clone", v1alpha1.ReasonReferenceConflict)
	w.emails(1)
	if got := w.requests(control.CreateApplication); got != 1 {
		t.Errorf("%d create requests, want 1: the ledger knows without asking", got)
	}
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
		t.Errorf("somebody else's application was bound: %d", *m.Status.ApplicationID)
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
	if got := w.requests(control.CreateApplication); got != 2 {
		t.Errorf("%d create requests, want 2: a refused application is not sent again", got)
	}
	w.mandate("acme", "{mandateType: {code: kyc}}")
	w.ready("acme")

	w.mandate("unknown", "{mandateType: {code: no-such-type}}")
	w.condition("unknown", v1alpha1.ConditionCreated, metav1.ConditionFalse, v1alpha1.ReasonRefused)
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
	if got := w.requests(control.CreateApplication); got != 1 {
		t.Errorf("%d create requests, want 1: a 404 never leads to a create", got)
	}
}

func TestReadLag(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.check(w.sandbox.SetDialect(t.Context(), "readLag", "3"))
	w.mandate("acme", "{}")
	m := w.ready("acme")
	if m.Status.Outcome != "" {
		t.Errorf("a read that lags behind the create was taken for a deletion: %s", m.Status.Outcome)
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

// SIGTERM with a create under way: the process ends within twenty seconds, and the id is not lost.
func TestTerminatedWhileCreating(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.fault(control.Fault{Operation: control.CreateApplication, Kind: control.Slow, DelayMillis: slowAnswer.Milliseconds()})
	w.mandate("acme", "{}")
	w.creating()
	w.check(syscall.Kill(w.operator.PID(), syscall.SIGTERM))
	select {
	case <-w.operator.Exited():
	case <-time.After(20 * time.Second):
		t.Fatal("the operator did not end within twenty seconds")
	}
	if records := w.records(); len(records) != 1 || records[0].Spec.ApplicationID == nil {
		t.Fatalf("the id of the application was lost: %+v", records)
	}
	w.start()
	w.ready("acme")
	w.emails(1)
	if got := w.requests(control.CreateApplication); got != 1 {
		t.Errorf("%d create requests, want 1", got)
	}
}
