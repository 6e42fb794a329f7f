package operator_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
)

// hugeService has one application with so many checks, whose texts take six times as much in the API server's JSON, and
// offers so many mandate types.
func hugeService(t *testing.T, checks, types int) *httptest.Server {
	t.Helper()
	long := strings.Repeat("<", 250)
	application := map[string]any{"id": 1, "status": map[string]any{"id": 1, "status": "open \x1b[31m"}}
	mux := http.NewServeMux()
	answer := func(pattern string, body func() any) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) {
			encoder := json.NewEncoder(w)
			encoder.SetEscapeHTML(false)
			_ = encoder.Encode(body())
		})
	}
	const base = "/api/v1/ext"
	answer("POST "+base+"/authentications/token", func() any {
		return map[string]any{"access_token": "token", "expires_in": 3600, "token_type": "Bearer"}
	})
	answer("GET "+base+"/references", func() any {
		list := []any{map[string]any{"id": 1, "code": "kyc", "name": "KYC"}}
		for i := range types {
			list = append(list, map[string]any{"id": i + 2, "code": fmt.Sprint(i), "name": long})
		}
		return map[string]any{"mandate_types": list}
	})
	mux.HandleFunc("POST "+base+"/applications", func(w http.ResponseWriter, r *http.Request) {
		var sent struct {
			Reference   string
			Individuals []struct{ Reference string }
		}
		if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
			t.Error(err)
		}
		application["reference"] = sent.Reference
		var individuals []any
		for i, individual := range sent.Individuals {
			var list []any
			for c := range checks / len(sent.Individuals) {
				list = append(list, map[string]any{"id": 1000*i + c + 1, "name": fmt.Sprint(c) + long, "title": long})
			}
			individuals = append(individuals, map[string]any{
				"id": i + 1, "reference": individual.Reference, "checks": list, "checks_passed": len(list),
			})
		}
		application["individuals"] = individuals
		_, _ = w.Write([]byte(`{"id":1}`))
	})
	answer("GET "+base+"/applications/1", func() any { return application })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

// TestHugeAnswer: a service with 1,000 checks and 1,900 mandate types makes no status that the API server refuses. Both
// would be of several megabytes.
func TestHugeAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{})
	w.url = hugeService(t, 1000, 1900).URL
	w.connect()
	w.start()
	w.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)
	var individuals []string
	for i := range 50 {
		individuals = append(individuals, fmt.Sprintf("{name: person-%d, email: person-%d@example.com}", i, i))
	}
	w.mandate("acme", "{individuals: ["+strings.Join(individuals, ", ")+"]}")
	m := w.ready("acme")
	if m.Status.Progress != "1000/1000" || !m.Status.Truncated || m.Status.State != "open \ufffd[31m" {
		t.Errorf("progress %s, truncated %t, state %q", m.Status.Progress, m.Status.Truncated, m.Status.State)
	}
	encoded, err := json.Marshal(m)
	w.check(err)
	if len(encoded) > 512<<10 {
		t.Errorf("the Mandate takes %d KiB", len(encoded)>>10)
	}
}
