// Package webhookservice is a service for tests. Its webhooks come in formats that the sandbox does not have.
package webhookservice

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/mandate-io/idv/internal/client"
)

// ApplicationID is that of the application whose webhooks the service has.
const ApplicationID = 4711

// New starts a service that answers every retrieve webhook of the application in one way, and gives a client of it.
func New(t *testing.T, status int, body string) *client.Client {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/v1/ext/authentications/token", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"access_token": "t", "token_type": "Bearer"}`)
	})
	retrieve := fmt.Sprint("GET /api/v1/ext/webhooks/retrieve/", ApplicationID)
	mux.HandleFunc(retrieve, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	c, err := client.New(client.Config{
		BaseURL:     server.URL,
		Credentials: client.Credentials{Username: "u", Password: client.Hide("p")},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}
