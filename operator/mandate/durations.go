package mandate

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/lifecycle"
	"github.com/mandate-io/idv/operator/engine"
)

// Journey is something that people wait for.
type Journey string

// The journeys.
const (
	// JourneyReady is from the creation of a Mandate to the first status that shows its application and is Ready.
	JourneyReady Journey = "ready"
	// JourneyNotification is from a notification to the status that shows what changed.
	JourneyNotification Journey = "notification"
	// JourneyDecision is from when the operator first sees a decision about an application in review, to its outcome.
	JourneyDecision Journey = "decision"
)

// Journeys are all of them.
var Journeys = []Journey{JourneyReady, JourneyNotification, JourneyDecision}

// noteDecidable remembers since when a decision can be carried out.
func (r *reconciliation) noteDecidable() {
	decided, stage := r.facts.act.decision.Outcome != "", r.facts.application.stage
	r.learn(func(s *localState) {
		switch {
		case !decided || stage == lifecycle.Open:
			s.decidable = time.Time{}
		case stage == lifecycle.InReview && s.decidable.IsZero():
			s.decidable = r.facts.now
		}
	})
}

// observeDurations tells which journeys end with a status that was just written.
func (r *reconciliation) observeDurations(before, after *v1alpha1.MandateStatus, request string) {
	if r.config.Took == nil {
		return
	}
	took := func(journey Journey, since time.Time) {
		if !since.IsZero() {
			r.config.Took(journey, max(0, r.clock.Now().Sub(since)))
		}
	}
	if before.ApplicationID == nil && after.ApplicationID != nil &&
		meta.IsStatusConditionTrue(after.Conditions, v1alpha1.ConditionReady) {
		took(JourneyReady, r.mandate.CreationTimestamp.Time)
	}
	took(JourneyNotification, engine.ParseNotificationRequest(request).Time)
	decided := v1alpha1.ConditionDecided
	if !meta.IsStatusConditionTrue(before.Conditions, decided) && meta.IsStatusConditionTrue(after.Conditions, decided) {
		took(JourneyDecision, r.local().decidable)
	}
}
