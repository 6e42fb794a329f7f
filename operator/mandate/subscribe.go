package mandate

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/receiver"
	"github.com/mandate-io/idv/operator/apierror"
	"github.com/mandate-io/idv/operator/ledger"
	"github.com/mandate-io/idv/operator/secrets"
)

// subscribeTimeout bounds the request to subscribe, which a shutdown does not cancel. An answer after it is lost.
const subscribeTimeout = 12 * time.Second

// beginSubscription records that the subscription is sent. An error would keep the reconciliation from writing the
// status, and a subscription delays nothing else.
func (r *reconciliation) beginSubscription(ctx context.Context) {
	if err := r.begin(ctx, subscribeOrder()); err != nil {
		r.subscriptionFailed(ctx, "Failed to record the subscription, sent nothing", err)
	}
}

// takeReceiver reads where the service is to deliver, directly before the request. The token is in no cache.
func (r *reconciliation) takeReceiver(ctx context.Context) bool {
	urls, digest, err := r.receiverURLs(ctx)
	if err == nil && !slices.Contains(r.session.Connection.Subscriptions.TokenDigests, digest) {
		err = errUnknownToken // it would refuse the question of the service, which may then refuse the subscription
	}
	if err != nil {
		log.FromContext(ctx).Info("Cannot subscribe the application yet, sent nothing",
			"error", apierror.Redact(err).Error())
		return false
	}
	r.receiverURL = urls[0]
	return true
}

var errNoToken = errors.New(
	"the Secret of spec.notifications has no token of 32 characters or more without white space")

var errUnknownToken = errors.New("the receiver of notifications does not know the token yet")

var errPayload = errors.New("payload.json in the Secret of spec.notifications is no JSON object")

// receiverURLs are where the service delivers: with the token, whose digest it gives, too, and with the one before it
// while that is rotated.
func (r *reconciliation) receiverURLs(ctx context.Context) (urls []idv.Secret, digest string, err error) {
	var secret corev1.Secret
	to := r.session.Connection.Subscriptions
	name := types.NamespacedName{Namespace: to.Secret.Namespace, Name: to.Secret.Name}
	if err := secrets.Get(ctx, r.live, name, v1alpha1.SecretUseNotifications, &secret); err != nil {
		return nil, "", err
	}
	token, ok := receiver.TokenOf(secret.Data[receiver.KeyToken])
	if !ok {
		return nil, "", errNoToken
	}
	payload, ok := receiver.PayloadOf(secret.Data[receiver.KeyPayload])
	if !ok {
		return nil, "", errPayload
	}
	r.subscriptionFields = idv.Hide(payload)
	urls = []idv.Secret{idv.Hide(receiver.URL(to.URL, to.Path, token))}
	if previous, ok := receiver.TokenOf(secret.Data[receiver.KeyPreviousToken]); ok {
		urls = append(urls, idv.Hide(receiver.URL(to.URL, to.Path, previous)))
	}
	return urls, receiver.Digest(token), nil
}

// subscribe sends the subscription.
func (r *reconciliation) subscribe(ctx context.Context) (*idv.Change, error) {
	to := r.session.Connection.Subscriptions
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), subscribeTimeout)
	defer cancel()
	answer, err := r.client.SubscribeWebhook(ctx, idv.Subscription{
		URL: r.receiverURL, Events: to.Events, ApplicationID: r.facts.id, FieldNames: to.FieldNames,
		Payload: r.subscriptionFields,
	})
	if err != nil {
		return nil, err
	}
	return &idv.Change{Accepted: answer.Accepted}, nil
}

// findSubscription looks whether the service has the subscription of the application.
func (r *reconciliation) findSubscription(ctx context.Context) {
	urls, _, err := r.receiverURLs(ctx)
	if err == nil {
		r.facts.subscription.lookup, err = r.lookUpSubscription(ctx, r.facts.id, urls)
	}
	if err != nil {
		r.subscriptionFailed(ctx, "Failed to look for the subscription of the application", err)
	}
}

// lookUpSubscription says what the service shows of the subscriptions of an application.
func (r *reconciliation) lookUpSubscription(
	ctx context.Context, id int64, urls []idv.Secret,
) (subscriptionLookup, error) {
	shown, err := r.client.RetrieveWebhook(ctx, id, cmp.Or(r.session.Connection.Subscriptions.FieldNames["url"], "url"))
	switch {
	case idv.IsNotFound(err):
		return lookupUnclear, nil
	case err != nil:
		return notLooked, err
	}
	for _, wanted := range urls {
		if len(shown.WithURL(wanted.Reveal())) > 0 {
			return lookupFound, nil
		}
	}
	return lookupUnclear, nil
}

// resolveSubscription records what a look-up showed of a subscription whose answer was unclear.
func (r *reconciliation) resolveSubscription(ctx context.Context) {
	entry, result := r.facts.record.made(subscribeOrder()), v1alpha1.CallUnknown
	if r.facts.subscription.lookup == lookupFound {
		result = v1alpha1.CallDone
	}
	record, err := r.ledger.EndOther(ctx, r.record, ledger.Ended(*entry, result, r.clock.Now()))
	if err == nil {
		r.setRecord(record)
	} else if err = r.reloadIfLost(ctx, err); err != nil {
		r.subscriptionFailed(ctx, "Failed to record the subscription that was found", err)
	}
}
