package client

import (
	"crypto/tls"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// TestAnEndlessAnswerIsLeft: the limit bounds what is read, and not only what is believed.
func TestAnEndlessAnswerIsLeft(t *testing.T) {
	const most = 64 << 20
	var wrote atomic.Int64
	done := make(chan struct{})
	s := newService(t, func(w http.ResponseWriter, _ *http.Request) {
		defer close(done)
		for wrote.Load() < most {
			n, err := io.WriteString(w, strings.Repeat(" ", 64<<10))
			wrote.Add(int64(n))
			if err != nil {
				return
			}
		}
	}, false)
	expectFailure(t, exampleOf(t, OpRetrieveReferences).run(t.Context(), s.client(t)), Unknown, KindTooLarge)
	<-done
	if wrote.Load() >= most {
		t.Error("all of it was read")
	}
}

func TestHeadersHaveALimit(t *testing.T) {
	s := newService(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Long", strings.Repeat("x", 100<<10))
		answers(http.StatusOK, someApplication)(w, r)
	}, false)
	expectFailure(t, exampleOf(t, OpCreateApplication).run(t.Context(), s.signedIn(t)), Unknown, KindConnection)
}

func TestOldTLSIsRefused(t *testing.T) {
	s := &service{Server: httptest.NewUnstartedServer(answers(http.StatusOK, someApplication))}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
	s.StartTLS()
	t.Cleanup(s.Close)
	c := s.client(t)
	signIn(c)
	expectFailure(t, exampleOf(t, OpCreateApplication).run(t.Context(), c), NotSent, KindUnreachable)
}
