package plugin_test

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/test/await"
)

// A scene is a state in which an export finds a Mandate.
type scene struct {
	reason  string // of Ready
	edit    func(*v1alpha1.MandateSpec)
	play    func(w *world, m *v1alpha1.Mandate) // once it has an application
	outcome v1alpha1.Outcome
	// isGone: the service has forgotten the reference, so that another create would e-mail.
	isGone bool
}

// scenes by the names of their Mandates.
var scenes = map[string]scene{
	"accepted": {reason: v1alpha1.ReasonAccepted},
	"resent":   {reason: v1alpha1.ReasonAccepted, play: (*world).resend},
	"passed":   {reason: v1alpha1.ReasonAccepted, play: (*world).passes},
	"completed": {
		reason: v1alpha1.ReasonAccepted, outcome: v1alpha1.OutcomeCompleted, play: (*world).completes,
	},
	"completed-gone": {
		reason: v1alpha1.ReasonAccepted, outcome: v1alpha1.OutcomeCompleted, isGone: true,
		play: func(w *world, m *v1alpha1.Mandate) {
			w.completes(m)
			w.deletes(m)
		},
	},
	"deleted": {
		reason: string(v1alpha1.OutcomeDeleted), outcome: v1alpha1.OutcomeDeleted, isGone: true, play: (*world).deletes,
	},
	"erased": {
		reason: v1alpha1.ReasonAccepted, outcome: v1alpha1.OutcomeCompleted, play: func(w *world, m *v1alpha1.Mandate) {
			w.completes(m)
			w.run("", 0, "erase", m.Name, "--yes")
		},
	},
	"archived": {reason: v1alpha1.ReasonAccepted, edit: func(s *v1alpha1.MandateSpec) { s.Archived = true }},
	"deletes": {
		reason: v1alpha1.ReasonAccepted,
		edit:   func(s *v1alpha1.MandateSpec) { s.DeletionPolicy = v1alpha1.DeletionPolicyDelete },
	},
	"lost":      {reason: v1alpha1.ReasonOutcomeUnknown},
	"suspended": {reason: v1alpha1.ReasonSuspended, edit: func(s *v1alpha1.MandateSpec) { s.Suspend = true }},
	"unknown-type": {
		reason: v1alpha1.ReasonMandateTypeNotFound,
		edit:   func(s *v1alpha1.MandateSpec) { s.MandateType.Code = "absent" },
	},
	"taken": {
		reason: v1alpha1.ReasonReferenceConflict,
		edit:   func(s *v1alpha1.MandateSpec) { s.Reference = "ref-lost-0" },
	},
	"too-late": {
		reason: v1alpha1.ReasonCreateDeadlinePassed,
		edit:   func(s *v1alpha1.MandateSpec) { s.CreateBefore = new(metav1.NewTime(time.Unix(0, 0))) },
	},
}

// copiesOf is how many Mandates a scene has: several lost answers would open the circuit breaker.
func copiesOf(name string, copies int) int {
	if name == "lost" {
		return 1
	}
	return copies
}

// stage makes copies of all scenes. The answer to the create of the scene lost does not arrive.
func (w *world) stage(copies int) {
	w.Helper()
	w.check(w.sandbox.Fault(w.Context(), control.Fault{
		Operation: control.CreateApplication, Kind: control.ResetConnection, AfterWork: true, Times: 1,
	}))
	stage := func(name string) {
		s := scenes[name]
		for i := range copiesOf(name, copies) {
			m := &v1alpha1.Mandate{ObjectMeta: w.named(fmt.Sprintf("%s-%d", name, i))}
			m.Spec.MandateType.Code, m.Spec.Reference = "kyc", "ref-"+m.Name
			m.Spec.Individuals = []v1alpha1.Individual{{Name: "jane", Email: email}}
			if s.edit != nil {
				s.edit(&m.Spec)
			}
			w.check(w.Create(w.Context(), m))
		}
	}
	stage("lost")
	await.Until(w, func() (bool, string) {
		faults, err := w.sandbox.Faults(w.Context())
		w.check(err)
		return len(faults) == 0, "not all answers are lost"
	})
	for _, s := range sortedScenes() {
		if s != "lost" {
			stage(s)
		}
	}
	w.eachScene(copies, func(name string, s scene) {
		if s.play != nil {
			s.play(w, w.untilReason(name, v1alpha1.ReasonAccepted))
		}
	})
	w.eachScene(copies, func(name string, s scene) {
		m := w.untilReason(name, s.reason)
		if m.Status.Outcome != s.outcome {
			w.Fatalf("%s has the outcome %q", name, m.Status.Outcome)
		}
	})
}

func (w *world) eachScene(copies int, do func(name string, s scene)) {
	w.Helper()
	for _, name := range sortedScenes() {
		for i := range copiesOf(name, copies) {
			do(fmt.Sprintf("%s-%d", name, i), scenes[name])
		}
	}
}

func (w *world) untilReason(name, reason string) (m *v1alpha1.Mandate) {
	w.Helper()
	await.Until(w, func() (bool, string) {
		m = w.get(name)
		ready := meta.FindStatusCondition(m.Status.Conditions, v1alpha1.ConditionReady)
		return ready != nil && ready.Reason == reason, fmt.Sprintf("%s is not %s: %+v", name, reason, ready)
	})
	return m
}

func (w *world) passes(m *v1alpha1.Mandate) {
	_, err := w.sandbox.Play(w.Context(), control.Play{ApplicationID: *m.Status.ApplicationID})
	w.check(err)
}

// completes has somebody at the service complete the application.
func (w *world) completes(m *v1alpha1.Mandate) {
	w.Helper()
	_, err := w.sandbox.SetState(w.Context(), control.StateChange{
		ApplicationID: *m.Status.ApplicationID, State: "completed",
	})
	w.check(err)
	await.Until(w, func() (bool, string) {
		return w.get(m.Name).Status.Outcome == v1alpha1.OutcomeCompleted, m.Name + " is not completed"
	})
}

func (w *world) deletes(m *v1alpha1.Mandate) {
	c, err := idv.New(idv.Config{
		BaseURL: w.url, RequestsPerSecond: -1,
		Credentials: idv.Credentials{Username: sandbox.DefaultUsername, Password: idv.Hide(sandbox.DefaultPassword)},
	})
	w.check(err)
	defer c.Close()
	_, err = c.DeleteApplication(w.Context(), *m.Status.ApplicationID)
	w.check(err)
}

// resend applies an action that has the same name in each cluster, as from Git.
func (w *world) resend(m *v1alpha1.Mandate) {
	w.Helper()
	action := &v1alpha1.MandateAction{ObjectMeta: w.named(m.Name)}
	action.Spec.MandateRef.Name, action.Spec.Individual = m.Name, "jane"
	action.Spec.Type = v1alpha1.MandateActionResendInvite
	w.check(w.Create(w.Context(), action))
	await.Until(w, func() (bool, string) {
		w.check(w.Get(w.Context(), client.ObjectKeyFromObject(action), action))
		waits := slices.ContainsFunc(action.Status.Conditions, func(c metav1.Condition) bool {
			return c.Reason == v1alpha1.ReasonRecordRestored
		})
		return waits || action.Status.CompletedTime != nil, fmt.Sprintf("the action of %s is %+v", m.Name, action.Status)
	})
}
