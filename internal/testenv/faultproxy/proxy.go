// Package faultproxy stands between a client and a server and lets happen, to requests that a test chooses, what happens
// on networks: they do not arrive, their answers do not, somebody else answers, all of it comes late, or twice. Whoever
// uses it decides for each request, and sees what became of it.
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

// Request is one that has arrived whole.
type Request struct {
	Method string
	Path   string
	Body   []byte
	// Epoch is what Options.Epoch said when the connection was accepted.
	Epoch int
}

// Response to a request.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// Drop says where the connection of a request ends.
type Drop int

// The places. DropResponse is after the server has answered and before the client hears of it.
const (
	DropNothing Drop = iota
	DropRequest
	DropResponse
)

// Fault is what becomes of a request. The zero value forwards it, and its answer.
type Fault struct {
	// OnRequest is called first. The request waits for it.
	OnRequest func()
	// Replace, if set, is answered in place of the server, which does not see the request.
	Replace *Response
	// Drop ends the connection without an answer.
	Drop Drop
	// Duplicate sends the request to the server a second time, and answers with that answer.
	Duplicate bool
	// OnResponse is called with the server's answer, before the client hears of it: Status is 0 if there was none.
	OnResponse func(Response)
}

// Options of a Proxy.
type Options struct {
	// Target is the URL of the server.
	Target string
	// Transport connects to it. Credentials for it, if any, are the transport's: the proxy itself asks nobody for any.
	Transport http.RoundTripper
	// Inject decides what becomes of each request. It is called concurrently, but not for watches.
	Inject func(Request) Fault
	// Epoch is asked whenever a connection is accepted. Optional.
	Epoch func() int
	// TLS makes it listen with TLS and speak HTTP/2, with a certificate authority of its own.
	TLS bool
}

// Proxy is a server on loopback.
type Proxy struct {
	// URL of the proxy, without a path.
	URL string
	// CA is the certificate authority in PEM, nil without Options.Secure.
	CA []byte
	// Watches holds what the server streams: the answers to GETs with ?watch=true.
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
	p.server.Config.ErrorLog = log.New(io.Discard, "", 0) // and so do connections with those who are killed
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

// WaitForConnections returns when every connection that was made before has been accepted. A client that was killed may leave some
// behind that wait for it, and whose epoch would otherwise be its successor's.
func (p *Proxy) WaitForConnections(ctx context.Context) error {
	return p.accepted.await(func() (string, error) {
		connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", p.server.Listener.Addr().String())
		if err != nil {
			return "", err
		}
		defer connection.Close()
		return connection.LocalAddr().String(), nil
	})
}

// Close ends all connections and waits for what is under way.
func (p *Proxy) Close() {
	p.Watches.Resume()
	p.accepted.close()
	p.server.CloseClientConnections()
	p.server.Close()
}

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if watch := r.URL.Query().Get("watch"); watch == "true" || watch == "1" {
		p.stream.ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		cut(w)
	}
	epoch, _ := r.Context().Value(epochKey{}).(int)
	course := p.options.Inject(Request{Method: r.Method, Path: r.URL.Path, Body: body, Epoch: epoch})
	if course.OnRequest != nil {
		course.OnRequest()
	}
	if course.Drop == DropRequest {
		cut(w)
	}
	answer, err := p.answer(r, body, &course)
	if course.OnResponse != nil {
		course.OnResponse(answer)
	}
	if course.Drop == DropResponse || err != nil {
		cut(w)
	}
	maps.Copy(w.Header(), answer.Header)
	w.WriteHeader(answer.Status)
	_, _ = w.Write(answer.Body)
}

func (p *Proxy) answer(r *http.Request, body []byte, course *Fault) (Response, error) {
	if course.Replace != nil {
		return *course.Replace, nil
	}
	if course.Duplicate {
		if first, err := p.forward(r, body); err != nil {
			return first, err
		}
	}
	return p.forward(r, body)
}

// forward is not cut short when the client goes away: a server that has begun does not notice either.
func (p *Proxy) forward(r *http.Request, body []byte) (Response, error) {
	request := r.Clone(context.WithoutCancel(r.Context()))
	request.URL.Scheme, request.URL.Host, request.Host, request.RequestURI = p.target.Scheme, p.target.Host, "", ""
	request.Header.Del("Accept-Encoding") // or the transport would leave the answer compressed
	request.Body, request.GetBody, request.ContentLength = http.NoBody, nil, int64(len(body))
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

// cut ends the connection, with a TCP reset, or the stream where a connection has many. It does not return.
func cut(w http.ResponseWriter) {
	if hijacker, ok := w.(http.Hijacker); ok {
		if connection, _, err := hijacker.Hijack(); err == nil {
			reset(connection)
		}
	}
	panic(http.ErrAbortHandler)
}

func reset(connection net.Conn) {
	if encrypted, ok := connection.(*tls.Conn); ok {
		connection = encrypted.NetConn()
	}
	if plain, ok := connection.(*net.TCPConn); ok {
		_ = plain.SetLinger(0)
	}
	connection.Close()
}
