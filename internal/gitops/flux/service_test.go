package flux

import (
	"context"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// startService starts a sandbox, which answers as https://idv.example.com behind a proxy. It returns the client that
// controls it, and the environment variables that lead the operator to it: so the operator uses the example as it is.
func startService(t *testing.T) (controlled *control.Client, environment []string) {
	t.Helper()
	service := sandbox.New(sandbox.Options{})
	encrypted, plain := httptest.NewTLSServer(service), httptest.NewServer(service)
	proxy := httptest.NewServer(tunnel(encrypted.Listener.Addr().String()))
	t.Cleanup(func() {
		proxy.CloseClientConnections()
		proxy.Close()
		service.Close()
		encrypted.Close()
		plain.Close()
	})
	roots := filepath.Join(t.TempDir(), "roots.pem")
	content := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: encrypted.Certificate().Raw})
	if err := os.WriteFile(roots, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return control.New(plain.URL), []string{"HTTPS_PROXY=" + proxy.URL, "NO_PROXY=", "SSL_CERT_FILE=" + roots}
}

// tunnel is a proxy that connects to an address for the host idv.example.com, and to nothing for another one.
func tunnel(address string) http.Handler {
	return http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		if request.Method != http.MethodConnect || request.Host != "idv.example.com:443" {
			http.Error(response, "this proxy leads to idv.example.com only", http.StatusForbidden)
			return
		}
		var dialer net.Dialer
		service, err := dialer.DialContext(request.Context(), "tcp", address)
		if err != nil {
			http.Error(response, err.Error(), http.StatusBadGateway)
			return
		}
		defer service.Close()
		response.WriteHeader(http.StatusOK)
		client, buffered, err := http.NewResponseController(response).Hijack()
		if err != nil {
			return
		}
		defer client.Close()
		go func() {
			_, _ = io.Copy(service, buffered)
			_ = service.Close()
		}()
		_, _ = io.Copy(client, service)
	})
}

// startOperator starts the operator for all namespaces.
func (w *world) startOperator(environment []string) {
	w.Helper()
	kubeconfig := filepath.Join(w.TempDir(), "kubeconfig")
	w.check(env.WriteOperatorKubeconfig(w.Context(), kubeconfig))
	binary, err := env.BuildPlain("./cmd/mandate-operator")
	w.check(err)
	// The test's context ends too early: Stop ends the operator with a signal.
	command := exec.CommandContext(context.WithoutCancel(w.Context()), binary,
		"--health-probe-bind-address=0", "--metrics-bind-address=0", "--settle-delay=3s")
	command.Env = append(os.Environ(), append(environment, "KUBECONFIG="+kubeconfig)...)
	w.run("operator", command)
}
