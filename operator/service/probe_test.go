package service

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/connection"
)

var testKey = connection.Key{Kind: "IdentityService", Namespace: "a", Name: "b"}

// newService starts a service that accepts every login. onReferences is called while it answers the request of a probe.
func newService(t *testing.T, onReferences func()) (url string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/token") {
			_, _ = io.WriteString(w, `{"access_token": "t", "expires_in": 3600}`)
			return
		}
		onReferences()
		_, _ = io.WriteString(w, `{"mandate_types": [{"id": 1, "name": "KYC", "code": "kyc"}]}`)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// A failure that is reported while a probe is in flight leads to another probe soon: the probe may have been answered
// before the failure.
func TestFailureDuringProbeLeadsToAnotherProbe(t *testing.T) {
	t.Parallel()
	r := NewReconciler(Config{Connections: connection.NewRegistry(0)})
	url := newService(t, func() { r.RequestProbe(testKey) })
	e := r.entry(testKey)
	client, err := idv.New(idv.Config{BaseURL: url, Credentials: idv.Credentials{
		Username: "u", Password: idv.Hide("p"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	e.client = client
	r.RequestProbe(testKey) // the failure that leads to the first probe
	<-r.probes

	r.probe(t.Context(), e)
	if e.probed.IsZero() || e.err != nil {
		t.Fatalf("the probe did not succeed: %v", e.err)
	}
	select {
	case <-r.probes:
	default:
		t.Error("the failure did not queue the connection")
	}
	now := time.Now()
	if next := r.requeueAfter(e, now); next > requestedProbeInterval {
		t.Errorf("reconciled again after %s", next)
	}
	if !r.takeDue(e, now.Add(requestedProbeInterval)) {
		t.Error("the next reconciliation does not probe")
	}
}
