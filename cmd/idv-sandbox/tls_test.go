package main

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The certificate changes while the sandbox runs, as when cert-manager renews a Secret that a Pod has mounted.
func TestServesTLS(t *testing.T) {
	files := tlsFiles{filepath.Join(t.TempDir(), "tls.crt"), filepath.Join(t.TempDir(), "tls.key")}
	first := files.write(t)
	ctx, stop := context.WithCancel(t.Context())
	out, in := io.Pipe()
	exited := make(chan error, 1)
	go func() {
		err := run(ctx, []string{"--listen=127.0.0.1:0", "--tls-cert-file", files.cert, "--tls-key-file", files.key},
			in, io.Discard)
		exited <- errors.Join(err, in.Close())
	}()
	t.Cleanup(func() {
		stop()
		if err := <-exited; err != nil {
			t.Error(err)
		}
	})
	output, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url, found := strings.CutPrefix(strings.TrimSpace(output), "listening on ")
	if !found || !strings.HasPrefix(url, "https://") {
		t.Fatalf("the first line is %q, want an https URL", output)
	}
	if err := get(t, url, first); err != nil {
		t.Fatal(err)
	}
	second := files.write(t)
	if err := get(t, url, second); err != nil {
		t.Errorf("with the renewed certificate: %v", err)
	}
	if err := get(t, url, first); err == nil {
		t.Error("it serves the certificate that was replaced")
	}
}

func TestTLSFlags(t *testing.T) {
	pair, other := tlsFiles{filepath.Join(t.TempDir(), "a.crt"), filepath.Join(t.TempDir(), "a.key")}, tlsFiles{}
	pair.write(t)
	other.cert, other.key = filepath.Join(t.TempDir(), "b.crt"), filepath.Join(t.TempDir(), "b.key")
	other.write(t)
	for name, files := range map[string]tlsFiles{
		"no key":                 {cert: pair.cert},
		"no certificate":         {key: pair.key},
		"no such file":           {cert: pair.cert, key: pair.key + ".absent"},
		"the key of another one": {cert: pair.cert, key: other.key},
		"the files interchanged": {cert: pair.key, key: pair.cert},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parseSettings([]string{"--tls-cert-file=" + files.cert, "--tls-key-file=" + files.key}, io.Discard)
			for _, flag := range []string{"--tls-cert-file", "--tls-key-file"} {
				if err == nil || !strings.Contains(err.Error(), flag) {
					t.Errorf("%v, want an error that names %s", err, flag)
				}
			}
		})
	}
}

// write makes a key and a certificate of its own for 127.0.0.1, and returns the certificate.
func (f tlsFiles) write(t *testing.T) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "sandbox"}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	check(t, err)
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	check(t, err)
	check(t, os.WriteFile(f.cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	check(t, os.WriteFile(f.key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}), 0o600))
	certificate, err := x509.ParseCertificate(der)
	check(t, err)
	return certificate
}

func get(t *testing.T, url string, trusted *x509.Certificate) error {
	t.Helper()
	pool := x509.NewCertPool()
	pool.AddCert(trusted)
	client := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
	}}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/sandbox/v1/overview", http.NoBody)
	check(t, err)
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	return nil
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
