package mandate

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/receiver"
	"github.com/mandate-io/idv/operator/apierror"
	"github.com/mandate-io/idv/operator/ledger"
)

// subscribeTimeout bounds the request to subscribe, which a shutdown does not cancel. An answer after it is lost.
const subscribeTimeout = 12 * time.Second

func (r *reconciliation) performSubscription(ctx context.Context, s step) {
	switch s {
	case stepReadSubscription:
		r.subscriptionFailed(ctx, "Failed to read the record of the subscription", r.readRecord(ctx))
	case stepStartSubscription:
		r.startSubscription(ctx)
	case stepCheckSubscription:
		r.checkSubscription(ctx)
	case stepSubscribe:
		r.subscribe(ctx)
	case stepFindSubscription:
		r.findSubscription(ctx)
	case stepTestSubscription:
		r.testSubscription(ctx)
	case stepRefuseSubscription:
		r.refuseSubscription(ctx)
	}
}

// subscriptionFailed has what failed at the API server tried again later.
func (r *reconciliation) subscriptionFailed(ctx context.Context, what string, err error) {
	if err != nil {
		log.FromContext(ctx).Info(what, "error", apierror.Redact(err).Error())
		r.pauseSubscription(0)
	}
}

// startSubscription records that the subscription is sent. Only after the API server has confirmed that may this
// process send it, and no other process may.
func (r *reconciliation) startSubscription(ctx context.Context) {
	next := r.newSubscription(1)
	if before := r.record.Spec.Subscription; before != nil {
		next.Ordinal = before.Ordinal + 1
	}
	record, err := r.ledger.StartSubscription(ctx, r.record, *next)
	if err != nil {
		r.subscriptionFailed(ctx, "Failed to record the subscription, sent nothing", err)
		return
	}
	r.setRecord(record)
	r.subscriptionStarted(next)
}

// checkSubscription reads the Mandate, its service and the token past the cache, directly before the request.
func (r *reconciliation) checkSubscription(ctx context.Context) {
	same, err := r.serviceIsCurrent(ctx)
	if same && err == nil {
		same, err = r.isCurrent(ctx)
	}
	var urls []idv.Secret
	if same && err == nil {
		urls, err = r.receiverURLs(ctx)
	}
	switch {
	case err != nil:
		r.subscriptionFailed(ctx, "Cannot subscribe the application yet, sent nothing", err)
	case !same:
		r.pauseSubscription(0)
	default:
		r.receiverURL = urls[0]
		r.facts.subscription.checked = true
	}
}

var errNoToken = errors.New(
	"the Secret of spec.notifications has no token of 32 characters or more without white space")

var errPayload = errors.New("payload.json in the Secret of spec.notifications is no JSON object")

// receiverURLs are where the service delivers: with the token, and with the one before it while that is rotated.
func (r *reconciliation) receiverURLs(ctx context.Context) ([]idv.Secret, error) {
	var secret corev1.Secret
	to := r.session.Connection.Subscriptions
	name := types.NamespacedName{Namespace: to.Secret.Namespace, Name: to.Secret.Name}
	if err := r.live.Get(ctx, name, &secret); err != nil {
		return nil, err
	}
	token, ok := receiver.TokenOf(secret.Data[receiver.KeyToken])
	if !ok {
		return nil, errNoToken
	}
	payload, ok := receiver.PayloadOf(secret.Data[receiver.KeyPayload])
	if !ok {
		return nil, errPayload
	}
	r.subscriptionFields = idv.Hide(payload)
	urls := []idv.Secret{idv.Hide(receiver.URL(to.URL, to.Path, token))}
	if previous, ok := receiver.TokenOf(secret.Data[receiver.KeyPreviousToken]); ok {
		urls = append(urls, idv.Hide(receiver.URL(to.URL, to.Path, previous)))
	}
	return urls, nil
}

// subscribe sends the subscription, once. A shutdown does not cut it short.
func (r *reconciliation) subscribe(ctx context.Context) {
	if r.attempting = r.attempting || r.runner.TryBegin(); !r.attempting {
		r.pauseSubscription(0)
		return
	}
	s, id := &r.facts.subscription, r.facts.id
	to := r.session.Connection.Subscriptions
	s.mine = false
	r.learnSubscription(func(k *knownSubscription) { k.mine = false })
	sending, cancel := context.WithTimeout(context.WithoutCancel(ctx), subscribeTimeout)
	defer cancel()
	answer, err := r.client.SubscribeWebhook(sending, idv.Subscription{
		URL: r.receiverURL, Events: to.Events, ApplicationID: id, FieldNames: to.FieldNames,
		Payload: r.subscriptionFields,
	})
	logger := log.FromContext(ctx).WithValues("applicationID", id)
	if err == nil && answer.Accepted {
		logger.Info("The service subscribes the application later")
		s.accepted = true
		r.lookForSubscription(r.clock.Now())
		return
	}
	if err == nil {
		logger.Info("Subscribed the application")
		r.subscribed.add(accountOf(&r.session.Connection), id, false)
		r.endSubscription(v1alpha1.SubscriptionSubscribed)
		return
	}
	logger.Info("Failed to subscribe the application",
		"outcome", idv.OutcomeOf(err).String(), "error", err.Error())
	switch outcome := idv.OutcomeOf(err); {
	case !outcome.NothingDone():
		r.lookForSubscription(time.Time{})
	case idv.IsRefusal(err):
		s.refusedNow = true
	default: // it did not reach the service, so it is as good as not sent
		s.mine = true
		r.learnSubscription(func(k *knownSubscription) { k.mine = true })
		r.pauseSubscription(idv.RetryAfterOf(err))
	}
}

// lookForSubscription has one that was sent looked for, once it cannot be under way any more.
func (r *reconciliation) lookForSubscription(accepted time.Time) {
	s, now := &r.facts.subscription, r.clock.Now()
	r.learnSubscription(func(k *knownSubscription) { k.seen, k.accepted = now, accepted })
	s.started, s.seen = true, now
	r.pauseSubscription(r.facts.settleDelay)
}

// findSubscription looks whether the service has the subscription of the application.
func (r *reconciliation) findSubscription(ctx context.Context) {
	s := &r.facts.subscription
	urls, err := r.receiverURLs(ctx)
	if err == nil {
		s.lookup, err = r.lookUpSubscription(ctx, r.facts.id, urls)
	}
	switch {
	case err != nil && s.refusedNow:
		s.lookup = lookupUnclear
	case err != nil:
		s.lookup = notLooked
		r.subscriptionFailed(ctx, "Failed to look for the subscription of the application", err)
	case s.lookup == lookupFound:
		log.FromContext(ctx).Info("Found the subscription of the application", "applicationID", r.facts.id)
		r.subscribed.add(accountOf(&r.session.Connection), r.facts.id, true)
		r.endSubscription(v1alpha1.SubscriptionSubscribed)
	}
}

// testSubscription looks whether the service shows a subscription that exists.
func (r *reconciliation) testSubscription(ctx context.Context) {
	s, by := &r.facts.subscription, accountOf(&r.session.Connection)
	s.tested = true
	id := r.subscribed.witness(by, r.facts.id)
	urls, err := r.receiverURLs(ctx)
	if err == nil && id != 0 {
		var found subscriptionLookup
		found, err = r.lookUpSubscription(ctx, id, urls)
		if s.believable = err == nil && found == lookupFound; s.believable {
			r.subscribed.add(by, id, true)
		}
	}
	r.subscriptionFailed(ctx, "Failed to look for the subscription of another application", err)
}

// lookUpSubscription says what the service shows of the subscriptions of an application. A service may mask URLs, so
// one at the receiver's host may be ours.
func (r *reconciliation) lookUpSubscription(
	ctx context.Context, id int64, urls []idv.Secret,
) (subscriptionLookup, error) {
	shown, err := r.client.RetrieveWebhook(ctx, id, cmp.Or(r.session.Connection.Subscriptions.FieldNames["url"], "url"))
	switch {
	case idv.IsNotFound(err):
		return lookupNone, nil
	case err != nil:
		return notLooked, err
	}
	for _, wanted := range urls {
		if len(shown.WithURL(wanted.Reveal())) > 0 {
			return lookupFound, nil
		}
	}
	for i := range shown.Items {
		if sameHost(shown.Items[i].URL.Reveal(), urls[0].Reveal()) {
			return lookupUnclear, nil
		}
	}
	switch {
	case shown.Complete:
		return lookupListed, nil
	case shown.Empty:
		return lookupNone, nil
	default:
		return lookupUnclear, nil
	}
}

// sameHost reports whether a URL has the host of another one, or cannot be read.
func sameHost(text, as string) bool {
	shown, err := url.Parse(idv.CanonicalURL(text))
	ours, _ := url.Parse(idv.CanonicalURL(as))
	return err != nil || shown.Host == "" || ours != nil && strings.EqualFold(shown.Host, ours.Host)
}

// refuseSubscription records that the service refused the subscription, so that it may be sent again once a person has
// corrected what is wrong.
func (r *reconciliation) refuseSubscription(ctx context.Context) {
	known := r.knownSubscription()
	ctx = context.WithoutCancel(ctx)
	err := r.readRecord(ctx)
	if err == nil && r.record != nil && r.record.Spec.Subscription != nil &&
		r.record.Spec.Subscription.Ordinal == known.ordinal &&
		r.record.Spec.Subscription.StartedTime.Time.Equal(known.started) {
		var record *v1alpha1.ApplicationRecord
		if record, err = r.ledger.RefuseSubscription(ctx, r.record); err == nil {
			r.setRecord(record)
		}
	}
	if err != nil && !errors.Is(err, ledger.ErrLost) {
		log.FromContext(ctx).Info("Failed to record that a subscription was refused", "error", apierror.Redact(err).Error())
	}
	r.endSubscription(v1alpha1.SubscriptionRefused)
}
