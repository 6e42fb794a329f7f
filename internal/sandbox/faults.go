package sandbox

import (
	"cmp"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

// faults are the faults that have yet to strike. The zero value has none.
type faults struct {
	mu      sync.Mutex
	waiting []control.Fault
}

func (f *faults) add(fault control.Fault) error {
	if err := checkFault(fault); err != nil {
		return err
	}
	fault.Times = cmp.Or(fault.Times, 1)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waiting = append(f.waiting, fault)
	return nil
}

func (f *faults) all() []control.Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]control.Fault{}, f.waiting...)
}

func (f *faults) clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waiting = nil
}

// take returns the oldest fault for an operation and uses it up by one.
func (f *faults) take(op control.Operation) (control.Fault, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.IndexFunc(f.waiting, func(fault control.Fault) bool {
		return fault.Operation == op || fault.Operation == control.AnyOperation
	})
	if i < 0 {
		return control.Fault{}, false
	}
	fault := f.waiting[i]
	if fault.Times != control.Always {
		f.waiting[i].Times--
		if f.waiting[i].Times == 0 {
			f.waiting = slices.Delete(f.waiting, i, i+1)
		}
	}
	return fault, true
}

func checkFault(fault control.Fault) error {
	kinds := []control.FaultKind{control.Slow, control.Answer, control.Garbage, control.Close, control.ResetConnection}
	switch {
	case fault.Operation != control.AnyOperation && !slices.Contains(control.Operations(), fault.Operation):
		return fmt.Errorf("operation is * or one of %v", control.Operations())
	case !slices.Contains(kinds, fault.Kind):
		return fmt.Errorf("kind is one of %v", kinds)
	case fault.Times < control.Always:
		return fmt.Errorf("times is 1 or more, or %d for every request", control.Always)
	case fault.DelayMillis < 0 || fault.DelayMillis > maxDelayMillis:
		return fmt.Errorf("delay_ms is 0 to %d", maxDelayMillis)
	case fault.Status != 0 && (fault.Status < 200 || fault.Status > 599):
		return fmt.Errorf("status is 200 to 599")
	}
	return nil
}

// strike lets a fault have its way with a request whose work is done by work.
func (s *Service) strike(fault control.Fault, w *statusWriter, work func(http.ResponseWriter)) {
	held := newHeldAnswer()
	if fault.AfterWork {
		work(held)
	}
	if !s.pause(fault.DelayMillis) {
		w.abort()
	}
	switch fault.Kind {
	case control.Slow:
		if !fault.AfterWork {
			work(held)
		}
		held.release(w)
	case control.Answer:
		if fault.RetryAfter != "" {
			w.Header().Set("Retry-After", fault.RetryAfter)
		}
		writeProblem(w, cmp.Or(fault.Status, http.StatusInternalServerError), problem{Title: "The sandbox was told to answer this"})
	case control.Garbage:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(cmp.Or(fault.Status, http.StatusOK))
		_, _ = w.Write([]byte("\x00<html>{\"id\": 1,,}"))
	case control.Close:
		w.abort()
	case control.ResetConnection:
		resetConnection(w)
	}
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

// resetConnection discards what is unsent, so that the peer sees a reset. Where
// connections are shared (HTTP/2) the stream is reset instead.
func resetConnection(w *statusWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		w.abort()
	}
	w.settle(0)
	defer conn.Close()
	if secured, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = secured.NetConn()
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
		_ = tcp.Close()
	}
}
