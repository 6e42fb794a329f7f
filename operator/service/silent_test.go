package service

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// A service that does not answer its probe holds no worker: the Secrets of all others have to be read meanwhile.
func TestProbeHoldsNoWorker(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.password("right")
	stop := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-stop }))
	t.Cleanup(silent.Close)
	defer close(stop)
	f.service.Spec.BaseURL = silent.URL
	if problem, err := f.connect(t.Context(), f.service, f.e); problem != "" || err != nil {
		t.Fatal(problem, err)
	}
	if unknown := f.probe(t.Context(), testKey, f.e); !unknown {
		t.Error("something is known of a service that does not answer")
	}
	select {
	case <-f.e.probe.done:
		t.Error("the probe waits for the answer")
	default:
	}
}
