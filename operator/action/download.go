package action

import (
	"cmp"
	"context"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/apierror"
	"github.com/mandate-io/idv/operator/engine"
)

// Keys of the Secret that holds a report.
const (
	keyReport      = "report"
	keyContentType = "content_type"
)

// maxAnswer is more than a Secret holds: in JSON, the file takes a third more.
const maxAnswer = corev1.MaxSecretSize*4/3 + 64<<10

// reportInterval is how soon a report is asked for again that the service is making.
const reportInterval = time.Minute

// download gets the report. It changes nothing at the service and is repeated as often as it takes.
func (r *reconciliation) download(ctx context.Context) error {
	downloaded, err := r.client.IndividualReport(ctx, r.facts.mandate.individual, maxAnswer)
	report := &r.facts.report
	switch {
	case err == nil:
		r.downloaded = downloaded
		r.report, report.isURL = readReport(downloaded.ContentType, downloaded.Content)
		report.tooLarge = len(r.report.content)+len(r.report.contentType) > corev1.MaxSecretSize
		report.downloaded = true
	case idv.KindOf(err) == idv.KindTooLarge:
		report.tooLarge = true
	case idv.KindOf(err) == idv.KindNotReady:
		r.facts.failureReason = v1alpha1.ReasonReportNotReady
		r.facts.retryAfter = cmp.Or(idv.RetryAfterOf(err), reportInterval)
	case isForbidden(err):
		report.forbidden = true
		r.failed(err)
		log.FromContext(ctx).Info("The service does not let this user download the report", "error", err.Error())
	case idv.IsRefusal(err) && !idv.IsForbidden(err):
		report.refused = true
		r.failed(err)
		r.localState.Update(r.action, func(s *localState) { s.refusedDigest = r.statusDigest })
		log.FromContext(ctx).Info("The service refused the report or has none", "error", err.Error())
	default:
		r.requestFailed(ctx, err)
	}
	return nil
}

// lookForSecret reads who owns the Secret, and not what is in it.
func (r *reconciliation) lookForSecret(ctx context.Context) error {
	secret := &metav1.PartialObjectMetadata{}
	secret.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	name := types.NamespacedName{Namespace: r.action.Namespace, Name: r.action.Spec.ReportSecretRef.Name}
	err := r.config.Live.Get(ctx, name, secret)
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	r.facts.secret = secretFacts{checked: true, exists: err == nil, mine: metav1.IsControlledBy(secret, r.action)}
	r.localState.Update(r.action, func(s *localState) { s.noSecret = err != nil })
	return nil
}

// checkAccess asks whether the operator may create Secrets in the namespace. Without config/reports, it may not.
func (r *reconciliation) checkAccess(ctx context.Context) error {
	allowed, err := engine.IsAllowed(ctx, r.config.Writer, authorizationv1.ResourceAttributes{
		Namespace: r.action.Namespace, Verb: "create", Resource: "secrets",
	})
	if err != nil {
		return err
	}
	r.facts.storing.checked, r.facts.storing.denied = true, !allowed
	r.localState.Update(r.action, func(s *localState) { s.mayStore = allowed })
	return nil
}

// store creates the Secret. To create is all that the operator may do to Secrets: what is there is never written over.
func (r *reconciliation) store(ctx context.Context) error {
	owner := metav1.NewControllerRef(r.action, v1alpha1.SchemeGroupVersion.WithKind("MandateAction"))
	owner.BlockOwnerDeletion = nil // to set it takes a permission on the owner's finalizers
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       r.action.Namespace,
			Name:            r.action.Spec.ReportSecretRef.Name,
			OwnerReferences: []metav1.OwnerReference{*owner},
		},
		Data: map[string][]byte{keyReport: r.report.content, keyContentType: []byte(r.report.contentType)},
	}
	err := r.config.Writer.Create(ctx, secret)
	switch {
	case err == nil:
		log.FromContext(ctx).Info("Stored the report", "applicationID", r.facts.mandate.application)
		r.facts.secret = secretFacts{checked: true, exists: true, mine: true}
	case apierrors.IsAlreadyExists(err):
		r.facts.secret = secretFacts{} // by whom?
	case apierror.IsRefusal(err):
		r.facts.storing = storingFacts{refused: true} // by RBAC?
		r.facts.problems = []v1alpha1.Problem{
			engine.ServerProblem("spec.reportSecretRef", "", "create the Secret", err),
		}
		log.FromContext(ctx).Info("Failed to create the Secret for the report", "error", apierror.Redact(err).Error())
	default:
		return err
	}
	return nil
}
