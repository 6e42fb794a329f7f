package operator_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/test/await"
	"github.com/mandate-io/idv/internal/test/testenv"
)

const notificationToken = "a-token-of-the-sender-of-notifications"

// notified is a world whose service has a subscription of the operator's receiver. Applications are polled hourly. It
// returns the URL of the subscription.
func notified(t *testing.T, flags ...string) (w *world, url string) {
	t.Helper()
	testenv.SkipIfShort(t)
	w = newWorld(t, sandbox.Options{})
	address := testenv.FreeAddress(t)
	w.credentials()
	w.secret("idv-notifications", map[string]string{"token": notificationToken})
	w.newService("default", fmt.Sprintf("baseURL: %q, requestsPerSecond: 100, notifications: {secretRef: "+
		"{name: idv-notifications}}, polling: {minIntervalSeconds: 3600, maxIntervalSeconds: 3600}", w.url))
	w.start(append(flags, "--notification-bind-address="+address)...)
	w.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)
	path := "/notifications/" + w.namespace + "/default"
	w.eventually(func() (bool, string) {
		shown := w.service("default").Status.Notifications
		return shown != nil && shown.Path == path, fmt.Sprintf("the status shows %+v, want the path %s", shown, path)
	})
	url = "http://" + address + path + "/" + notificationToken
	w.eventually(func() (bool, string) {
		return w.post(url, "{}") == http.StatusOK, "the receiver does not answer"
	})
	w.subscribe(url)
	return w, url
}

// A service says why the operator refuses its notifications, until the Secret is corrected. Its connection works.
func TestNotificationsUnavailable(t *testing.T) {
	t.Parallel()
	testenv.SkipIfShort(t)
	w := newWorld(t, sandbox.Options{})
	w.credentials()
	w.newService("default", fmt.Sprintf("baseURL: %q, notifications: {secretRef: {name: idv-notifications}}", w.url))
	w.start("--notification-bind-address=" + testenv.FreeAddress(t))
	unavailable := func(want string) {
		t.Helper()
		w.request("identityservice/default", want)
		w.eventually(func() (bool, string) {
			conditions, reason := w.service("default").Status.Conditions, ""
			if c := meta.FindStatusCondition(conditions, v1alpha1.ConditionNotificationsUnavailable); c != nil {
				reason = c.Reason
			}
			return reason == want, fmt.Sprintf("the reason is %q, want %q: %+v", reason, want, conditions)
		})
	}
	unavailable(v1alpha1.ReasonNotificationSecretNotFound)
	w.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)
	w.secret("idv-notifications", map[string]string{"token": "too short"})
	unavailable(v1alpha1.ReasonNotificationSecretInvalid)
	w.secret("idv-notifications", map[string]string{"token": notificationToken})
	unavailable("")
	w.kill()
	w.start()
	unavailable(v1alpha1.ReasonNotificationsDisabled)
	w.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)
}

func (w *world) service(name string) *v1alpha1.IdentityService {
	w.Helper()
	s := &v1alpha1.IdentityService{}
	w.check(w.Get(w.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, s))
	return s
}

// post sends a delivery; 0 if there is no answer.
func (w *world) post(url, body string) (status int) {
	w.Helper()
	request, err := http.NewRequestWithContext(await.Context(w.T), http.MethodPost, url, strings.NewReader(body))
	w.check(err)
	response, err := http.DefaultTransport.RoundTrip(request) //nolint:forbidigo // a sender is not our client
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body)
	return response.StatusCode
}

// subscribe has the service deliver to a URL.
func (w *world) subscribe(url string) {
	w.Helper()
	_, err := w.client(w.url).SubscribeWebhook(w.Context(), idv.Subscription{URL: idv.Hide(url)})
	w.check(err)
}

// The status follows the service within seconds, whatever its deliveries look like.
func TestNotifications(t *testing.T) {
	t.Parallel()
	w, _ := notified(t)
	deliveries := []map[string]string{
		{"deliveryShape": "nested"}, {"deliveryShape": "flat"}, {"deliveryShape": "wrapped"},
		{"deliveryShape": "string_ids"}, {"deliveryShape": "list"}, {"deliveryShape": "batch"},
		{"deliveryShape": "thin"}, {"deliveryShape": "individual_only"}, {"deliveryShape": "reference_only"},
		{"deliveryShape": "form"}, {"deliveryShape": "flat", "memberCase": "camel"},
		{"deliveryShape": "nested", "memberCase": "upper"},
		{"deliveries": "twice"}, {"deliveries": "late"}, {"deliveries": "out_of_order"},
	}
	// Each kind has two Mandates, so that a batch is about both, and one is overtaken by the other.
	name := func(kind, number int) string { return fmt.Sprintf("%d-%d", kind, number) }
	for kind := range deliveries {
		w.mandate(name(kind, 1), "{}")
		w.mandate(name(kind, 2), "{}")
	}
	for kind, dialects := range deliveries {
		both := []*v1alpha1.Mandate{w.ready(name(kind, 1)), w.ready(name(kind, 2))}
		w.check(w.sandbox.ResetDialects(w.Context()))
		w.check(w.sandbox.SetDialects(w.Context(), dialects))
		for _, m := range both {
			w.play(m, control.ResultReview)
		}
		for _, m := range both {
			w.until(m.Name, fmt.Sprintf("in review after deliveries with %v", dialects), func(m *v1alpha1.Mandate) bool {
				return m.Status.State == "in review"
			})
		}
	}
	w.eventually(func() (bool, string) {
		shown := w.service("default").Status.Notifications
		return shown != nil && shown.LastReceivedTime != nil, "the status does not show that notifications arrive"
	})
}

// The answer to a create is lost. The application is found again by a notification, without a person, and nobody is
// e-mailed twice.
func TestLostAnswersAreFoundAgain(t *testing.T) {
	t.Parallel()
	metrics := testenv.FreeAddress(t)
	w, url := notified(t, "--metrics-bind-address="+metrics)
	w.fault(answerLost)
	w.mandate("acme", "{}")
	if m := w.ready("acme"); m.Status.Reference != w.namespace+".acme" {
		t.Errorf("acme is bound to the application of %s", m.Status.Reference)
	}
	w.checkCreates(1)
	// Whatever somebody sends, it binds nothing.
	w.check(w.sandbox.SetDialect(w.Context(), "deliveries", "never"))
	w.fault(answerLost)
	w.mandate("victim", "{}")
	w.condition("victim", v1alpha1.ConditionCreated, metav1.ConditionUnknown, v1alpha1.ReasonOutcomeUnknown)
	for id := range 30 {
		w.post(url, fmt.Sprintf(`{"id":%d,"reference":"%s.victim"}`, 900_000+id, w.namespace))
	}
	m := w.condition("victim", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonOutcomeUnknown)
	if m.Status.ApplicationID != nil {
		t.Errorf("it is bound to %d", *m.Status.ApplicationID)
	}
	w.post(url, fmt.Sprintf(`{"id":%d}`, w.applicationID(w.namespace+".victim")))
	w.ready("victim")
	w.emails(2)
	w.measures(metrics, `idv_lost_answers_recovered_total{by="notification"} 2`)
}

// The service numbers each kind from one, so the applications that are lost have the ids of known individuals.
func TestLostAnswersWithIDsOfIndividuals(t *testing.T) {
	t.Parallel()
	w, _ := notified(t)
	w.check(w.sandbox.SetDialect(w.Context(), "idSize", "from_one"))
	w.mandate("known", `{individuals: [{name: a, email: a@example.com}, {name: b, email: b@example.com}, `+
		`{name: c, email: c@example.com}, {name: d, email: d@example.com}]}`)
	known := w.ready("known")
	for i, shape := range []string{"nested", "thin", "flat"} {
		w.check(w.sandbox.SetDialect(w.Context(), "deliveryShape", shape))
		w.fault(answerLost)
		w.mandate(shape, "{}")
		m := w.ready(shape)
		if *m.Status.ApplicationID != known.Status.Individuals[i+1].ID {
			t.Errorf("the application is %d, want the id of an individual: %+v", *m.Status.ApplicationID, known.Status)
		}
	}
	w.emails(4 + 3)
}

// More answers are lost than one Mandate can have candidates, and the deliveries name ids and nothing else.
func TestManyLostAnswersAreFoundAgain(t *testing.T) {
	t.Parallel()
	const lost = 20
	w, url := notified(t, "--settle-delay=1s")
	w.check(w.sandbox.SetDialect(w.Context(), "deliveries", "never"))
	name := func(i int) string { return fmt.Sprint("lost-", i) }
	for i := range lost {
		w.fault(answerLost)
		w.mandate(name(i), "{}")
		w.condition(name(i), v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonOutcomeUnknown)
	}
	var bodies []string
	for i := range lost {
		bodies = append(bodies, fmt.Sprintf(`{"id":%d}`, w.applicationID(w.namespace+"."+name(i))))
	}
	before := w.requests(control.RetrieveApplication)
	for _, body := range bodies {
		w.post(url, body)
	}
	for i := range lost {
		w.ready(name(i))
	}
	// One shows whose it is, one is for that Mandate, and some follow if other notifications come meanwhile.
	if reads := w.requests(control.RetrieveApplication) - before; reads > lost*lost/2 {
		t.Errorf("%d reads: the applications of all are read for each", reads)
	}
	w.emails(lost)
}

// Lost answers open the circuit. What finds the applications again does not wait until it is closed.
func TestLostAnswersAreFoundWhileWritesFail(t *testing.T) {
	t.Parallel()
	w, url := notified(t)
	w.check(w.sandbox.SetDialect(w.Context(), "deliveries", "never"))
	lost := []string{"one", "two", "three"}
	for _, name := range lost {
		w.fault(answerLost)
		w.mandate(name, "{}")
		w.condition(name, v1alpha1.ConditionCreated, metav1.ConditionUnknown, v1alpha1.ReasonOutcomeUnknown)
	}
	w.serviceReady(metav1.ConditionFalse, v1alpha1.ReasonWritesFailing)
	for _, name := range lost {
		w.post(url, fmt.Sprintf(`{"id":%d}`, w.applicationID(w.namespace+"."+name)))
	}
	for _, name := range lost {
		w.ready(name)
	}
	w.emails(len(lost))
}
