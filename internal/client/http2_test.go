package client

import (
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// http2Fault is what a server does with a request: as soon as its headers are there, or once it is complete.
type http2Fault struct {
	early bool
	do    func(framer *http2.Framer, stream uint32) (keepOpen bool)
}

func http2Faults() map[string]http2Fault {
	faults := map[string]http2Fault{
		"closed": {do: func(*http2.Framer, uint32) bool { return false }},
		"goaway, not handled": {do: func(f *http2.Framer, _ uint32) bool {
			_ = f.WriteGoAway(0, http2.ErrCodeNo, nil)
			return true
		}},
		"goaway with an error": {do: func(f *http2.Framer, _ uint32) bool {
			_ = f.WriteGoAway(0, http2.ErrCodeEnhanceYourCalm, nil)
			return true
		}},
		"goaway, perhaps handled": {do: func(f *http2.Framer, stream uint32) bool {
			_ = f.WriteGoAway(stream, http2.ErrCodeNo, nil)
			return false
		}},
		"goaway before the body": {early: true, do: func(f *http2.Framer, _ uint32) bool {
			_ = f.WriteGoAway(0, http2.ErrCodeNo, nil)
			return true
		}},
	}
	for code := http2.ErrCodeNo; code <= http2.ErrCodeHTTP11Required; code++ {
		for _, early := range []bool{false, true} {
			faults[fmt.Sprintf("reset with %v, early=%v", code, early)] = http2Fault{early,
				func(f *http2.Framer, stream uint32) bool {
					_ = f.WriteRSTStream(stream, code)
					return true
				}}
		}
	}
	return faults
}

// http2Server implements HTTP/2 frame by frame, and does the same with every request.
type http2Server struct {
	config  Config
	arrived atomic.Int64
	fault   http2Fault
}

func newHTTP2Server(t *testing.T, fault http2Fault) *http2Server {
	t.Helper()
	certified := httptest.NewTLSServer(nil) // for its certificate
	certified.Close()
	listener, err := tls.Listen(
		"tcp", "127.0.0.1:0", &tls.Config{Certificates: certified.TLS.Certificates, NextProtos: []string{"h2"}},
	)
	if err != nil {
		t.Fatal(err)
	}
	s := &http2Server{fault: fault, config: Config{BaseURL: "https://" + listener.Addr().String(),
		Credentials: Credentials{Username: "user", Password: Hide("password")},
		CABundle:    pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certified.Certificate().Raw})}}
	var connections sync.WaitGroup
	connections.Go(func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			connections.Go(func() {
				defer connection.Close()
				s.serve(connection)
			})
		}
	})
	t.Cleanup(func() {
		listener.Close()
		connections.Wait()
	})
	return s
}

func (s *http2Server) serve(connection net.Conn) {
	if _, err := io.ReadFull(connection, make([]byte, len(http2.ClientPreface))); err != nil {
		return
	}
	framer := http2.NewFramer(connection, connection)
	framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	_ = framer.WriteSettings()
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			return
		}
		act := false
		switch frame := frame.(type) {
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				_ = framer.WriteSettingsAck()
			}
		case *http2.MetaHeadersFrame:
			s.arrived.Add(1)
			act = s.fault.early || frame.StreamEnded()
		case *http2.DataFrame:
			act = !s.fault.early && frame.StreamEnded()
		}
		if act && !s.fault.do(framer, frame.Header().StreamID) {
			return
		}
	}
}

// TestHTTP2SendsOnce: by default, net/http sends a request again by itself after some of these.
func TestHTTP2SendsOnce(t *testing.T) {
	for name, fault := range http2Faults() {
		t.Run(name, func(t *testing.T) {
			for _, op := range []Operation{
				OpCreateApplication, OpResendInvites, OpResetIndividual, OpSubscribeWebhook, OpCompleteApplication,
				OpArchiveApplication, OpAcceptCheck, OpRejectCheck, OpDeleteApplication,
			} {
				s := newHTTP2Server(t, fault)
				c := newClient(t, s.config)
				signIn(c)
				// Without a body there is less to keep net/http from it.
				for _, f := range []*forms{c.forms[OpResendInvites], c.forms[OpResetIndividual]} {
					f.learned.Store(&form{})
				}
				e := asError(t, exampleOf(t, op).run(t.Context(), c))
				if e.Outcome != Unknown {
					t.Errorf("%s: %v (%v)", op, e.Outcome, e)
				}
				if n := s.arrived.Load(); n != 1 {
					t.Errorf("%s arrived %d times", op, n)
				}
			}
		})
	}
}
