package service

import (
	"context"
	"crypto/x509"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/ledger"
)

// maxWait is how long a call waits for its turn before it is put back into the queue.
const maxWait = 10 * time.Second

// connect makes a new client if the spec or the Secret changed. A reason says why there can be none. A client whose Secret
// is gone is kept, and used only if the IdentityService is being deleted, too: both go with their namespace, in any order,
// and the Mandates' applications are to be archived or deleted all the same.
func (r *Reconciler) connect(ctx context.Context, service *v1alpha1.IdentityService, e *entry) (reason string, err error) {
	if e.uid != service.UID || !equality.Semantic.DeepEqual(e.spec, service.Spec) {
		e.forget()
	}
	if e.client != nil && !service.DeletionTimestamp.IsZero() {
		return "", nil
	}
	var secret corev1.Secret
	err = r.Live.Get(ctx, types.NamespacedName{Namespace: service.Namespace, Name: service.Spec.CredentialsSecretRef.Name}, &secret)
	if apierrors.IsNotFound(err) {
		e.next = time.Now().Add(secretInterval)
		return v1alpha1.ReasonSecretNotFound, nil
	}
	if err != nil {
		return "", err
	}
	version := fmt.Sprintf("%s/%d/%s/%s", service.UID, service.Generation, secret.UID, secret.ResourceVersion)
	if e.version == version && e.client != nil {
		return "", nil
	}
	e.forget()
	if bundle := service.Spec.CABundle; bundle != "" && !x509.NewCertPool().AppendCertsFromPEM([]byte(bundle)) {
		return v1alpha1.ReasonCABundleInvalid, nil
	}
	e.client, err = idv.New(r.config(&service.Spec, &secret))
	if err != nil {
		return v1alpha1.ReasonSecretInvalid, nil //nolint:nilerr // it is shown as a condition; a retry needs another Secret
	}
	e.version, e.uid, e.spec = version, service.UID, *service.Spec.DeepCopy()
	return "", nil
}

// forget drops the client and all that was found with it.
func (e *entry) forget() {
	if e.client != nil {
		e.client.Close()
	}
	e.client, e.version, e.uid, e.err, e.checked, e.next, e.failures = nil, "", "", nil, time.Time{}, time.Time{}, 0
}

func (r *Reconciler) config(spec *v1alpha1.IdentityServiceSpec, secret *corev1.Secret) idv.Config {
	return idv.Config{
		BaseURL: spec.BaseURL,
		Credentials: idv.Credentials{
			Username: string(secret.Data["username"]), Password: idv.Hide(string(secret.Data["password"])),
			ClientID: string(secret.Data["client_id"]), ClientSecret: idv.Hide(string(secret.Data["client_secret"])),
		},
		TokenAuthorization: idv.TokenAuthorization(spec.TokenAuthorization),
		CABundle:           []byte(spec.CABundle),
		UserAgent:          r.UserAgent,
		RequestsPerSecond:  float64(spec.RequestsPerSecond),
		MaxWait:            maxWait,
		CompleteMethod:     idv.TransitionMethod(spec.Transitions.CompleteMethod),
		RejectMethod:       idv.TransitionMethod(spec.Transitions.RejectMethod),
		Observe:            r.Observe,
	}
}

// publish tells the other controllers of the connection.
func (r *Reconciler) publish(ctx context.Context, name types.NamespacedName, service *v1alpha1.IdentityService, e *entry, reason string) {
	spec := &service.Spec
	r.Connections.Put(ctx, name, connection.Connection{
		Client: e.client, URL: ledger.NormalURL(spec.BaseURL), ReferencePrefix: spec.ReferencePrefix,
		UID: service.UID, Created: service.CreationTimestamp, Generation: service.Generation,
		MinPoll: seconds(spec.Polling.MinIntervalSeconds, 30), MaxPoll: seconds(spec.Polling.MaxIntervalSeconds, 3600),
		States:     idv.StateNames{InReview: spec.States.InReview, Completed: spec.States.Completed, Rejected: spec.States.Rejected},
		References: e.references,
		Ready:      reason == v1alpha1.ReasonConnected,
		Leaving:    reason == v1alpha1.ReasonInUse && e.client != nil,
	})
}

// seconds with the CRD's default, for objects that are older than it.
func seconds(n, fallback int32) time.Duration {
	if n <= 0 {
		n = fallback
	}
	return time.Duration(n) * time.Second
}
