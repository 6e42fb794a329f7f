package operator_test

import (
	"fmt"
	"log/slog"
	"net/http/httptest"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/config"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/operator/engine"
)

// accounts is a world whose service has two accounts. The Secret has the user of the first one.
type accounts struct {
	*world
	other *control.Client
}

func newAccounts(t *testing.T) *accounts {
	t.Helper()
	w := newWorld(t, sandbox.Options{})
	parsed, err := config.Parse([]byte(fmt.Sprintf(
		"accounts:\n- {name: first, username: %s, password: %s, client_id: %s, client_secret: %s}\n"+
			"- {name: other, username: other, password: other}\n",
		sandbox.DefaultUsername, sandbox.DefaultPassword, sandbox.DefaultClientID, sandbox.DefaultClientSecret)))
	w.check(err)
	service, err := sandbox.Open(parsed, sandbox.Process{Logger: slog.New(slog.DiscardHandler)})
	w.check(err)
	server := httptest.NewServer(service)
	t.Cleanup(func() {
		service.Close()
		server.Close()
	})
	w.url, w.sandbox = server.URL, control.New(server.URL).Account("first")
	w.connect()
	return &accounts{w, control.New(server.URL).Account("other")}
}

// exchange puts the credentials of the other account into the Secret.
func (a *accounts) exchange() {
	a.Helper()
	a.secret("idv", map[string]string{"username": "other", "password": "other"})
}

// rename puts other credentials of the first account into the Secret.
func (a *accounts) rename() {
	a.Helper()
	a.secret("idv", map[string]string{
		"client_id": sandbox.DefaultClientID, "client_secret": sandbox.DefaultClientSecret,
	})
}

// otherWasNotAsked checks that the other account was asked for nothing that acts on people.
func (a *accounts) otherWasNotAsked() {
	a.Helper()
	emails, err := a.other.Outbox(a.Context())
	a.check(err)
	stats, err := a.other.Stats(a.Context())
	a.check(err)
	calls := int64(0)
	for _, operation := range []control.Operation{
		control.CreateApplication, control.DeleteApplication, control.ArchiveApplication, control.CompleteApplication,
		control.RejectApplication, control.AcceptCheck, control.RejectCheck, control.ResendInvites, control.ResetIndividual,
		control.SubscribeWebhook,
	} {
		calls += stats.Requests(operation)
	}
	if len(emails) != 0 || calls != 0 {
		a.Fatalf("the other account e-mailed %d people, and got %d calls", len(emails), calls)
	}
}

// accountChanged waits until the IdentityService says that its account has changed, or does not.
func (a *accounts) accountChanged(want bool) {
	a.Helper()
	a.eventually(func() (bool, string) {
		s := &v1alpha1.IdentityService{}
		a.check(a.Get(a.Context(), client.ObjectKey{Namespace: a.namespace, Name: "default"}, s))
		changed := meta.IsStatusConditionTrue(s.Status.Conditions, v1alpha1.ConditionAccountChanged)
		return changed == want, fmt.Sprintf("AccountChanged is %t: %+v", changed, s.Status)
	})
}

// waits waits until a Mandate waits for its account.
func (a *accounts) waits(name string) {
	a.Helper()
	a.condition(name, v1alpha1.ConditionReady, metav1.ConditionUnknown, v1alpha1.ReasonAccountChanged)
}

// needsAccount waits until a Mandate says that a person has to correct the credentials.
func (a *accounts) needsAccount(name string) {
	a.Helper()
	a.condition(name, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonAccountChanged)
}

// loseAnswers applies Mandates whose creates get no answer, and ends the operator before it sends them again.
func (a *accounts) loseAnswers(n int) (names []string) {
	a.Helper()
	a.start("--settle-delay=10m")
	a.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)
	lost := answerLost
	lost.Times = control.Always
	a.fault(lost)
	for i := range n {
		name := fmt.Sprintf("acme-%d", i)
		a.mandate(name, fmt.Sprintf("{individuals: [{name: jane, email: jane-%d@example.com}]}", i))
		names = append(names, name)
	}
	for _, name := range names {
		a.condition(name, v1alpha1.ConditionReconciling, metav1.ConditionTrue, v1alpha1.ReasonSettling)
	}
	a.kill()
	a.check(a.sandbox.ClearFaults(a.Context()))
	return names
}

// The answers of three creates are lost, and the credentials are exchanged for those of another account. Nobody is
// e-mailed again. With the right credentials, the attempts go on to their end.
func TestLostAnswersAndExchangedCredentials(t *testing.T) {
	t.Parallel()
	a := newAccounts(t)
	names := a.loseAnswers(3)
	a.exchange()
	a.start()
	for _, name := range names {
		a.needsAccount(name) // nothing can be read that would prove the account
		a.condition(name, v1alpha1.ConditionCreated, metav1.ConditionUnknown, v1alpha1.ReasonOutcomeUnknown)
	}
	a.accountChanged(true)
	a.otherWasNotAsked()
	a.kill()
	a.credentials()
	a.start()
	for _, name := range names {
		a.stalled(name, v1alpha1.ReasonOutcomeUnknown) // the service calls the reference a duplicate
	}
	a.accountChanged(false)
	a.otherWasNotAsked()
	a.emails(len(names))
	a.checkCreates(int64(2 * len(names)))
}

// reconnect has the operator look at the Secret now, and waits until it knows another account.
func (a *accounts) reconnect(change func()) {
	a.Helper()
	before := a.account()
	change()
	a.request("identityservice/default", fmt.Sprint("exchanged from ", before))
	a.eventually(func() (bool, string) { return a.account() != before, "the account is still " + before })
}

// account is what the status of the IdentityService shows.
func (a *accounts) account() string {
	a.Helper()
	s := &v1alpha1.IdentityService{}
	a.check(a.Get(a.Context(), client.ObjectKey{Namespace: a.namespace, Name: "default"}, s))
	return s.Status.Account
}

// Whatever is asked for while the credentials are those of another account waits for the right ones, and so does a new
// Mandate: its application would be another account's.
func TestNothingIsSentByAnotherAccount(t *testing.T) {
	t.Parallel()
	a := newAccounts(t)
	a.start()
	for _, name := range []string{"acme", "shelf", "gone"} {
		a.mandate(name, "{}")
		a.ready(name)
	}
	a.mandate("gone", "{deletionPolicy: Delete}")
	a.until("gone", "protected", func(m *v1alpha1.Mandate) bool { return len(m.Finalizers) > 0 })
	a.reconnect(a.exchange)
	a.action("resend", resend)
	a.action("reset", reset)
	a.mandate("shelf", "{archived: true}")
	a.deleteMandate("gone")
	a.actionWaits("resend", v1alpha1.ReasonAccountChanged)
	a.actionWaits("reset", v1alpha1.ReasonAccountChanged)
	a.waits("shelf")
	a.waits("gone")
	a.accountChanged(true)
	a.otherWasNotAsked()
	a.emails(3)
	a.mandate("newcomer", "{individuals: [{name: jane, email: newcomer@example.com}]}")
	a.needsAccount("newcomer") // all applications were read
	a.condition("newcomer", v1alpha1.ConditionCreated, metav1.ConditionFalse, v1alpha1.ReasonCreating)
	a.otherWasNotAsked()

	a.reconnect(a.credentials)
	a.actionFinishes("resend", v1alpha1.ConditionComplete, v1alpha1.ReasonCarriedOut)
	a.actionFinishes("reset", v1alpha1.ConditionComplete, v1alpha1.ReasonCarriedOut)
	a.until("shelf", "archived", func(m *v1alpha1.Mandate) bool { return m.Status.Archived })
	a.waitGone("gone")
	a.ready("acme")
	a.ready("newcomer")
	a.emails(6)
	a.otherWasNotAsked()
	a.accountChanged(false)
}

// The credentials have another user name for the same account. An application that shows its reference proves that for
// all, and for the processes to come. A lost create is never sent again: what may read can be another account's.
func TestAnotherNameOfTheAccount(t *testing.T) {
	t.Parallel()
	a := newAccounts(t)
	a.start()
	a.mandate("acme", "{}")
	a.ready("acme")
	a.kill()
	lost := a.loseAnswers(1)[0]
	a.rename()
	sent := a.requests(control.CreateApplication)
	a.start()
	a.stalled(lost, v1alpha1.ReasonOutcomeUnknown)
	a.accountChanged(false)
	a.action("resend", resend)
	a.actionFinishes("resend", v1alpha1.ConditionComplete, v1alpha1.ReasonCarriedOut)
	a.ready("acme")
	a.emails(3)
	a.kubectl("annotate", "identityservice/default", v1alpha1.SameAccountAnnotation+"="+a.account())
	a.kill()
	a.start()
	a.mandate("newcomer", "{individuals: [{name: jane, email: newcomer@example.com}]}")
	a.ready("newcomer")
	a.stalled(lost, v1alpha1.ReasonOutcomeUnknown)
	a.emails(4)
	a.checkCreates(sent + 1)
	a.otherWasNotAsked()
}

// A Mandate is applied again with another service, which has another account. It waits for its own account. The service
// says so, and creates what others ask for, also after a restart.
func TestMandateOfAnotherAccount(t *testing.T) {
	t.Parallel()
	a := newAccounts(t)
	a.secret("second", map[string]string{"username": "other", "password": "other"})
	a.apply(fmt.Sprintf(`
kind: IdentityService
metadata: {name: second}
spec: {baseURL: %q, credentialsSecretRef: {name: second}, polling: {minIntervalSeconds: 1, maxIntervalSeconds: 2}}
`, a.url))
	a.start()
	a.mandate("acme", "{}")
	a.ready("acme")
	a.deleteMandate("acme")
	a.waitGone("acme")
	waitsAtSecond := func() {
		t.Helper()
		a.needsAccount("acme")
		a.eventually(func() (bool, string) {
			s := &v1alpha1.IdentityService{}
			a.check(a.Get(t.Context(), client.ObjectKey{Namespace: a.namespace, Name: "second"}, s))
			reason := engine.ReasonOf(s.Status.Conditions, v1alpha1.ConditionAccountChanged)
			return reason == v1alpha1.ReasonApplicationsOfOtherAccount, fmt.Sprintf("%+v", s.Status)
		})
	}
	a.mandate("acme", "{serviceRef: {name: second}}")
	waitsAtSecond()
	a.kill()
	a.start()
	waitsAtSecond()
	a.mandate("globex", "{serviceRef: {name: second}}")
	a.ready("globex")
	waitsAtSecond()
	a.emails(1)
	emails, err := a.other.Outbox(t.Context())
	a.check(err)
	if len(emails) != 1 {
		t.Errorf("the other account e-mailed %d people, want 1", len(emails))
	}
}
