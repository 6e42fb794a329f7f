package operator

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// The clock is the one of the API server, whatever this machine's says.
func TestServerClock(t *testing.T) {
	t.Parallel()
	date := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			w.Header().Set("Date", date.Format(http.TimeFormat))
		} else {
			w.Header()["Date"] = nil
		}
	}))
	t.Cleanup(server.Close)
	clock := &serverClock{}
	get := func(url string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := clock.wrap(server.Client().Transport).RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
	}
	get(server.URL + "/undated")
	if now := clock.now(); !now.IsZero() {
		t.Errorf("before the first Date, it shows %s", now)
	}
	started := time.Now()
	get(server.URL)
	get(server.URL + "/undated")
	now := clock.now()
	if passed := time.Since(started); now.Before(date) || now.After(date.Add(passed)) {
		t.Errorf("it shows %s, %s after %s", now, passed, date)
	}
}
