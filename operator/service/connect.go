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

// maxWait is how long a request waits for the rate limit before its object is put back into the queue.
const maxWait = 10 * time.Second

// inputs are what a client is made from.
type inputs struct {
	service  types.UID
	settings v1alpha1.ServiceSettings
	secret   string // its UID and version
}

func (i *inputs) same(other *inputs) bool {
	return i.service == other.service && i.secret == other.secret &&
		equality.Semantic.DeepEqual(i.settings, other.settings)
}

// connect makes a new client if the settings or the Secret changed. A reason says why there can be none.
func (r *Reconciler) connect(ctx context.Context, service connection.Service, e *entry) (reason string, err error) {
	var secret corev1.Secret
	ref := service.CredentialsSecret()
	wanted := inputs{service: service.GetUID(), settings: *service.Settings().DeepCopy()}
	err = r.config.Live.Get(ctx, types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}, &secret)
	wanted.secret = fmt.Sprintf("%s/%s", secret.UID, secret.ResourceVersion)
	if apierrors.IsNotFound(err) && e.client != nil && !service.GetDeletionTimestamp().IsZero() {
		// When everything is deleted at once, the Secret goes first. What Mandates still have to do is done with what it
		// held.
		wanted.secret, err = e.made.secret, nil
	}
	if apierrors.IsNotFound(err) {
		e.forget()
		return v1alpha1.ReasonSecretNotFound, nil
	}
	if apierrors.IsForbidden(err) {
		e.forget()
		return v1alpha1.ReasonSecretForbidden, nil
	}
	if err != nil {
		return "", err
	}
	if e.client != nil && e.made.same(&wanted) {
		return "", nil
	}
	e.forget()
	if bundle := wanted.settings.CABundle; bundle != "" && !x509.NewCertPool().AppendCertsFromPEM([]byte(bundle)) {
		return v1alpha1.ReasonCABundleInvalid, nil
	}
	e.client, err = idv.New(r.clientConfig(&wanted.settings, &secret))
	if err != nil {
		return v1alpha1.ReasonSecretInvalid, nil //nolint:nilerr // it is shown as a condition; a retry needs another Secret
	}
	e.made = wanted
	return "", nil
}

// forget drops the client and all that was found with it.
func (e *entry) forget() {
	if e.client != nil {
		e.client.Close()
	}
	e.client, e.made = nil, inputs{}
	e.err = nil
	e.failures = 0
	e.probeStarted, e.nextProbe = time.Time{}, time.Time{}
}

func (r *Reconciler) clientConfig(spec *v1alpha1.ServiceSettings, secret *corev1.Secret) idv.Config {
	return idv.Config{
		BaseURL: spec.BaseURL,
		Credentials: idv.Credentials{
			Username: string(secret.Data["username"]), Password: idv.Hide(string(secret.Data["password"])),
			ClientID: string(secret.Data["client_id"]), ClientSecret: idv.Hide(string(secret.Data["client_secret"])),
		},
		TokenAuthorization: idv.TokenAuthorization(spec.TokenAuthorization),
		CABundle:           []byte(spec.CABundle),
		UserAgent:          r.config.UserAgent,
		RequestsPerSecond:  float64(spec.RequestsPerSecond),
		MaxRateLimitWait:   maxWait,
		CompleteMethod:     idv.TransitionMethod(spec.Transitions.CompleteMethod),
		RejectMethod:       idv.TransitionMethod(spec.Transitions.RejectMethod),
		Observe:            r.config.Observe,
	}
}

// publish puts the connection into the registry.
func (r *Reconciler) publish(
	ctx context.Context, key connection.Key, service connection.Service, e *entry, reason string,
) {
	spec := service.Settings()
	r.config.Connections.Put(ctx, key, connection.Connection{
		Client:          e.client,
		URL:             ledger.NormalURL(spec.BaseURL),
		ReferencePrefix: spec.ReferencePrefix,
		UID:             service.GetUID(),
		Created:         service.GetCreationTimestamp(),
		Generation:      service.GetGeneration(),
		MinPoll:         seconds(spec.Polling.MinIntervalSeconds, 30),
		MaxPoll:         seconds(spec.Polling.MaxIntervalSeconds, 3600),
		States: idv.StateNames{
			InReview:  spec.States.InReview,
			Completed: spec.States.Completed,
			Rejected:  spec.States.Rejected,
		},
		References: e.references,
		Ready:      reason == v1alpha1.ReasonConnected,
		Probed:     e.probed,
	})
}

// seconds with the CRD's default, for objects that are older than it.
func seconds(n, fallback int32) time.Duration {
	if n <= 0 {
		n = fallback
	}
	return time.Duration(n) * time.Second
}
