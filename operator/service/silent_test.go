package service

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
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
	unknown := make(chan bool, 1)
	go func() { unknown <- f.probe(t.Context(), testKey, f.e) }()
	select {
	case is := <-unknown:
		if !is {
			t.Error("something is known of a service that does not answer")
		}
	case <-time.After(5 * time.Second):
		t.Error("the probe waits for the answer")
	}
}
