package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

// transport makes the transport of everything that may be repeated.
func (c *Client) transport() *http.Transport {
	transport := c.newTransport()
	// A server that does not respond must leave time for the other attempts.
	transport.ResponseHeaderTimeout = c.config.RequestTimeout / maxAttempts
	return transport
}

// dedicatedTransport makes the transport of one request.
func (c *Client) dedicatedTransport() *http.Transport {
	transport := c.newTransport()
	transport.DisableKeepAlives = true
	transport.DialContext = dialOnce(transport.DialContext)
	transport.IdleConnTimeout = 5 * time.Second // of a connection that came too late to be used
	return transport
}

// newTransport makes a transport. It is used without an http.Client, which would follow redirects: they would take the
// token, and on 307 and 308 the body, to another place.
func (c *Client) newTransport() *http.Transport {
	return &http.Transport{
		Proxy:                  c.proxy,
		DialContext:            (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
		TLSClientConfig:        c.tls.Clone(), // net/http modifies it
		TLSHandshakeTimeout:    5 * time.Second,
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
	}
}

type dial func(ctx context.Context, network, address string) (net.Conn, error)

var errDialed = errors.New("the only connection of this request has ended")

// dialOnce lets a transport connect once. net/http itself repeats a request without a body whenever HTTP/2 claims that
// it was not processed, each time on another connection.
func dialOnce(connect dial) dial {
	var connected atomic.Bool
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if connected.Swap(true) {
			return nil, errDialed
		}
		return connect(ctx, network, address)
	}
}

// requestProgress records how far a request got.
type requestProgress struct{ connected, wroteHeaders atomic.Bool }

func (p *requestProgress) trace(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn:      func(httptrace.GotConnInfo) { p.connected.Store(true) },
		WroteHeaders: func() { p.wroteHeaders.Store(true) },
	})
}

// mayHaveArrived reports whether a server may have seen the request. Without its headers no server can act. But when a
// context ends, HTTP/2 returns before its writer does, so the headers may have been written unnoticed.
func (p *requestProgress) mayHaveArrived(ctx context.Context) bool {
	return p.wroteHeaders.Load() || p.connected.Load() && ctx.Err() != nil
}

func tlsConfig(bundle []byte) (*tls.Config, error) {
	// The cache shortens the handshakes of dedicated connections.
	config := &tls.Config{MinVersion: tls.VersionTLS12, ClientSessionCache: tls.NewLRUClientSessionCache(8)}
	if len(bundle) == 0 {
		return config, nil
	}
	config.RootCAs = x509.NewCertPool()
	if !config.RootCAs.AppendCertsFromPEM(bundle) {
		return nil, errors.New("CA bundle: holds no PEM certificate; set certificates in PEM format")
	}
	return config, nil
}
