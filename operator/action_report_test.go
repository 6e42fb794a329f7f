package operator_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// verified applies the Mandate acme, and completes its application.
func (w *world) verified() {
	w.Helper()
	w.mandate("acme", "{}")
	w.complete(w.ready("acme"))
	w.condition("acme", v1alpha1.ConditionCompleted, metav1.ConditionTrue, string(v1alpha1.OutcomeCompleted))
}

func (w *world) secretNamed(name string) *corev1.Secret {
	w.Helper()
	secret := &corev1.Secret{}
	w.check(w.Get(w.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, secret))
	return secret
}

func (w *world) checkNoSecret(name string) {
	w.Helper()
	err := w.Get(w.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, &corev1.Secret{})
	if !apierrors.IsNotFound(err) {
		w.Errorf("the Secret %s exists, or cannot be read: %v", name, err)
	}
}

// checkReport checks that the Secret has the report and belongs to the action.
func (w *world) checkReport(action *v1alpha1.MandateAction, contentType, prefix string) {
	w.Helper()
	secret := w.secretNamed("jane-report")
	got, content := string(secret.Data["content_type"]), string(secret.Data["report"])
	if got != contentType || !strings.HasPrefix(content, prefix) || len(secret.Data) != 2 {
		w.Errorf("the Secret has %d entries, the content type %q and content %.20q, want %q and prefix %q",
			len(secret.Data), got, content, contentType, prefix)
	}
	if !metav1.IsControlledBy(secret, action) {
		w.Errorf("the Secret does not belong to the action: %+v", secret.OwnerReferences)
	}
}

// The action waits for the report, which exists once the individual has completed the checks.
func TestReportWaits(t *testing.T) {
	t.Parallel()
	for _, status := range []string{"400", "404", "409"} {
		t.Run("not ready is "+status, func(t *testing.T) {
			t.Parallel()
			w := running(t)
			w.check(w.sandbox.SetDialect(t.Context(), "reportNotReady", status))
			w.mandate("acme", "{}")
			m := w.ready("acme")
			w.action("report", report)
			w.actionWaits("report", v1alpha1.ReasonReportNotReady)
			asked, reads := w.requests(control.IndividualReport), w.requests(control.RetrieveApplication)
			w.eventually(func() (bool, string) { return w.requests(control.RetrieveApplication) >= reads+3, "no polls" })
			if got := w.requests(control.IndividualReport); got != asked {
				t.Errorf("the report was requested %d times although nothing changed", got-asked)
			}
			w.checkNoSecret("jane-report")
			w.play(m, control.ResultPass)
			w.checkReport(w.actionCompletes("report"), "application/pdf", "%PDF-")
		})
	}
}

func TestReportFormats(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.verified()
	w.check(w.sandbox.SetDialect(t.Context(), "reportFormat", "json_base64"))
	w.action("base64", report)
	w.checkReport(w.actionCompletes("base64"), "application/pdf", "%PDF-")

	w.check(w.sandbox.SetDialect(t.Context(), "reportFormat", "json_url"))
	w.action("url", "{type: DownloadReport, reportSecretRef: {name: url}}")
	action := w.actionFails("url", v1alpha1.ReasonReportIsURL)
	w.checkNoSecret("url")
	if status := fmt.Sprintf("%+v", action.Status); strings.Contains(status, "reports.idv.example") {
		t.Errorf("the status shows the URL: %s", status)
	}
	w.check(w.sandbox.SetDialect(t.Context(), "reportFormat", "pdf"))

	w.secret("theirs", map[string]string{"report": "precious"})
	w.action("theirs", "{type: DownloadReport, reportSecretRef: {name: theirs}}")
	w.actionFails("theirs", v1alpha1.ReasonSecretExists)
	w.action("another", report) // the Secret of the first one
	w.actionFails("another", v1alpha1.ReasonSecretExists)
	if got := string(w.secretNamed("theirs").Data["report"]); got != "precious" {
		t.Errorf("another user's Secret was overwritten: %q", got)
	}
	w.checkReport(w.getAction("base64"), "application/pdf", "%PDF-")

	w.fault(control.Fault{Operation: control.IndividualReport, Kind: control.Answer, Status: 400})
	w.action("refused", "{type: DownloadReport, reportSecretRef: {name: refused}}")
	w.actionFails("refused", v1alpha1.ReasonRefused)

	for _, fault := range []control.Fault{
		{Kind: control.Answer, Status: 500, Times: 4}, // more than the client's retries
		{Kind: control.Answer, Status: 202},
		{Kind: control.Truncate, AfterWork: true},
	} {
		fault.Operation = control.IndividualReport
		name := fmt.Sprintf("%s-%d", fault.Kind, fault.Status)
		w.fault(fault)
		w.action(name, "{type: DownloadReport, reportSecretRef: {name: "+name+"}}")
		w.actionCompletes(name)
	}
	w.checkEmailed(control.Resend, 0)
}

// proxied is a world whose service returns the given report.
func proxied(t *testing.T, contentType string, report []byte) *world {
	t.Helper()
	w := newWorld(t, sandbox.Options{})
	target, err := url.Parse(w.url)
	w.check(err)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/report") {
			proxy.ServeHTTP(rw, r)
			return
		}
		rw.Header().Set("Content-Type", contentType)
		_, _ = rw.Write(report)
	}))
	t.Cleanup(server.Close)
	w.url = server.URL
	w.connect()
	w.start()
	w.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)
	return w
}

func TestReportSize(t *testing.T) {
	t.Parallel()
	const contentType = "application/pdf"
	fits := 1<<20 - len(contentType)
	for name, c := range map[string]struct {
		size int
		fits bool
	}{
		"as large as a Secret": {fits, true},
		"a byte larger":        {fits + 1, false},
		"much larger":          {4 << 20, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := proxied(t, contentType, bytes.Repeat([]byte("x"), c.size))
			w.mandate("acme", "{}")
			w.action("report", report)
			if c.fits {
				w.checkReport(w.actionCompletes("report"), contentType, "xxx")
				return
			}
			w.actionFails("report", v1alpha1.ReasonReportTooLarge)
			w.checkNoSecret("jane-report")
		})
	}
}

// The operator crashes while it stores a report, or another one stores it concurrently.
func TestReportCrashes(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		crash func(first, second *manualActionReconciler)
		reads int64
	}{
		"before the Secret": {
			crash: func(r, _ *manualActionReconciler) { r.intercept(secretCreate, 1, crashBefore) },
			reads: 2,
		},
		"after the Secret": {
			crash: func(r, _ *manualActionReconciler) { r.intercept(secretCreate, 1, crashAfter) },
			reads: 1,
		},
		"stored concurrently": {
			crash: func(r, other *manualActionReconciler) {
				r.intercept(secretCreate, 1, func(do func() error) error {
					other.reconcile("report")
					return do()
				})
			},
			reads: 2,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, first, second := newActionReconcilers(t)
			w.play(w.get("acme"), control.ResultPass)
			w.action("report", report)
			c.crash(first, second)
			first.reconcile("report")
			second.reconcile("report")
			w.checkReport(w.actionCompletes("report"), "application/pdf", "%PDF-")
			if got := w.requests(control.IndividualReport); got != c.reads {
				t.Errorf("the report was requested %d times, want %d", got, c.reads)
			}
		})
	}
	t.Run("the Secret is forbidden", func(t *testing.T) {
		t.Parallel()
		w, r, _ := newActionReconcilers(t)
		w.play(w.get("acme"), control.ResultPass)
		r.intercept(secretCreate, 1, func(func() error) error {
			return apierrors.NewForbidden(corev1.Resource("secrets"), "jane-report", errors.New("exceeded quota"))
		})
		w.action("report", report)
		if result := r.reconcile("report"); result.RequeueAfter <= 0 {
			t.Error("the action is not requeued")
		}
		w.actionWaits("report", v1alpha1.ReasonSecretRefused)
		r.reconcile("report")
		w.checkReport(w.actionCompletes("report"), "application/pdf", "%PDF-")
	})
}

// Personal data in the service's answers is stored in the Secret and nowhere else, even at the highest log level.
func TestNoPersonalDataInActions(t *testing.T) {
	t.Parallel()
	w := proxied(t, "application/json", []byte(`{"last_name": "canary1", "checks": ["canary2"]}`))
	w.mandate("acme", `{individuals: [{name: jane, email: canary3@example.com, firstName: canary4, reference: canary5}]}`)
	w.action("report", report)
	w.checkReport(w.actionCompletes("report"), "application/json", `{"last_name": "canary1"`)
	w.action("resend", resend)
	w.actionCompletes("resend")
	for status, reason := range map[int]string{400: v1alpha1.ReasonRefused, 500: v1alpha1.ReasonOutcomeUnknown} {
		w.check(w.sandbox.ClearFaults(t.Context()))
		w.fault(alwaysAnswers(control.ResetIndividual, status))
		name := fmt.Sprint("reset-", status)
		w.action(name, reset)
		w.actionFails(name, reason)
	}
	w.check(w.operator.Stop())

	var events corev1.EventList
	w.check(w.List(t.Context(), &events, client.InNamespace(w.namespace)))
	var actions v1alpha1.MandateActionList
	w.check(w.List(t.Context(), &actions, client.InNamespace(w.namespace)))
	log, err := os.ReadFile(w.operator.Log)
	w.check(err)
	secret := w.secretNamed("jane-report")
	for where, content := range map[string]any{
		"actions": actions.Items, "events": events.Items, "the log": string(log), "the Secret's metadata": secret.ObjectMeta,
	} {
		data, err := json.Marshal(content)
		w.check(err)
		if i := bytes.Index(data, []byte("canary")); i >= 0 {
			t.Errorf("%s contains personal data: ...%s...", where, data[max(0, i-200):min(len(data), i+50)])
		}
	}
	for _, mention := range []string{"Sending a request", "The service carried out the request", "Stored the report"} {
		if !strings.Contains(string(log), mention) {
			t.Errorf("the log does not say %q: the search proves nothing", mention)
		}
	}
	w.checkSampleLines(string(log))
}

// checkSampleLines holds that the log of a create has the two lines of docs/runbooks.md, member by member.
func (w *world) checkSampleLines(log string) {
	w.Helper()
	page, err := os.ReadFile(filepath.Join(env.Root, "docs", "runbooks.md"))
	w.check(err)
	create := regexp.MustCompile(`(?m)^\{.*"controller":"mandate",.*"call":"Create".*\}$`)
	samples, logged := create.FindAllString(string(page), -1), create.FindAllString(log, 2)
	if len(samples) != 2 || len(logged) != 2 {
		w.Fatalf("the page has %d lines of a create and the log %d, want 2", len(samples), len(logged))
	}
	value := regexp.MustCompile(`":("[^"]*"|\d+)`)
	message := regexp.MustCompile(`"(msg|outcome)":"[^"]*"`)
	for i, line := range logged {
		want, got := value.ReplaceAllString(samples[i], ""), value.ReplaceAllString(line, "")
		wantText, gotText := message.FindAllString(samples[i], -1), message.FindAllString(line, -1)
		if want != got || !slices.Equal(wantText, gotText) {
			w.Errorf("docs/runbooks.md does not show a line as it is logged:\n%s\n%s", samples[i], line)
		}
	}
}
