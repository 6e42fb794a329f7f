package mandate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/engine"
	"github.com/mandate-io/idv/operator/ledger"
)

// maxRounds are more than any state needs to come to rest.
const maxRounds = 60

// run is what the last reconciliation of a Mandate came to.
type run struct {
	after time.Duration // when the operator wants to reconcile again; 0: never
	gets  int           // of the application
}

// resting is a state on its way to rest, by what follows from it.
type resting struct {
	world *world
	ops   [2]*operator
	runs  string
	quiet int
}

// faultFree lets the operators work on without any more faults, and lets them reconcile again when they said that they
// want to, until nothing changes any more. Then the status must be true (I5), which it is not if nobody reconciles
// again. Most states come to rest by way of those that others have come by: these are not looked at again.
func (x *explorer) faultFree(s state) (state, string) {
	s = s.then("no more faults")
	s.budget = movesLeft{}
	if s.ops[0].hangs() || s.ops[1].hangs() {
		x.aged(&s, aWhile)
	}
	runs := [2]map[string]run{{}, {}}
	for i := range s.ops {
		for _, name := range x.scenario.mandates {
			runs[i][name] = run{after: 1} // a process that starts looks at everything
		}
	}
	var way []resting
	rests := func() (state, string) {
		for _, at := range way {
			x.rested.Store(at, true)
		}
		return s, ""
	}
	quiet := 0
	for range maxRounds {
		at := resting{s.world, s.ops, due(runs), quiet}
		if _, known := x.rested.Load(at); known {
			return rests()
		}
		way = append(way, at)
		before := s.world
		for i := range s.ops {
			if wrong := x.round(&s, i, runs[i]); wrong != "" {
				return s, wrong
			}
		}
		quiet++
		if s.world != before || s.world.awaitsService() {
			quiet = 0
		}
		if quiet == 3 || !x.pause(&s, runs) {
			if wrong := cmp.Or(untrue(&s, x.scenario.mandates), noisy(&s, runs)); wrong != "" {
				return s, wrong
			}
			return rests()
		}
	}
	return s, "I5: it does not come to rest"
}

// due says who wants to reconcile again, and what that costs. When makes no difference after a pause.
func due(runs [2]map[string]run) string {
	var text strings.Builder
	for _, made := range runs {
		for _, name := range sorted(made) {
			fmt.Fprintln(&text, name, made[name].after > 0, made[name].after < minPoll, made[name].gets)
		}
	}
	return text.String()
}

// awaitsService reports whether a Mandate waits until a 404 is believed, or until the service has carried out what it
// accepted.
func (w *world) awaitsService() bool {
	for _, m := range w.mandates {
		c := meta.FindStatusCondition(m.Status.Conditions, v1alpha1.ConditionReconciling)
		if c != nil && (c.Reason == v1alpha1.ReasonConfirming || c.Reason == v1alpha1.ReasonCreateAccepted) {
			return true
		}
		isRecent := func(c *v1alpha1.Call) bool { return now.Sub(c.StartedTime.Time) < acceptedPeriod }
		if ledger.Find(w.records[m.Name], func(c *v1alpha1.Call) bool { return isRecent(c) && isAwaited(m, c) }) != nil {
			return true
		}
	}
	return false
}

// isAwaited reports whether a Mandate waits for what becomes of a call.
func isAwaited(m *v1alpha1.Mandate, c *v1alpha1.Call) bool {
	decided := meta.FindStatusCondition(m.Status.Conditions, v1alpha1.ConditionDecided)
	switch c.Kind {
	case v1alpha1.CallComplete, v1alpha1.CallReject:
		return c.Sends > 0 && decided != nil && decided.Reason == v1alpha1.ReasonDecisionWaiting
	case v1alpha1.CallArchive:
		return c.Sends > 0 && m.Spec.Archived && is(m, v1alpha1.ConditionReady) != metav1.ConditionTrue
	default:
		return false
	}
}

// round finishes the reconciliation that an operator is in, and makes those that are due.
func (x *explorer) round(s *state, i int, runs map[string]run) string {
	see := func() {
		before := s.ops[i].mandates
		s.ops[i] = x.seen(s.ops[i], s.world, "everything", (*operator).seeEverything)
		for name := range runs {
			if m, was := s.ops[i].mandates[name], before[name]; m != nil &&
				(was == nil || was.UID != m.UID || was.Generation != m.Generation) {
				runs[name] = run{after: 1} // as its event says
			}
		}
	}
	if s.ops[i].current != nil {
		if _, wrong := x.reconcile(s, i, s.ops[i].current.mandate.Name); wrong != "" {
			return wrong
		}
	}
	see()
	for _, name := range sorted(runs) {
		if runs[name].after == 0 {
			continue
		}
		made, wrong := x.reconcile(s, i, name)
		if wrong == "" && made.gets > 0 {
			wrong = s.world.outdatedEvidence(name)
		}
		if wrong != "" {
			return wrong
		}
		runs[name] = made
		see()
	}
	return ""
}

// reconcile takes steps to the end of a reconciliation.
func (x *explorer) reconcile(s *state, i int, name string) (v run, wrong string) {
	for range engine.MaxSteps {
		made := x.take(s.world, s.ops[i], name, faultNone)
		*s = s.then(fmt.Sprintf("operator %c %s", 'A'+i, made.what))
		s.world, s.ops[i] = made.world, made.operator
		if made.violation != "" {
			return v, made.violation
		}
		v.after, v.gets = made.after, v.gets+made.gets
		if wrong := x.wrongIn(s); wrong != "" || made.ended {
			return v, wrong
		}
	}
	return v, "I5: a reconciliation does not come to an end"
}

// noisy reports a Mandate that is Ready, and costs more than a read of its application each minIntervalSeconds (I6).
// That nothing is written is part of being at rest.
func noisy(s *state, runs [2]map[string]run) string {
	for _, made := range runs {
		for _, name := range sorted(made) {
			m, v := s.world.mandates[name], made[name]
			if m == nil || is(m, v1alpha1.ConditionReady) != metav1.ConditionTrue {
				continue
			}
			if v.after > 0 && (v.gets > 1 || v.after < minPoll) {
				return fmt.Sprintf(
					"I6: at rest, the application of %s is read %d times in a reconciliation, and the next one is %s away",
					name,
					v.gets,
					v.after,
				)
			}
		}
	}
	return ""
}

// pause advances the clock until an operator wants to reconcile again, or somewhat longer, so that jitter makes no
// difference. It returns false if none ever wants to.
func (x *explorer) pause(s *state, runs [2]map[string]run) bool {
	soonest := time.Duration(0)
	for _, made := range runs {
		for _, v := range made {
			if v.after > 0 && (soonest == 0 || v.after < soonest) {
				soonest = v.after
			}
		}
	}
	by := settle
	switch {
	case soonest == 0:
		return false
	case soonest >= settle:
		for by = 10 * minPoll; by < soonest; by *= 2 {
		}
	}
	*s = s.then(by.String() + " go by")
	x.aged(s, by)
	return true
}

// untrue says what a status at rest says that is not so (I5).
func untrue(s *state, names []string) string {
	for _, name := range names {
		m := s.world.mandates[name]
		if m == nil || m.DeletionTimestamp != nil {
			continue
		}
		if wrong := untrueOf(s.world, m); wrong != "" {
			return "I5: at rest, " + name + " " + wrong
		}
	}
	return ""
}

// endings are the reasons with which a Mandate without an application may wait for a person.
var endings = []string{
	v1alpha1.ReasonOutcomeUnknown,
	v1alpha1.ReasonReferenceConflict,
	v1alpha1.ReasonApplicationExists,
	v1alpha1.ReasonIdentityServiceMismatch,
	v1alpha1.ReasonCreateDeadlinePassed,
	v1alpha1.ReasonErased,
	v1alpha1.ReasonRefused,
	v1alpha1.ReasonAdoptionRefused,
	v1alpha1.ReasonReferenceNotAllowed,
	v1alpha1.ReasonSpecDiffers,
	v1alpha1.ReasonRecordRestored,
	"Expired",
	"Deleted",
}

func untrueOf(w *world, m *v1alpha1.Mandate) string {
	if w.secretGone && m.Status.ApplicationID == nil {
		return "" // nothing is created or bound without it
	}
	ready, created := is(m, v1alpha1.ConditionReady), is(m, v1alpha1.ConditionCreated)
	stalled := meta.FindStatusCondition(m.Status.Conditions, v1alpha1.ConditionStalled)
	waits := meta.FindStatusCondition(m.Status.Conditions, v1alpha1.ConditionReconciling)
	here := w.shows(w.site(), m)
	recordedAtOtherURL := w.url() == otherURL && w.shows(firstURL, m) && w.records[m.Name] != nil // where the ledger says
	switch id := m.Status.ApplicationID; {
	case m.Status.ObservedGeneration != m.Generation:
		return "was not reconciled"
	case m.Spec.Suspend:
		return ""
	case !here && waits != nil && w.waitsForAccount(m, waits.Reason),
		!here && stalled != nil && w.waitsForAccount(m, stalled.Reason):
		return ""
	case here && w.unmatched() && stalled != nil && stalled.Reason == v1alpha1.ReasonIndividualsUnmatched:
		return ""
	case here && stalled != nil && w.waitsForAuthor(m, stalled.Reason):
		return ""
	case here && waits != nil && waits.Reason == v1alpha1.ReasonNotArchived && w.acceptedArchive(m):
		return ""
	case here && ready != metav1.ConditionTrue && (m.Status.Outcome == "" || m.Status.Outcome == v1alpha1.OutcomeDeleted):
		return "is not Ready, but its application exists"
	case here && m.Status.Outcome == v1alpha1.OutcomeDeleted:
		return "is Deleted, but its application can be read"
	case recordedAtOtherURL && m.Status.Outcome == v1alpha1.OutcomeDeleted:
		return "is Deleted, but its application is at another service"
	case !here && stalled != nil && stalled.Reason == v1alpha1.ReasonIndividualsUnmatched:
		return "tells of the individuals of an application that is not its own"
	case (w.shows(firstURL, m) || w.shows(otherURL, m)) && m.Status.Outcome == v1alpha1.OutcomeExpired:
		return "says that its application is gone, but it exists"
	case !here && ready == metav1.ConditionTrue && m.Status.Outcome == "":
		return "is Ready, but has no application"
	case id == nil && (stalled == nil || !slices.Contains(endings, stalled.Reason)):
		return "has no application, and does not wait"
	case id == nil && w.wasNamed(m):
		return "has no application, although a notification has named it"
	case id == nil && created == metav1.ConditionFalse && w.madeFor(m):
		return "says that it has no application, but one was created for it"
	case here && ready == metav1.ConditionTrue:
		return cmp.Or(w.leftUndone(m), w.unsubscribed(m))
	default:
		return ""
	}
}

// leftUndone says what the spec of a Mandate asks for, and nobody has done or refused.
func (w *world) leftUndone(m *v1alpha1.Mandate) string {
	here := w.sites[w.site()]
	decided := meta.FindStatusCondition(m.Status.Conditions, v1alpha1.ConditionDecided)
	switch a := here.applications[here.find(*m.Status.ApplicationID)]; {
	case m.Spec.Archived && !a.archived:
		return "is not archived"
	case m.Spec.Decision != nil && m.Spec.Decision.When == "" && a.stage == stageInReview &&
		!slices.Contains(forAPerson, decided.Reason) && !a.resetting:
		return "is not decided"
	default:
		return ""
	}
}

// forAPerson are the reasons for which a call is not sent again by itself.
var forAPerson = []string{
	v1alpha1.ReasonDecisionRefused, v1alpha1.ReasonDecisionForbidden, v1alpha1.ReasonDecisionUnknown,
	v1alpha1.ReasonReviewRefused,
}

// waitsForAuthor reports whether a decision or a review was refused, or names other evidence than the status shows.
func (w *world) waitsForAuthor(m *v1alpha1.Mandate, reason string) bool {
	switch reason {
	case v1alpha1.ReasonDecisionOutdated:
		return m.Spec.Decision != nil && m.Spec.Decision.Evidence != m.Status.Evidence
	case v1alpha1.ReasonReviewOutdated:
		return len(m.Spec.CheckReviews) > 0 && m.Spec.CheckReviews[0].Evidence != w.shownEvidence(m.Name)
	default:
		return slices.Contains(forAPerson, reason)
	}
}

// acceptedArchive reports whether the service accepted to archive the application of a Mandate, and never did.
func (w *world) acceptedArchive(m *v1alpha1.Mandate) bool {
	return ledger.Find(w.records[m.Name], func(c *v1alpha1.Call) bool {
		return c.Kind == v1alpha1.CallArchive && c.Result == v1alpha1.CallAccepted
	}) != nil
}

// unmatched reports whether the service or a Secret may keep individuals from being told apart.
func (w *world) unmatched() bool {
	here := w.sites[w.site()]
	return here.shown == showsLast || here.shown == showsWithoutReferences || here.silent || w.secretGone
}

// shows reports whether an account has the application of a Mandate's status.
func (w *world) shows(url string, m *v1alpha1.Mandate) bool {
	id, here := m.Status.ApplicationID, w.sites[url]
	if id == nil {
		return false
	}
	i := here.find(*id)
	return i >= 0 && here.applications[i].reference == m.Status.Reference
}

func is(m *v1alpha1.Mandate, condition string) metav1.ConditionStatus {
	if c := meta.FindStatusCondition(m.Status.Conditions, condition); c != nil {
		return c.Status
	}
	return metav1.ConditionUnknown
}

// madeFor reports whether an application that still exists was created for a Mandate.
func (w *world) madeFor(m *v1alpha1.Mandate) bool {
	for _, here := range w.sites {
		if slices.ContainsFunc(here.applications, func(a application) bool { return !a.gone && a.mandate == m.UID }) {
			return true
		}
	}
	return false
}
