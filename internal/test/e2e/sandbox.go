package main

import (
	"context"
	"crypto/x509/pkix"
	"fmt"
	"os"
	"time"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

// deploySandbox runs the sandbox as the service. Its certificate is of the node's authority.
func (s *scenario) deploySandbox(ctx context.Context) (string, error) {
	if err := s.authority.sign("sandbox", pkix.Name{CommonName: "sandbox"}, sandboxHost, readmeHost); err != nil {
		return "", err
	}
	for _, arguments := range [][]string{
		{"create", "namespace", sandboxNamespace},
		{"label", "namespace", sandboxNamespace, "pod-security.kubernetes.io/enforce=restricted"},
		{
			"create", "secret", "tls", "sandbox-tls", "--namespace", sandboxNamespace,
			"--cert", s.authority.path("sandbox.crt"), "--key", s.authority.path("sandbox.key"),
		},
	} {
		if _, err := s.kubectl(ctx, arguments...); err != nil {
			return "", err
		}
	}
	started := time.Now()
	if err := s.apply(ctx, sandboxManifest); err != nil {
		return "", err
	}
	_, err := s.kubectl(ctx, "rollout", "status", "deployment/sandbox", "-n", sandboxNamespace)
	if err != nil {
		return "", err
	}
	s.podStart = time.Since(started)
	return s.connectSandbox(ctx)
}

// connectSandbox lets this program control the sandbox, through its Service.
func (s *scenario) connectSandbox(ctx context.Context) (string, error) {
	address, err := s.kubectl(ctx, "get", "service", "sandbox", "-n", sandboxNamespace, "-o", "jsonpath={.spec.clusterIP}")
	if err != nil {
		return "", err
	}
	// This process asks no cluster DNS, and trusts no cluster's authority, unless it is told to.
	if err := appendLine("/etc/hosts", address+" "+sandboxHost); err != nil {
		return "", err
	}
	if err := os.Setenv("SSL_CERT_FILE", s.authority.path("ca.crt")); err != nil {
		return "", err
	}
	s.sandbox = control.New(sandboxURL)
	err = until(ctx, "the sandbox answers", func(ctx context.Context) (bool, string) {
		_, err := s.sandbox.Now(ctx)
		return err == nil, fmt.Sprint(err)
	})
	return "its Service answers at " + address, err
}

// appendLine appends a line to a file of this machine, or rather of the overlay on it.
func appendLine(path, line string) error {
	content, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	return os.WriteFile(path, append(content, []byte("\n"+line+"\n")...), 0o644) //nolint:gosec // everybody reads it
}
