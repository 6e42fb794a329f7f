package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"
)

// dedicated makes the transport of one request.
func dedicated(shared *http.Transport) *http.Transport {
	transport := shared.Clone()
	transport.ResponseHeaderTimeout = 0 // it has the whole time of the request
	transport.DisableKeepAlives = true
	transport.IdleConnTimeout = 5 * time.Second // of a connection that came too late to be used
	// It connects once. net/http itself repeats a request without a body whenever HTTP/2 claims that it was not processed,
	// each time on another connection.
	var connected atomic.Bool
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if connected.Swap(true) {
			return nil, errors.New("the only connection of this request has ended")
		}
		return shared.DialContext(ctx, network, address)
	}
	return transport
}

// transport makes the transport of everything that may be repeated. It is used without an http.Client, which would
// follow redirects: they would take the token, and on 307 and 308 the body, to another place.
func (c *Config) transport() (*http.Transport, error) {
	// The cache shortens the handshakes of dedicated connections.
	tlsConfig := &tls.Config{MinVersion: tls.VersionTLS12, ClientSessionCache: tls.NewLRUClientSessionCache(8)}
	if len(c.CABundle) > 0 {
		tlsConfig.RootCAs = x509.NewCertPool()
		if !tlsConfig.RootCAs.AppendCertsFromPEM(c.CABundle) {
			return nil, errors.New("CA bundle: holds no PEM certificate; set certificates in PEM format")
		}
	}
	proxy := http.ProxyFromEnvironment
	if text := c.ProxyURL.Reveal(); text != "" {
		if err := ValidateProxyURL(text); err != nil {
			return nil, err
		}
		proxyURL, _ := url.Parse(text)
		proxy = http.ProxyURL(proxyURL)
	}
	return &http.Transport{
		Proxy:               proxy,
		DialContext:         (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
		TLSClientConfig:     tlsConfig,
		TLSHandshakeTimeout: 5 * time.Second,
		// A server that does not respond must leave time for the other attempts.
		ResponseHeaderTimeout:  c.RequestTimeout / maxAttempts,
		ForceAttemptHTTP2:      true,
		MaxIdleConnsPerHost:    16,
		IdleConnTimeout:        30 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
		HTTP2: &http.HTTP2Config{
			// Without pings, a dead connection would get every request until the kernel closes it.
			SendPingTimeout: 15 * time.Second, PingTimeout: 5 * time.Second,
			// net/http itself takes four megabytes of each response before anybody reads them.
			MaxReceiveBufferPerStream: 128 << 10,
		},
	}, nil
}

type requestProgress struct{ connected, wroteHeaders atomic.Bool }

func (p *requestProgress) trace(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn:      func(httptrace.GotConnInfo) { p.connected.Store(true) },
		WroteHeaders: func() { p.wroteHeaders.Store(true) },
	})
}

// outcome is NotSent if no server can have seen the request. Without its headers no server can act. But when a context
// ends, HTTP/2 returns before its writer does, so the headers may have been written unnoticed.
func (p *requestProgress) outcome(ctx context.Context) Outcome {
	if p.wroteHeaders.Load() || p.connected.Load() && ctx.Err() != nil {
		return Unknown
	}
	return NotSent
}
