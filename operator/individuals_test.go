package operator_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// individual is an individual as the service shows it.
type individual = map[string]any

// presenter is a service that shows the individuals of applications in its own way.
type presenter struct {
	mu   sync.Mutex
	show func([]individual) []individual // nil: as the sandbox does
}

func (p *presenter) set(show func([]individual) []individual) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.show = show
}

func reversed(all []individual) []individual {
	slices.Reverse(all)
	return all
}

func withoutReferences(all []individual) []individual {
	for _, one := range all {
		delete(one, "reference")
		delete(one, "email")
	}
	return all
}

func withoutEmails(all []individual) []individual {
	for _, one := range all {
		delete(one, "email")
	}
	return all
}

// newPresented is a world, without an operator, whose service shows individuals as a presenter says.
func newPresented(t *testing.T) (*world, *presenter) {
	t.Helper()
	w, p := newWorld(t, sandbox.Options{}), &presenter{}
	target, err := url.Parse(w.url)
	w.check(err)
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ModifyResponse = p.modify
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	w.url = server.URL
	w.connect()
	return w, p
}

func (p *presenter) modify(response *http.Response) error {
	p.mu.Lock()
	show := p.show
	p.mu.Unlock()
	if show == nil || response.Request.Method != http.MethodGet {
		return nil
	}
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	var application map[string]any
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.UseNumber()
	if decoder.Decode(&application) == nil && application["individuals"] != nil {
		var all []individual
		for _, one := range application["individuals"].([]any) {
			all = append(all, one.(individual))
		}
		application["individuals"] = show(all)
		if content, err = json.Marshal(application); err != nil {
			return err
		}
	}
	response.Body = io.NopCloser(bytes.NewReader(content))
	response.ContentLength = int64(len(content))
	response.Header.Set("Content-Length", strconv.Itoa(len(content)))
	return nil
}

// janeAndJohn is a Mandate whose individuals have references of their own: jane's is in the spec, john's in a Secret.
const janeAndJohn = `{individuals: [
	{name: jane, email: jane@example.com, reference: person-1},
	{name: john, detailsSecretRef: {name: john}}]}`

func (w *world) john() {
	w.Helper()
	w.secret("john", map[string]string{"email": "john@example.com", "reference": "person-2"})
}

// people are the ids of the individuals that were invited, by their addresses.
func (w *world) people() (jane, john int64) {
	w.Helper()
	for _, email := range w.emails(2) {
		switch email.Address {
		case "jane@example.com":
			jane = email.IndividualID
		case "john@example.com":
			john = email.IndividualID
		}
	}
	return jane, john
}

// checkIndividualIDs checks the ids of jane and john in the status, 0 for one of whom the status must show nothing.
func (w *world) checkIndividualIDs(jane, john int64) {
	w.Helper()
	if wrong := individualIDs(w.get("acme"), jane, john); wrong != "" {
		w.Error(wrong)
	}
}

func individualIDs(m *v1alpha1.Mandate, jane, john int64) string {
	shown := m.Status.Individuals
	if len(shown) != 2 || shown[0].Name != "jane" || shown[1].Name != "john" ||
		shown[0].ID != jane || shown[1].ID != john {
		return fmt.Sprintf("the status shows %+v, want jane as %d and john as %d", shown, jane, john)
	}
	for _, one := range shown {
		if one.ID == 0 && (one.State != nil || one.Checks != nil) {
			return fmt.Sprintf("the status shows %+v of an individual that is not known", one)
		}
	}
	return ""
}

// The service shows the individuals in another order. What tells them apart cannot be read when an operator reads the
// application for the first time. No individual is taken for another one.
func TestIndividualsOfTheFirstRead(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		fail   func(*world, *manualReconciler)
		reason string
		heal   func(*world, *manualReconciler)
	}{
		"the live Mandate cannot be read": {
			fail:   func(_ *world, r *manualReconciler) { r.failing = "get Mandate" },
			reason: v1alpha1.ReasonReadFailed,
			heal:   func(_ *world, r *manualReconciler) { r.failing = "" },
		},
		"a Secret cannot be read": {
			fail:   func(_ *world, r *manualReconciler) { r.failing = "get Secret" },
			reason: v1alpha1.ReasonReadFailed,
			heal:   func(_ *world, r *manualReconciler) { r.failing = "" },
		},
		"a Secret is gone": {
			fail:   func(w *world, _ *manualReconciler) { w.kubectl("delete", "secret", "john") },
			reason: v1alpha1.ReasonIndividualsUnmatched,
			heal:   func(w *world, _ *manualReconciler) { w.john() },
		},
		"a Secret is invalid": {
			fail: func(w *world, _ *manualReconciler) {
				w.secret("john", map[string]string{"email": "john", "reference": "person-2"})
			},
			reason: v1alpha1.ReasonIndividualsUnmatched,
			heal:   func(w *world, _ *manualReconciler) { w.john() },
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, p := newPresented(t)
			w.john()
			w.mandate("acme", janeAndJohn)
			w.fault(readsFail)
			w.newManualReconciler().reconcile("acme")
			w.check(w.sandbox.ClearFaults(t.Context()))
			jane, john := w.people()
			p.set(func(all []individual) []individual { return withoutEmails(reversed(all)) })

			r := w.newManualReconciler()
			c.fail(w, r)
			r.reconcile("acme")
			w.checkReady("acme", c.reason)
			if c.reason == v1alpha1.ReasonIndividualsUnmatched {
				w.checkIndividualIDs(jane, 0)
				w.checkUnmatched("spec.individuals[john].detailsSecretRef", "spec.individuals[john]")
			} else if shown := w.get("acme").Status.Individuals; len(shown) > 0 {
				t.Errorf("the status shows individuals: %+v", shown)
			}
			c.heal(w, r)
			r.reconcile("acme")
			w.checkIndividualIDs(jane, john)
			w.checkReady("acme", v1alpha1.ReasonAccepted)
			w.emails(2)
		})
	}
}

// checkReady checks the reason of Ready.
func (w *world) checkReady(name, reason string) {
	w.Helper()
	for _, c := range w.get(name).Status.Conditions {
		if c.Type == v1alpha1.ConditionReady && c.Reason == reason {
			return
		}
	}
	w.Errorf("Ready of %s has another reason than %s: %+v", name, reason, w.get(name).Status.Conditions)
}

// checkUnmatched checks which fields the status of acme names.
func (w *world) checkUnmatched(want ...string) {
	w.Helper()
	var fields []string
	for _, p := range w.get("acme").Status.Problems {
		fields = append(fields, p.Field)
	}
	if !slices.Equal(fields, want) {
		w.Errorf("the status names %q, want %q", fields, want)
	}
}

// Somebody swaps the Secrets of jane and john after the create. Which individual is which does not change: nothing
// is sent, also not by an operator that knows nothing else, until the Secrets are as they were sent.
func TestSecretsSwapped(t *testing.T) {
	t.Parallel()
	w, _ := newPresented(t)
	secrets := func(jane, john string) {
		w.secret("jane", map[string]string{"email": "jane@example.com", "reference": jane})
		w.secret("john", map[string]string{"email": "john@example.com", "reference": john})
	}
	secrets("person-1", "person-2")
	w.mandate("acme", `{individuals: [
		{name: jane, detailsSecretRef: {name: jane}}, {name: john, detailsSecretRef: {name: john}}]}`)
	r := w.newManualReconciler()
	r.reconcile("acme")
	jane, john := w.people()
	w.checkIndividualIDs(jane, john)

	secrets("person-2", "person-1")
	r = w.newManualReconciler()
	actions := r.newActionReconciler()
	w.action("reset", reset)
	actions.reconcile("reset")
	w.checkEmailed(control.Reset, 0)
	w.actionWaits("reset", v1alpha1.ReasonIndividualsUnmatched)
	w.requestRead("acme")
	r.reconcile("acme")
	w.checkReady("acme", v1alpha1.ReasonIndividualsUnmatched)

	secrets("person-1", "person-2")
	w.requestRead("acme")
	r.reconcile("acme")
	w.checkReady("acme", v1alpha1.ReasonAccepted)
	w.checkIndividualIDs(jane, john)
	actions.reconcile("reset")
	w.actionCompletes("reset")
	w.checkReached(control.Reset, "jane@example.com")
}

// requestRead makes the next reconciliation of a Mandate read its application.
func (w *world) requestRead(name string) {
	w.Helper()
	w.kubectl("annotate", "mandate", name, "--overwrite", v1alpha1.ReconcileRequestAnnotation+"="+time.Now().String())
}

// swap exchanges the ids of the two individuals in the status.
func (w *world) swap(name string) {
	w.Helper()
	m := w.get(name)
	swapped := m.DeepCopy()
	shown := swapped.Status.Individuals
	shown[0].Name, shown[1].Name = shown[1].Name, shown[0].Name
	shown[0], shown[1] = shown[1], shown[0]
	w.check(w.Status().Patch(w.Context(), swapped, client.MergeFrom(m)))
}

// checkReached checks that one e-mail of a kind was sent, and to whom.
func (w *world) checkReached(kind control.EmailKind, address string) {
	w.Helper()
	emails, err := w.sandbox.Outbox(w.Context())
	w.check(err)
	emails = slices.DeleteFunc(emails, func(e control.Email) bool { return e.Kind != kind })
	if len(emails) != 1 || emails[0].Address != address {
		w.Errorf("e-mails of kind %s were sent: %+v, want one to %s", kind, emails, address)
	}
}

// A review reaches the check of the individual that it names, also if the status was wrong about who that is.
func TestReviewOfTheIndividual(t *testing.T) {
	t.Parallel()
	w, _ := newPresented(t)
	w.john()
	w.mandate("acme", janeAndJohn)
	w.newManualReconciler().reconcile("acme")
	w.play(w.get("acme"), control.ResultReview)
	w.requestRead("acme")
	r := w.newManualReconciler()
	r.reconcile("acme")
	w.swap("acme")
	johns := w.get("acme").Status.Individuals[0].Checks[0] // shown as jane's

	patch := fmt.Sprintf(`{"spec": {"checkReviews": [
		{"individual": "jane", "check": %q, "evidence": %q, "decision": "Accept"}]}}`, johns.Name, johns.Evidence)
	w.kubectl("patch", "mandate", "acme", "--type=merge", "-p", patch)
	r = w.newManualReconciler()
	r.reconcile("acme")
	application, err := w.client(w.url).RetrieveApplication(t.Context(), *w.get("acme").Status.ApplicationID)
	w.check(err)
	for _, one := range application.Individuals {
		for _, check := range one.Checks {
			if check.State.Name == "manually_accepted" && one.Reference.Reveal() != "person-1" {
				t.Errorf("the check %s of another individual was accepted", check.Name)
			}
		}
	}
}

// Answers in which somebody cannot be told: nothing is sent for any individual or the application. The Mandate heals by
// itself.
func TestIndividualsUnmatched(t *testing.T) {
	t.Parallel()
	cases := map[string]func([]individual) []individual{
		"two with one reference": func(all []individual) []individual {
			all[1]["reference"] = all[0]["reference"]
			return withoutEmails(all)
		},
		"two with one id": func(all []individual) []individual {
			all[1]["id"] = all[0]["id"]
			return withoutEmails(all)
		},
		"one more": func(all []individual) []individual {
			return append(all, individual{"id": 99999, "reference": "person-3"})
		},
		"a reference that was never sent": func(all []individual) []individual {
			all[1]["reference"] = "person-3"
			return withoutEmails(all)
		},
	}
	for name, show := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, p := newPresented(t)
			w.john()
			w.start()
			w.mandate("acme", janeAndJohn)
			w.play(w.ready("acme"), control.ResultReview)
			jane, john := w.people()
			seen := w.inReview("acme")
			p.set(show)
			w.stalled("acme", v1alpha1.ReasonIndividualsUnmatched)
			if fields := map[string]string{
				"one more": "spec.individuals", "a reference that was never sent": "spec.individuals[john]",
			}; fields[name] != "" {
				w.checkUnmatched(fields[name])
			}
			w.action("reset", reset)
			w.actionWaits("reset", v1alpha1.ReasonIndividualsUnmatched)
			w.mandate("acme", fmt.Sprintf("%s, %s, checkReviews: [%s]}", janeAndJohn[:len(janeAndJohn)-1],
				decision(seen, v1alpha1.DecisionReject), review(seen, "document", v1alpha1.CheckDecisionReject)))
			w.waitPolls(2)
			w.stalled("acme", v1alpha1.ReasonIndividualsUnmatched)
			if got := w.requests(control.RejectCheck) + w.requests(control.RejectApplication); got != 0 {
				t.Errorf("%d reviews and decisions were sent, want none", got)
			}
			w.checkEmailed(control.Reset, 0)
			w.kubectl("delete", "mandateaction", "reset")
			p.set(nil)
			w.condition("acme", v1alpha1.ConditionCompleted, metav1.ConditionTrue, string(v1alpha1.OutcomeRejected))
			w.ready("acme")
			w.checkIndividualIDs(jane, john)
		})
	}
}

// The service shows the individuals in every way that the interface leaves open, and they are told apart.
func TestIndividualsMatched(t *testing.T) {
	t.Parallel()
	cases := map[string]func([]individual) []individual{
		"in another order":       reversed,
		"without their e-mails":  func(all []individual) []individual { return withoutEmails(reversed(all)) },
		"by masked e-mail":       func(all []individual) []individual { return masked(reversed(all)) },
		"by e-mail in any order": func(all []individual) []individual { return onlyEmails(reversed(all)) },
		"with references in other letters": func(all []individual) []individual {
			for _, one := range all {
				one["reference"] = " " + string(bytes.ToUpper([]byte(one["reference"].(string))))
			}
			return withoutEmails(reversed(all))
		},
	}
	for name, show := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, p := newPresented(t)
			p.set(show)
			w.john()
			w.mandate("acme", janeAndJohn)
			w.newManualReconciler().reconcile("acme")
			jane, john := w.people()
			w.checkIndividualIDs(jane, john)
			w.checkReady("acme", v1alpha1.ReasonAccepted)
			p.set(func(all []individual) []individual { return reversed(withoutReferences(all)) })
			w.requestRead("acme")
			w.newManualReconciler().reconcile("acme") // by the ids
			w.checkIndividualIDs(jane, john)
			w.checkReady("acme", v1alpha1.ReasonAccepted)
		})
	}
}

// The service shows nothing that tells two individuals apart. The order of an answer decides nothing, so nothing is
// sent for any of them.
func TestPositionDecidesNothing(t *testing.T) {
	t.Parallel()
	w, p := newPresented(t)
	p.set(withoutReferences)
	w.john()
	w.mandate("acme", janeAndJohn)
	r := w.newManualReconciler()
	r.reconcile("acme")
	w.checkReady("acme", v1alpha1.ReasonIndividualsUnmatched)
	w.checkIndividualIDs(0, 0)
	p.set(nil)
	w.requestRead("acme")
	r.reconcile("acme")
	w.checkReady("acme", v1alpha1.ReasonAccepted)
}

// masked shows the first three characters of an address, and no reference.
func masked(all []individual) []individual {
	for _, one := range onlyEmails(all) {
		name, host, _ := strings.Cut(one["email"].(string), "@")
		one["email"] = name[:3] + "***@" + host
	}
	return all
}

func onlyEmails(all []individual) []individual {
	for _, one := range all {
		delete(one, "reference")
	}
	return all
}

var errUnavailable = errors.New("the API server does not answer")
