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

// newTransport makes a transport that sends what it is given, to where it is told. It is used without an http.Client:
// a redirect would carry the token, and on 307 and 308 the body, to another place.
func newTransport(config *tls.Config, proxy func(*http.Request) (*url.URL, error)) *http.Transport {
	return &http.Transport{
		Proxy:                  proxy,
		DialContext:            (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
		TLSClientConfig:        config.Clone(), // net/http writes into it
		TLSHandshakeTimeout:    5 * time.Second,
		ForceAttemptHTTP2:      true,
		MaxIdleConnsPerHost:    16,
		IdleConnTimeout:        30 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
		// Without pings, a connection that died silently takes every request until the kernel gives it up.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 5 * time.Second},
	}
}

// transport gives the transport for one request of an operation.
//
// What must not be repeated gets a connection of its own: a reused one that the server closes just then looks the same
// as a lost answer, and would make an Unknown outcome out of nothing. It takes a transport of its own to be sure of
// that: with HTTP/2, requests at the same time would share one.
//
// So does what has a deadline of its own: the shared transport waits for the beginning of an answer no longer than suits
// Config.RequestTimeout.
func (c *Client) transport(row operationSpec) *http.Transport {
	if row.retry == retrySafe && row.deadline == 0 {
		return c.shared
	}
	fresh := newTransport(c.tls, c.proxy)
	fresh.DisableKeepAlives = true
	fresh.DialContext = dialOnce(fresh.DialContext)
	fresh.IdleConnTimeout = 5 * time.Second // of a connection that came too late to be used
	return fresh
}

type dial func(ctx context.Context, network, address string) (net.Conn, error)

var errDialed = errors.New("the one connection of this request has ended")

// dialOnce lets a transport connect a single time. A request without a body is one that net/http sends again by itself when
// HTTP/2 says something that it takes for a proof, over and over, each time on another connection.
func dialOnce(connect dial) dial {
	var connected atomic.Bool
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if connected.Swap(true) {
			return nil, errDialed
		}
		return connect(ctx, network, address)
	}
}

// requestProgress follows how far a request got.
type requestProgress struct{ connected, wroteHeaders atomic.Bool }

func (w *requestProgress) trace(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn:      func(httptrace.GotConnInfo) { w.connected.Store(true) },
		WroteHeaders: func() { w.wroteHeaders.Store(true) },
	})
}

// mayHaveArrived tells whether a server may have seen the request. Without written headers none can have acted. But when a
// context ends, HTTP/2 returns without waiting for its writer, whose word may come too late.
func (w *requestProgress) mayHaveArrived(ctx context.Context) bool {
	return w.wroteHeaders.Load() || w.connected.Load() && ctx.Err() != nil
}
