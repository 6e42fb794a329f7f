package client

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"
)

// Transport returns a transport with the certificates, the proxy and the limits of a client of this configuration. It
// is for a program that needs a response as it is.
func (c Config) Transport() (*http.Transport, error) {
	config, err := tlsConfig(c.CABundle)
	if err != nil {
		return nil, err
	}
	proxy, err := c.proxy()
	if err != nil {
		return nil, err
	}
	return newTransport(config, proxy), nil
}

// newTransport makes a transport. It is used without an http.Client, which would follow redirects: they would take the
// token, and on 307 and 308 the body, to another place.
func newTransport(config *tls.Config, proxy func(*http.Request) (*url.URL, error)) *http.Transport {
	return &http.Transport{
		Proxy:                  proxy,
		DialContext:            (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
		TLSClientConfig:        config.Clone(), // net/http modifies it
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

// transport returns the transport for one request of an operation.
//
// A request that must not be repeated gets a connection of its own. If it reused one that the server closes at that
// moment, that would look like a lost response, and the outcome would be Unknown for no reason. A transport of its own
// makes sure of that: concurrent HTTP/2 requests of one transport share a connection.
//
// So does an operation with a deadline of its own: the shared transport waits for the beginning of a response only as
// long as Config.RequestTimeout allows.
func (c *Client) transport(operation operationSpec) *http.Transport {
	if operation.retry == retrySafe && operation.deadline == 0 {
		return c.shared
	}
	dedicated := newTransport(c.tls, c.proxy)
	dedicated.DisableKeepAlives = true
	dedicated.DialContext = dialOnce(dedicated.DialContext)
	dedicated.IdleConnTimeout = 5 * time.Second // of a connection that came too late to be used
	return dedicated
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
