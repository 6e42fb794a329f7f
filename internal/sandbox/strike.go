package sandbox

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

const (
	defaultByteMillis  = 50
	informationalCount = 100
)

// strike is a fault that has its way with a request.
type strike struct {
	service *Service
	fault   control.Fault
	w       *statusWriter
	call    *call
}

func (f *strike) run() {
	held := newHeldAnswer()
	if f.fault.AfterWork {
		f.service.work(held, f.call)
	}
	if f.fault.Kind != control.SlowBody && !f.service.pause(f.fault.DelayMillis) {
		f.w.abort()
	}
	switch f.fault.Kind {
	case control.Answer:
		if f.fault.RetryAfter != "" {
			f.w.Header().Set("Retry-After", f.fault.RetryAfter)
		}
		status := cmp.Or(f.fault.Status, http.StatusInternalServerError)
		writeProblem(f.w, f.call.dialect, status, problem{Title: "The sandbox was told to answer this"})
	case control.Garbage:
		f.w.Header().Set("Content-Type", mediaJSON)
		f.w.WriteHeader(cmp.Or(f.fault.Status, http.StatusOK))
		_, _ = f.w.Write([]byte("\x00<html>{\"id\": 1,,}"))
	case control.Close:
		f.w.abort()
	case control.ResetConnection:
		f.resetConnection()
	case control.Slow, control.Informational:
		if !f.fault.AfterWork {
			f.service.work(held, f.call)
		}
		if f.fault.Kind == control.Informational {
			f.sendInformational()
		}
		held.release(f.w)
	default:
		if !f.fault.AfterWork {
			writeJSON(held, cmp.Or(f.fault.Status, http.StatusOK), message{"The sandbox was told to answer this"})
		}
		f.spoil(held)
	}
}

// spoil sends an answer, but not as it should be. One without a body has nothing
// that could be spoiled: it gets lost.
func (f *strike) spoil(held *heldAnswer) {
	body := held.body.Bytes()
	if len(body) == 0 {
		f.w.abort()
	}
	if f.fault.Kind == control.LengthUnder {
		f.sendRaw(held, len(body)/2)
		return
	}
	length := len(body)
	if f.fault.Kind == control.LengthOver {
		length += 10
	}
	maps.Copy(f.w.Header(), held.header)
	f.w.Header().Set("Content-Length", strconv.Itoa(length))
	f.w.WriteHeader(held.status)
	switch f.fault.Kind {
	case control.SlowBody:
		f.sendSlowly(body)
		return
	case control.Truncate:
		body = body[:len(body)/2]
	}
	_, _ = f.w.Write(body)
	_ = http.NewResponseController(f.w).Flush()
	f.w.abort()
}

// sendSlowly ends early when nobody listens any more.
func (f *strike) sendSlowly(body []byte) {
	out := http.NewResponseController(f.w)
	for i := range body {
		_, err := f.w.Write(body[i : i+1])
		if err != nil || out.Flush() != nil || f.call.Context().Err() != nil {
			return
		}
		if !f.service.pause(cmp.Or(f.fault.DelayMillis, defaultByteMillis)) {
			f.w.abort()
		}
	}
}

// sendInformational goes past the count of answers: these are none yet.
func (f *strike) sendInformational() {
	for range informationalCount {
		f.w.ResponseWriter.WriteHeader(http.StatusEarlyHints)
	}
}

// sendRaw announces a length of its own, which no http.ResponseWriter would let pass.
func (f *strike) sendRaw(held *heldAnswer, length int) {
	conn := f.hijack()
	defer conn.Close()
	f.w.settle(held.status)
	held.header.Set("Content-Length", strconv.Itoa(length))
	_, _ = fmt.Fprintf(conn, "HTTP/1.1 %d %s\r\n", held.status, http.StatusText(held.status))
	_ = held.header.Write(conn)
	_, _ = fmt.Fprintf(conn, "\r\n%s", held.body.Bytes())
}

// resetConnection discards what is unsent, so that the peer sees a reset.
func (f *strike) resetConnection() {
	conn := f.hijack()
	defer conn.Close()
	f.w.settle(0)
	if secured, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = secured.NetConn()
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
		_ = tcp.Close()
	}
}

// hijack takes over the connection. Where connections are shared (HTTP/2) it ends
// the stream instead.
func (f *strike) hijack() net.Conn {
	conn, _, err := http.NewResponseController(f.w).Hijack()
	if err != nil {
		f.w.abort()
	}
	return conn
}

// pause does not end when the caller goes away: a slow service commits late. It
// is false if the sandbox ended instead.
func (s *Service) pause(millis int64) bool {
	select {
	case <-time.After(time.Duration(millis) * time.Millisecond):
		return true
	case <-s.ctx.Done():
		return false
	}
}
