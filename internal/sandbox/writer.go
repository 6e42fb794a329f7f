package sandbox

import (
	"bytes"
	"maps"
	"net/http"
)

// statusWriter counts its answer before anybody can see it, so that a client
// that has its answer, or knows that there will be none, finds it counted.
type statusWriter struct {
	http.ResponseWriter
	count   func(status int)
	counted bool
	status  int // 0 means that there was no answer
}

func (w *statusWriter) WriteHeader(status int) {
	w.settle(status)
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Write(data []byte) (int, error) {
	w.settle(http.StatusOK)
	return w.ResponseWriter.Write(data)
}

// abort ends the connection without an answer.
func (w *statusWriter) abort() {
	w.settle(0)
	panic(http.ErrAbortHandler)
}

func (w *statusWriter) settle(status int) {
	if !w.counted {
		w.counted, w.status = true, status
		w.count(status)
	}
}

// Unwrap lets http.ResponseController reach the connection.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// heldAnswer keeps an answer until a fault lets it go, or for ever.
type heldAnswer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func newHeldAnswer() *heldAnswer { return &heldAnswer{header: http.Header{}, status: http.StatusOK} }

func (h *heldAnswer) Header() http.Header            { return h.header }
func (h *heldAnswer) WriteHeader(status int)         { h.status = status }
func (h *heldAnswer) Write(data []byte) (int, error) { return h.body.Write(data) }

func (h *heldAnswer) release(w http.ResponseWriter) {
	maps.Copy(w.Header(), h.header)
	w.WriteHeader(h.status)
	_, _ = w.Write(h.body.Bytes())
}
