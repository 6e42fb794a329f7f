package mandate

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/reference"
	"github.com/mandate-io/idv/operator/connection"
)

// service is what is called of the identity verification service. The errors are those of the client.
type service interface {
	CreateApplication(ctx context.Context, application idv.NewApplication) (*idv.Application, error)
	RetrieveApplication(ctx context.Context, id int64) (*idv.Application, error)
	DeleteApplication(ctx context.Context, id int64) error
	ArchiveApplication(ctx context.Context, id int64) (*idv.Application, error)
	CompleteApplication(ctx context.Context, id int64) (*idv.Application, error)
	RejectApplication(ctx context.Context, id int64) (*idv.Application, error)
	AcceptCheck(ctx context.Context, checkID int64, review idv.CheckReview) (*idv.CheckReviewResponse, error)
	RejectCheck(ctx context.Context, checkID int64, review idv.CheckReview) (*idv.CheckReviewResponse, error)
	RetrieveReferences(ctx context.Context) (*idv.References, error)
}

// pass is one Reconcile of one Mandate: the facts, and what they were made from.
type pass struct {
	*Reconciler
	mandate    *v1alpha1.Mandate // as the cache has it: without personal data
	connection connection.Connection
	service    service
	reference  string // of the application, "" while the connection is not known

	facts       facts
	record      *v1alpha1.ApplicationRecord      // as it was last read or written
	request     idv.NewApplication               // set by Resolve or Verify; personal data
	application *idv.Application                 // set by Read
	reviews     []review                         // of spec.checkReviews, those that are to be sent; set by Read
	reviewed    map[int64]v1alpha1.CheckDecision // by check id, those that were carried out
	stale       bool                             // a check was decided since the application was read
	entered     bool                             // it may create an application
	visit       connection.Visit
}

// leave ends the pass.
func (p *pass) leave() {
	if p.entered {
		p.attempts.RUnlock()
	}
	p.visit.End()
}

// begin collects what can be known without a request to the API server or the service.
func (r *Reconciler) begin(ctx context.Context, mandate *v1alpha1.Mandate) (*pass, error) {
	p := &pass{Reconciler: r, mandate: mandate}
	service, err := r.connect(ctx, p)
	if err != nil {
		return nil, err
	}
	connection := &p.connection
	spec, status := &mandate.Spec, &mandate.Status
	p.facts = facts{
		suspended:   spec.Suspend,
		edited:      mandate.Generation > 1 || connection.Generation > 1 || !connection.Created.Before(&mandate.CreationTimestamp),
		untouched:   status.ObservedGeneration < mandate.Generation && len(status.Conditions) == 0,
		deletion:    r.deletionOf(mandate),
		decision:    spec.Decision,
		archive:     spec.Archived && !status.Archived,
		outcome:     status.Outcome,
		seen:        status.Progress != "",
		held:        heldDecision(mandate),
		settleDelay: r.SettleDelay,
		secondLook:  min(10*connection.MinPoll, 10*time.Minute),
		service:     service,
	}
	if status.ApplicationID != nil {
		p.facts.id, p.facts.bound = *status.ApplicationID, true
	}
	created := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionCreated)
	p.facts.unknown = created != nil && created.Status == metav1.ConditionUnknown
	ready := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReady)
	p.facts.vanished = vanished(status.Outcome) || ready != nil && ready.ObservedGeneration == mandate.Generation && vanished(v1alpha1.Outcome(ready.Reason))
	if spec.CreateBefore != nil {
		p.facts.createBefore = spec.CreateBefore.Time
	}
	if status.CreatedTime != nil {
		p.facts.createdTime = status.CreatedTime.Time
	}
	if confirming := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReconciling); confirming != nil && confirming.Reason == v1alpha1.ReasonConfirming {
		p.facts.missingSince = confirming.LastTransitionTime.Time
	}
	p.reviewed = carriedOut(status)
	switch {
	case p.facts.bound && status.Reference != "":
		p.reference = status.Reference // the prefix may have been edited since
	case service.known && spec.Reference == "":
		p.reference = reference.Mandate(connection.ReferencePrefix, mandate.Namespace, mandate.Name)
	case service.known:
		p.reference = spec.Reference
	}
	if spec.Adopt != nil && !p.facts.bound {
		p.facts.adopt = spec.Adopt.ApplicationID
		p.facts.taken, err = r.taken(ctx, p)
	}
	return p, err
}

// vanished are the outcomes, and reasons of Ready, that say that the service does not have the application any more.
func vanished(outcome v1alpha1.Outcome) bool {
	return outcome == v1alpha1.OutcomeExpired || outcome == v1alpha1.OutcomeDeleted
}

// connect finds the connection that the Mandate is to use. One that was made from an earlier IdentityService is not it:
// its URL or prefix may be another's.
func (r *Reconciler) connect(ctx context.Context, p *pass) (serviceFacts, error) {
	key := connection.KeyOf(p.mandate)
	service, access, err := connection.Find(ctx, r.Cache, r.ClusterServices, key, p.mandate.Namespace)
	switch {
	case err != nil || access == connection.Absent:
		return serviceFacts{}, err
	case access == connection.Denied:
		return serviceFacts{exists: true, denied: true}, nil
	}
	f := serviceFacts{exists: true, deleting: !service.GetDeletionTimestamp().IsZero()}
	if made, ok := r.Connections.Get(key); ok && made.UID == service.GetUID() && made.Generation == service.GetGeneration() {
		p.connection, p.service = made, made.Client
		f.known, f.ready = true, made.Ready
	}
	return f, nil
}

// callsService are the steps that show whether the connection works.
var callsService = []step{stepPost, stepRead, stepProbe, stepArchive, stepDelete, stepReview, stepComplete, stepReject}

// enterLine keeps the Mandates of one connection from taking all workers. What leads up to a call is in the line, too: it
// is not done twice. Without a connection, nothing is called.
func (p *pass) enterLine(s step) bool {
	if !p.facts.service.ready || s == stepFinalizer {
		return true
	}
	urgent := p.facts.id == 0 || p.facts.deletion.requested || p.mandate.Status.ObservedGeneration != p.mandate.Generation
	return p.visit.Begin(p.connection.Mandates, client.ObjectKeyFromObject(p.mandate), urgent)
}

// heldDecision is what the application looked like when the service refused the decision, or a review, of this very spec.
func heldDecision(m *v1alpha1.Mandate) string {
	completed := meta.FindStatusCondition(m.Status.Conditions, v1alpha1.ConditionCompleted)
	if completed == nil || completed.ObservedGeneration != m.Generation ||
		completed.Reason != v1alpha1.ReasonDecisionRefused && completed.Reason != v1alpha1.ReasonReviewRefused {
		return ""
	}
	return fingerprint(&m.Status)
}

// act carries one step out and changes the facts accordingly. An error is one of the API server; the workqueue backs
// off. What the service answers is never an error here, but a fact.
func (p *pass) act(ctx context.Context, s step) error {
	log.FromContext(ctx).V(1).Info("Step", "step", s)
	if slices.Contains(callsService, s) {
		p.visit.Calls()
	}
	switch s {
	case stepReadRecord:
		return p.readRecord(ctx)
	case stepListRecords:
		return p.listRecords(ctx)
	case stepRelease:
		return p.release(ctx)
	case stepResolve:
		return p.resolve(ctx)
	case stepClaim:
		return p.claim(ctx)
	case stepRetake:
		return p.retake(ctx)
	case stepVerify:
		p.verify(ctx)
	case stepPost:
		p.post(ctx)
	case stepConclude:
		return p.conclude(ctx)
	case stepDeposit:
		return p.deposit(ctx)
	case stepRead:
		p.read(ctx)
	case stepProbe:
		p.probe(ctx)
	case stepAdopt:
		return p.adopt(ctx)
	case stepFinalizer:
		return p.setFinalizer(ctx)
	case stepArchive:
		p.archive(ctx)
	case stepDelete:
		p.delete(ctx)
	case stepReview:
		return p.review(ctx)
	case stepComplete:
		p.decide(ctx, p.service.CompleteApplication)
	case stepReject:
		p.decide(ctx, p.service.RejectApplication)
	}
	return nil
}

// failed notes a call that did not do what it should and says what that means for this pass.
func (p *pass) failed(ctx context.Context, err error, reason string) {
	p.facts.trouble, p.facts.retryAfter = reason, idv.RetryAfterOf(err)
	p.suspect(err)
	log.FromContext(ctx).Info("Request to the service failed", "error", err.Error())
}

// suspect has the connection looked at after a failure that may be the service's and not this call's alone.
func (p *pass) suspect(err error) {
	if p.visit.Suspects(err) {
		p.Suspect(connection.KeyOf(p.mandate))
	}
}
