package operator_test

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
	"github.com/mandate-io/idv/internal/test/await"
	"github.com/mandate-io/idv/internal/test/testenv"
	"github.com/mandate-io/idv/internal/test/testenv/faultproxy"
)

var faultsDirectory = flag.String("faults", "", "directory into which TestFaults writes the metrics of each fault")

// faultCase is a fault, and how it shows in the metrics of an operator for which all went well before.
type faultCase struct {
	alert   string
	flags   []string
	spec    string // more of the spec of the service
	happens func(*world)
	shows   string // a regular expression
}

// TestFaults records, for each fault, the metrics of a real operator before and after it. internal/test/monitoring
// tests that the right alert fires, and no other: tools/test-monitoring.sh.
func TestFaults(t *testing.T) {
	if *faultsDirectory == "" {
		t.Skip("without -faults there is nobody to read them: make test-monitoring runs it")
	}
	for name, c := range faultCases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, sandbox.Options{})
			address := testenv.FreeAddress(t)
			w.credentials()
			polling := "polling: {minIntervalSeconds: 1, maxIntervalSeconds: 2}"
			w.newService("default", fmt.Sprintf("baseURL: %q, requestsPerSecond: 100, %s%s", w.url, polling, c.spec))
			w.start(append([]string{"--metrics-bind-address=" + address, "--settle-delay=10m"}, c.flags...)...)
			w.mandate("acme", "{individuals: [{name: jane, email: jane@example.com}]}")
			w.ready("acme")
			w.measures(address, fmt.Sprintf(
				`idv_mandates{mandate_namespace=%q,outcome="",ready="True",reason="Accepted"} 1`, w.namespace))
			before := w.scrape(address)
			c.happens(w)
			shows := regexp.MustCompile(`(?m)^` + c.shows)
			after := ""
			w.eventually(func() (bool, string) {
				after = w.scrape(address)
				return shows.MatchString(after), "the metrics do not show " + c.shows
			})
			w.writeFault(name, c.alert, before, after)
		})
	}
	t.Run("absent", recordAbsence)
	t.Run("no-leader", recordNoLeader)
	t.Run("watch-refused", recordRefusedWatch)
	t.Run("notifications-refused", recordRefusedNotifications)
}

func (w *world) writeFault(name, alert, before, after string) {
	w.Helper()
	text := fmt.Sprintf("# alert %s\n# at 0\n%s# at 60000\n%s", alert, before, after)
	w.check(os.WriteFile(filepath.Join(*faultsDirectory, name+".prom"), []byte(text), 0o600))
}

func waits(reason string) string { return `idv_mandates\{.*ready="False",reason="` + reason + `"` }

func faultCases() map[string]faultCase {
	mandate := func(spec string) func(*world) { return func(w *world) { w.mandate("globex", spec) } }
	with := func(faults ...control.Fault) func(*world) {
		return func(w *world) {
			for _, fault := range faults {
				w.fault(fault)
			}
			w.mandate("globex", "{}")
		}
	}
	const needsPerson, isWaiting = "IDVMandatesNeedAPerson", "IDVMandatesWait"
	return map[string]faultCase{
		"healthy": {
			shows: `idv_mandates\{.*outcome="Completed".*\} 1`,
			happens: func(w *world) {
				w.mandate("globex", "{}")
				w.ready("globex")
				w.action("reminder", resend)
				w.actionCompletes("reminder")
				w.complete(w.get("acme"))
			},
		},
		"answer-lost": {
			alert: "IDVCreateAnswerLost", happens: with(answerLost), shows: waits(v1alpha1.ReasonSettling),
		},
		"answer-lost-for-good": {
			alert: "IDVOutcomeUnknown", flags: []string{"--settle-delay=2s"}, happens: with(answerLost),
			shows: waits(v1alpha1.ReasonOutcomeUnknown),
		},
		"create-refused": {
			alert: needsPerson, happens: with(alwaysAnswers(control.CreateApplication, 400)),
			shows: waits(v1alpha1.ReasonRefused),
		},
		"create-forbidden": {
			alert: needsPerson, happens: with(alwaysAnswers(control.CreateApplication, 403)),
			shows: waits(v1alpha1.ReasonForbidden),
		},
		"no-such-type": {
			alert: needsPerson, happens: mandate("{mandateType: {code: absent}}"),
			shows: waits(v1alpha1.ReasonMandateTypeNotFound),
		},
		"too-late": {
			alert: needsPerson, happens: mandate("{createBefore: 2020-01-01T00:00:00Z}"),
			shows: waits(v1alpha1.ReasonCreateDeadlinePassed),
		},
		"same-reference": {
			alert: needsPerson, shows: waits(v1alpha1.ReasonReferenceConflict),
			happens: func(w *world) { w.mandate("globex", fmt.Sprintf("{reference: %s.acme}", w.namespace)) },
		},
		"no-secret": {
			alert: isWaiting, happens: mandate("{individuals: [{name: joe, detailsSecretRef: {name: absent}}]}"),
			shows: waits(v1alpha1.ReasonSecretNotFound),
		},
		"no-service": {
			alert: isWaiting, happens: mandate("{serviceRef: {name: absent}}"),
			shows: waits(v1alpha1.ReasonIdentityServiceNotFound),
		},
		"no-credentials": {
			alert: isWaiting, shows: waits(v1alpha1.ReasonIdentityServiceNotReady),
			happens: func(w *world) {
				w.newService("second", fmt.Sprintf("baseURL: %q, credentialsSecretRef: {name: absent}", w.url))
				w.mandate("globex", "{serviceRef: {name: second}}")
			},
		},
		"budget": {
			alert: "IDVCreationBudgetReached", spec: ", creation: {maxPerHour: 1, maxPerDay: 1000}", happens: mandate("{}"),
			shows: `idv_creation_waiting\{.*\} 1`,
		},
		"action-answer-lost": {
			alert: "IDVActionOutcomeUnknown", shows: `idv_mandate_actions_unknown\{.*\} 1`,
			happens: func(w *world) {
				w.fault(control.Fault{Operation: control.ResendInvites, Kind: control.Close, AfterWork: true})
				w.action("lost", resend)
			},
		},
		"decision-refused": {
			alert: "IDVDecisionBlocked", shows: waits(v1alpha1.ReasonDecisionRefused),
			happens: func(w *world) {
				w.fault(alwaysAnswers(control.CompleteApplication, 400))
				w.play(w.get("acme"), control.ResultReview)
				w.decide("acme", v1alpha1.DecisionComplete)
			},
		},
		"states-renamed": {
			alert: "IDVStateUnknown", shows: `idv_connection_states_unknown\{.*\} 1`,
			happens: func(w *world) {
				w.play(w.get("acme"), control.ResultReview)
				w.inReview("acme")
				w.check(w.sandbox.SetDialect(w.Context(), "stateNames", dialect.StateNamesOther))
			},
		},
		"deleted-at-the-service": {
			alert: "IDVMandatesVanished", shows: waits("Deleted"),
			happens: func(w *world) {
				_, err := w.client(w.url).DeleteApplication(w.Context(), *w.get("acme").Status.ApplicationID)
				w.check(err)
			},
		},
		"reads-fail": {
			alert: "IDVCircuitOpen", happens: with(alwaysAnswers(control.RetrieveApplication, 503)),
			shows: `idv_circuit_breakers\{.*failing="reads",state="open"\} 1`,
		},
		"service-unreachable": {
			alert: "IDVCircuitOpen", shows: `idv_circuit_breakers\{.*state="open"\} 1`,
			happens: func(w *world) {
				w.fault(control.Fault{Operation: control.AnyOperation, Kind: control.Close, Times: control.Always})
			},
		},
		"password-changed": {
			alert: "IDVLoginRefused", shows: `idv_circuit_breakers\{.*failing="login",state="open"\} 1`,
			happens: func(w *world) {
				w.fault(alwaysAnswers(control.Token, 401))
				w.kubectl("patch", "secret", "idv", "--type=merge", "-p", `{"stringData":{"password":"wrong"}}`)
				w.request("identityservice/default", "the password was changed")
			},
		},
		"record-denied": {
			alert: "IDVAttemptsUnrecorded", shows: `idv_unrecorded_attempts\{kind="Mandate"\} 1`,
			happens: func(w *world) {
				w.deny("applicationrecords", "false")
				w.mandate("globex", "{}")
			},
		},
		"status-denied": {
			alert: "IDVOperatorErrors", shows: `controller_runtime_reconcile_errors_total\{controller="mandate"\} [1-9]\d`,
			happens: func(w *world) {
				w.deny("mandates/status", "false")
				for i := range 10 { // a single one fails less and less often
					w.mandate(fmt.Sprintf("globex-%d", i), "{}")
				}
			},
		},
		"object-unreadable": {
			alert: "IDVObjectUnreadable", shows: `idv_unreadable_objects\{kind="Mandate"\} 1`,
			happens: func(w *world) { w.store("mandates", "acme", "spec: {createBefore: "+unreadableValue+"}") },
		},
	}
}

// recordAbsence records an operator that was killed.
func recordAbsence(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{})
	address := testenv.FreeAddress(t)
	w.connect()
	w.start("--metrics-bind-address=" + address)
	w.mandate("acme", "{}")
	w.ready("acme")
	before := w.scrape(address)
	w.kill()
	w.writeFault("absent", "IDVOperatorAbsent", before, "")
}

// recordNoLeader records a leader, and then a replica alone that does not lead.
func recordNoLeader(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{})
	election, err := env.GrantLeaderElection(t.Context(), w.namespace)
	w.check(err)
	first, second := testenv.FreeAddress(t), testenv.FreeAddress(t)
	w.connect()
	w.start(append(election, "--metrics-bind-address="+first)...)
	w.mandate("acme", "{}")
	w.ready("acme")
	before := w.scrape(first)
	w.start(append(election, "--metrics-bind-address="+second)...)
	w.check(w.operator.WaitForURL(await.Context(t), "http://"+second+"/metrics"))
	w.writeFault("no-leader", "IDVNoLeader", before, w.scrape(second))
}

// recordRefusedWatch records that the API server refuses the watch of a kind for more than a minute.
func recordRefusedWatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{})
	address := testenv.FreeAddress(t)
	w.connect()
	var broken atomic.Bool
	refuse := func(path string) bool { return broken.Load() && strings.HasSuffix(path, "/mandateactions") }
	proxy := w.behind(faultproxy.Options{Refuse: refuse, Inject: func(r faultproxy.Request) faultproxy.Fault {
		if refuse(r.Path) {
			return faultproxy.Fault{Replace: &faultproxy.Response{Status: http.StatusServiceUnavailable}}
		}
		return faultproxy.Fault{}
	}})
	w.start("--metrics-bind-address=" + address)
	w.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)
	before := w.scrape(address)
	broken.Store(true)
	proxy.Disconnect()
	w.measures(address, `idv_unreadable_watches{kind="MandateAction"} 1`)
	w.writeFault("watch-refused", "IDVWatchUnreadable", before, w.scrape(address))
}

// recordRefusedNotifications records deliveries with a wrong token.
func recordRefusedNotifications(t *testing.T) {
	t.Parallel()
	address := testenv.FreeAddress(t)
	w, url := notified(t, "--metrics-bind-address="+address)
	before := w.scrape(address)
	refused := regexp.MustCompile(`idv_notification_deliveries_total\{result="refused"\} (2[5-9]|[3-9]\d|\d{3})\n`)
	w.eventually(func() (bool, string) { // those above a rate are limited
		w.post(url+"x", "{}")
		return refused.MatchString(w.scrape(address)), "too few are refused"
	})
	w.writeFault("notifications-refused", "IDVNotificationsRefused", before, w.scrape(address))
}
