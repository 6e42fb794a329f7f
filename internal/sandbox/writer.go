package sandbox

import (
	"bytes"
	"maps"
	"net/http"
)

// statusWriter counts a response before the client can see it. A client that has its response, or has lost the
// connection, finds it counted.
type statusWriter struct {
	http.ResponseWriter
	count   func(status int)
	counted bool
	status  int // 0 means no response
}

func (w *statusWriter) WriteHeader(status int) {
	w.record(status)
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Write(data []byte) (int, error) {
	w.record(http.StatusOK)
	return w.ResponseWriter.Write(data)
}

// abort closes the connection without a response.
func (w *statusWriter) abort() {
	w.record(0)
	panic(http.ErrAbortHandler)
}

func (w *statusWriter) record(status int) {
	if !w.counted {
		w.counted, w.status = true, status
		w.count(status)
	}
}

// Unwrap lets http.ResponseController reach the connection.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// bufferedResponse keeps a response for a fault to send, change or drop.
type bufferedResponse struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func newBufferedResponse() *bufferedResponse {
	return &bufferedResponse{header: http.Header{}, status: http.StatusOK}
}

func (b *bufferedResponse) Header() http.Header            { return b.header }
func (b *bufferedResponse) WriteHeader(status int)         { b.status = status }
func (b *bufferedResponse) Write(data []byte) (int, error) { return b.body.Write(data) }

func (b *bufferedResponse) writeTo(w http.ResponseWriter) {
	maps.Copy(w.Header(), b.header)
	w.WriteHeader(b.status)
	_, _ = w.Write(b.body.Bytes())
}
