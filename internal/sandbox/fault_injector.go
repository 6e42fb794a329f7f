package sandbox

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

const (
	defaultByteMillis  = 50
	informationalCount = 100
	dripPieces         = 20

	errorBodySwitch = "errorBody"

	injectedTitle = "A fault of the sandbox"
)

// faultInjector responds to a request with a fault.
type faultInjector struct {
	account *account
	fault   control.Fault
	w       *statusWriter
	request *request
}

func (i *faultInjector) run() {
	buffered := newBufferedResponse()
	if i.fault.AfterWork {
		i.account.respond(buffered, i.request)
	}
	spread := i.fault.Kind == control.SlowBody || i.fault.Kind == control.Drip
	if !spread && !i.account.pause(i.fault.DelayMillis) {
		i.w.abort()
	}
	switch i.fault.Kind {
	case control.Answer:
		if i.fault.RetryAfter != "" {
			i.w.Header().Set("Retry-After", i.fault.RetryAfter)
		}
		status := cmp.Or(i.fault.Status, http.StatusInternalServerError)
		d := i.request.dialect
		if i.fault.Body != "" {
			_ = d.Set(errorBodySwitch, i.fault.Body) // checked when the fault was added
		}
		writeProblem(i.w, d, status, problem{Title: injectedTitle})
	case control.Garbage:
		i.w.Header().Set("Content-Type", mediaJSON)
		i.w.WriteHeader(cmp.Or(i.fault.Status, http.StatusOK))
		_, _ = i.w.Write([]byte("\x00<html>{\"id\": 1,,}"))
	case control.Close:
		i.w.abort()
	case control.ResetConnection:
		i.resetConnection()
	case control.Slow, control.Informational, control.Drip:
		if !i.fault.AfterWork {
			i.account.respond(buffered, i.request)
		}
		i.sendCorrectly(buffered)
	default:
		if !i.fault.AfterWork {
			writeJSON(buffered, cmp.Or(i.fault.Status, http.StatusOK), messageBody{injectedTitle})
		}
		i.corrupt(buffered)
	}
}

// sendCorrectly sends the response of the service, in a strange way.
func (i *faultInjector) sendCorrectly(buffered *bufferedResponse) {
	switch i.fault.Kind {
	case control.Drip:
		maps.Copy(i.w.Header(), buffered.header)
		i.w.WriteHeader(buffered.status)
		body := buffered.body.Bytes()
		i.sendSlowly(body, max(1, (len(body)+dripPieces-1)/dripPieces), i.fault.DelayMillis/dripPieces)
	case control.Informational:
		i.sendInformational()
		buffered.writeTo(i.w)
	default:
		buffered.writeTo(i.w)
	}
}

// corrupt sends a corrupted response. One without a body has nothing to corrupt: the connection closes instead.
func (i *faultInjector) corrupt(buffered *bufferedResponse) {
	body := buffered.body.Bytes()
	if len(body) == 0 {
		i.w.abort()
	}
	if i.fault.Kind == control.LengthUnder {
		i.sendRaw(buffered, len(body)/2)
		return
	}
	length := len(body)
	if i.fault.Kind == control.LengthOver {
		length += 10
	}
	maps.Copy(i.w.Header(), buffered.header)
	i.w.Header().Set("Content-Length", strconv.Itoa(length))
	i.w.WriteHeader(buffered.status)
	switch i.fault.Kind {
	case control.SlowBody:
		i.sendSlowly(body, 1, cmp.Or(i.fault.DelayMillis, defaultByteMillis))
		return
	case control.Truncate:
		body = body[:len(body)/2]
	}
	_, _ = i.w.Write(body)
	_ = http.NewResponseController(i.w).Flush()
	i.w.abort()
}

// sendSlowly sends pieces of a size, and pauses after each. It stops when the client is gone.
func (i *faultInjector) sendSlowly(body []byte, size int, pauseMillis int64) {
	out := http.NewResponseController(i.w)
	for piece := range slices.Chunk(body, size) {
		_, err := i.w.Write(piece)
		if err != nil || out.Flush() != nil || i.request.Context().Err() != nil {
			return
		}
		if !i.account.pause(pauseMillis) {
			i.w.abort()
		}
	}
}

// sendInformational bypasses the count of responses, because a 1xx response is not the final one.
func (i *faultInjector) sendInformational() {
	for range informationalCount {
		i.w.ResponseWriter.WriteHeader(http.StatusEarlyHints)
	}
}

// sendRaw announces a wrong length, which an http.ResponseWriter would refuse.
func (i *faultInjector) sendRaw(buffered *bufferedResponse, length int) {
	conn := i.hijack()
	defer conn.Close()
	i.w.record(buffered.status)
	buffered.header.Set("Content-Length", strconv.Itoa(length))
	_, _ = fmt.Fprintf(conn, "HTTP/1.1 %d %s\r\n", buffered.status, http.StatusText(buffered.status))
	_ = buffered.header.Write(conn)
	_, _ = fmt.Fprintf(conn, "\r\n%s", buffered.body.Bytes())
}

// resetConnection discards unsent data, so that the client sees a TCP reset.
func (i *faultInjector) resetConnection() {
	conn := i.hijack()
	defer conn.Close()
	i.w.record(0)
	if secured, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = secured.NetConn()
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
		_ = tcp.Close()
	}
}

// hijack takes over the connection. On HTTP/2, which shares connections, it aborts the stream instead.
func (i *faultInjector) hijack() net.Conn {
	conn, _, err := http.NewResponseController(i.w).Hijack()
	if err != nil {
		i.w.abort()
	}
	return conn
}

// pause waits even if the client is gone: a slow service commits late. It returns false if the sandbox closed first.
func (a *account) pause(millis int64) bool {
	select {
	case <-time.After(time.Duration(millis) * time.Millisecond):
		return true
	case <-a.service.ctx.Done():
		return false
	}
}
