package operator_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// ordering is a world whose Mandate acme has an application, with two operators for orders.
func newActionReconcilers(t *testing.T) (w *world, first, second *manualActionReconciler) {
	t.Helper()
	w = connected(t)
	w.mandate("acme", "{}")
	r := w.newManualReconciler()
	r.reconcile("acme")
	w.emails(1)
	return w, r.newActionReconciler(), w.newManualReconciler().newActionReconciler()
}

// resends checks how many requests to resend were made.
func (w *world) checkResends(want int64) {
	w.Helper()
	if got := w.requests(control.ResendInvites); got != want {
		w.Errorf("%d requests to resend, want %d", got, want)
	}
}

// An operator ends at each moment at which it writes. Another one finds what it left.
func TestOrderCrashes(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		why      string
		fault    control.Fault
		crash    func(*manualActionReconciler)
		unknown  bool // the order ends as OutcomeUnknown, and otherwise completes
		requests int64
	}{
		"before the start is written": {
			crash: func(r *manualActionReconciler) {
				r.intercept(statusPatch, 1, func(func() error) error { crash(); return nil })
			},
			requests: 1,
		},
		"between the start and the call": {
			crash: func(r *manualActionReconciler) {
				r.intercept(statusPatch, 1, func(do func() error) error { _ = do(); crash(); return nil })
			},
			unknown:  true,
			requests: 0,
			why:      "nobody can know that it did not come to the call",
		},
		"between the call and the end": {
			crash: func(r *manualActionReconciler) {
				r.intercept(statusPatch, 2, func(func() error) error { crash(); return nil })
			},
			unknown:  true,
			requests: 1,
		},
		"after the end": {
			crash: func(r *manualActionReconciler) {
				r.intercept(statusPatch, 2, func(do func() error) error { _ = do(); crash(); return nil })
			},
			requests: 1,
		},
		"before it is written that nothing was done": {
			fault: control.Fault{Operation: control.ResendInvites, Kind: control.Answer, Status: 429},
			crash: func(r *manualActionReconciler) {
				r.intercept(statusPatch, 2, func(func() error) error { crash(); return nil })
			},
			unknown:  true,
			requests: 1,
			why:      "the proof is lost, and so nothing is sent again",
		},
		"after it is written that nothing was done": {
			fault: control.Fault{Operation: control.ResendInvites, Kind: control.Answer, Status: 429},
			crash: func(r *manualActionReconciler) {
				r.intercept(statusPatch, 2, func(do func() error) error { _ = do(); crash(); return nil })
			},
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
			second.SettleDelay = 0
			w.eventually(func() (bool, string) { // a service that asked to wait is not asked before
				second.reconcile("resend")
				return w.getAction("resend").Status.CompletedTime != nil, "the order does not end"
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

// Two operators work on one order: one that has lost its lease without noticing, and its successor.
func TestTwoOperatorsOneOrder(t *testing.T) {
	t.Parallel()
	t.Run("both want to start", func(t *testing.T) {
		t.Parallel()
		w, first, second := newActionReconcilers(t)
		w.action("resend", resend)
		first.intercept(statusPatch, 1, func(do func() error) error { second.reconcile("resend"); return do() })
		first.reconcile("resend")
		w.actionCompletes("resend")
		w.checkResends(1)
	})
	t.Run("one is at it", func(t *testing.T) {
		t.Parallel()
		w, first, second := newActionReconcilers(t)
		w.action("resend", resend)
		first.intercept(statusPatch, 2, func(do func() error) error {
			if result := second.reconcile("resend"); result.RequeueAfter <= 0 {
				t.Error("the second operator does not look again")
			}
			return do()
		})
		first.reconcile("resend")
		w.actionCompletes("resend")
		w.checkResends(1)
	})
	t.Run("one is at it for too long", func(t *testing.T) {
		t.Parallel()
		w, first, second := newActionReconcilers(t)
		second.SettleDelay = 0
		w.action("resend", resend)
		first.intercept(statusPatch, 2, func(do func() error) error { second.reconcile("resend"); return do() })
		first.reconcile("resend")
		w.actionFails("resend", v1alpha1.ReasonOutcomeUnknown) // an end stays
		w.checkResends(1)
	})
	t.Run("one has an old cache", func(t *testing.T) {
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

// Things go wrong between the operator and the API server while an order is carried out.
func TestOrderWrites(t *testing.T) {
	t.Parallel()
	unavailable := errors.New("the connection to the API server broke")
	cases := map[string]func(*world, *manualActionReconciler){
		"the answer to the start is lost": func(_ *world, r *manualActionReconciler) {
			r.intercept(statusPatch, 1, func(do func() error) error { return errors.Join(do(), unavailable) })
		},
		"the start has to be written again": func(_ *world, r *manualActionReconciler) {
			r.intercept(statusPatch, 1, func(func() error) error { return unavailable })
		},
		"the answer to the end is lost": func(_ *world, r *manualActionReconciler) {
			r.intercept(statusPatch, 2, func(do func() error) error { return errors.Join(do(), unavailable) })
		},
		"the end has to be written again": func(_ *world, r *manualActionReconciler) {
			r.intercept(statusPatch, 2, func(func() error) error { return unavailable })
		},
		"the order is edited meanwhile": func(w *world, r *manualActionReconciler) {
			r.intercept(statusPatch, 2, func(do func() error) error {
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
			r.reconcile("resend")
			w.actionCompletes("resend")
			w.checkEmailed(control.Resend, 1)
			w.checkResends(1)
		})
	}
	t.Run("the order is edited before the start", func(t *testing.T) {
		t.Parallel()
		w, r, _ := newActionReconcilers(t)
		w.action("resend", resend)
		r.intercept(statusPatch, 1, func(do func() error) error {
			w.action("resend", "{type: ResendInvite, ttlSecondsAfterFinished: 86400}")
			return do()
		})
		r.reconcile("resend")
		w.checkResends(0)
		r.reconcile("resend")
		w.actionCompletes("resend")
		w.checkResends(1)
	})
	t.Run("the order is deleted before the start", func(t *testing.T) {
		t.Parallel()
		w, r, _ := newActionReconcilers(t)
		w.action("resend", resend)
		r.intercept(statusPatch, 1, func(do func() error) error { w.kubectl("delete", "mandateaction", "resend"); return do() })
		r.reconcile("resend")
		w.checkResends(0)
	})
	t.Run("the order is deleted and applied again during the call", func(t *testing.T) {
		t.Parallel()
		w, r, _ := newActionReconcilers(t)
		w.action("resend", resend)
		r.intercept(statusPatch, 2, func(do func() error) error {
			w.kubectl("delete", "mandateaction", "resend")
			w.action("resend", resend)
			return do()
		})
		r.reconcile("resend")
		if order := w.getAction("resend"); len(order.Status.Conditions) > 0 {
			t.Errorf("what became of the old order was written into the new one: %+v", order.Status)
		}
		w.checkResends(1)
	})
	t.Run("a shutdown waits", func(t *testing.T) {
		t.Parallel()
		w, r, _ := newActionReconcilers(t)
		w.action("resend", resend)
		drained := make(chan struct{})
		r.intercept(statusPatch, 2, func(do func() error) error {
			go func() { r.Drain(t.Context()); close(drained) }()
			err := do()
			select {
			case <-drained:
				t.Error("the shutdown did not wait for the end of the call")
			default:
			}
			return err
		})
		r.reconcile("resend")
		select {
		case <-drained:
		case <-time.After(timeout / 2):
			t.Fatal("the shutdown does not end")
		}
		w.actionCompletes("resend")
		w.action("late", resend)
		r.reconcile("late")
		if order := w.getAction("late"); order.Status.StartedTime != nil {
			t.Errorf("an order began during a shutdown: %+v", order.Status)
		}
		w.checkResends(1)
	})
}

// An order costs two writes, the start and the end, one look at the live Mandate, and one read of the application before its
// call. A pass over one that has ended costs nothing.
func TestOrderCost(t *testing.T) {
	t.Parallel()
	w, r, _ := newActionReconcilers(t)
	w.action("resend", resend)
	made := map[string]int{}
	r.interceptor = func(request string, do func() error) error { made[request]++; return do() }
	reads := w.requests(control.RetrieveApplication)
	for range 3 {
		r.reconcile("resend")
	}
	w.actionCompletes("resend")
	if diff := cmp.Diff(map[string]int{statusPatch: 2, "get Mandate": 1}, made); diff != "" {
		t.Errorf("requests to the API server (-want +got):\n%s", diff)
	}
	if got := w.requests(control.RetrieveApplication) - reads; got != 1 {
		t.Errorf("%d reads of the application, want 1", got)
	}
	w.checkResends(1)
}

// The IdentityService was pointed to another service, where the ids are other people's.
func TestOrderAtAnotherService(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		there  string // spec of a Mandate at the other service
		reason string
	}{
		"with another application of the id": {there: "{reference: other}", reason: v1alpha1.ReasonReferenceConflict},
		"with other individuals":             {there: "{reference: shared}", reason: v1alpha1.ReasonIndividualNotFound},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, other := connected(t), newWorld(t, sandbox.Options{})
			other.connect()
			other.mandate("acme", c.there)
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

// A Mandate is suspended before the order is created, and the cache of Mandates does not know it yet.
func TestOrderReadsTheLiveMandate(t *testing.T) {
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
