package operator_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/test/await"
	"github.com/mandate-io/idv/operator/ledger"
)

// newActionReconcilers sets up a Mandate acme with an application, and two operators for its actions.
func newActionReconcilers(t *testing.T) (w *world, first, second *manualActionReconciler) {
	t.Helper()
	w = connected(t)
	w.mandate("acme", "{}")
	r := w.newManualReconciler()
	r.reconcile("acme")
	w.emails(1)
	return w, r.newActionReconciler(), w.newManualReconciler().newActionReconciler()
}

// checkResends checks the number of requests to resend.
func (w *world) checkResends(want int64) {
	w.Helper()
	if got := w.requests(control.ResendInvites); got != want {
		w.Errorf("%d requests to resend, want %d", got, want)
	}
}

// An operator crashes before and after each of its writes. Another one continues from there.
func TestActionCrashes(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		why      string
		fault    control.Fault
		crash    func(*manualActionReconciler)
		unknown  bool // the action fails with OutcomeUnknown, and otherwise completes
		requests int64
	}{
		"before the call is recorded": {
			crash:    func(r *manualActionReconciler) { r.intercept(recordPatch, 1, crashBefore) },
			requests: 1,
		},
		"between the record and the request": {
			crash:    func(r *manualActionReconciler) { r.intercept(recordPatch, 1, crashAfter) },
			unknown:  true,
			requests: 0,
			why:      "nothing proves that the request was not sent",
		},
		"between the request and the result": {
			crash:    func(r *manualActionReconciler) { r.intercept(recordPatch, 2, crashBefore) },
			unknown:  true,
			requests: 1,
		},
		"between the result and the status": {
			crash:    func(r *manualActionReconciler) { r.intercept(recordPatch, 2, crashAfter) },
			requests: 1,
		},
		"before the status": {
			crash:    func(r *manualActionReconciler) { r.intercept(statusPatch, 1, crashBefore) },
			requests: 1,
		},
		"after the status": {
			crash:    func(r *manualActionReconciler) { r.intercept(statusPatch, 1, crashAfter) },
			requests: 1,
		},
		"before the rejection is recorded": {
			fault:    control.Fault{Operation: control.ResendInvites, Kind: control.Answer, Status: 429},
			crash:    func(r *manualActionReconciler) { r.intercept(recordPatch, 2, crashBefore) },
			unknown:  true,
			requests: 1,
			why:      "the proof that nothing was done is lost, and so nothing is sent again",
		},
		"after the rejection is recorded": {
			fault:    control.Fault{Operation: control.ResendInvites, Kind: control.Answer, Status: 429},
			crash:    func(r *manualActionReconciler) { r.intercept(recordPatch, 2, crashAfter) },
			requests: 2,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, first, second := newActionReconcilers(t)
			if c.fault.Kind != "" {
				w.fault(c.fault)
			}
			w.action("resend", resend)
			c.crash(first)
			first.reconcile("resend")
			second.takeOver("resend")
			w.eventually(func() (bool, string) { // the operator waits as long as the service asked for
				second.reconcile("resend")
				return w.getAction("resend").Status.CompletedTime != nil, "the action does not finish"
			})
			if c.unknown {
				w.actionFails("resend", v1alpha1.ReasonOutcomeUnknown)
			} else {
				w.actionCompletes("resend")
			}
			second.reconcile("resend")
			first.reconcile("resend")
			w.checkResends(c.requests)
			if t.Failed() {
				t.Log(c.why)
			}
		})
	}
}

// Two operators reconcile one action: one that has lost its lease without noticing, and its successor.
func TestTwoOperatorsOneAction(t *testing.T) {
	t.Parallel()
	t.Run("both begin it", func(t *testing.T) {
		t.Parallel()
		w, first, second := newActionReconcilers(t)
		w.action("resend", resend)
		first.intercept(recordPatch, 1, func(do func() error) error {
			second.reconcile("resend")
			return do()
		})
		first.reconcile("resend")
		w.actionCompletes("resend")
		w.checkResends(1)
	})
	t.Run("one has begun it", func(t *testing.T) {
		t.Parallel()
		w, first, second := newActionReconcilers(t)
		w.action("resend", resend)
		first.intercept(recordPatch, 2, func(do func() error) error {
			if result := second.reconcile("resend"); result.RequeueAfter <= 0 {
				t.Error("the second operator does not requeue")
			}
			return do()
		})
		first.reconcile("resend")
		w.actionCompletes("resend")
		w.checkResends(1)
	})
	t.Run("one takes longer than the settle delay", func(t *testing.T) {
		t.Parallel()
		w, first, second := newActionReconcilers(t)
		second.setSettleDelay(0)
		w.action("resend", resend)
		first.intercept(recordPatch, 2, func(do func() error) error {
			second.reconcile("resend")
			return do()
		})
		first.reconcile("resend")
		w.actionFails("resend", v1alpha1.ReasonOutcomeUnknown) // an end is final
		if call := w.callOf("resend"); call.Result != v1alpha1.CallDone {
			t.Errorf("the log has %+v, and the first operator knows that it is done", call)
		}
		w.checkResends(1)
	})
	t.Run("one is held up before its last look", func(t *testing.T) {
		t.Parallel()
		w, first, second := newActionReconcilers(t)
		second.setSettleDelay(0)
		w.action("resend", resend)
		second.intercept(statusPatch, 1, func(func() error) error { return errors.New("connection to the API server lost") })
		first.intercept(recordPatch, 1, func(do func() error) error {
			err := do()
			second.reconcile("resend")
			return err
		})
		first.reconcile("resend")
		w.checkResends(0)
	})
	t.Run("one has a stale cache", func(t *testing.T) {
		t.Parallel()
		w, first, second := newActionReconcilers(t)
		w.action("resend", resend)
		second.cached = w.getAction("resend")
		first.reconcile("resend")
		second.reconcile("resend")
		w.actionCompletes("resend")
		w.checkResends(1)
	})
}

// Requests to the API server fail while an action is carried out.
func TestActionWrites(t *testing.T) {
	t.Parallel()
	unavailable := errors.New("connection to the API server lost")
	cases := map[string]func(*world, *manualActionReconciler){
		"the answer to the call is lost": func(_ *world, r *manualActionReconciler) {
			r.intercept(recordPatch, 1, func(do func() error) error { return errors.Join(do(), unavailable) })
		},
		"the call is not recorded": func(_ *world, r *manualActionReconciler) {
			r.intercept(recordPatch, 1, func(func() error) error { return unavailable })
		},
		"the last look fails": func(_ *world, r *manualActionReconciler) {
			r.intercept("get IdentityService", 1, func(func() error) error { return unavailable })
		},
		"the answer to the result is lost": func(_ *world, r *manualActionReconciler) {
			r.intercept(recordPatch, 2, func(do func() error) error { return errors.Join(do(), unavailable) })
		},
		"the result is not recorded": func(_ *world, r *manualActionReconciler) {
			r.intercept(recordPatch, 2, func(func() error) error { return unavailable })
		},
		"the answer to the status is lost": func(_ *world, r *manualActionReconciler) {
			r.intercept(statusPatch, 1, func(do func() error) error { return errors.Join(do(), unavailable) })
		},
		"the status is not written": func(_ *world, r *manualActionReconciler) {
			r.intercept(statusPatch, 1, func(func() error) error { return unavailable })
		},
		"the action is edited during the request": func(w *world, r *manualActionReconciler) {
			r.intercept(recordPatch, 2, func(do func() error) error {
				w.action("resend", "{type: ResendInvite, ttlSecondsAfterFinished: 86400}")
				return do()
			})
		},
	}
	for name, disrupt := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, r, _ := newActionReconcilers(t)
			w.action("resend", resend)
			disrupt(w, r)
			w.untilAction("resend", "finished", func(a *v1alpha1.MandateAction) bool {
				r.reconcile("resend") // again if nothing could be sent, and while the result is not recorded
				return a.Status.CompletedTime != nil
			})
			w.actionCompletes("resend")
			w.checkEmailed(control.Resend, 1)
			w.checkResends(1)
		})
	}
}

// An action is edited before its request: nothing is sent, and the next reconciliation carries it out.
func TestActionEditedBeforeStart(t *testing.T) {
	t.Parallel()
	w, r, _ := newActionReconcilers(t)
	w.action("resend", resend)
	r.intercept(recordPatch, 1, func(do func() error) error {
		w.action("resend", "{type: ResendInvite, ttlSecondsAfterFinished: 86400}")
		return do()
	})
	r.reconcile("resend")
	w.checkResends(0)
	r.reconcile("resend")
	w.actionCompletes("resend")
	w.checkResends(1)
}

// An action is deleted before its request: nothing is sent.
func TestActionDeletedBeforeStart(t *testing.T) {
	t.Parallel()
	w, r, _ := newActionReconcilers(t)
	w.action("resend", resend)
	r.intercept(recordPatch, 1, func(do func() error) error {
		w.kubectl("delete", "mandateaction", "resend")
		return do()
	})
	r.reconcile("resend")
	w.checkResends(0)
}

// An action is deleted and applied again during its request: the new action does not get the result of the old one.
func TestActionReplacedDuringRequest(t *testing.T) {
	t.Parallel()
	w, r, _ := newActionReconcilers(t)
	w.action("resend", resend)
	r.intercept(recordPatch, 2, func(do func() error) error {
		w.kubectl("delete", "mandateaction", "resend")
		w.action("resend", resend)
		return do()
	})
	r.reconcile("resend")
	if action := w.getAction("resend"); len(action.Status.Conditions) > 0 {
		t.Errorf("the result of the old action was written into the new one: %+v", action.Status)
	}
	w.actionSendsNothing(r, "resend", v1alpha1.ConditionComplete, v1alpha1.ReasonAlreadyDone, 1)
}

// A shutdown waits for a request in progress, and starts no other.
func TestActionDrain(t *testing.T) {
	t.Parallel()
	w, r, _ := newActionReconcilers(t)
	w.action("resend", resend)
	drained := make(chan struct{})
	r.intercept(recordPatch, 2, func(do func() error) error {
		go func() {
			r.Drain(t.Context())
			close(drained)
		}()
		err := do()
		select {
		case <-drained:
			t.Error("the shutdown does not wait for the request")
		default:
		}
		return err
	})
	r.reconcile("resend")
	await.Receive(t, drained, "the shutdown does not finish")
	w.actionCompletes("resend")
	w.action("late", resend)
	r.reconcile("late")
	if call := w.callOf("late"); call != nil {
		t.Errorf("a call began during a shutdown: %+v", call)
	}
	w.checkResends(1)
}

// An action costs three writes, for the call, its result and the status, reads of the record and the live Mandate, one
// last look at the Mandate, the action, the record and the service, and one read of the application before the request.
// Reconciling a finished action costs nothing.
func TestActionCost(t *testing.T) {
	t.Parallel()
	w, r, _ := newActionReconcilers(t)
	w.action("resend", resend)
	var mu sync.Mutex // of the last look, four requests are under way at a time
	made := map[string]int{}
	r.interceptor = func(request string, do func() error) error {
		mu.Lock()
		made[request]++
		mu.Unlock()
		return do()
	}
	reads := w.requests(control.RetrieveApplication)
	for range 3 {
		r.reconcile("resend")
	}
	w.actionCompletes("resend")
	want := map[string]int{
		statusPatch: 1, recordPatch: 2, "get ApplicationRecord": 1, "get Mandate": 1, "get PartialObjectMetadata": 3,
		"get IdentityService": 1,
	}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Errorf("requests to the API server (-want +got):\n%s", diff)
	}
	if got := w.requests(control.RetrieveApplication) - reads; got != 1 {
		t.Errorf("%d reads of the application, want 1", got)
	}
	w.checkResends(1)
}

// A call that the Mandate orders may be under way. An action waits for its end, and does not end it.
func TestActionWaitsForACall(t *testing.T) {
	t.Parallel()
	for kind, ends := range map[v1alpha1.CallKind]bool{v1alpha1.CallComplete: false, v1alpha1.CallResetIndividual: true} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			w, r, _ := newActionReconcilers(t)
			call := ledger.New(kind, time.Now())
			call.Individual = "john"
			call.Name = map[bool]string{true: "gone"}[ends] // an action that does not exist any more
			direct := ledger.Ledger{Reader: w.Client, Writer: w.Client}
			record, err := direct.Begin(t.Context(), w.record("acme"), call, nil)
			w.check(err)
			w.action("resend", resend)
			if result := r.reconcile("resend"); result.RequeueAfter <= 0 || result.RequeueAfter > 10*time.Second {
				t.Errorf("the action is requeued after %s", result.RequeueAfter)
			}
			w.checkResends(0)
			r.takeOver("resend")
			open := ledger.Find(w.record("acme"), func(c *v1alpha1.Call) bool { return c.Nonce == call.Nonce })
			if !ends {
				if open.Result != "" {
					t.Errorf("the call is %s, and the controller of the Mandate finds out what it is", open.Result)
				}
				w.checkResends(0)
				_, err = direct.End(t.Context(), record, ledger.Ended(*open, v1alpha1.CallDone, time.Now()))
				w.check(err)
			} else if open.Result != v1alpha1.CallUnknown {
				t.Errorf("the call of nobody is %q", open.Result)
			}
			r.reconcile("resend")
			w.actionCompletes("resend")
			w.checkResends(1)
		})
	}
}

// The IdentityService points to another service, whose ids belong to other applications.
func TestActionAtAnotherService(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		spec   string // of a Mandate at the other service
		reason string
	}{
		"with another application of the id": {spec: "{reference: other}", reason: v1alpha1.ReasonReferenceConflict},
		"with other individuals":             {spec: "{reference: shared}", reason: v1alpha1.ReasonIndividualNotFound},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, other := connected(t), newWorld(t, sandbox.Options{})
			other.connect()
			other.mandate("acme", c.spec)
			other.newManualReconciler().reconcile("acme")
			id := *other.get("acme").Status.ApplicationID

			w.mandate("acme", "{reference: shared}")
			w.patchService("{baseURL: \"" + other.url + "\"}")
			m := w.get("acme")
			bound := m.DeepCopy()
			bound.Status.ApplicationID, bound.Status.Reference = &id, "shared"
			bound.Status.Individuals = []v1alpha1.IndividualStatus{{Name: "jane", ID: 1}}
			w.check(w.Status().Patch(t.Context(), bound, client.MergeFrom(m)))
			w.action("resend", resend)
			w.newManualReconciler().newActionReconciler().reconcile("resend")
			w.actionFails("resend", c.reason)
			other.emails(1)
		})
	}
}

// A Mandate is suspended before the action is created, and the cache of Mandates is stale.
func TestActionReadsTheLiveMandate(t *testing.T) {
	t.Parallel()
	w, r, _ := newActionReconcilers(t)
	w.action("resend", resend)
	first := true
	r.interceptor = func(request string, do func() error) error {
		if request == "get Mandate" && first {
			first = false
			w.mandate("acme", "{suspend: true}")
		}
		return do()
	}
	r.reconcile("resend")
	w.actionWaits("resend", v1alpha1.ReasonSuspended)
	w.checkResends(0)
	suspended := w.get("acme")
	w.check(w.Patch(t.Context(), suspended, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"suspend":false}}`))))
	r.reconcile("resend")
	w.actionCompletes("resend")
}
