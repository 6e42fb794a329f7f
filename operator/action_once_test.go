package operator_test

import (
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// actionGone waits until an action does not exist any more.
func (w *world) actionGone(name string) {
	w.Helper()
	w.eventually(func() (bool, string) {
		err := w.Get(w.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, &v1alpha1.MandateAction{})
		return apierrors.IsNotFound(err), fmt.Sprintf("the action %s still exists: %v", name, err)
	})
}

// record is the ApplicationRecord of a Mandate.
func (w *world) record(mandate string) *v1alpha1.ApplicationRecord {
	w.Helper()
	record := &v1alpha1.ApplicationRecord{}
	w.check(w.Get(w.Context(), client.ObjectKey{Namespace: w.namespace, Name: mandate}, record))
	return record
}

// replaceAction deletes an action, and applies another one of its name.
func (w *world) replaceAction(name, spec string) {
	w.Helper()
	w.kubectl("delete", "mandateaction", name)
	w.action(name, spec)
}

func (w *world) replaceMandate() {
	w.Helper()
	w.kubectl("delete", "mandate", "acme")
	w.mandate("acme", "{}")
}

// actionSendsNothing checks that an action ends, and that no request was sent for it.
func (w *world) actionSendsNothing(r *manualActionReconciler, name, conditionType, reason string, requests int64) {
	w.Helper()
	r.reconcile(name)
	r.reconcile(name)
	if action := w.actionFinishes(name, conditionType, reason); action.Status.StartedTime != nil {
		w.Errorf("the action %s has started: %+v", name, action.Status)
	}
	w.checkResends(requests)
}

// A GitOps tool applies an action again each time that its time to live has deleted it. Only the first one e-mails.
func TestActionReapplied(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{}")
	for range 4 {
		w.action("resend", "{type: ResendInvite, ttlSecondsAfterFinished: 1}")
		w.actionGone("resend")
	}
	w.action("resend", resend)
	again := w.actionFinishes("resend", v1alpha1.ConditionComplete, v1alpha1.ReasonAlreadyDone)
	if again.Status.StartedTime != nil {
		t.Errorf("an action that was done before has started: %+v", again.Status)
	}
	w.checkEmailed(control.Resend, 1)
	w.action("once-more", resend)
	w.actionCompletes("once-more")
	w.checkEmailed(control.Resend, 2)
}

// An action is applied again after it ended, in whatever way.
func TestActionNameUsed(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		fault   control.Fault
		between func(*world)
		again   string // what is applied again
		failure string // the reason of Failed, "" if it completes as AlreadyDone
	}{
		"done":              {again: resend},
		"another type":      {again: reset, failure: v1alpha1.ReasonNameUsed},
		"another one":       {again: "{type: ResendInvite, individual: john}", failure: v1alpha1.ReasonNameUsed},
		"a report":          {again: report, failure: v1alpha1.ReasonNameUsed},
		"the answer lost":   {fault: control.Fault{Kind: control.Close, AfterWork: true}, again: resend},
		"the request lost":  {fault: control.Fault{Kind: control.ResetConnection}, again: resend},
		"refused":           {fault: control.Fault{Kind: control.Answer, Status: 405}, again: resend},
		"Mandate replaced":  {between: (*world).replaceMandate, again: resend},
		"Mandate suspended": {between: func(w *world) { w.mandate("acme", "{suspend: true}") }, again: resend},
		"Mandate deleted":   {between: func(w *world) { w.kubectl("delete", "mandate", "acme") }, again: resend},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, r, _ := newActionReconcilers(t)
			if c.fault.Kind != "" {
				c.fault.Operation = control.ResendInvites
				w.fault(c.fault)
			}
			w.action("resend", resend)
			r.reconcile("resend")
			w.untilAction("resend", "finished", func(a *v1alpha1.MandateAction) bool { return a.Status.CompletedTime != nil })
			if c.between != nil {
				c.between(w)
			}
			w.replaceAction("resend", c.again)
			condition, reason := v1alpha1.ConditionComplete, v1alpha1.ReasonAlreadyDone
			if c.failure != "" {
				condition, reason = v1alpha1.ConditionFailed, c.failure
			}
			w.actionSendsNothing(r, "resend", condition, reason, 1)
		})
	}
}

// A request that certainly did nothing does not use up the name.
func TestActionNameFreeAgain(t *testing.T) {
	t.Parallel()
	w, r, _ := newActionReconcilers(t)
	w.fault(control.Fault{Operation: control.ResendInvites, Kind: control.Answer, Status: 429})
	w.action("resend", resend)
	r.reconcile("resend")
	w.actionWaits("resend", v1alpha1.ReasonRetrying)
	if record := w.record("acme"); len(record.Spec.Actions) != 0 {
		t.Errorf("the ledger has %+v", record.Spec.Actions)
	}
	w.check(w.sandbox.ClearFaults(t.Context()))
	w.replaceAction("resend", reset) // another order
	r.reconcile("resend")
	w.actionCompletes("resend")
	w.checkEmailed(control.Reset, 1)
	recorded := w.record("acme").Spec.Actions
	if len(recorded) != 1 || recorded[0].Name != "resend" || recorded[0].Type != v1alpha1.MandateActionResetIndividual ||
		recorded[0].Individual != "jane" || recorded[0].StartedTime.IsZero() {
		t.Errorf("the ledger has %+v", recorded)
	}
}

// Something changes after the start is recorded, and right before the request: nothing is sent.
func TestActionLooksOnceMore(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		change func(*world)
		reason string // why the action waits then; "" if it is gone
		repair func(*world)
		failed bool
	}{
		"suspended": {
			change: func(w *world) { w.mandate("acme", "{suspend: true}") },
			reason: v1alpha1.ReasonSuspended,
			repair: func(w *world) { w.mandate("acme", "{suspend: false}") },
		},
		"Mandate deleted": {
			change: func(w *world) { w.kubectl("delete", "mandate", "acme") },
			reason: v1alpha1.ReasonMandateGone, failed: true,
		},
		"Mandate replaced": {
			change: (*world).replaceMandate,
			reason: v1alpha1.ReasonMandateNotReady,
			repair: func(w *world) { w.newManualReconciler().reconcile("acme") },
		},
		"deleted":  {change: func(w *world) { w.kubectl("delete", "mandateaction", "resend") }},
		"replaced": {change: func(w *world) { w.replaceAction("resend", resend) }},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, r, _ := newActionReconcilers(t)
			w.action("resend", resend)
			r.intercept(recordPatch, 1, func(do func() error) error {
				err := do()
				c.change(w)
				return err
			})
			r.reconcile("resend")
			w.checkResends(0)
			r.interceptor = func(_ string, do func() error) error { return do() }
			switch {
			case c.reason == "":
				w.action("resend", resend) // if it is gone
			case c.failed:
				r.reconcile("resend")
				w.actionFails("resend", c.reason)
				return
			default:
				r.reconcile("resend")
				w.actionWaits("resend", c.reason)
				w.checkResends(0)
				c.repair(w)
			}
			r.reconcile("resend")
			w.actionCompletes("resend")
			w.checkResends(1)
		})
	}
}

// The IdentityService is pointed to another service right before the request, and the connection is still the old one.
func TestActionLooksOnceMoreAtTheService(t *testing.T) {
	t.Parallel()
	// before is the request to the API server that comes before the last look.
	for spec, before := range map[string]string{resend: recordPatch, report: statusPatch} {
		t.Run(before, func(t *testing.T) {
			t.Parallel()
			w, r, _ := newActionReconcilers(t)
			w.action("acts", spec)
			r.intercept(before, 1, func(do func() error) error {
				err := do()
				w.patchService("{baseURL: 'https://other.example.com'}")
				return err
			})
			r.reconcile("acts")
			r.reconcile("acts")
			if action := w.getAction("acts"); action.Status.CompletedTime != nil {
				t.Errorf("the action has ended: %+v", action.Status)
			}
			w.checkResends(0)
			if got := w.requests(control.IndividualReport); got != 0 {
				t.Errorf("%d reports were downloaded", got)
			}
		})
	}
}

// Without the record, nobody knows what was done before.
func TestActionWithoutRecord(t *testing.T) {
	t.Parallel()
	w, r, _ := newActionReconcilers(t)
	record := w.record("acme")
	w.check(w.Delete(t.Context(), record))
	w.action("resend", resend)
	r.reconcile("resend")
	w.actionWaits("resend", v1alpha1.ReasonRecordNotFound)
	w.checkResends(0)
	record.ResourceVersion, record.UID = "", ""
	w.check(w.Create(t.Context(), record))
	r.reconcile("resend")
	w.actionCompletes("resend")
	w.checkResends(1)
}

// A report is stored once per name. One that could not be had yet does not use up its name.
func TestReportReapplied(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{}")
	m := w.ready("acme")
	w.action("report", report)
	w.actionWaits("report", v1alpha1.ReasonReportNotReady)
	w.replaceAction("report", report)
	w.actionWaits("report", v1alpha1.ReasonReportNotReady)
	w.complete(m)
	w.checkReport(w.actionCompletes("report"), "application/pdf", "%PDF-")
	requests := w.requests(control.IndividualReport)
	w.kubectl("delete", "secret", "jane-report") // as the garbage collector does, which does not run here
	w.replaceAction("report", report)
	w.actionFinishes("report", v1alpha1.ConditionComplete, v1alpha1.ReasonAlreadyDone)
	w.checkNoSecret("jane-report")
	if got := w.requests(control.IndividualReport); got != requests {
		t.Errorf("the report was downloaded %d times more", got-requests)
	}
}

// A Mandate has had as many actions as its record can remember.
func TestTooManyActions(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{}")
	w.ready("acme")
	record := w.onlyRecord()
	for i := range 100 {
		record.Spec.Actions = append(record.Spec.Actions, v1alpha1.RecordedAction{
			Name: fmt.Sprint("action-", i), Type: v1alpha1.MandateActionResendInvite, Individual: "jane",
			UID: "earlier", StartedTime: metav1.Now(),
		})
	}
	for i := range 1000 {
		record.Spec.EarlierActions = append(record.Spec.EarlierActions, fmt.Sprintf("%032x", i))
	}
	w.check(w.Update(t.Context(), record))
	w.action("resend", resend)
	w.actionFails("resend", v1alpha1.ReasonTooManyActions)
	w.checkEmailed(control.Resend, 0)
}
