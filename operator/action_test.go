package operator_test

import (
	"cmp"
	"fmt"
	"maps"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/test/await"
)

// action applies a MandateAction for jane of the Mandate acme, with further fields of its spec.
func (w *world) action(name, spec string) {
	w.Helper()
	manifest := w.parse(`{kind: MandateAction, spec: {mandateRef: {name: acme}, individual: jane}}`)
	manifest.SetName(name)
	extra := w.parse("{spec: " + spec + "}")
	maps.Copy(manifest.Object["spec"].(map[string]any), extra.Object["spec"].(map[string]any))
	data, err := yaml.Marshal(manifest.Object)
	w.check(err)
	w.apply(string(data))
}

const (
	resend = "{type: ResendInvite}"
	reset  = "{type: ResetIndividual}"
	report = "{type: DownloadReport, reportSecretRef: {name: jane-report}}"
)

func (w *world) getAction(name string) *v1alpha1.MandateAction {
	w.Helper()
	action := &v1alpha1.MandateAction{}
	w.check(w.Get(w.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, action))
	return action
}

// untilAction waits until done.
func (w *world) untilAction(name, what string, done func(*v1alpha1.MandateAction) bool) *v1alpha1.MandateAction {
	w.Helper()
	var action *v1alpha1.MandateAction
	w.eventually(func() (bool, string) {
		action = w.getAction(name)
		status, _ := yaml.Marshal(action.Status)
		return done(action), fmt.Sprintf("the action %s is not %s:\n%s", name, what, status)
	})
	return action
}

// actionWaits waits until an action reports that it is waiting, with a reason.
func (w *world) actionWaits(name, reason string) {
	w.Helper()
	w.untilAction(name, "waiting with reason "+reason, func(o *v1alpha1.MandateAction) bool {
		c := meta.FindStatusCondition(o.Status.Conditions, v1alpha1.ConditionReconciling)
		return c != nil && c.Status == metav1.ConditionTrue && c.Reason == reason && o.Status.CompletedTime == nil
	})
}

// actionFinishes waits until an action has finished, and checks its result.
func (w *world) actionFinishes(name, conditionType, reason string) *v1alpha1.MandateAction {
	w.Helper()
	action := w.untilAction(name, "finished", func(a *v1alpha1.MandateAction) bool {
		return a.Status.CompletedTime != nil
	})
	w.checkFinished(action, conditionType, reason)
	return action
}

func (w *world) checkFinished(action *v1alpha1.MandateAction, conditionType, reason string) {
	w.Helper()
	conditions := action.Status.Conditions
	c := meta.FindStatusCondition(conditions, conditionType)
	if c == nil || c.Status != metav1.ConditionTrue || c.Reason != reason || c.ObservedGeneration != action.Generation {
		w.Errorf(
			"the action %s has the conditions %+v, want %s with reason %s",
			action.Name,
			conditions,
			conditionType,
			reason,
		)
	}
	complete := meta.IsStatusConditionTrue(conditions, v1alpha1.ConditionComplete)
	if complete == meta.IsStatusConditionTrue(conditions, v1alpha1.ConditionFailed) {
		w.Errorf("the action %s has not exactly one of Complete and Failed: %+v", action.Name, conditions)
	}
	if action.Status.CompletedTime == nil || action.Status.ObservedGeneration != action.Generation {
		w.Errorf("the status of the finished action %s is %+v", action.Name, action.Status)
	}
}

func (w *world) actionCompletes(name string) *v1alpha1.MandateAction {
	w.Helper()
	return w.actionFinishes(name, v1alpha1.ConditionComplete, v1alpha1.ReasonCarriedOut)
}

func (w *world) actionFails(name, reason string) *v1alpha1.MandateAction {
	w.Helper()
	return w.actionFinishes(name, v1alpha1.ConditionFailed, reason)
}

// checkEmailed checks the number of e-mails of a kind. All others have to be invites.
func (w *world) checkEmailed(kind control.EmailKind, want int) {
	w.Helper()
	emails, err := w.sandbox.Outbox(w.Context())
	w.check(err)
	got := 0
	for _, email := range emails {
		switch email.Kind {
		case kind:
			got++
		case control.Invite:
		default:
			w.Errorf("an e-mail of kind %s was sent", email.Kind)
		}
	}
	if got != want {
		w.Errorf("%d e-mails of kind %s were sent, want %d", got, kind, want)
	}
}

func TestActions(t *testing.T) {
	t.Parallel()
	t.Run("resend, twice", func(t *testing.T) {
		t.Parallel()
		w := running(t)
		w.mandate("acme", "{}")
		w.action("first", resend)
		w.action("second", resend)
		first := w.actionCompletes("first")
		w.actionCompletes("second")
		w.checkEmailed(control.Resend, 2)
		if first.Status.StartedTime == nil || first.Status.StartedTime.After(first.Status.CompletedTime.Time) {
			t.Errorf("started %v, completed %v", first.Status.StartedTime, first.Status.CompletedTime)
		}
		w.kubectl("wait", "--for=condition=Complete", await.Timeout(t), "mandateaction/first", "mandateaction/second")
	})
	for _, answer := range []string{"message", "empty", "202", "204", "individual"} {
		t.Run("reset, answered with "+answer, func(t *testing.T) {
			t.Parallel()
			w := running(t)
			w.check(w.sandbox.SetDialect(t.Context(), "resendResetAnswer", answer))
			w.mandate("acme", "{}")
			w.action("reset", reset)
			reason := map[string]string{"202": v1alpha1.ReasonRequestAccepted}[answer]
			w.actionFinishes("reset", v1alpha1.ConditionComplete, cmp.Or(reason, v1alpha1.ReasonCarriedOut))
			w.checkEmailed(control.Reset, 1)
		})
	}
}

// Whatever the service answers, at most one e-mail is sent, and the result says what is known.
func TestActionsFail(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		why              string
		fault            control.Fault
		spec, reason     string
		requests, emails int
	}{
		"400": {
			fault:    control.Fault{Kind: control.Answer, Status: 400},
			reason:   v1alpha1.ReasonRefused,
			requests: 1,
			why:      "another form of the request is another request that could e-mail somebody: the next action has it",
		},
		"403": {
			fault:    control.Fault{Kind: control.Answer, Status: 403},
			reason:   v1alpha1.ReasonForbidden,
			requests: 1,
			why:      "the service does not let this user resend: it is not sent on the day on which that is granted",
		},
		"404": {
			fault:    control.Fault{Kind: control.Answer, Status: 404},
			reason:   v1alpha1.ReasonIndividualNotFound,
			requests: 1,
		},
		"405": {
			fault:    control.Fault{Kind: control.Answer, Status: 405},
			reason:   v1alpha1.ReasonRefused,
			requests: 1,
		},
		"500": {
			fault:    control.Fault{Kind: control.Answer, Status: 500},
			reason:   v1alpha1.ReasonOutcomeUnknown,
			requests: 1,
			why:      "the service may have sent the e-mail",
		},
		"500, after all": {
			fault:    control.Fault{Kind: control.Answer, Status: 500, AfterWork: true},
			reason:   v1alpha1.ReasonOutcomeUnknown,
			requests: 1,
			emails:   1,
		},
		"answer lost": {
			fault:    control.Fault{Kind: control.Close, AfterWork: true},
			reason:   v1alpha1.ReasonOutcomeUnknown,
			requests: 1,
			emails:   1,
		},
		"request lost": {
			fault:    control.Fault{Kind: control.ResetConnection},
			reason:   v1alpha1.ReasonOutcomeUnknown,
			requests: 1,
		},
		"a redirect": {
			fault:    control.Fault{Kind: control.Answer, Status: 302},
			reason:   v1alpha1.ReasonOutcomeUnknown,
			requests: 1,
		},
		"an unknown name": {spec: "{type: ResendInvite, individual: missing}", reason: v1alpha1.ReasonIndividualNotFound},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := running(t)
			if c.fault.Kind != "" {
				c.fault.Operation = control.ResendInvites
				w.fault(c.fault)
			}
			if c.spec == "" {
				c.spec = resend
			}
			w.mandate("acme", "{}")
			w.action("resend", c.spec)
			w.actionFails("resend", c.reason)
			w.kill()
			w.start()
			w.action("next", resend) // by its end, the operator has reconciled the first one again
			w.actionCompletes("next")
			w.actionFails("resend", c.reason)
			w.checkEmailed(control.Resend, c.emails+1)
			if got := w.requests(control.ResendInvites); got != int64(c.requests)+1 {
				t.Errorf("%d requests, want %d\n%s", got-1, c.requests, c.why)
			}
		})
	}
}

// A rejected action is retried, and reports so meanwhile.
func TestActionRetried(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{}")
	w.ready("acme")
	tooMany := alwaysAnswers(control.ResendInvites, 429)
	tooMany.RetryAfter = "1"
	w.fault(tooMany)
	w.action("resend", resend)
	w.actionWaits("resend", v1alpha1.ReasonRetrying)
	if started := w.getAction("resend").Status.StartedTime; started != nil {
		t.Errorf("an action that was not sent started at %s", started)
	}
	w.checkEmailed(control.Resend, 0)
	w.check(w.sandbox.ClearFaults(t.Context()))
	started, call := w.actionCompletes("resend").Status.StartedTime, w.callOf("resend")
	if started == nil || started.Unix() != call.StartedTime.Unix() || !call.FirstStartedTime.Before(&call.StartedTime) {
		t.Errorf("the action started at %s, and the log has %+v", started, call)
	}
	w.checkEmailed(control.Resend, 1)
}

func TestActionWithARevokedToken(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{}")
	w.ready("acme")
	_, err := w.sandbox.RevokeTokens(t.Context())
	w.check(err)
	w.action("resend", resend)
	w.actionCompletes("resend")
	w.checkEmailed(control.Resend, 1)
}

// A user labels the action during its request: the result is recorded all the same.
func TestActionLabelledMeanwhile(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{}")
	w.ready("acme")
	w.fault(control.Fault{Operation: control.ResendInvites, Kind: control.Slow, DelayMillis: 3000})
	w.action("resend", resend)
	w.eventually(func() (bool, string) { return w.requests(control.ResendInvites) == 1, "nothing was sent" })
	w.kubectl("label", "mandateaction", "resend", "by=user")
	if action := w.getAction("resend"); action.Status.CompletedTime != nil {
		t.Fatal("the action finished before it was labelled")
	}
	w.actionCompletes("resend")
	w.checkEmailed(control.Resend, 1)
}

// The operator is killed during an action. Its successor finds a call without a result, and sends nothing again.
func TestActionKilled(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		fault  control.Fault
		kill   func(*world)
		emails int
	}{
		"while the service executes the request": {
			fault: control.Fault{Kind: control.Slow, DelayMillis: slowAnswer.Milliseconds()},
			kill: func(w *world) {
				w.eventually(func() (bool, string) { return w.requests(control.ResendInvites) == 1, "no request" })
			},
			emails: 1,
		},
		"between the request and the result": {
			fault: control.Fault{Kind: control.Slow, DelayMillis: slowAnswer.Milliseconds(), AfterWork: true},
			kill: func(w *world) {
				w.eventually(func() (bool, string) {
					emails, err := w.sandbox.Outbox(w.Context())
					w.check(err)
					return len(emails) == 2, "no e-mail"
				})
			},
			emails: 1,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := running(t)
			w.mandate("acme", "{}")
			w.ready("acme")
			c.fault.Operation = control.ResendInvites
			w.fault(c.fault)
			w.action("resend", resend)
			c.kill(w)
			w.kill()
			call, action := w.callOf("resend"), w.getAction("resend")
			if call == nil || call.Result != "" || call.UID != action.UID || action.Status.CompletedTime != nil {
				t.Fatalf("the call was not recorded before the request, or is over: %+v, %+v", call, action.Status)
			}
			w.start()
			w.actionFails("resend", v1alpha1.ReasonOutcomeUnknown)
			w.checkEmailed(control.Resend, c.emails)
			if got := w.requests(control.ResendInvites); got != 1 {
				t.Errorf("%d requests, want 1", got)
			}
		})
	}
}

// After SIGTERM during a request, the operator waits for the answer, records it, and exits within twenty seconds.
func TestActionTerminated(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{}")
	w.ready("acme")
	w.fault(slowed(control.ResendInvites, slowAnswer))
	w.action("resend", resend)
	w.eventually(func() (bool, string) { return w.requests(control.ResendInvites) == 1, "no request" })
	await.Within(t, 20*time.Second, func() {
		w.check(syscall.Kill(w.operator.PID(), syscall.SIGTERM))
		await.Receive(t, w.operator.Exited(), "the operator does not exit")
	})
	w.checkFinished(w.getAction("resend"), v1alpha1.ConditionComplete, v1alpha1.ReasonCarriedOut)
	w.checkEmailed(control.Resend, 1)
}

func TestActionTimeToLive(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{}")
	w.action("at-once", "{type: ResendInvite, ttlSecondsAfterFinished: 0}")
	w.actionGone("at-once")
	w.action("failed", "{type: ResendInvite, individual: missing, ttlSecondsAfterFinished: 1}")
	w.actionGone("failed")
	w.action("later", "{type: ResendInvite, ttlSecondsAfterFinished: 86400}")
	w.actionCompletes("later")
	w.action("never", resend)
	w.actionCompletes("never")
	w.action("never", "{type: ResendInvite, ttlSecondsAfterFinished: 0}") // an edit after the result
	w.actionGone("never")
	patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"ttlSecondsAfterFinished":86401}}`))
	w.check(w.Patch(t.Context(), w.getAction("later"), patch))
	w.untilAction("later", "observed again", func(a *v1alpha1.MandateAction) bool {
		return a.Status.ObservedGeneration == a.Generation
	})
	w.actionCompletes("later")
	w.checkEmailed(control.Resend, 3)
}
