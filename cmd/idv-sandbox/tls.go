package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
)

// tlsFiles names the certificate and the key that the sandbox serves TLS with; without them, it serves HTTP.
type tlsFiles struct{ cert, key string }

func (f tlsFiles) scheme() string {
	if f.cert == "" {
		return "http"
	}
	return "https"
}

// serve reads the files again for every connection, so that a renewed certificate needs no restart.
func (f tlsFiles) serve(server *http.Server, listener net.Listener) error {
	if f.cert == "" {
		return server.Serve(listener)
	}
	server.TLSConfig = &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			pair, err := tls.LoadX509KeyPair(f.cert, f.key)
			return &pair, err
		},
	}
	return server.ServeTLS(listener, "", "")
}

func (f tlsFiles) check() error {
	if f.cert == "" && f.key == "" {
		return nil
	}
	if f.cert == "" || f.key == "" {
		return errors.New("--tls-cert-file and --tls-key-file belong together; set both, or none to serve HTTP")
	}
	if _, err := tls.LoadX509KeyPair(f.cert, f.key); err != nil {
		return fmt.Errorf("--tls-cert-file, --tls-key-file: %w; both files are PEM, and the key is the certificate's", err)
	}
	return nil
}
