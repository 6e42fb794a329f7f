package provider

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
)

// The answer of retrieve webhook is not documented. Absent is said only of what proves it: believing it too early ends
// in a second subscription.
func TestLookUp(t *testing.T) {
	const own, other = `{"id": 7, "url": "` + receiver + `"}`, `{"id": 8, "url": "https://other.example.com"}`
	cases := map[string]struct {
		status  int
		body    string
		verdict verdict
		matches int
	}{
		"an object":                    {200, own, found, 1},
		"a wrapped object":             {200, `{"data": ` + own + `}`, found, 1},
		"a list":                       {200, `[` + other + `, ` + own + `]`, found, 1},
		"a list with two":              {200, `[` + own + `, ` + own + `]`, found, 2},
		"a wrapped list":               {200, `{"webhooks": [` + own + `]}`, found, 1},
		"under another name":           {200, `{"hook": {"target_url": "` + receiver + `"}}`, found, 1},
		"under the configured name":    {200, `{"where_to": "` + receiver + `"}`, found, 1},
		"404":                          {404, `{"title": "not found"}`, absent, 0},
		"410":                          {410, ``, absent, 0},
		"204":                          {204, ``, absent, 0},
		"an empty answer":              {200, ``, absent, 0},
		"an empty list":                {200, `[]`, absent, 0},
		"an empty wrapped list":        {200, `{"data": {"items": []}, "total": 0}`, absent, 0},
		"a list of others":             {200, `[` + other + `]`, absent, 0},
		"a list, and more of it":       {200, `{"count": 25, "next": "https://idv.example.com/?page=2", "results": [` + other + `]}`, unclear, 0},
		"a list, and it is in it":      {200, `{"count": 25, "next": "https://idv.example.com/?page=2", "results": [` + own + `]}`, found, 1},
		"written otherwise":            {200, `[{"url": "HTTPS://Hooks.Example.com:443/idv"}]`, found, 1},
		"another one: perhaps of many": {200, other, unclear, 0},
		"a list with a masked URL":     {200, `[` + other + `, {"id": 7, "url": null}]`, unclear, 0},
		"a webhook that shows no URL":  {200, `{"id": 7, "events": []}`, unclear, 0},
		"a message":                    {200, `{"message": "no webhook"}`, unclear, 0},
		"an empty object":              {200, `{}`, unclear, 0},
		"null":                         {200, `null`, unclear, 0},
		"HTML":                         {200, `<html>`, unclear, 0},
		"a redirect":                   {302, ``, unclear, 0},
	}
	for situation, test := range cases {
		t.Run(situation, func(t *testing.T) {
			m := model(func(m *subscriptionModel) { m.FieldNames = renamed("url", "where_to") })
			seen, err := m.lookUp(t.Context(), serviceThatShows(t, test.status, test.body), (&turn{}).ask)
			if err != nil {
				t.Fatal(err)
			}
			if seen.verdict != test.verdict || len(seen.matches) != test.matches {
				t.Errorf("got verdict %d with %d matches, want %d with %d", seen.verdict, len(seen.matches), test.verdict, test.matches)
			}
			if (seen.why == "") != (test.verdict != unclear) {
				t.Errorf("why: %q", seen.why)
			}
		})
	}
	t.Run("a failing service is an error", func(t *testing.T) {
		if _, err := model(nil).lookUp(t.Context(), serviceThatShows(t, 403, ""), (&turn{}).ask); client.KindOf(err) != client.KindCredentials {
			t.Errorf("got %v", err)
		}
	})
	t.Run("without an application nobody is asked", func(t *testing.T) {
		m := model(func(m *subscriptionModel) { m.ApplicationID = types.Int64Null() })
		if seen, err := m.lookUp(t.Context(), nil, nil); err != nil || seen.verdict != unclear {
			t.Errorf("got %v, %v", seen.verdict, err)
		}
	})
}

// serviceThatShows answers every retrieve webhook in one way, for shapes that the sandbox does not speak.
func serviceThatShows(t *testing.T, status int, body string) *client.Client {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/v1/ext/authentications/token", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"access_token": "t", "token_type": "Bearer"}`)
	})
	mux.HandleFunc("GET /api/v1/ext/webhooks/retrieve/4711", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	c, err := client.New(client.Config{BaseURL: server.URL, Credentials: client.Credentials{Username: "u", Password: client.Hide("p")}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}
