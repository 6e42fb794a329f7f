package mandate

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/receiver"
	"github.com/mandate-io/idv/operator/apierror"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
	"github.com/mandate-io/idv/operator/secrets"
)

// subscribeTimeout bounds the request to subscribe, which a shutdown does not cancel. An answer after it is lost.
const subscribeTimeout = 12 * time.Second

// subscriber subscribes the application of a Mandate to notifications, once the status shows it and everything else is
// done. It delays nothing else, and what fails of it ends nothing else.
type subscriber struct {
	*scope
	client webhooksClient // of the connection
	live   client.Reader

	retryAfter time.Duration // in how long to go on; 0: with the next reconciliation
	url        idv.Secret    // of the receiver, with its token; set by verify
	payload    idv.Raw       // further fields of the subscription, set with it
}

// webhooksClient is what a subscriber needs of the client of the service.
type webhooksClient interface {
	SubscribeWebhook(ctx context.Context, subscription idv.Subscription) (*idv.SubscriptionResponse, error)
	RetrieveWebhook(ctx context.Context, applicationID int64, urlNames ...string) (*idv.Webhooks, error)
}

// knownSubscription is what this process knows of the subscription of an application.
type knownSubscription struct {
	// state is how it ended, while the status still says over.
	state, over v1alpha1.SubscriptionState
	by          connectionVersion // the connection, when it ended
	failures    int               // in a row
}

// start finds out whether there is to be a subscription, when the other facts are known.
func (s *subscriber) start(subscribed *subscribedApplications) {
	status := &s.mandate.Status
	if s.to() == nil || status.ApplicationID == nil || status.Outcome != "" || status.Archived {
		return
	}
	local, facts := s.local(), &s.facts.subscription
	facts.readHere = s.facts.observe.ownAccount && local.readBy == s.knownAccount()
	facts.wish, facts.ended = wanted, status.Subscription
	if known := local.subscription; known.state != "" && known.over == status.Subscription {
		facts.ended = known.state
	}
	switch facts.ended {
	case v1alpha1.SubscriptionSubscribed:
		sent := engine.ParseNotificationRequest(engine.ReconcileRequest(s.mandate)).Time
		subscribed.notified(s.session.Connection.Account, *status.ApplicationID, s.facts.createdTime, sent)
	case v1alpha1.SubscriptionRefused, v1alpha1.SubscriptionOutcomeUnknown:
		if s.goesOn(s.pendingRequest()) {
			facts.wish, facts.ended = wantedAgain, ""
		}
	}
	if facts.ended != "" {
		facts.wish = notWanted
	}
}

// to is where the service delivers; nil: somebody else subscribes.
func (s *subscriber) to() *connection.Subscriptions { return s.session.Connection.Subscriptions }

// goesOn reports whether to go on with a subscription that was refused, or may exist: because a person asks for it, or
// because the service was edited.
func (s *subscriber) goesOn(request string) bool {
	known := s.remember(func(k *knownSubscription) {
		if k.by == (connectionVersion{}) {
			k.by = s.connectionVersion()
		}
	})
	return request != "" && !engine.IsNotification(request) || known.by != s.connectionVersion()
}

func (s *subscriber) remember(change func(*knownSubscription)) knownSubscription {
	return s.learn(func(l *localState) { change(&l.subscription) }).subscription
}

// acquired takes over whether there is a slot. If not, the Mandate is woken up later.
func (s *subscriber) acquired(slot bool) {
	s.facts.subscription.phase = subscriptionPaused
	if slot {
		s.facts.subscription.phase = subscriptionActive
	}
}

// begun is for a subscription that is about to be sent: what it comes to is looked up, and ends it.
func (s *subscriber) begun() {
	s.facts.subscription.phase, s.facts.subscription.lookup = subscriptionBegun, notLooked
}

// pause ends what is done for it in this reconciliation.
func (s *subscriber) pause(retryAfter time.Duration) {
	s.facts.subscription.phase = subscriptionPaused
	known := s.remember(func(k *knownSubscription) { k.failures++ })
	s.retryAfter = max(retryAfter, engine.RequeueBackoff.After(known.failures))
}

// retryOn has what failed tried again later. An error would keep the reconciliation from writing the status.
func (s *subscriber) retryOn(ctx context.Context, what string, err error) {
	if err != nil {
		log.FromContext(ctx).Info(what, "error", apierror.Redact(err).Error())
		s.pause(0)
	}
}

var (
	errNoToken = errors.New(
		"the Secret of spec.notifications has no token of 32 characters or more without white space")
	errUnknownToken = errors.New("the receiver of notifications does not know the token yet")
	errPayload      = errors.New("payload.json in the Secret of spec.notifications is no JSON object")
)

// verify reads where the service is to deliver, directly before the request. The token is in no cache.
func (s *subscriber) verify(ctx context.Context) bool {
	urls, digest, err := s.receiverURLs(ctx)
	if err == nil && !slices.Contains(s.to().TokenDigests, digest) {
		err = errUnknownToken // it would refuse the question of the service, which may then refuse the subscription
	}
	if err != nil {
		log.FromContext(ctx).Info("Cannot subscribe the application yet, sent nothing",
			"error", apierror.Redact(err).Error())
		return false
	}
	s.url = urls[0]
	return true
}

// receiverURLs are where the service delivers: with the token, whose digest it gives, too, and with the one before it
// while that is rotated.
func (s *subscriber) receiverURLs(ctx context.Context) (urls []idv.Secret, digest string, err error) {
	secret, err := secrets.Get(ctx, s.live, s.to().Secret, v1alpha1.SecretUseNotifications)
	if err != nil {
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
	s.payload = idv.Hide(payload)
	urls = []idv.Secret{idv.Hide(receiver.URL(s.to().URL, s.to().Path, token))}
	if previous, ok := receiver.TokenOf(secret.Data[receiver.KeyPreviousToken]); ok {
		urls = append(urls, idv.Hide(receiver.URL(s.to().URL, s.to().Path, previous)))
	}
	return urls, receiver.Digest(token), nil
}

// send sends the subscription.
func (s *subscriber) send(ctx context.Context) (*idv.Change, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), subscribeTimeout)
	defer cancel()
	answer, err := s.client.SubscribeWebhook(ctx, idv.Subscription{
		URL: s.url, Events: s.to().Events, ApplicationID: s.facts.id, FieldNames: s.to().FieldNames, Payload: s.payload,
	})
	if err != nil {
		return nil, err
	}
	return &idv.Change{Accepted: answer.Accepted}, nil
}

// find looks whether the service has the subscription of the application.
func (s *subscriber) find(ctx context.Context) {
	urls, _, err := s.receiverURLs(ctx)
	if err == nil {
		s.facts.subscription.lookup, err = s.lookUp(ctx, urls)
	}
	s.retryOn(ctx, "Failed to look for the subscription of the application", err)
}

// lookUp says what the service shows of the subscriptions of an application.
func (s *subscriber) lookUp(ctx context.Context, urls []idv.Secret) (subscriptionLookup, error) {
	shown, err := s.client.RetrieveWebhook(ctx, s.facts.id, cmp.Or(s.to().FieldNames["url"], "url"))
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

// result is what a look-up showed of a subscription whose answer was unclear.
func (s *subscriber) result() v1alpha1.CallResult {
	if s.facts.subscription.lookup == lookupFound {
		return v1alpha1.CallDone
	}
	return v1alpha1.CallUnknown
}

// show shows what is known of it in a status that has said something else before.
func (s *subscriber) show(status *v1alpha1.MandateStatus) {
	state, before := s.facts.subscription.state(s.facts), status.Subscription
	if state == "" || status.ApplicationID == nil {
		return
	}
	if status.Subscription != state || s.facts.subscription.wish == wantedAgain {
		s.remember(func(k *knownSubscription) {
			*k = knownSubscription{state: state, over: before, by: s.connectionVersion()}
		})
	}
	status.Subscription = state
}

// due is in how long to go on with it; 0: nothing waits for that.
func (s *subscriber) due() time.Duration {
	f, status := s.facts, &s.mandate.Status
	switch {
	case s.to() == nil, status.Outcome != "":
		return 0
	case s.retryAfter > 0:
		return s.retryAfter
	case status.ApplicationID == nil && f.bound: // the cache will show the application soon
		return 2 * nextCallDelay
	case s.facts.subscription.wish != notWanted && f.record.open() != nil && f.mayBeUnderWay():
		return f.record.observed.Add(f.settleDelay).Sub(f.now)
	case s.facts.subscription.wish != notWanted && s.facts.subscription.state(f) == "":
		return engine.MaxRequeue // a slot wakes it up before, unless that is lost
	default:
		return 0
	}
}

// subscribedApplications is what this process knows of the applications that it has subscribed, by account: whether the
// service keeps more than one subscription. The zero value knows nothing.
type subscribedApplications struct {
	mu      sync.Mutex
	entries map[connection.Account]subscribedApplication
}

type subscribedApplication struct {
	newest  int64     // the application that was created last
	created time.Time // when that was
	coexist bool      // a notification arrived about one that was not the newest
}

// maxAccounts is how many accounts a process remembers.
const maxAccounts = 10_000

// notified records an application that is subscribed, and when the last notification about it was sent; zero for none.
// A process that knows too many accounts starts anew.
func (a *subscribedApplications) notified(by connection.Account, id int64, created, sent time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	e, known := a.entries[by]
	if a.entries == nil || !known && len(a.entries) >= maxAccounts {
		a.entries = map[connection.Account]subscribedApplication{}
	}
	if created.After(e.created) {
		e.newest, e.created = id, created
	}
	e.coexist = e.coexist || id != e.newest && sent.After(e.created)
	a.entries[by] = e
}

// coexist reports whether the service keeps more than one subscription. That is not documented: where the last one of
// an account, or of a URL, replaces the others, notifications are only about the newest application.
func (a *subscribedApplications) coexist(by connection.Account) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.entries[by].coexist
}
