package provider_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// newStub serves what the sandbox never says: it gives tokens, and leaves everything else to answer.
func newStub(t *testing.T, answer http.HandlerFunc) (url string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/token") {
			fmt.Fprint(w, `{"access_token":"canary-access-token","expires_in":3600,"token_type":"Bearer"}`)
			return
		}
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}
