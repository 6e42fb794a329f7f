package client

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/mandate-io/idv/internal/test/await"
)

// lockedBuffer is a log that is read while it is written.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// TestBytesAfterAResponseAreNotLogged: without RedactStandardLog, net/http prints them.
func TestBytesAfterAResponseAreNotLogged(t *testing.T) {
	var printed lockedBuffer
	previous := log.Writer()
	log.SetOutput(&printed)
	defer log.SetOutput(previous)
	RedactStandardLog()
	s := newService(t, func(w http.ResponseWriter, _ *http.Request) {
		connection, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer connection.Close()
		body := someApplication + `,"first_name":"` + canary + `"}`
		_, _ = fmt.Fprintf(buffered, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(someApplication), body)
		_ = buffered.Flush()
	}, false)
	if err := exampleOf(t, OpRetrieveApplication).run(t.Context(), s.client(t)); err != nil {
		t.Fatal(err)
	}
	await.Until(t, func() (bool, string) {
		text := printed.String()
		return strings.Contains(text, redacted), "net/http prints something else now: " + text
	})
	_ = log.Output(1, "something else")
	if text := printed.String(); canariesIn(text) != nil || !strings.HasSuffix(text, "something else\n") {
		t.Errorf("printed %q", text)
	}
}

func TestNewLeavesTheStandardLogAlone(t *testing.T) {
	previous := log.Writer()
	defer log.SetOutput(previous)
	log.SetOutput(io.Discard)
	newClient(t, Config{BaseURL: "https://idv.example.com", Credentials: Credentials{Username: "u", Password: Hide("p")}})
	if log.Writer() != io.Discard {
		t.Errorf("the log goes to %#v", log.Writer())
	}
}

func TestRedactStandardLogTwice(t *testing.T) {
	previous := log.Writer()
	defer log.SetOutput(previous)
	log.SetOutput(io.Discard)
	RedactStandardLog()
	RedactStandardLog()
	if log.Writer() != (redactingWriter{io.Discard}) {
		t.Errorf("the log goes to %#v", log.Writer())
	}
	reader, writer := io.Pipe()
	reader.CloseWithError(errors.ErrUnsupported)
	if n, err := (redactingWriter{writer}).Write([]byte("x")); n != 0 || !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("%d, %v", n, err)
	}
}
