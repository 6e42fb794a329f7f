package operator_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/test/await"
	"github.com/mandate-io/idv/internal/test/testenv"
)

// The metrics count the Mandates by state, and contain no names.
func TestMetrics(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{})
	address := testenv.FreeAddress(t)
	w.connect()
	w.start("--metrics-bind-address="+address, "--settle-delay=10m")
	w.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)
	w.mandate("acme", "{individuals: [{name: jane, email: canary@example.com}]}")
	w.mandate("globex", "{}")
	w.ready("acme")
	w.ready("globex")
	w.fault(answerLost)
	w.mandate("initech", "{}")
	w.condition("initech", v1alpha1.ConditionReconciling, metav1.ConditionTrue, v1alpha1.ReasonSettling)

	connection := `connection="IdentityService/` + w.namespace + `/default"`
	namespace := `mandate_namespace="` + w.namespace + `"`
	var text string
	w.eventually(func() (bool, string) {
		text = w.scrape(address)
		idle := `idv_connection_slots_used{` + connection + `,kind="Mandate"} 0`
		seen := `idv_mandates{` + namespace + `,outcome="",ready="False",reason="Settling"} 1` // metrics are of the cache
		return strings.Contains(text, idle+"\n") && strings.Contains(text, seen+"\n"),
			"a reconciliation uses the connection still, or the cache lacks its status"
	})
	for _, want := range []string{
		`idv_mandates{` + namespace + `,outcome="",ready="True",reason="Accepted"} 2`,
		`idv_mandates{` + namespace + `,outcome="",ready="False",reason="Settling"} 1`,
		`idv_create_attempts_total{outcome="created"} 2`,
		`idv_create_attempts_total{outcome="unknown"} 1`,
		`idv_service_requests_total{operation="create_application",status="200"} 2`,
		`idv_circuit_breakers{` + connection + `,failing="",state="closed"} 1`,
		`idv_connection_slots_used{` + connection + `,kind="MandateAction"} 0`,
		`idv_connection_waiting{` + connection + `,kind="MandateAction"} 0`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("the metrics lack %s", want)
		}
	}
	text = strings.NewReplacer(connection, "", namespace, "").Replace(text) // the labels that may name something
	for _, name := range []string{"acme", "globex", "canary", w.namespace, w.url} {
		if strings.Contains(text, name) {
			t.Errorf("the metrics contain %s", name)
		}
	}
	if t.Failed() {
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "idv_") {
				t.Log(line)
			}
		}
	}
}

// A decision and a review that the service refuses are counted by reason until they are carried out or withdrawn,
// although their Mandates are Ready.
func TestBlockedDecisionsAreCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{})
	address := testenv.FreeAddress(t)
	w.connect()
	w.start("--metrics-bind-address=" + address)
	w.fault(alwaysAnswers(control.CompleteApplication, 400))
	w.check(w.sandbox.SetDialect(t.Context(), "decidableChecks", "in_review"))
	for _, name := range []string{"acme", "globex", "initech"} {
		w.mandate(name, "{}")
		w.ready(name)
	}
	w.play(w.get("acme"), control.ResultReview)
	w.decide("acme", v1alpha1.DecisionComplete)
	w.mandate("globex", "{checkReviews: ["+review(w.get("globex"), "document", v1alpha1.CheckDecisionReject)+"]}")
	w.stalled("acme", v1alpha1.ReasonDecisionRefused)
	w.stalled("globex", v1alpha1.ReasonReviewRefused)
	mandates := `idv_mandates{mandate_namespace="` + w.namespace + `",outcome="",ready=`
	decision := mandates + `"False",reason="DecisionRefused"} 1`
	blocked := func(accepted int, decisions bool) {
		t.Helper()
		w.eventually(func() (bool, string) {
			text := w.scrape(address)
			return strings.Contains(text, fmt.Sprintf(mandates+`"True",reason="Accepted"} %d`, accepted)) &&
				strings.Contains(text, decision) == decisions &&
				strings.Contains(text, mandates+`"False",reason="ReviewRefused"} 1`), text
		})
	}
	blocked(1, true)
	w.kubectl("patch", "mandate", "acme", "--type=merge", "-p", `{"spec":{"decision":null}}`)
	blocked(2, false)
}

// The answers to creates are lost. The metrics count the applications that become known, by what found them, and the
// actions by their result.
func TestRecoveredAnswersAreCounted(t *testing.T) {
	t.Parallel()
	testenv.SkipIfShort(t)
	w := newWorld(t, sandbox.Options{})
	address := testenv.FreeAddress(t)
	w.connect()
	w.start("--metrics-bind-address="+address, "--settle-delay=2s")
	w.fault(requestLost)
	w.mandate("acme", "{individuals: [{name: jane, email: jane@example.com}]}")
	w.ready("acme")
	w.fault(answerLost)
	w.mandate("globex", "{}")
	w.stalled("globex", v1alpha1.ReasonOutcomeUnknown)
	w.measures(address, `idv_lost_answers_recovered_total{by="adoption"} 0`)
	w.mandate("globex", fmt.Sprintf("{adopt: {applicationID: %d}}", w.applicationID(w.namespace+".globex")))
	w.ready("globex")
	w.action("sent", resend)
	w.actionCompletes("sent")
	w.fault(control.Fault{Operation: control.ResendInvites, Kind: control.Close, AfterWork: true})
	w.action("lost", resend)
	w.actionFails("lost", v1alpha1.ReasonOutcomeUnknown)
	w.measures(address,
		`idv_lost_answers_recovered_total{by="adoption"} 1`,
		`idv_lost_answers_recovered_total{by="notification"} 0`,
		`idv_lost_answers_recovered_total{by="repeat"} 1`,
		`idv_mandate_actions_total{reason="CarriedOut",result="complete",type="ResendInvite"} 1`,
		`idv_mandate_actions_total{reason="OutcomeUnknown",result="failed",type="ResendInvite"} 1`)
	w.emails(2 + 2) // two of them were resent
}

// measures waits until the metrics have these lines.
func (w *world) measures(address string, lines ...string) {
	w.Helper()
	w.eventually(func() (bool, string) {
		text := w.scrape(address)
		missing := slices.DeleteFunc(slices.Clone(lines), func(line string) bool {
			return strings.Contains(text, "\n"+line+"\n")
		})
		return len(missing) == 0, fmt.Sprintf("the metrics lack %q", missing)
	})
}

func (w *world) scrape(address string) string {
	w.Helper()
	return w.fetch("http://" + address + "/metrics")
}

func (w *world) fetch(url string) string {
	w.Helper()
	request, err := http.NewRequestWithContext(await.Context(w.T), http.MethodGet, url, http.NoBody)
	w.check(err)
	response, err := (&http.Client{}).Do(request)
	w.check(err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	w.check(err)
	return string(body)
}

// What people wait for is measured: until a Mandate is Ready, until the status shows what a notification told, and
// until a decision is carried out. What comes after is not measured again.
func TestJourneysAreMeasured(t *testing.T) {
	t.Parallel()
	address := testenv.FreeAddress(t)
	w, url := notified(t, "--metrics-bind-address="+address)
	const ready, decision = `idv_journey_duration_seconds_count{journey="ready"} `,
		`idv_journey_duration_seconds_count{journey="decision"} `
	w.measures(address, ready+"0", decision+"0", `idv_journey_duration_seconds_count{journey="notification"} 0`)
	w.mandate("acme", "{}")
	m := w.ready("acme")
	w.measures(address, ready+"1", decision+"0")
	w.play(m, control.ResultPass)
	w.inReview("acme")
	w.eventually(func() (bool, string) {
		text := w.scrape(address)
		return strings.Contains(text, "\n"+`idv_journey_duration_seconds_count{journey="notification"} `) &&
			!strings.Contains(text, "\n"+`idv_journey_duration_seconds_count{journey="notification"} 0`), text
	})
	w.decide("acme", v1alpha1.DecisionComplete)
	w.condition("acme", v1alpha1.ConditionCompleted, metav1.ConditionTrue, string(v1alpha1.OutcomeCompleted))
	w.post(url, fmt.Sprintf(`{"id": %d}`, *m.Status.ApplicationID))
	w.measures(address, ready+"1", decision+"1")
}
