// Package faultproxy is a proxy between a client and a server that injects network faults into the requests that a test
// selects: it drops, delays, duplicates or replaces requests and responses.
package faultproxy

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/pem"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
)

// Request is a request that the proxy has received completely.
type Request struct {
	Method string
	Path   string
	Body   []byte
	// Epoch is the result of Options.Epoch when the proxy accepted the connection.
	Epoch int
}

// Response is the response to a request.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// Drop selects what is lost when the proxy closes the connection of a request.
type Drop int

// DropRequest closes the connection before the server gets the request, DropResponse after the server has responded.
const (
	DropNothing Drop = iota
	DropRequest
	DropResponse
)

// Fault is a fault to inject into a request. The zero value forwards the request and the response.
type Fault struct {
	// OnRequest runs first. The request waits for it.
	OnRequest func()
	// Replace, if set, is the response. The server does not get the request.
	Replace *Response
	// Drop closes the connection without a response.
	Drop Drop
	// Duplicate sends the request to the server twice. The client gets the second response.
	Duplicate bool
	// OnResponse runs with the server's response, before the client gets it. Status is 0 if there was none.
	OnResponse func(Response)
}

// Options of a Proxy.
type Options struct {
	// Target is the URL of the server.
	Target string
	// Transport sends requests to Target, with its own credentials. The proxy itself needs none.
	Transport http.RoundTripper
	// Inject returns the fault for a request. It runs concurrently, and not for watches.
	Inject func(Request) Fault
	// Refuse reports whether a watch of a path is refused with 503. Optional.
	Refuse func(path string) bool
	// Epoch runs for each accepted connection. Optional.
	Epoch func() int
	// TLS makes the proxy serve HTTP/2 over TLS, with its own certificate authority.
	TLS bool
}

// Proxy is a server on loopback.
type Proxy struct {
	// URL of the proxy, without a path.
	URL string
	// CA is the certificate authority in PEM, nil without Options.TLS.
	CA []byte
	// Watches can pause what the server streams: the responses to GETs with ?watch=true.
	Watches Gate

	options  Options
	target   *url.URL
	server   *httptest.Server
	stream   *httputil.ReverseProxy
	accepted acceptedConnections
}

type epochKey struct{}

// New starts a proxy.
func New(options Options) (*Proxy, error) {
	target, err := url.Parse(options.Target)
	if err != nil {
		return nil, err
	}
	p := &Proxy{options: options, target: target}
	p.stream = &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     options.Transport,
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0), // streams end with their clients
		ModifyResponse: func(response *http.Response) error {
			response.Body = &gatedReader{response.Body, &p.Watches, response.Request.Context()}
			return nil
		},
	}
	p.server = httptest.NewUnstartedServer(p)
	p.server.Config.ErrorLog = log.New(io.Discard, "", 0) // and connections end with killed clients
	p.server.Config.ConnContext = func(ctx context.Context, connection net.Conn) context.Context {
		if options.Epoch != nil {
			ctx = context.WithValue(ctx, epochKey{}, options.Epoch())
		}
		p.accepted.add(connection.RemoteAddr().String())
		return ctx
	}
	if options.TLS {
		p.server.EnableHTTP2 = true
		p.server.StartTLS()
		p.CA = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.server.Certificate().Raw})
	} else {
		p.server.Start()
	}
	p.URL = p.server.URL
	return p, nil
}

// WaitForConnections returns when the proxy has accepted every connection that was made before. A killed client can
// leave connections that are not accepted yet. Without this wait they would get the epoch of its successor.
func (p *Proxy) WaitForConnections(ctx context.Context) error {
	return p.accepted.wait(func() (string, error) {
		connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", p.server.Listener.Addr().String())
		if err != nil {
			return "", err
		}
		defer connection.Close()
		return connection.LocalAddr().String(), nil
	})
}

// Disconnect closes all connections, with the watches on them.
func (p *Proxy) Disconnect() { p.server.CloseClientConnections() }

// Close closes all connections and waits for running requests.
func (p *Proxy) Close() {
	p.Watches.Resume()
	p.accepted.close()
	p.Disconnect()
	p.server.Close()
}

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if watch := r.URL.Query().Get("watch"); watch == "true" || watch == "1" {
		if p.options.Refuse != nil && p.options.Refuse(r.URL.Path) {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		p.stream.ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		abort(w)
	}
	epoch, _ := r.Context().Value(epochKey{}).(int)
	fault := p.options.Inject(Request{Method: r.Method, Path: r.URL.Path, Body: body, Epoch: epoch})
	if fault.OnRequest != nil {
		fault.OnRequest()
	}
	if fault.Drop == DropRequest {
		abort(w)
	}
	response, err := p.respond(r, body, &fault)
	if fault.OnResponse != nil {
		fault.OnResponse(response)
	}
	if fault.Drop == DropResponse || err != nil {
		abort(w)
	}
	maps.Copy(w.Header(), response.Header)
	w.WriteHeader(response.Status)
	_, _ = w.Write(response.Body)
}

func (p *Proxy) respond(r *http.Request, body []byte, fault *Fault) (Response, error) {
	if fault.Replace != nil {
		return *fault.Replace, nil
	}
	if fault.Duplicate {
		if first, err := p.forward(r, body); err != nil {
			return first, err
		}
	}
	return p.forward(r, body)
}

// forward completes even if the client is gone, as a server that has received a request does.
func (p *Proxy) forward(r *http.Request, body []byte) (Response, error) {
	request := r.Clone(context.WithoutCancel(r.Context()))
	request.URL.Scheme, request.URL.Host = p.target.Scheme, p.target.Host
	request.Host, request.RequestURI = "", ""
	request.Header.Del("Accept-Encoding") // or the transport would not decompress the response
	request.Body, request.GetBody = http.NoBody, nil
	request.ContentLength = int64(len(body))
	if len(body) > 0 {
		request.Body = io.NopCloser(bytes.NewReader(body))
	}
	response, err := p.options.Transport.RoundTrip(request)
	if err != nil {
		return Response{}, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return Response{}, err
	}
	response.Header.Del("Content-Length")
	return Response{Status: response.StatusCode, Header: response.Header, Body: content}, nil
}

// abort resets the TCP connection, or aborts the stream on HTTP/2. It does not return.
func abort(w http.ResponseWriter) {
	if hijacker, ok := w.(http.Hijacker); ok {
		if connection, _, err := hijacker.Hijack(); err == nil {
			resetConnection(connection)
		}
	}
	panic(http.ErrAbortHandler)
}

func resetConnection(connection net.Conn) {
	if encrypted, ok := connection.(*tls.Conn); ok {
		connection = encrypted.NetConn()
	}
	if plain, ok := connection.(*net.TCPConn); ok {
		_ = plain.SetLinger(0)
	}
	connection.Close()
}
