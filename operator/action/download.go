package action

import (
	"bytes"
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/apierror"
)

// Keys of the Secret that holds a report.
const (
	keyReport      = "report"
	keyContentType = "content_type"
)

// maxAnswer is more than a Secret holds: in JSON, the file takes a third more.
const maxAnswer = corev1.MaxSecretSize*4/3 + 64<<10

// download gets the report. It changes nothing at the service and is repeated as often as it takes.
func (p *pass) download(ctx context.Context) {
	var answer bytes.Buffer
	contentType, err := p.connection.Client.IndividualReport(ctx, p.facts.mandate.individual, &answer, maxAnswer)
	r := &p.facts.report
	switch {
	case err == nil:
		p.report, r.isURL = readReport(contentType, answer.Bytes())
		r.tooLarge = len(p.report.content)+len(p.report.contentType) > corev1.MaxSecretSize
		r.downloaded = true
	case idv.KindOf(err) == idv.KindTooLarge:
		r.tooLarge = true
	case idv.IsRefusal(err):
		r.refused = true
		p.memory.update(p.order, func(n *note) { n.refused = p.situation })
		log.FromContext(ctx).Info("The service refused the report or has none", "error", err.Error())
	default:
		p.failed(ctx, err)
	}
}

// lookForSecret reads who owns the Secret, and not what is in it.
func (p *pass) lookForSecret(ctx context.Context) error {
	secret := &metav1.PartialObjectMetadata{}
	secret.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	err := p.Live.Get(ctx, types.NamespacedName{Namespace: p.order.Namespace, Name: p.order.Spec.ReportSecretRef.Name}, secret)
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	p.facts.secret = secretFacts{looked: true, exists: err == nil, mine: err == nil && metav1.IsControlledBy(secret, p.order)}
	return nil
}

// store creates the Secret. To create is all that the operator may do to Secrets: what is there is never written over.
func (p *pass) store(ctx context.Context) error {
	owner := metav1.NewControllerRef(p.order, v1alpha1.SchemeGroupVersion.WithKind("MandateAction"))
	owner.BlockOwnerDeletion = nil // to set it takes a permission on the owner's finalizers
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.order.Namespace, Name: p.order.Spec.ReportSecretRef.Name, OwnerReferences: []metav1.OwnerReference{*owner}},
		Data:       map[string][]byte{keyReport: p.report.content, keyContentType: []byte(p.report.contentType)},
	}
	err := p.Writer.Create(ctx, secret)
	switch {
	case err == nil:
		log.FromContext(ctx).Info("Stored the report", "applicationID", p.applicationID)
		p.facts.secret = secretFacts{looked: true, exists: true, mine: true}
	case apierrors.IsAlreadyExists(err):
		p.facts.secret = secretFacts{} // by whom?
	case apierrors.IsForbidden(err), apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsRequestEntityTooLargeError(err):
		p.facts.trouble = v1alpha1.ReasonSecretRefused
		log.FromContext(ctx).Info("Failed to create the Secret for the report", "error", apierror.Bare(err).Error())
	default:
		return err
	}
	return nil
}
