package mandate

import (
	"cmp"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
)

// liveRead is what one step of an operator has read of a Mandate and its service past the cache: what they said at that
// moment. An edit after it cannot be known to a call that is already on its way.
type liveRead struct {
	uid      types.UID // "": no Mandate was read, or there was none
	deleted  bool
	suspend  bool
	archived bool
	decision v1alpha1.Decision    // the zero value: there was none
	review   v1alpha1.CheckReview // the same
	policy   v1alpha1.DeletionPolicy
	service  int64 // the generation; 0: it was not read
	at       time.Time
}

// open: the Mandate wants more than its end.
func (l liveRead) open() bool { return !l.deleted && !l.suspend }

func (l liveRead) reviews(decision v1alpha1.CheckDecision) bool {
	return l.open() && l.review.Decision == decision
}

func (s *environment) seeLive(name string) {
	m := s.world.mandates[name]
	if m == nil {
		s.live = liveRead{service: s.live.service, at: now}
		return
	}
	s.live = liveRead{
		uid: m.UID, deleted: m.DeletionTimestamp != nil, suspend: m.Spec.Suspend, archived: m.Spec.Archived,
		decision: ptr.Deref(m.Spec.Decision, v1alpha1.Decision{}), policy: m.Spec.DeletionPolicy,
		service: s.live.service, at: now,
	}
	if len(m.Spec.CheckReviews) > 0 {
		s.live.review = m.Spec.CheckReviews[0]
	}
}

// callKinds are the operations that the log has, but for creates and subscriptions, which have checks of their own.
var callKinds = map[idv.Operation]v1alpha1.CallKind{
	idv.OpCompleteApplication: v1alpha1.CallComplete, idv.OpRejectApplication: v1alpha1.CallReject,
	idv.OpArchiveApplication: v1alpha1.CallArchive, idv.OpDeleteApplication: v1alpha1.CallDelete,
	idv.OpAcceptCheck: v1alpha1.CallAcceptCheck, idv.OpRejectCheck: v1alpha1.CallRejectCheck,
}

// checkCall holds a call that acts on people to what the spec said when it was read directly before (I9), and to one a
// reconciliation (I10).
func (s *environment) checkCall(op idv.Operation, wanted func(liveRead) bool) {
	s.calls++
	s.checkAccount(op)
	if kind := callKinds[op]; kind != "" {
		s.violation = cmp.Or(s.violation, s.unlogged(kind))
	}
	var wrong string
	switch l := s.before; {
	case l.uid == "":
		wrong = "I9: %s is sent, and the step before did not read the live Mandate"
	case l.uid != s.current.mandate.UID:
		wrong = "I9: %s is sent for a Mandate that was another one when it was read"
	case !wanted(l):
		wrong = "I9: %s is sent against the spec as it was read"
	case l.service != s.current.session.Connection.Generation:
		wrong = "I9: %s is sent to a service that was another one when it was read"
	case s.calls > 1:
		wrong = "I10: %s is not the first call in a reconciliation that acts on people"
	default:
		wrong = s.tooLate(op)
		s.violation = cmp.Or(s.violation, wrong)
		return
	}
	s.violation = cmp.Or(s.violation, fmt.Sprintf(wrong, op))
}
