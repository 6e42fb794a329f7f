package cluster

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"k8s.io/client-go/util/cert"

	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// The service of the examples.
const serviceHost = "idv.example.com"

// StartHosts starts a sandbox, which answers as https://idv.example.com behind a proxy, and further hosts beside it. It
// returns the environment variables that lead a program to them: so the examples can be used as they are. No other host
// can be reached.
func (c *Cluster) StartHosts(further map[string]http.Handler) (environment []string) {
	c.Helper()
	service := sandbox.New(sandbox.Options{})
	plain := httptest.NewServer(service)
	c.Sandbox = control.New(plain.URL)
	hosts := map[string]http.Handler{serviceHost: service}
	names := []string{serviceHost}
	for name, handler := range further {
		hosts[name] = handler
		names = append(names, name)
	}
	slices.Sort(names)
	certificate, key, err := cert.GenerateSelfSignedCertKey(names[0], nil, names)
	c.Check(err)
	pair, err := tls.X509KeyPair(certificate, key)
	c.Check(err)
	encrypted := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hosts[r.Host].ServeHTTP(w, r)
	}))
	encrypted.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	encrypted.StartTLS()
	proxy := httptest.NewServer(tunnel(encrypted.Listener.Addr().String(), names))
	c.Cleanup(func() {
		proxy.CloseClientConnections()
		proxy.Close()
		service.Close()
		encrypted.Close()
		plain.Close()
	})
	c.Roots = filepath.Join(c.TempDir(), "roots.pem")
	c.Check(os.WriteFile(c.Roots, certificate, 0o600))
	return []string{"HTTPS_PROXY=" + proxy.URL, "NO_PROXY=", "SSL_CERT_FILE=" + c.Roots}
}

// tunnel is a proxy that connects to an address for some hosts, and to nothing for another one.
func tunnel(address string, hosts []string) http.Handler {
	return http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		host, port, err := net.SplitHostPort(request.Host)
		if err != nil || request.Method != http.MethodConnect || port != "443" || !slices.Contains(hosts, host) {
			http.Error(response, "this proxy leads to the hosts of the examples only", http.StatusForbidden)
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

// StartOperator starts the operator for all namespaces, with the environment variables of StartHosts.
func (c *Cluster) StartOperator(environment []string) {
	c.Helper()
	kubeconfig := filepath.Join(c.TempDir(), "kubeconfig")
	c.Check(c.env.WriteOperatorKubeconfig(c.Context(), kubeconfig))
	binary, err := c.env.BuildPlain("./cmd/mandate-operator")
	c.Check(err)
	// The test's context ends too early: Stop ends the operator with a signal.
	command := exec.CommandContext(context.WithoutCancel(c.Context()), binary, //nolint:gosec // our operator
		"--health-probe-bind-address=0", "--metrics-bind-address=0", "--settle-delay=3s", "--rule-delay=5s")
	command.Env = append(os.Environ(), append(environment, "KUBECONFIG="+kubeconfig)...)
	c.Start("operator", command)
}
