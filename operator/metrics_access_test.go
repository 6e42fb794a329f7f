package operator_test

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"testing"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/test/await"
	"github.com/mandate-io/idv/internal/test/testenv"
)

// By default, the operator serves metrics over TLS, and asks the API server who may read them. Nobody may here: the
// tests of package config have a ServiceAccount that may.
func TestMetricsAreAuthorized(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{})
	address := testenv.FreeAddress(t)
	w.start("--metrics-bind-address="+address, "--metrics-secure=true")
	config, err := clientcmd.BuildConfigFromFlags("", w.operatorConfig)
	w.check(err)
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // the certificate is self-signed
	}
	t.Cleanup(transport.CloseIdleConnections)
	get := func(token string) (status int, err error) {
		url := "https://" + address + "/metrics"
		request, err := http.NewRequestWithContext(await.Context(t), http.MethodGet, url, http.NoBody)
		w.check(err)
		if token != "" {
			request.Header.Set("Authorization", "Bearer "+token)
		}
		response, err := (&http.Client{Transport: transport}).Do(request)
		if err != nil {
			return 0, err
		}
		return response.StatusCode, response.Body.Close()
	}
	w.eventually(func() (bool, string) {
		status, err := get("")
		return status == http.StatusUnauthorized, fmt.Sprintf("without a token: status %d, %v", status, err)
	})
	if status, err := get(config.BearerToken); status != http.StatusForbidden {
		t.Errorf("with a token that may not: status %d, %v", status, err)
	}
}
