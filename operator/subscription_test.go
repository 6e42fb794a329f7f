package operator_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/test/testenv"
	"github.com/mandate-io/idv/operator/ledger"
)

// subscribing is a world whose operator subscribes each application, with further fields of spec.notifications. Nobody
// else subscribes, and applications are polled hourly. flags are the operator's.
type subscribing struct {
	*world
	url   string // of the subscriptions
	flags []string
}

func newSubscribing(t *testing.T, notifications string, flags ...string) *subscribing {
	t.Helper()
	testenv.SkipIfShort(t)
	w, address := newWorld(t, sandbox.Options{}), testenv.FreeAddress(t)
	w.credentials()
	w.secret("idv-notifications", map[string]string{"token": notificationToken})
	base := "http://" + address
	s := &subscribing{
		world: w, url: base + "/notifications/" + w.namespace + "/default/" + notificationToken,
		flags: append([]string{"--notification-bind-address=" + address, "--settle-delay=1s"}, flags...),
	}
	w.newService("default", fmt.Sprintf("baseURL: %q, requestsPerSecond: 100, notifications: {secretRef: "+
		"{name: idv-notifications}, subscribe: Application, url: %q%s}, "+
		"polling: {minIntervalSeconds: 3600, maxIntervalSeconds: 3600}", w.url, base, notifications))
	w.start(s.flags...)
	w.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)
	w.eventually(func() (bool, string) {
		return w.post(s.url, "{}") == 200, "the receiver does not answer"
	})
	return s
}

// subscription waits until the status of a Mandate says how its subscription ended, and checks how many subscriptions
// its application has. Whatever it says, the Mandate is Ready.
func (s *subscribing) subscription(name string, want v1alpha1.SubscriptionState, subscriptions int) *v1alpha1.Mandate {
	s.Helper()
	m := s.until(name, "subscription "+string(want), func(m *v1alpha1.Mandate) bool {
		return m.Status.Subscription == want
	})
	if !meta.IsStatusConditionTrue(m.Status.Conditions, v1alpha1.ConditionReady) ||
		meta.FindStatusCondition(m.Status.Conditions, v1alpha1.ConditionStalled) != nil {
		s.Errorf("%s is not Ready: %+v", name, m.Status.Conditions)
	}
	if got := s.subscriptions(m); got != subscriptions {
		s.Errorf("the application of %s has %d subscriptions, want %d", name, got, subscriptions)
	}
	return m
}

// subscriptions counts those of an application to the receiver. It ends with the dialect in which all are listed.
func (s *subscribing) subscriptions(m *v1alpha1.Mandate) int {
	s.Helper()
	s.check(s.sandbox.SetDialect(s.Context(), "retrieveWebhook", "list"))
	webhooks, err := s.client(s.world.url).RetrieveWebhook(s.Context(), *m.Status.ApplicationID)
	if idv.IsNotFound(err) {
		return 0
	}
	s.check(err)
	return len(webhooks.WithURL(s.url))
}

// Each application has a subscription of its own, and its status follows.
func TestEachApplicationIsSubscribed(t *testing.T) {
	t.Parallel()
	s := newSubscribing(t, "")
	for _, name := range []string{"acme", "beta"} {
		s.mandate(name, "{}")
	}
	retrieved := s.requests(control.RetrieveWebhook)
	for _, name := range []string{"acme", "beta"} {
		m := s.until(name, "subscribed", func(m *v1alpha1.Mandate) bool {
			return m.Status.Subscription == v1alpha1.SubscriptionSubscribed
		})
		s.play(m, control.ResultReview)
		s.until(name, "in review", func(m *v1alpha1.Mandate) bool { return m.Status.State == "in review" })
	}
	if sent, looked := s.requests(control.SubscribeWebhook), s.requests(control.RetrieveWebhook); sent != 2 ||
		looked != retrieved {
		t.Errorf("%d subscriptions were sent and %d looked for, want 2 and none", sent, looked-retrieved)
	}
	for _, name := range []string{"acme", "beta"} {
		s.subscription(name, v1alpha1.SubscriptionSubscribed, 1)
	}
	s.checkNoToken("acme", "beta")
}

// checkNoToken checks that the token is nowhere but in its Secret.
func (s *subscribing) checkNoToken(names ...string) {
	s.Helper()
	s.check(s.operator.Stop())
	var events corev1.EventList
	s.check(s.List(s.Context(), &events, client.InNamespace(s.namespace)))
	log, err := os.ReadFile(s.operator.Log)
	s.check(err)
	places := map[string]any{
		"an event": events.Items, "the ledger": s.records(), "the log": string(log), "the service": s.service("default"),
	}
	for _, name := range names {
		places[name] = s.get(name)
	}
	for where, content := range places {
		data, err := json.Marshal(content)
		s.check(err)
		if strings.Contains(string(data), notificationToken) {
			s.Errorf("%s has the token", where)
		}
	}
}

// The names of the fields, and the events, are the service's.
func TestSubscriptionInTheServicesWords(t *testing.T) {
	t.Parallel()
	s := newSubscribing(t, ", events: [application.completed], "+
		"fieldNames: {url: target_url, events: event_types, applicationID: mandate_id}")
	s.check(s.sandbox.SetDialects(t.Context(), map[string]string{
		"subscribeFields": "renamed", "subscribeEvents": "required", "subscribeApplication": "required",
		"subscribeAnswer": "204",
	}))
	s.mandate("acme", "{}")
	s.subscription("acme", v1alpha1.SubscriptionSubscribed, 1)
}

// The answer to a subscription is lost.
func TestSubscriptionAnswerLost(t *testing.T) {
	t.Parallel()
	lost := control.Fault{Operation: control.SubscribeWebhook, Kind: control.Close}
	carriedOut := lost
	carriedOut.AfterWork = true
	for name, test := range map[string]struct {
		fault         control.Fault
		retrieve      string
		want          v1alpha1.SubscriptionState
		sent          int64
		subscriptions int
	}{
		"it is found": {carriedOut, "object", v1alpha1.SubscriptionSubscribed, 1, 1},
		"it exists, and the service does not show it": {
			carriedOut, "404", v1alpha1.SubscriptionOutcomeUnknown, 1, 1,
		},
		"it does not exist, and the service shows all there are": {
			lost, "list", v1alpha1.SubscriptionOutcomeUnknown, 1, 0,
		},
		"it does not exist, and nothing proves that": {lost, "object", v1alpha1.SubscriptionOutcomeUnknown, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSubscribing(t, "")
			s.check(s.sandbox.SetDialect(t.Context(), "retrieveWebhook", test.retrieve))
			s.fault(test.fault)
			s.mandate("acme", "{}")
			s.subscription("acme", test.want, test.subscriptions)
			if sent := s.requests(control.SubscribeWebhook); sent != test.sent {
				t.Errorf("%d subscriptions were sent, want %d", sent, test.sent)
			}
			if test.want == v1alpha1.SubscriptionOutcomeUnknown {
				s.events("acme", "SubscriptionOutcomeUnknown")
			}
			s.checkNoToken("acme")
		})
	}
}

// The service accepts a subscription, to make it later. The status does not say that it is made before the service
// shows it, and it is not sent again.
func TestSubscriptionAccepted(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		dialect       map[string]string
		want          v1alpha1.SubscriptionState
		subscriptions int
	}{
		"it is made": {map[string]string{"subscribeAnswer": "202"}, v1alpha1.SubscriptionSubscribed, 1},
		"it is never made": {
			map[string]string{"asyncWork": "never", "asyncOperations": "other_changes"},
			v1alpha1.SubscriptionOutcomeUnknown, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSubscribing(t, "")
			s.check(s.sandbox.SetDialect(t.Context(), "retrieveWebhook", "list"))
			s.check(s.sandbox.SetDialects(t.Context(), test.dialect))
			s.mandate("acme", "{}")
			s.subscription("acme", test.want, test.subscriptions)
			if sent := s.requests(control.SubscribeWebhook); sent != 1 {
				t.Errorf("%d subscriptions were sent", sent)
			}
		})
	}
}

// What a service without subscriptions answers says nothing of one that may exist. It is looked up once more on
// request, and never sent again.
func TestSubscriptionWithAWitness(t *testing.T) {
	t.Parallel()
	s := newSubscribing(t, "")
	s.fault(control.Fault{Operation: control.SubscribeWebhook, Kind: control.Close})
	s.mandate("acme", "{}")
	s.until("acme", "OutcomeUnknown", func(m *v1alpha1.Mandate) bool {
		return m.Status.Subscription == v1alpha1.SubscriptionOutcomeUnknown
	})
	s.mandate("witness", "{}")
	s.until("witness", "subscribed", func(m *v1alpha1.Mandate) bool {
		return m.Status.Subscription == v1alpha1.SubscriptionSubscribed
	})
	s.request("mandate/acme", "now")
	s.until("acme", "asked again", func(m *v1alpha1.Mandate) bool { return m.Status.LastHandledReconcileAt == "now" })
	s.subscription("acme", v1alpha1.SubscriptionOutcomeUnknown, 0)
	if sent := s.requests(control.SubscribeWebhook); sent != 2 {
		t.Errorf("%d subscriptions were sent, want 2", sent)
	}
}

// subscribed is the entry of the subscription in the only record; nil if there is none.
func (s *subscribing) subscribed() *v1alpha1.Call {
	return ledger.Find(s.onlyRecord(), func(c *v1alpha1.Call) bool { return c.Kind == v1alpha1.CallSubscribe })
}

// The operator is killed before the subscription is recorded, and while it is sent.
func TestKilledWhileSubscribing(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fault control.Fault
		kill  func(*subscribing) bool // whether it is time
		open  bool                    // the record has it
	}{
		"before it is recorded": {
			slowed(control.RetrieveApplication, time.Minute),
			func(s *subscribing) bool { return s.requests(control.RetrieveApplication) > 0 }, false,
		},
		"while it is sent": {
			slowed(control.SubscribeWebhook, 500*time.Millisecond),
			func(s *subscribing) bool { return s.requests(control.SubscribeWebhook) > 0 }, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSubscribing(t, "")
			s.check(s.sandbox.SetDialect(t.Context(), "retrieveWebhook", "list"))
			s.fault(test.fault)
			s.mandate("acme", "{}")
			s.eventually(func() (bool, string) { return test.kill(s), "nothing to kill" })
			s.kill()
			if call := s.subscribed(); (call != nil) != test.open || call != nil && call.Result != "" {
				t.Errorf("the record has %+v; want an open call: %t", call, test.open)
			}
			s.start(s.flags...)
			s.subscription("acme", v1alpha1.SubscriptionSubscribed, 1)
			if sent := s.requests(control.SubscribeWebhook); sent != 1 {
				t.Errorf("%d subscriptions were sent, want 1", sent)
			}
			s.emails(1)
		})
	}
}

// A refused subscription is sent again only when somebody has changed something.
func TestSubscriptionRefused(t *testing.T) {
	t.Parallel()
	s := newSubscribing(t, "")
	s.check(s.sandbox.SetDialect(t.Context(), "subscribeEvents", "required"))
	s.mandate("acme", "{}")
	s.subscription("acme", v1alpha1.SubscriptionRefused, 0)
	s.events("acme", "SubscriptionRefused")
	s.checkProblems("acme", wrong("status.subscription", "SubscriptionRefused",
		"The service refused it: HTTP 400 Bad Request; invalid fields: events."))
	if subscription := s.subscribed(); subscription == nil || subscription.Result != v1alpha1.CallRefused {
		t.Errorf("the refusal is not on record: %+v", subscription)
	}
	s.request("mandate/acme", "once-more")
	s.eventually(func() (bool, string) { return s.requests(control.SubscribeWebhook) == 2, "nobody has asked again" })
	s.subscription("acme", v1alpha1.SubscriptionRefused, 0)
	s.kubectl("patch", "identityservice", "default", "--type=merge",
		`-p={"spec": {"notifications": {"events": ["application.completed"]}}}`)
	s.subscription("acme", v1alpha1.SubscriptionSubscribed, 1)
	s.checkProblems("acme")
	if sent := s.requests(control.SubscribeWebhook); sent != 3 {
		t.Errorf("%d subscriptions were sent, want 3", sent)
	}
	s.checkNoToken("acme")
}

// A service that does not answer subscriptions delays no create and no read.
func TestSubscriptionsDelayNothing(t *testing.T) {
	t.Parallel()
	s := newSubscribing(t, "")
	slow := slowed(control.SubscribeWebhook, time.Minute)
	slow.Times = control.Always
	s.fault(slow)
	for i := range 20 {
		s.mandate(fmt.Sprint("acme-", i), "{}")
	}
	for i := range 20 {
		m := s.ready(fmt.Sprint("acme-", i))
		s.play(m, control.ResultReview)
		s.request("mandate/"+m.Name, "now")
		s.until(m.Name, "in review", func(m *v1alpha1.Mandate) bool { return m.Status.State == "in review" })
	}
	s.eventually(func() (bool, string) {
		return s.requests(control.SubscribeWebhook) > 0, "no subscription was sent"
	})
	if sent := s.requests(control.SubscribeWebhook); sent > 4 {
		t.Errorf("%d subscriptions were sent at a service that answers none, want up to 4", sent)
	}
	s.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)
	s.check(s.sandbox.ClearFaults(t.Context()))
}

// A Mandate costs six writes with a subscription: two more are the entry in the log and its result, and one says in the
// status how it ended. The test is not parallel, because the API server counts all requests.
func TestCostOfSubscriptions(t *testing.T) {
	before := apiWrites(t)
	s := newSubscribing(t, "", settlesSlowly)
	const mandates = 5
	for i := range mandates {
		s.mandate(fmt.Sprintf("acme-%d", i), "{}")
	}
	for i := range mandates {
		s.until(fmt.Sprintf("acme-%d", i), "subscribed", func(m *v1alpha1.Mandate) bool {
			return m.Status.Subscription == v1alpha1.SubscriptionSubscribed
		})
	}
	s.costs(before, perMandate(mandates).plus(counts{
		"PATCH mandates/status": mandates, "PATCH applicationrecords": 2 * mandates, "PATCH identityservices/status": 3,
	}))
	creates, reads := s.requests(control.CreateApplication), s.requests(control.RetrieveApplication)
	sent, looked := s.requests(control.SubscribeWebhook), s.requests(control.RetrieveWebhook)
	if creates != mandates || reads != mandates || sent != mandates || looked != 0 {
		t.Errorf("%d creates, %d reads, %d subscriptions and %d looks at them for %d Mandates",
			creates, reads, sent, looked, mandates)
	}
}

// Many subscriptions that could not be sent go on when they can: Mandates that wait for a slot do not take it from each
// other.
func TestManySubscriptionsGoOn(t *testing.T) {
	t.Parallel()
	s := newSubscribing(t, "")
	s.kubectl("label", "secret/idv-notifications", "idv.mandate.io/use-")
	const mandates = 20
	name := func(i int) string { return fmt.Sprint("acme-", i) }
	for i := range mandates {
		s.mandate(name(i), "{}")
	}
	for i := range mandates {
		s.ready(name(i))
	}
	s.eventually(func() (bool, string) {
		begun := 0
		for _, record := range s.records() {
			for _, call := range record.Spec.Calls {
				if call.Kind == v1alpha1.CallSubscribe {
					begun++
				}
			}
		}
		return begun == mandates, fmt.Sprintf("%d subscriptions were begun", begun)
	})
	s.kubectl("label", "secret/idv-notifications", "idv.mandate.io/use=notifications")
	s.request("identityservice/default", "now")
	for i := range mandates {
		s.until(name(i), "subscribed", func(m *v1alpha1.Mandate) bool {
			return m.Status.Subscription == v1alpha1.SubscriptionSubscribed
		})
	}
	if sent := s.requests(control.SubscribeWebhook); sent != mandates {
		t.Errorf("%d subscriptions were sent, want %d", sent, mandates)
	}
	s.emails(mandates)
}
