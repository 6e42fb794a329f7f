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

// verified plays acme to its outcome.
func (w *world) verified() {
	w.Helper()
	w.mandate("acme", "{decision: Complete}")
	w.play(w.ready("acme"), control.Pass)
	w.condition("acme", v1alpha1.ConditionCompleted, metav1.ConditionTrue, string(v1alpha1.OutcomeCompleted))
}

func (w *world) secretNamed(name string) *corev1.Secret {
	w.Helper()
	secret := &corev1.Secret{}
	w.check(w.Get(w.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, secret))
	return secret
}

func (w *world) noSecret(name string) {
	w.Helper()
	if err := w.Get(w.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, &corev1.Secret{}); client.IgnoreNotFound(err) != nil || err == nil {
		w.Errorf("the Secret %s was created, or cannot be looked for: %v", name, err)
	}
}

// reported checks that the Secret has the report and belongs to the order.
func (w *world) reported(order *v1alpha1.MandateAction, contentType, begin string) {
	w.Helper()
	secret := w.secretNamed("jane-report")
	if got := string(secret.Data["content_type"]); got != contentType || !strings.HasPrefix(string(secret.Data["report"]), begin) || len(secret.Data) != 2 {
		w.Errorf("the Secret holds %d entries, a report of type %q, want %q, which begins with %.20q, want %q", len(secret.Data), got, contentType, secret.Data["report"], begin)
	}
	if !metav1.IsControlledBy(secret, order) {
		w.Errorf("the Secret does not belong to the order: %+v", secret.OwnerReferences)
	}
}

// There is no report before the individual has completed the checks: the order waits for that.
func TestReportWaits(t *testing.T) {
	t.Parallel()
	for _, status := range []string{"400", "404", "409"} {
		t.Run("not ready is "+status, func(t *testing.T) {
			t.Parallel()
			w := running(t)
			w.check(w.sandbox.SetDialect(t.Context(), "reportNotReady", status))
			w.mandate("acme", "{}")
			m := w.ready("acme")
			w.order("report", report)
			w.waits("report", v1alpha1.ReasonReportNotReady)
			asked, reads := w.requests(control.IndividualReport), w.requests(control.RetrieveApplication)
			w.eventually(func() (bool, string) { return w.requests(control.RetrieveApplication) >= reads+3, "no polls" })
			if got := w.requests(control.IndividualReport); got != asked {
				t.Errorf("the report was asked for %d times while nothing changed", got-asked)
			}
			w.noSecret("jane-report")
			w.play(m, control.Pass)
			w.reported(w.completes("report"), "application/pdf", "%PDF-")
		})
	}
}

func TestReportFormats(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.verified()
	w.check(w.sandbox.SetDialect(t.Context(), "reportFormat", "json_base64"))
	w.order("base64", report)
	w.reported(w.completes("base64"), "application/pdf", "%PDF-")

	w.check(w.sandbox.SetDialect(t.Context(), "reportFormat", "json_url"))
	w.order("url", "{type: DownloadReport, reportSecretRef: {name: url}}")
	order := w.fails("url", v1alpha1.ReasonReportIsURL)
	w.noSecret("url")
	if status := fmt.Sprintf("%+v", order.Status); strings.Contains(status, "reports.idv.example") {
		t.Errorf("the status shows the URL: %s", status)
	}
	w.check(w.sandbox.SetDialect(t.Context(), "reportFormat", "pdf"))

	w.secret("theirs", map[string]string{"report": "precious"})
	w.order("theirs", "{type: DownloadReport, reportSecretRef: {name: theirs}}")
	w.fails("theirs", v1alpha1.ReasonSecretExists)
	w.order("another", report) // the Secret of the first one
	w.fails("another", v1alpha1.ReasonSecretExists)
	if got := string(w.secretNamed("theirs").Data["report"]); got != "precious" {
		t.Errorf("somebody else's Secret was written over: %q", got)
	}
	w.reported(w.getOrder("base64"), "application/pdf", "%PDF-")

	w.fault(control.Fault{Operation: control.IndividualReport, Kind: control.Answer, Status: 400})
	w.order("refused", "{type: DownloadReport, reportSecretRef: {name: refused}}")
	w.fails("refused", v1alpha1.ReasonRefused)

	for _, fault := range []control.Fault{
		{Kind: control.Answer, Status: 500, Times: 4}, // the client tries three times by itself
		{Kind: control.Answer, Status: 202},
		{Kind: control.Truncate, AfterWork: true},
	} {
		fault.Operation = control.IndividualReport
		name := fmt.Sprintf("%s-%d", fault.Kind, fault.Status)
		w.fault(fault)
		w.order(name, "{type: DownloadReport, reportSecretRef: {name: "+name+"}}")
		w.completes(name)
	}
	w.emailed(control.Resend, 0)
}

// proxied is a world whose service answers another report than the sandbox does.
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
			w.order("report", report)
			if c.fits {
				w.reported(w.completes("report"), contentType, "xxx")
				return
			}
			w.fails("report", v1alpha1.ReasonReportTooLarge)
			w.noSecret("jane-report")
		})
	}
}

// The operator ends while it stores a report, or another one works on the same order.
func TestReportCrashes(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		crash func(first, second *orderHand)
		asked int64
	}{
		"before the Secret": {
			crash: func(o, _ *orderHand) { o.at(secretCreate, 1, func(func() error) error { crash(); return nil }) },
			asked: 2,
		},
		"after the Secret": {
			crash: func(o, _ *orderHand) {
				o.at(secretCreate, 1, func(do func() error) error { _ = do(); crash(); return nil })
			},
			asked: 1,
		},
		"two store it": {
			crash: func(o, other *orderHand) {
				o.at(secretCreate, 1, func(do func() error) error { other.passes("report"); return do() })
			},
			asked: 2,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, first, second := ordering(t)
			w.play(w.get("acme"), control.Pass)
			w.order("report", report)
			c.crash(first, second)
			first.passes("report")
			second.passes("report")
			w.reported(w.completes("report"), "application/pdf", "%PDF-")
			if got := w.requests(control.IndividualReport); got != c.asked {
				t.Errorf("the report was asked for %d times, want %d", got, c.asked)
			}
		})
	}
	t.Run("the Secret may not be created", func(t *testing.T) {
		t.Parallel()
		w, o, _ := ordering(t)
		w.play(w.get("acme"), control.Pass)
		o.at(secretCreate, 1, func(func() error) error {
			return apierrors.NewForbidden(corev1.Resource("secrets"), "jane-report", errors.New("exceeded quota"))
		})
		w.order("report", report)
		if result := o.passes("report"); result.RequeueAfter <= 0 {
			t.Error("it is not tried again")
		}
		w.waits("report", v1alpha1.ReasonSecretRefused)
		o.passes("report")
		w.reported(w.completes("report"), "application/pdf", "%PDF-")
	})
}

// What the service says about people goes into the Secret and nowhere else, with the log level at its highest.
func TestNoPersonalDataInOrders(t *testing.T) {
	t.Parallel()
	w := proxied(t, "application/json", []byte(`{"last_name": "canary1", "checks": ["canary2"]}`))
	w.mandate("acme", `{individuals: [{name: jane, email: canary3@example.com, firstName: canary4, reference: canary5}]}`)
	w.order("report", report)
	w.reported(w.completes("report"), "application/json", `{"last_name": "canary1"`)
	w.order("resend", resend)
	w.completes("resend")
	for status, reason := range map[int]string{400: v1alpha1.ReasonRefused, 500: v1alpha1.ReasonOutcomeUnknown} {
		w.check(w.sandbox.ClearFaults(t.Context()))
		w.fault(control.Fault{Operation: control.ResetIndividual, Kind: control.Answer, Status: status, Times: control.Always})
		name := fmt.Sprint("reset-", status)
		w.order(name, reset)
		w.fails(name, reason)
	}
	w.check(w.operator.Stop())

	var events corev1.EventList
	w.check(w.List(t.Context(), &events, client.InNamespace(w.namespace)))
	var orders v1alpha1.MandateActionList
	w.check(w.List(t.Context(), &orders, client.InNamespace(w.namespace)))
	log, err := os.ReadFile(w.operator.Log)
	w.check(err)
	secret := w.secretNamed("jane-report")
	for where, content := range map[string]any{
		"orders": orders.Items, "events": events.Items, "the log": string(log), "the Secret's metadata": secret.ObjectMeta,
	} {
		data, err := json.Marshal(content)
		w.check(err)
		if i := bytes.Index(data, []byte("canary")); i >= 0 {
			t.Errorf("%s holds personal data: ...%s...", where, data[max(0, i-200):min(len(data), i+50)])
		}
	}
	if !strings.Contains(string(log), "Carried out the action") || !strings.Contains(string(log), "Stored the report") {
		t.Error("the log does not tell of the orders: nothing was searched")
	}
}
