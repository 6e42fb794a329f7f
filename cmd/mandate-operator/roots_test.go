package main

import (
	"crypto/x509"
	"os"
	"os/exec"
	"testing"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// The image has no certificates but those in the program. A machine without any shows whether it has them.
func TestTrustsPublicAuthorities(t *testing.T) {
	const inner = "TEST_WITHOUT_SYSTEM_ROOTS"
	if os.Getenv(inner) == "" {
		command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		command.Env = append(os.Environ(), inner+"=1", "SSL_CERT_FILE="+os.DevNull, "SSL_CERT_DIR="+t.TempDir())
		if output, err := command.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, output)
		}
		return
	}
	verified := 0
	for root := range bundle.Roots() {
		certificate, err := x509.ParseCertificate(root.Certificate)
		if err != nil {
			t.Fatal(err)
		}
		if root.Constraint != nil {
			continue // trusted for certificates of certain years only
		}
		if _, err := certificate.Verify(x509.VerifyOptions{KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}}); err != nil {
			t.Errorf("%s: %v", certificate.Subject, err)
			continue
		}
		verified++
	}
	if verified < 50 {
		t.Errorf("%d authorities are trusted, want those of the browsers", verified)
	}
}
