package mandate

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
)

// confirm reads the Mandate and its service past the cache, directly before a call that acts on people. A watch can
// stall, and a user may have removed the decision, suspended or deleted the Mandate, or edited the service meanwhile.
// Only the metadata is read: the generation shows every edit, and what else a Mandate holds is personal data.
func (r *reconciliation) confirm(ctx context.Context) error {
	same, err := r.serviceIsCurrent(ctx)
	if same && err == nil {
		same, err = r.mandateIsCurrent(ctx)
	}
	if err != nil {
		return err
	}
	r.facts.confirmed = same
	if !same {
		r.facts.failureReason = reasonStaleCache
		log.FromContext(ctx).Info("The Mandate or its service was changed meanwhile, sent nothing")
	}
	return nil
}

// serviceIsCurrent reports whether the connection is that of the service as it is now, and the namespace may use it.
func (r *reconciliation) serviceIsCurrent(ctx context.Context) (bool, error) {
	current, gone, err := r.session.IsCurrent(ctx, r.liveServices, r.mandate.Namespace)
	return current || gone && r.facts.deletion.requested, err // it went with the namespace, and leads nowhere else
}

// mandateIsCurrent reports whether the Mandate is the one that the step was decided for.
func (r *reconciliation) mandateIsCurrent(ctx context.Context) (bool, error) {
	if r.facts.application.reviewRecorded {
		return r.readReview(ctx)
	}
	return r.isCurrent(ctx)
}

// isCurrent reads the metadata of the Mandate, and reports whether nobody has edited or deleted it.
func (r *reconciliation) isCurrent(ctx context.Context) (bool, error) {
	live, err := r.liveMetadata.Get(ctx, "Mandate", r.name())
	return live != nil && live.UID == r.mandate.UID && live.Generation == r.mandate.Generation &&
		live.DeletionTimestamp.IsZero() == r.mandate.DeletionTimestamp.IsZero(), err
}

// readReview reads what is to be sent with the next review. The comment is personal data, which no cache has.
// Nothing at all may have changed since the review was recorded: another operator could have sent it.
func (r *reconciliation) readReview(ctx context.Context) (bool, error) {
	live := &v1alpha1.Mandate{}
	if err := r.live.Get(ctx, r.name(), live); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	if live.UID != r.mandate.UID || live.ResourceVersion != r.mandate.ResourceVersion {
		return false, nil
	}
	wanted := &live.Spec.CheckReviews[r.reviews[0].index]
	r.checkReview = idv.CheckReview{Comment: idv.Hide(wanted.Comment), CommentFor: wanted.CommentFor}
	if wanted.Reference != nil {
		r.checkReview.Reference = *wanted.Reference
	}
	return true, nil
}

// sentCalls are those of the reconciliations before, each of which left some for the next one. The zero value is for
// the first one of them. A process that forgets it sends again what the service refused or does not show, once.
type sentCalls struct {
	generation                          int64
	archiveSent, decided, reviewRefused bool
	refused                             string
	reviews                             int // those of spec.checkReviews below this index were sent
}

// continues reports whether the reconciliation before left something to do.
func (r *reconciliation) continues() bool {
	return r.localState.Get(r.mandate).sent.generation == r.mandate.Generation
}

// resumeCalls continues where the reconciliation before ended.
func (r *reconciliation) resumeCalls() {
	if !r.continues() {
		return
	}
	a, sent := &r.facts.application, r.localState.Get(r.mandate).sent
	a.archiveSent, a.reviewRefused = sent.archiveSent, sent.reviewRefused
	a.decided, a.refused = sent.decided, sent.refused
	r.nextReview = sent.reviews
}

// saveCalls is for the next reconciliation, if it continues this one or has to write its status.
func (r *reconciliation) saveCalls(continued bool) {
	sent, a := sentCalls{}, r.facts.application
	if continued {
		sent = sentCalls{
			r.mandate.Generation, a.archiveSent, a.decided, a.reviewRefused, a.refused, r.nextReview,
		}
	}
	if sent != r.localState.Get(r.mandate).sent {
		r.localState.Update(r.mandate, func(s *localState) { s.sent = sent })
	}
}
