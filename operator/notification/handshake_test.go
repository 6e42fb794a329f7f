package notification

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
)

// A service may ask before it subscribes, and gets its own text back: with a good token, and nothing that could do harm
// wherever it is shown.
func TestHandshake(t *testing.T) {
	for name, c := range map[string]struct {
		method, query, body string
		want                string // "" is none: a delivery, or the 404 of a GET
	}{
		"challenge in a GET":         {http.MethodGet, "?challenge=abc-123", "", "abc-123"},
		"WebSub":                     {http.MethodGet, "?hub.mode=subscribe&hub.challenge=42", "", "42"},
		"validation token of a POST": {http.MethodPost, "?validationToken=Validation%3A+abc", "", "Validation: abc"},
		"challenge in a body": {
			http.MethodPost, "", `{"type":"url_verification","challenge":"x1"}`, `{"challenge":"x1"}`,
		},
		"validation token in a body":     {http.MethodPost, "", `{"validationToken":"x1"}`, `{"validationToken":"x1"}`},
		"markup":                         {http.MethodGet, "?challenge=%3Cscript%3E", "", ""},
		"too long":                       {http.MethodGet, "?challenge=" + strings.Repeat("x", 257), "", ""},
		"control characters":             {http.MethodPost, "", `{"challenge":"a\u001bb"}`, ""},
		"a GET without one":              {http.MethodGet, "", "", ""},
		"a delivery with a field of it":  {http.MethodPost, "", `{"challenge":"x","id":1,"event":"e","status":"s"}`, ""},
		"a delivery with another object": {http.MethodPost, "", `{"challenge":{"id":4711}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newReceived()
				r.api.connect(testKey, goodToken, "")
				ask := func(path string) *httptest.ResponseRecorder {
					recorder := httptest.NewRecorder()
					r.ServeHTTP(recorder, newRequest(t, c.method, path+c.query, strings.NewReader(c.body)))
					return recorder
				}
				wrong := ask(strings.TrimSuffix(goodPath, goodToken) + strings.Repeat("w", 40))
				if wrong.Code != http.StatusNotFound {
					t.Errorf("a wrong token gets %d", wrong.Code)
				}
				answer := ask(goodPath)
				switch got := strings.TrimSpace(answer.Body.String()); {
				case c.want != "" && (answer.Code != http.StatusOK || got != c.want || r.results[resultHandshake] != 1):
					t.Errorf("got %d %q, want %q", answer.Code, got, c.want)
				case c.want == "" && c.method == http.MethodPost && (answer.Code != http.StatusOK || len(r.deliveries) != 1):
					t.Errorf("the delivery is not taken: %d", answer.Code)
				case c.want == "" && c.method == http.MethodGet && answer.Code != http.StatusNotFound:
					t.Errorf("got %d, want 404", answer.Code)
				}
			})
		})
	}
}
