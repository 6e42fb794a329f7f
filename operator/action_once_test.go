package operator_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/operator/ledger"
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
	want := []v1alpha1.RecordedIndividual{{Name: "jane", ID: w.get("acme").Status.Individuals[0].ID}}
	if got := w.onlyRecord().Spec.Individuals; !slices.Equal(got, want) {
		t.Errorf("after the first call, the record has the individuals %v, want %v", got, want)
	}
	w.action("once-more", resend)
	w.actionCompletes("once-more")
	w.checkEmailed(control.Resend, 2)
}

// An action is applied again after it ended, in whatever way. It ends as the log says of its name, and sends nothing.
func TestActionNameUsed(t *testing.T) {
	t.Parallel()
	answers := func(status int) control.Fault { return control.Fault{Kind: control.Answer, Status: status} }
	cases := map[string]struct {
		fault   control.Fault
		answer  string // the dialect of the answer, if it is not the usual one
		between func(*world)
		again   string // what is applied again
		failure string // the reason of Failed, "" if it completes as AlreadyDone
	}{
		"done":         {again: resend},
		"accepted":     {answer: "202", again: resend},
		"another type": {again: reset, failure: v1alpha1.ReasonNameUsed},
		"another one":  {again: "{type: ResendInvite, individual: john}", failure: v1alpha1.ReasonNameUsed},
		"the answer lost": {
			fault: control.Fault{Kind: control.Close, AfterWork: true}, again: resend, failure: v1alpha1.ReasonOutcomeUnknown,
		},
		"the request lost": {
			fault: control.Fault{Kind: control.ResetConnection}, again: resend, failure: v1alpha1.ReasonOutcomeUnknown,
		},
		"refused":           {fault: answers(405), again: resend, failure: v1alpha1.ReasonRefused},
		"forbidden":         {fault: answers(403), again: resend, failure: v1alpha1.ReasonForbidden},
		"refused, another":  {fault: answers(405), again: reset, failure: v1alpha1.ReasonNameUsed},
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
			w.check(w.sandbox.SetDialect(t.Context(), "resendResetAnswer", cmp.Or(c.answer, "message")))
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

// The log has only a digest of what was done before the last hundred calls. Its result is not known any more.
func TestActionLongAgo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ again, condition, reason string }{
		"the same":     {resend, v1alpha1.ConditionComplete, v1alpha1.ReasonAlreadyDone},
		"another type": {reset, v1alpha1.ConditionFailed, v1alpha1.ReasonNameUsed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, r, _ := newActionReconcilers(t)
			w.action("resend", resend)
			r.reconcile("resend")
			w.actionCompletes("resend")
			record := w.record("acme")
			w.fillLog(record)
			w.check(w.Update(t.Context(), record))
			w.action("next", resend)
			r.reconcile("next")
			w.actionCompletes("next")
			if record = w.record("acme"); len(record.Spec.Earlier) != 1 || w.callOf("resend") != nil {
				t.Fatalf("the log still has the call: %+v", record.Spec)
			}
			w.replaceAction("resend", c.again)
			w.actionSendsNothing(r, "resend", c.condition, c.reason, 2)
		})
	}
}

// callOf is what the log of the Mandate acme has of an action; nil if it has nothing.
func (w *world) callOf(action string) *v1alpha1.Call {
	w.Helper()
	return ledger.Find(w.record("acme"), func(c *v1alpha1.Call) bool { return c.Name == action })
}

// fillLog adds calls that are over, until the record has a hundred.
func (w *world) fillLog(record *v1alpha1.ApplicationRecord) {
	for i := len(record.Spec.Calls); i < 100; i++ {
		call := ledger.New(v1alpha1.CallResendInvite, time.Now())
		call.Seq, call.Name = int32(i)+1000, fmt.Sprint("action-", i)
		call.UID, call.Individual = "earlier", "jane"
		record.Spec.Calls = append(record.Spec.Calls, ledger.Ended(call, v1alpha1.CallDone, time.Now()))
	}
}

// A request that certainly did nothing does not use up the name for this action. For another one, it does.
func TestActionNameFreeAgain(t *testing.T) {
	t.Parallel()
	w, r, _ := newActionReconcilers(t)
	w.fault(control.Fault{Operation: control.ResendInvites, Kind: control.Answer, Status: 429})
	w.action("resend", resend)
	r.reconcile("resend")
	w.actionWaits("resend", v1alpha1.ReasonRetrying)
	before := w.callOf("resend")
	if before == nil || before.Result != v1alpha1.CallNotSent || before.Sends != 0 {
		t.Fatalf("the log has %+v", before)
	}
	w.check(w.sandbox.ClearFaults(t.Context()))
	w.replaceAction("resend", reset)
	w.actionSendsNothing(r, "resend", v1alpha1.ConditionFailed, v1alpha1.ReasonNameUsed, 1)
	w.replaceAction("resend", resend)
	r.reconcile("resend")
	action := w.actionCompletes("resend")
	w.checkEmailed(control.Resend, 1)
	after := w.callOf("resend")
	if after.Seq != before.Seq || after.Result != v1alpha1.CallDone || after.Sends != 1 || after.UID != action.UID ||
		after.Individual != "jane" || after.Generation == 0 || after.EndedTime == nil {
		t.Errorf("the log has %+v", after)
	}
}

// Something changes after the call is recorded, and right before the request: nothing is sent.
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
		"record restored": {
			change: func(w *world) {
				record := w.record("acme")
				w.check(w.Delete(w.Context(), record))
				record.Spec.Calls = record.Spec.Calls[:1]
				w.restoreRecord(record)
			},
			reason: v1alpha1.ReasonRetrying,
			repair: func(w *world) { w.sayComplete(w.record("acme")) },
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
			case c.reason != v1alpha1.ReasonRetrying: // which it is until it has looked again
				r.reconcile("resend")
				fallthrough
			default:
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
	for spec, before := range map[string]string{resend: recordPatch, report: "get ApplicationRecord"} {
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
	restored := w.restoreRecord(record)
	r.reconcile("resend")
	w.actionWaits("resend", v1alpha1.ReasonRecordRestored) // it may have been carried out since the backup
	w.checkResends(0)
	w.sayComplete(restored)
	r.reconcile("resend")
	w.actionCompletes("resend")
	w.checkResends(1)
}

// A report is downloaded again when its action is applied again, under whichever name: that e-mails nobody. What is
// there is never written over.
func TestReportReapplied(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{}")
	m := w.ready("acme")
	w.action("report", resend)
	w.actionCompletes("report")
	w.replaceAction("report", report)
	w.actionWaits("report", v1alpha1.ReasonReportNotReady)
	w.complete(m)
	first := w.actionCompletes("report")
	w.checkReport(first, "application/pdf", "%PDF-")
	finalizers := func(list string) {
		w.kubectl("patch", "secret", "jane-report", "--type=merge", `--patch={"metadata": {"finalizers": `+list+`}}`)
	}
	finalizers(`["example.com/kept"]`) // the garbage collector, which another test starts, does not delete it
	w.replaceAction("report", report)
	w.actionFails("report", v1alpha1.ReasonSecretExists)
	finalizers("null")
	w.kubectl("delete", "secret", "jane-report", "--ignore-not-found")
	w.replaceAction("report", report)
	w.checkReport(w.actionCompletes("report"), "application/pdf", "%PDF-")
	if call := w.callOf("report"); call == nil || call.Kind != v1alpha1.CallResendInvite {
		t.Errorf("the log has %+v", call)
	}
	w.checkEmailed(control.Resend, 1)
}

// A Mandate whose record can hold no other call says so, and sends nothing.
func TestLogFull(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{}")
	w.ready("acme")
	w.fillRecord()
	w.mandate("acme", "{archived: true}")
	w.stalled("acme", v1alpha1.ReasonLogFull)
	if n := w.requests(control.ArchiveApplication); n != 0 {
		t.Errorf("%d requests to archive", n)
	}
}

// fillRecord makes the record have as many calls as it can remember.
func (w *world) fillRecord() {
	w.Helper()
	record := w.onlyRecord()
	w.fillLog(record)
	for i := range 1000 {
		record.Spec.Earlier = append(record.Spec.Earlier, fmt.Sprintf("%032x", i))
	}
	w.check(w.Update(w.Context(), record))
}

// A Mandate has had as many calls as its record can remember.
func TestTooManyActions(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{}")
	w.ready("acme")
	w.fillRecord()
	w.action("resend", resend)
	w.actionFails("resend", v1alpha1.ReasonTooManyActions)
	w.checkEmailed(control.Resend, 0)
}
