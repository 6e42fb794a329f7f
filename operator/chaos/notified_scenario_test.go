package chaos_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/operator/ledger"
)

// notifiedScenario is a scenario whose service has a subscription of the operator's receiver.
type notifiedScenario struct {
	*scenario
	random  *rand.Rand
	dialect map[string]string
	url     string
	forged  int
	// subscribes: the operator subscribes each application, too.
	subscribes bool
}

const notifiedManifest = `
apiVersion: v1
kind: Secret
metadata: {name: notifications}
type: idv.mandate.io/notifications
stringData: {token: ` + notificationToken + `}
---` + serviceManifest + `
  notifications: {secretRef: {name: notifications}}
  polling: {minIntervalSeconds: 3600, maxIntervalSeconds: 3600}
`

const notificationToken = "canary-token-of-the-sender-of-notifications"

func (n *notifiedScenario) run(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		n.subscribe, n.createMandates, n.forge, n.waitBound, n.waitSubscribed, n.checkLog,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// shapes are those that name the application by its id. Ids are never guessed.
var shapes = []string{"nested", "flat", "wrapped", "string_ids", "list", "form"}

// subscribe connects the operator to the service, and the service to the operator.
func (n *notifiedScenario) subscribe(ctx context.Context) error {
	n.dialect = map[string]string{
		"deliveryShape": shapes[n.random.IntN(len(shapes))],
		"deliveries":    []string{"once", "twice", "out_of_order"}[n.random.IntN(3)],
		"idSize":        []string{"usual", "from_one"}[n.random.IntN(2)],
		// Both show all there is.
		"retrieveWebhook": []string{"list", "wrapped"}[n.random.IntN(2)],
	}
	if err := n.sandbox.SetDialects(ctx, n.dialect); err != nil {
		return err
	}
	manifest := notifiedManifest
	if n.subscribes = n.random.IntN(2) == 0; n.subscribes {
		manifest = strings.Replace(manifest, "{secretRef: {name: notifications}}", fmt.Sprintf(
			"{secretRef: {name: notifications}, subscribe: Application, url: http://%s}", n.fleet.notifications), 1)
	}
	if err := n.apply(ctx, manifest); err != nil {
		return err
	}
	if err := n.until(ctx, func() string { return n.notConnected(ctx) }); err != nil {
		return err
	}
	n.url = fmt.Sprintf("http://%s/notifications/%s/default/%s", n.fleet.notifications, n.namespace, notificationToken)
	return n.subscribeAt(ctx, n.url)
}

func (n *notifiedScenario) createMandates(ctx context.Context) error {
	for _, name := range lossyMandates {
		if err := n.apply(ctx, fmt.Sprintf(`
kind: Mandate
metadata: {name: %s}
spec: {mandateType: {code: address}, individuals: [{name: jane, email: canary-jane@example.com}]}
`, name)); err != nil {
			return err
		}
	}
	return nil
}

// forge delivers ids that do not exist, and ids of other Mandates, with and without the reference of a Mandate.
func (n *notifiedScenario) forge(ctx context.Context) error {
	applications, err := n.sandbox.Applications(ctx)
	if err != nil {
		return err
	}
	for _, name := range lossyMandates {
		ids := []int64{n.random.Int64N(1 << 40)}
		for i := range applications {
			if applications[i].Reference != n.reference(name) {
				ids = append(ids, applications[i].ID)
			}
		}
		for _, id := range ids {
			n.post(ctx, fmt.Sprintf(`{"id": %d, "reference": %q}`, id, n.reference(name)))
			n.post(ctx, fmt.Sprintf(`{"application": {"id": "%d"}}`, id))
		}
	}
	return nil
}

// waitBound waits until every Mandate has its application, or cannot have one. What a killed operator did not receive,
// the service does not deliver again. So the individuals go on, as those of a real service do, and that is delivered.
func (n *notifiedScenario) waitBound(ctx context.Context) error {
	const pause = 15 * time.Second
	// After each lost answer in a row, the circuit breaker waits longer, for two minutes at most.
	const limit = 2 * timeout
	next, played := time.Now().Add(pause), map[string]int{}
	return n.untilWithin(ctx, limit, func() string {
		unbound := slices.DeleteFunc(slices.Clone(lossyMandates), func(name string) bool {
			return n.boundTo(ctx, name) != 0 || n.wasNeverSent(ctx, name)
		})
		if len(unbound) == 0 {
			return ""
		}
		if time.Now().After(next) {
			for _, name := range unbound {
				n.goOn(ctx, name, played)
			}
			next = time.Now().Add(pause)
		}
		return fmt.Sprintf("%v have no application", unbound)
	})
}

// goOn has the individual of an application do what comes next, and then somebody at the service move it there and
// back: the operator may have been down each time. What does not exist yet has nobody who goes on.
func (n *notifiedScenario) goOn(ctx context.Context, name string, played map[string]int) {
	reference, done := n.reference(name), played[name]
	var err error
	if done < len(individualSteps) {
		play := individualSteps[done]
		play.Reference = reference
		_, err = n.sandbox.Play(ctx, play)
	} else {
		state := []string{"in progress", "in review"}[(done-len(individualSteps))%2]
		_, err = n.sandbox.SetState(ctx, control.StateChange{Reference: reference, State: state})
	}
	if err == nil {
		played[name]++
	}
}

// waitSubscribed waits until each application has a subscription of its own, and checks that none has two. One whose
// request did not reach the service may stay without: the application is polled.
func (n *notifiedScenario) waitSubscribed(ctx context.Context) error {
	if !n.subscribes {
		return nil
	}
	if err := n.untilWithin(ctx, 2*timeout, func() string {
		for _, name := range lossyMandates {
			m := n.mandate(name)
			if err := cluster.watched.Get(ctx, client.ObjectKeyFromObject(m), m); err != nil {
				return err.Error()
			}
			if n.wasNeverSent(ctx, name) {
				continue
			}
			unknown := m.Status.Subscription == v1alpha1.SubscriptionOutcomeUnknown && !n.subscribed(name)
			if m.Status.Subscription != v1alpha1.SubscriptionSubscribed && !unknown {
				return fmt.Sprintf("the subscription of %s is %q", name, m.Status.Subscription)
			}
		}
		return ""
	}); err != nil {
		return err
	}
	service, err := n.service()
	if err != nil {
		return err
	}
	defer service.Close()
	for _, name := range lossyMandates {
		if n.wasNeverSent(ctx, name) {
			continue
		}
		webhooks, err := service.RetrieveWebhook(ctx, n.boundTo(ctx, name))
		if err != nil {
			return err
		}
		want := 0
		if n.subscribed(name) {
			want = 1
		}
		if found := len(webhooks.WithURL(n.url)); found != want {
			return fmt.Errorf("the application of %s has %d subscriptions, and not %d", name, found, want)
		}
	}
	return nil
}

// checkLog compares the log of each Mandate with the requests that the service received.
func (n *notifiedScenario) checkLog(ctx context.Context) error {
	if problems := n.logProblems(ctx, lossyMandates); len(problems) > 0 {
		return errors.New(strings.Join(problems, "; "))
	}
	return nil
}

// subscribed reports whether a request to subscribe the application of a Mandate reached the service.
func (n *notifiedScenario) subscribed(name string) bool {
	return slices.ContainsFunc(n.occurrences(), func(o occurrence) bool {
		return o.effect.what == subscribe && o.effect.about == name && o.forwarded
	})
}

// boundTo returns the id of a Mandate's application, 0 if the Mandate does not know it.
func (n *notifiedScenario) boundTo(ctx context.Context, name string) int64 {
	m := n.mandate(name)
	if cluster.watched.Get(ctx, client.ObjectKeyFromObject(m), m) != nil || m.Status.ApplicationID == nil ||
		!hasCondition(m.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAccepted) {
		return 0
	}
	return *m.Status.ApplicationID
}

// wasNeverSent reports whether each operator that began a create of a Mandate was killed before the request. The record
// counts all of them as sent, and the Mandate asks a person.
func (n *notifiedScenario) wasNeverSent(ctx context.Context, name string) bool {
	m, create := n.mandate(name), ledger.CreateOf(n.record(ctx, name))
	return create != nil && create.Sends >= ledger.MaxSends(create.Kind) &&
		!slices.ContainsFunc(n.occurrences(), func(o occurrence) bool {
			return o.effect.what == createRequest && o.effect.about == name && o.forwarded
		}) &&
		cluster.watched.Get(ctx, client.ObjectKeyFromObject(m), m) == nil &&
		hasCondition(m.Status.Conditions, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonOutcomeUnknown)
}

// result compares the Mandates with what the service has.
func (n *notifiedScenario) result(ctx context.Context) lostCounts {
	all := lostCounts{mandates: len(lossyMandates), forged: n.forged}
	seen, err := n.observe(ctx)
	if err != nil {
		all.wrong = len(lossyMandates)
		return all
	}
	if deliveries, err := n.sandbox.Deliveries(ctx); err == nil {
		all.deliveries = len(deliveries)
	}
	lost := n.withoutAnswer()
	all.lost = len(lost)
	for _, name := range lossyMandates {
		switch id := n.boundTo(ctx, name); {
		case id == 0 && n.wasNeverSent(ctx, name):
			all.neverSent++
		case id == 0:
			all.unbound++
		case id != seen.applications[name].ID || n.applicationOwner(id) != name:
			all.wrong++
		case lost[name]:
			all.found++
		}
		for _, emails := range seen.emails[name] {
			all.duplicates += emails - 1
		}
	}
	return all
}

// withoutAnswer returns the Mandates whose application the service created for an operator that received no answer.
func (n *notifiedScenario) withoutAnswer() map[string]bool {
	lost := map[string]bool{}
	for _, o := range n.occurrences() {
		if o.effect.what == createRequest && o.status/100 == 2 && !o.received {
			lost[o.effect.about] = true
		}
	}
	return lost
}

// mandateLeaks returns personal data in what the operator wrote about the Mandates, "" if there is none.
func (n *notifiedScenario) mandateLeaks(ctx context.Context) string {
	for _, name := range lossyMandates {
		m := n.mandate(name)
		if err := cluster.watched.Get(ctx, client.ObjectKeyFromObject(m), m); err != nil {
			return err.Error()
		}
		if leak := leakIn([]byte(fmt.Sprint(m.Status, m.Annotations))); leak != "" {
			return name + ": " + strconv.Quote(leak)
		}
	}
	return ""
}

// individualSteps are what an individual does next. The service notifies about each.
var individualSteps = []control.Play{
	{Step: control.AcceptTerms},
	{Step: control.CompleteActions},
	{Step: control.FinishChecks, Result: control.ResultReview},
}

// subscribeAt has the service deliver to a URL.
func (n *notifiedScenario) subscribeAt(ctx context.Context, url string) error {
	service, err := n.service()
	if err != nil {
		return err
	}
	defer service.Close()
	_, err = service.SubscribeWebhook(ctx, idv.Subscription{URL: idv.Hide(url)})
	return err
}

// service is a client without faults.
func (n *notifiedScenario) service() (*idv.Client, error) {
	return idv.New(idv.Config{
		BaseURL: n.target, RequestsPerSecond: -1,
		Credentials: idv.Credentials{Username: sandbox.DefaultUsername, Password: idv.Hide(n.password)},
	})
}

// post delivers something that the service did not send. A killed operator does not receive it.
func (n *notifiedScenario) post(ctx context.Context, body string) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, n.url, strings.NewReader(body))
	if err != nil {
		return
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultTransport.RoundTrip(request) //nolint:forbidigo // a sender is not our client
	if err != nil {
		return
	}
	n.forged++
	response.Body.Close()
}
