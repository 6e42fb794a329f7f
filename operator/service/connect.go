package service

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
	"github.com/mandate-io/idv/operator/secrets"
)

// maxWait is how long a request waits for the rate limit before its object is put back into the queue.
const maxWait = 10 * time.Second

// inputs are what a client is made from. Settings that are not here, such as polling, need no new client.
type inputs struct {
	service            types.UID
	user               user
	account            connection.Account
	tokenAuthorization v1alpha1.TokenAuthorization
	tokenRequest       v1alpha1.TokenRequest
	caBundle           [sha256.Size]byte // a digest: the cache has the bundle, which can be large
	requestsPerSecond  int32
	transitions        v1alpha1.Transitions
}

// user is who logs in by way of a connection. Limits belong to a user and outlive the client, and also the object that
// somebody deletes and applies again: a service that asks to wait, or refuses a login, means the user.
type user struct {
	connection  connection.Key
	url         string // in its normal form
	credentials digest
}

// maxRememberedUsers is how many users have limits that outlive their clients. A connection may have several: a Secret
// that alternates between two wrong passwords does not end the hold-off.
const maxRememberedUsers = 10000

// digest of credentials. It is keyed with a random key of the process, so that it is of no use outside of it.
type digest [sha256.Size]byte

// credentialKeys are the keys of a Secret that are used. Nothing else in it, nor its metadata, changes the digest.
var credentialKeys = []string{"username", "password", "client_id", "client_secret"}

func (r *Reconciler) digest(secret *corev1.Secret) (sum digest) {
	h := hmac.New(sha256.New, r.digestKey)
	for _, key := range credentialKeys {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(secret.Data[key]))))
		h.Write(secret.Data[key])
	}
	h.Sum(sum[:0])
	return sum
}

func (r *Reconciler) newInputs(service connection.Service, secret *corev1.Secret) inputs {
	settings := service.Settings()
	return inputs{
		service: service.GetUID(),
		user: user{
			connection:  connection.KeyOfService(service),
			url:         idv.NormalBaseURL(settings.BaseURL),
			credentials: r.digest(secret),
		},
		account:            accountOf(settings, secret),
		tokenAuthorization: settings.TokenAuthorization,
		tokenRequest:       settings.TokenRequest,
		caBundle:           sha256.Sum256([]byte(settings.CABundle)),
		requestsPerSecond:  r.requestsPerSecond(settings),
		transitions:        settings.Transitions,
	}
}

// accountOf is the account that a login with the credentials names. A user name that is not sent counts for nothing.
func accountOf(settings *v1alpha1.ServiceSettings, secret *corev1.Secret) connection.Account {
	username := string(secret.Data["username"])
	if settings.TokenRequest.GrantType == v1alpha1.GrantTypeClientCredentials &&
		settings.TokenAuthorization != v1alpha1.TokenAuthorizationUserBasic {
		username = ""
	}
	grant := cmp.Or(settings.TokenRequest.GrantType, v1alpha1.GrantTypePassword)
	return connection.NewAccount(idv.NormalBaseURL(settings.BaseURL), grant, username, string(secret.Data["client_id"]))
}

// connect makes a new client if what it is made from changed. A reason says why there can be none.
func (r *Reconciler) connect(ctx context.Context, service connection.Service, e *entry) (reason string, err error) {
	if !r.config.URLs.Allows(service.Settings().BaseURL) {
		e.forget()
		return v1alpha1.ReasonBaseURLNotAllowed, nil
	}
	secret, err := secrets.Get(ctx, r.config.Live, service.CredentialsSecret(), v1alpha1.SecretUseCredentials)
	wanted := r.newInputs(service, secret)
	if apierrors.IsNotFound(err) && e.client != nil {
		// When everything is deleted at once, the Secret goes first, and the deletion of the service may show later. What
		// Mandates still have to do is done then, with what the Secret held. Until then, nothing is.
		if service.GetDeletionTimestamp().IsZero() {
			return v1alpha1.ReasonSecretNotFound, nil
		}
		wanted.user.credentials, wanted.account = e.made.user.credentials, e.made.account
		err = nil
	}
	if problem := problemOf(err, v1alpha1.ReasonSecretNotFound, v1alpha1.ReasonSecretForbidden,
		v1alpha1.ReasonSecretNotForThis); problem != "" {
		e.forget()
		return problem, nil
	}
	if err != nil {
		return "", err
	}
	if e.client != nil && e.made == wanted {
		return "", nil
	}
	if e.made.service != wanted.service || e.made.user != wanted.user {
		e.forget()
	}
	e.closeClient()
	if bundle := service.Settings().CABundle; bundle != "" && !x509.NewCertPool().AppendCertsFromPEM([]byte(bundle)) {
		return v1alpha1.ReasonCABundleInvalid, nil
	}
	config := r.clientConfig(service.Settings(), secret)
	config.ObserveOperation, config.MayRetry = e.breaker.Observe, e.breaker.MayRetry
	config.Limits = r.limitsOf(wanted.user)
	e.client, err = idv.New(config)
	if err != nil {
		e.keys = err.Error()
		return v1alpha1.ReasonSecretInvalid, nil //nolint:nilerr // it is shown as a condition; a retry needs another Secret
	}
	e.made = wanted
	return "", nil
}

// problemOf says by one of three reasons why a Secret cannot be used; "" if it can, or if that is not known.
func problemOf(err error, notFound, forbidden, notForThis string) string {
	return cmp.Or(
		engine.If(apierrors.IsNotFound(err), notFound),
		engine.If(apierrors.IsForbidden(err), forbidden),
		engine.If(errors.Is(err, secrets.ErrNotForThis), notForThis),
	)
}

// limitsOf gives the limits of a user, which all clients of the user share.
func (r *Reconciler) limitsOf(u user) *idv.Limits {
	if limits, ok := r.limits.Get(u); ok {
		return limits.(*idv.Limits) //nolint:forcetypeassert // it holds no other type
	}
	limits := new(idv.Limits)
	r.limits.Add(u, limits)
	return limits
}

// forget drops the client and all that was found with it. What the limits of its user are stays known.
func (e *entry) forget() {
	e.closeClient()
	e.connected = false
	e.failure, e.cause = "", ""
	e.breaker.Reset()
}

// closeClient drops the client. The next one is probed at once: a person has changed something.
func (e *entry) closeClient() {
	e.stopProbe()
	if e.client != nil {
		e.client.Close()
	}
	e.client, e.made = nil, inputs{}
	e.nextProbe, e.notBefore = time.Time{}, time.Time{}
	e.breaker.TestNow()
}

func (r *Reconciler) clientConfig(spec *v1alpha1.ServiceSettings, secret *corev1.Secret) idv.Config {
	config := idv.Config{
		BaseURL: spec.BaseURL,
		Credentials: idv.Credentials{
			Username: string(secret.Data["username"]), Password: idv.Hide(string(secret.Data["password"])),
			ClientID: string(secret.Data["client_id"]), ClientSecret: idv.Hide(string(secret.Data["client_secret"])),
		},
		TokenAuthorization: idv.TokenAuthorization(spec.TokenAuthorization),
		GrantType:          idv.GrantType(spec.TokenRequest.GrantType),
		CABundle:           []byte(spec.CABundle),
		UserAgent:          r.config.UserAgent,
		RequestsPerSecond:  float64(r.requestsPerSecond(spec)),
		MaxRateLimitWait:   maxWait,
		CompleteMethod:     idv.TransitionMethod(spec.Transitions.CompleteMethod),
		RejectMethod:       idv.TransitionMethod(spec.Transitions.RejectMethod),
		Observe:            r.config.Observe,
		DiscardRaw:         true,
	}
	if r.config.Budget != nil {
		config.Wrap = r.config.Budget.Wrap()
	}
	return config
}

// requestsPerSecond is what the spec asks for, below the ceiling.
func (r *Reconciler) requestsPerSecond(spec *v1alpha1.ServiceSettings) int32 {
	if ceiling := r.config.MaxRequestsPerSecond; ceiling > 0 {
		return int32(min(ceiling, int(spec.RequestsPerSecond))) //nolint:gosec // it is below an int32
	}
	return spec.RequestsPerSecond
}

// publish puts the connection into the registry. A usable one is Ready once a probe has succeeded.
func (r *Reconciler) publish(
	ctx context.Context, key connection.Key, service connection.Service, e *entry, usable bool, statesUnknown int,
) {
	made := connection.Of(service, e.made.account)
	made.Client, made.Credentials = e.client, e.made.user.credentials
	made.SameAccounts, made.AccountState = e.account.same, e.account.state
	made.LookWithin = e.account.lookWithin
	made.MinPoll = max(made.MinPoll, r.config.MinPollInterval)
	made.MaxPoll = max(made.MaxPoll, r.config.MinPollInterval)
	made.Notified, made.Subscriptions = lastNotified(service), connection.SubscriptionsOf(service)
	made.StatesUnknown, made.References = statesUnknown, e.references
	made.Ready = usable && e.connected
	r.config.Connections.Put(ctx, key, made)
}
