package operator_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/test/await"
	"github.com/mandate-io/idv/internal/test/testenv"
	"github.com/mandate-io/idv/internal/test/testenv/faultproxy"
)

// A watch that cannot be read for a minute makes /readyz fail, which names it, until it can be read again. Meanwhile
// the others are read.
func TestUnreadableWatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{})
	w.connect()
	var broken atomic.Bool
	refuse := func(path string) bool { return broken.Load() && strings.HasSuffix(path, "/mandateactions") }
	proxy := w.behind(faultproxy.Options{
		Refuse: refuse,
		Inject: func(r faultproxy.Request) faultproxy.Fault {
			if refuse(r.Path) {
				return faultproxy.Fault{Replace: &faultproxy.Response{Status: http.StatusServiceUnavailable}}
			}
			return faultproxy.Fault{}
		},
	})
	metrics, probes := testenv.FreeAddress(t), testenv.FreeAddress(t)
	w.start("--metrics-bind-address="+metrics, "--health-probe-bind-address="+probes)
	w.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)
	until := func(status int, check string, metric int) {
		t.Helper()
		w.eventually(func() (bool, string) {
			got, text := w.probe(probes)
			series := fmt.Sprintf("idv_unreadable_watches{kind=\"MandateAction\"} %d\n", metric)
			counted := strings.Contains(w.scrape(metrics), series)
			return got == status && strings.Contains(text, check) && counted, fmt.Sprintf("/readyz says %d: %s", got, text)
		})
	}
	until(http.StatusOK, "[+]watch-MandateAction ok", 0)
	broken.Store(true)
	proxy.Disconnect()
	until(http.StatusInternalServerError, "[-]watch-MandateAction failed", 1)
	if _, text := w.probe(probes); strings.Count(text, "[-]") != 1 {
		t.Errorf("/readyz says %s, want one check that fails", text)
	}
	w.mandate("acme", "{}")
	w.ready("acme")
	broken.Store(false)
	until(http.StatusOK, "[+]watch-MandateAction ok", 0)
}

// probe asks for /readyz.
func (w *world) probe(address string) (status int, text string) {
	w.Helper()
	url := "http://" + address + "/readyz?verbose"
	request, err := http.NewRequestWithContext(await.Context(w.T), http.MethodGet, url, http.NoBody)
	w.check(err)
	response, err := (&http.Client{}).Do(request)
	w.check(err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	w.check(err)
	return response.StatusCode, string(body)
}
