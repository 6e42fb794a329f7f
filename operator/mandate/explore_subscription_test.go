package mandate

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
)

// webhookPresentation is how a service shows subscriptions.
type webhookPresentation int

const (
	listsWebhooks webhookPresentation = iota
	showsLastWebhook
	showsNoWebhook  // it answers 404, always
	answersNothing  // it answers 204, always
	listsMaskedURLs // which it shows without their tokens
)

const (
	receiverToken = "a-token-of-the-sender-of-notifications"
	receiverURL   = "https://hooks.example.com/notifications/team/default/" + receiverToken
)

// subscribesApplications has the operator subscribe each application.
var subscribesApplications = &v1alpha1.Notifications{
	SecretRef:   v1alpha1.SecretReference{Name: "notifications"},
	Subscribing: v1alpha1.Subscribing{Subscribe: v1alpha1.SubscribeApplication, URL: "https://hooks.example.com"},
}

// subscriptionScenarios are those in which the operator subscribes each application.
func subscriptionScenarios() map[string]scenario {
	all := map[string]scenario{
		"subscriptions": {
			mandates: one, allow: map[move]uint8{lose: 1, crash: 1, half: 2, fail: 1, refuse: 1},
		},
		"subscriptions and a deposit without answer": {
			mandates: one, allow: map[move]uint8{lose: 1, half: 3},
		},
		"subscriptions that are delayed": {
			why:      "another operator takes them for lost ones",
			mandates: one, exists: true, deep: 2, allow: map[move]uint8{half: 5},
		},
		"subscriptions whose answers are lost": {
			mandates: one, exists: true, allow: map[move]uint8{lose: 2, half: 4, crash: 1},
		},
		"subscriptions and another Mandate of the name": {
			mandates: one, exists: true, allow: map[move]uint8{replace: 1, lose: 1, half: 2, crash: 1},
		},
		"subscriptions and the end of a Mandate": {
			mandates: one, exists: true, allow: map[move]uint8{remove: 1, shelve: 1, halt: 2, lose: 1, half: 2},
		},
		"subscriptions and another account": {
			mandates: one, exists: true, allow: map[move]uint8{point: 2, lose: 1, half: 2},
		},
		"subscriptions and adoption": {
			mandates: one, allow: map[move]uint8{adopt: 2, lose: 1, half: 2},
		},
		"subscriptions and a restore": {
			mandates: one, allow: map[move]uint8{restore: 1, lose: 1, half: 2, crash: 1},
		},
		"subscriptions of two Mandates": {
			why:      "one of them shows what the service shows",
			mandates: []string{"acme", "beta"}, webhooks: showsLastWebhook,
			allow: map[move]uint8{lose: 1, half: 2, crash: 1},
		},
	}
	for what, shown := range map[string]webhookPresentation{
		"and one at a time is shown": showsLastWebhook, "and none is shown": showsNoWebhook,
		"and nothing is answered": answersNothing, "and tokens are masked": listsMaskedURLs,
	} {
		all["subscriptions, "+what] = scenario{
			mandates: one, exists: true, webhooks: shown, allow: map[move]uint8{lose: 1, crash: 1, half: 4, aDay: 1},
		}
	}
	for name, s := range all {
		s.subscribes = true
		all[name] = s
	}
	return all
}

// SubscribeWebhook subscribes an application.
func (s fakeService) SubscribeWebhook(
	_ context.Context, asked idv.Subscription,
) (*idv.SubscriptionResponse, error) {
	const op = idv.OpSubscribeWebhook
	here := s.world.sites[s.site()]
	i := here.find(asked.ApplicationID)
	s.violation = cmp.Or(s.violation, s.checkSubscription(asked, i))
	switch {
	case s.fault == faultError:
		s.hit = true
		return nil, failure(op, idv.NotSent, idv.KindUnreachable)
	case s.fault == faultRefused:
		s.hit = true
		return nil, failure(op, idv.Refused, idv.KindInvalid)
	case i < 0:
		return nil, failure(op, idv.Refused, idv.KindNotFound)
	case s.fault == faultLate:
		s.hit, s.dirty = true, true
		s.world.changeSite(s.site(), func(here *site) {
			a := &here.applications[i]
			a.subscribing = append(slices.Clone(a.subscribing), now)
		})
		return nil, failure(op, idv.Unknown, idv.KindTimeout)
	}
	s.dirty = true
	s.world.changeSite(s.site(), func(here *site) { here.applications[i].subscriptions++ })
	if s.fault == faultLost {
		s.hit = true
		return nil, failure(op, idv.Unknown, idv.KindTimeout)
	}
	return &idv.SubscriptionResponse{}, nil
}

// checkSubscription holds a request to subscribe to what must be so before (I15): it is on record, the Mandate and its
// service were read directly before, and the status shows the application. So nothing has waited for it.
func (s fakeService) checkSubscription(asked idv.Subscription, i int) string {
	record, live := s.world.records[s.current.mandate.Name], s.before
	switch {
	case asked.URL.Reveal() != receiverURL:
		return "I15: a subscription has another URL than the receiver's"
	case s.world.forgotten:
		return ""
	case s.unlogged(v1alpha1.CallSubscribe) != "":
		return s.unlogged(v1alpha1.CallSubscribe)
	case live.uid != s.current.mandate.UID || !live.open() ||
		live.service != s.current.session.Connection.Generation:
		return "I15: a subscription is sent for a Mandate or to a service that was another one when it was read"
	case s.current.mandate.Status.ApplicationID == nil || *s.current.mandate.Status.ApplicationID != asked.ApplicationID:
		return "I15: a subscription is sent before the status shows the application"
	case i >= 0 && s.world.sites[s.site()].applications[i].reference != record.Spec.Reference:
		return "I15: the application of another one is subscribed"
	case i >= 0 && s.world.sites[s.site()].applications[i].mandate == "":
		return "I15: an application is subscribed that the operator did not create"
	default:
		return ""
	}
}

// RetrieveWebhook shows the subscriptions of an application.
func (s fakeService) RetrieveWebhook(_ context.Context, id int64, _ ...string) (*idv.Webhooks, error) {
	const op = idv.OpRetrieveWebhook
	if s.read() != nil {
		return nil, failure(op, idv.Unknown, idv.KindServer)
	}
	here := s.world.sites[s.site()]
	none := &idv.Error{
		Operation: op, Outcome: idv.Refused, Kind: idv.KindNotFound,
		Problem: &idv.Problem{Title: idv.Hide("Not Found")},
	}
	shown := &idv.Webhooks{}
	if i := here.find(id); i >= 0 {
		for range here.applications[i].subscriptions {
			address := receiverURL
			if here.webhooks == listsMaskedURLs {
				address = strings.Replace(address, receiverToken, "****", 1)
			}
			shown.Items = append(shown.Items, idv.Webhook{URL: idv.Hide(address)})
		}
	}
	switch {
	case here.webhooks == answersNothing:
		return &idv.Webhooks{Empty: true}, nil
	case here.webhooks == showsNoWebhook, here.webhooks == showsLastWebhook && len(shown.Items) == 0:
		return nil, none
	case here.webhooks == showsLastWebhook:
		shown.Items = shown.Items[len(shown.Items)-1:]
	default:
		shown.List, shown.Complete = true, true
	}
	return shown, nil
}

// subscriptionMoves are what the service does with requests whose senders have given up.
func subscriptionMoves(here *site, url string, free func(string, func(*state))) {
	for i, a := range here.applications {
		if !a.gone && len(a.subscribing) > 0 {
			free("the service carries out a late subscription", changeOf(url, func(s *site) {
				s.applications[i].subscribing = s.applications[i].subscribing[1:]
				s.applications[i].subscriptions++
			}))
		}
	}
}

// subscribedTwice (I16): no application has two subscriptions, as long as the ledger remembers.
func subscribedTwice(w *world) string {
	for _, url := range sorted(w.sites) {
		for _, a := range w.sites[url].applications {
			if n := a.subscriptions + len(a.subscribing); n > 1 && !w.forgotten {
				return fmt.Sprintf("I16: application %d has, or may get, %d subscriptions", a.id, n)
			}
		}
	}
	return ""
}

// falselySubscribed (I17): a status says Subscribed only of an application that is.
func falselySubscribed(w *world) string {
	for _, name := range sorted(w.mandates) {
		m := w.mandates[name]
		if m.Status.Subscription != v1alpha1.SubscriptionSubscribed {
			continue
		}
		subscribed := slices.ContainsFunc(slices.Collect(maps.Values(w.sites)), func(here site) bool {
			return slices.ContainsFunc(here.applications, func(a application) bool {
				return a.id == *m.Status.ApplicationID && (a.subscriptions > 0 || a.gone)
			})
		})
		if !subscribed {
			return "I17: " + name + " says that its application is subscribed, and it is not"
		}
	}
	return ""
}

// unsubscribed says what is wrong, at rest, with the subscription of a Mandate whose application can be read (I5): the
// status says how it ended, and that it may exist only of a service that does not show that.
func (w *world) unsubscribed(m *v1alpha1.Mandate) string {
	here := w.sites[w.site()]
	a := here.applications[here.find(*m.Status.ApplicationID)]
	mode := w.service.Spec.Notifications
	switch {
	case mode == nil || m.Spec.Archived || m.Status.Outcome != "" || a.stage == stageCompleted || a.stage == stageRejected:
		return ""
	case m.Status.Subscription == "":
		return "does not say how its subscription ended"
	case m.Status.Subscription == v1alpha1.SubscriptionOutcomeUnknown && here.webhooks == listsWebhooks &&
		a.subscriptions > 0:
		return "says that its subscription may exist, but the service shows it"
	default:
		return ""
	}
}
