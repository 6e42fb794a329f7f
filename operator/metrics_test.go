package operator_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/testenv"
)

// The metrics count the Mandates by state, and contain no names.
func TestMetrics(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{})
	address := testenv.FreeAddress(t)
	w.connect()
	w.start("--metrics-bind-address=" + address)
	w.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)
	w.mandate("acme", "{individuals: [{name: jane, email: canary@example.com}]}")
	w.mandate("globex", "{}")
	w.ready("acme")
	w.ready("globex")
	w.fault(answerLost)
	w.mandate("initech", "{}")
	w.condition("initech", v1alpha1.ConditionReconciling, metav1.ConditionTrue, v1alpha1.ReasonSettling)

	text := w.scrape(address)
	for _, want := range []string{
		`idv_mandates{outcome="",ready="True",reason="Accepted"} 2`,
		`idv_mandates{outcome="",ready="False",reason="Settling"} 1`,
		`idv_create_attempts_total{outcome="created"} 2`,
		`idv_create_attempts_total{outcome="unknown"} 1`,
		`idv_service_requests_total{operation="create_application",status="200"} 2`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("the metrics lack %s", want)
		}
	}
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

func (w *world) scrape(address string) string {
	w.Helper()
	request, err := http.NewRequestWithContext(w.Context(), http.MethodGet, "http://"+address+"/metrics", http.NoBody)
	w.check(err)
	response, err := (&http.Client{Timeout: timeout}).Do(request)
	w.check(err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	w.check(err)
	return string(body)
}
