package sandbox_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mandate-io/idv/internal/sandbox"
)

type number = json.Number

// wantProblem checks the documented shape of an error.
func wantProblem(t *testing.T, got response, status int) {
	t.Helper()
	if got.status != status {
		t.Fatalf("status %d, want %d: %s", got.status, status, got.body)
	}
	wantEqual(t, "content type", "application/problem+json", got.header.Get("Content-Type"))
	wantEqual(t, "type", any(""), got.at("type"))
	wantEqual(t, "status", any(strconv.Itoa(status)), got.at("status"))
	if title, _ := got.at("title").(string); title == "" {
		t.Errorf("no title: %s", got.body)
	}
	if _, isObject := got.at("exception").(object); !isObject {
		t.Errorf("exception is no object: %s", got.body)
	}
}

func TestProblems(t *testing.T) {
	long := `{"name": "` + strings.Repeat("n", 1<<20) + `"}`
	cases := map[string]struct {
		method, path string
		body         any
		status       int
	}{
		"an application that never was":  {"GET", "/ext/applications/1", nil, 404},
		"an id that is no number":        {"GET", "/ext/applications/acme", nil, 404},
		"an id beyond 64 bits":           {"GET", "/ext/applications/99999999999999999999", nil, 404},
		"deleting nothing":               {"DELETE", "/ext/applications/1", nil, 404},
		"archiving nothing":              {"PATCH", "/ext/applications/1/archive", object{}, 404},
		"completing nothing":             {"PATCH", "/ext/applications/1/complete", nil, 404},
		"rejecting nothing":              {"PATCH", "/ext/applications/1/reject", nil, 404},
		"accepting nothing":              {"PATCH", "/check/1/accept", object{}, 404},
		"rejecting no check":             {"PATCH", "/check/1/reject", object{}, 404},
		"the check path with ext":        {"PATCH", "/ext/check/1/accept", object{}, 404},
		"an individual that never was":   {"GET", "/ext/individuals/1", nil, 404},
		"resending to nobody":            {"POST", "/ext/individuals/1/invites/resend", nil, 404},
		"resetting nobody":               {"POST", "/ext/individuals/1/reset", nil, 404},
		"a report on nobody":             {"GET", "/ext/individuals/1/report", nil, 404},
		"no webhook":                     {"GET", "/ext/webhooks/retrieve/1", nil, 404},
		"a path that does not exist":     {"GET", "/ext/mandates", nil, 404},
		"a list, which there is not":     {"GET", "/ext/applications", nil, 405},
		"an update, which there is not":  {"PUT", "/ext/applications/1", object{}, 405},
		"malformed JSON":                 {"POST", "/ext/applications", `{"name": `, 400},
		"two JSON values":                {"POST", "/ext/applications", `{} {}`, 400},
		"null":                           {"POST", "/ext/applications", `null`, 400},
		"a list as the body":             {"POST", "/ext/applications", `[]`, 400},
		"no body where one is needed":    {"PATCH", "/check/1/accept", nil, 400},
		"a decision with a wrong type":   {"PATCH", "/check/1/accept", object{"reference": "7"}, 400},
		"a decision with an unknown one": {"PATCH", "/check/1/accept", object{"why": "x"}, 400},
		"archive with a member":          {"PATCH", "/ext/applications/1/archive", object{"archived": true}, 400},
		"complete with no object":        {"PATCH", "/ext/applications/1/complete", `"x"`, 400},
		"a body above the limit":         {"POST", "/ext/applications", long, 413},
		"a subscription without url":     {"POST", "/ext/webhooks/subscribe", object{}, 400},
		"a subscription to a file":       {"POST", "/ext/webhooks/subscribe", object{"url": "file:///etc/passwd"}, 400},
		"a subscription below zero": {
			"POST", "/ext/webhooks/subscribe", object{"url": "http://127.0.0.1/", "application_id": -1}, 400,
		},
		"events that are not a list": {
			"POST", "/ext/webhooks/subscribe", object{"url": "http://127.0.0.1/", "events": "all"}, 400,
		},
		"a token request that is no form": {"POST", "/ext/authentications/token", object{"grant_type": "password"}, 400},
	}
	s := startSandbox(t, sandbox.Options{})
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			wantProblem(t, s.request(c.method, c.path, c.body), c.status)
		})
	}
}

func TestMethodNotAllowedNamesTheMethods(t *testing.T) {
	s := startSandbox(t, sandbox.Options{})
	cases := map[string]string{
		"/ext/applications/1":          "GET, DELETE",
		"/ext/applications/1/complete": "PATCH",
		"/ext/applications/1/reject":   "PATCH",
	}
	for path, allow := range cases {
		got := s.request(http.MethodPost, path, object{})
		wantProblem(t, got, http.StatusMethodNotAllowed)
		wantEqual(t, path, allow, got.header.Get("Allow"))
	}
}

func TestContentTypeIsNeeded(t *testing.T) {
	s := startSandbox(t, sandbox.Options{})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/api/v1/ext/applications",
		strings.NewReader(`{"name": "Acme", "mandate_type": 17, "individuals": [{}]}`))
	noError(t, err)
	request.Header.Set("Authorization", "Bearer "+s.token)
	got, err := send(request)
	noError(t, err)
	wantProblem(t, got, http.StatusBadRequest)
}

func sortedNames(tree any) []string { return slices.Sorted(maps.Keys(members(tree))) }
