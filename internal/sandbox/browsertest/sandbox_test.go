// Package browsertest tests the sandbox's page in a browser. It is a Go module of its own, so that building the
// provider, the operator or the sandbox does not need chromedp.
package browsertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// kyc is the id of the mandate type with the checks document, liveness and address.
const kyc = 17

type object = map[string]any

var httpClient = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// testService is a running sandbox, with a token for the service's interface.
type testService struct {
	*control.Client
	t     *testing.T
	url   string
	token string
}

func startSandbox(t *testing.T, options sandbox.Options) *testService {
	t.Helper()
	return serve(t, sandbox.New(options))
}

func serve(t *testing.T, service *sandbox.Service) *testService {
	t.Helper()
	server := httptest.NewServer(service)
	t.Cleanup(func() {
		service.Close()
		server.Close()
	})
	s := &testService{Client: control.New(server.URL), t: t, url: server.URL}
	s.login()
	return s
}

func (s *testService) login() {
	s.t.Helper()
	form := url.Values{
		"grant_type": {"password"}, "username": {sandbox.DefaultUsername}, "password": {sandbox.DefaultPassword},
	}
	status, body, err := s.send(http.MethodPost, "/ext/authentications/token", "application/x-www-form-urlencoded",
		strings.NewReader(form.Encode()))
	noError(s.t, err)
	wantEqual(s.t, "status of the login", http.StatusOK, status)
	s.token, _ = at(body, "access_token").(string)
}

// send sends a request to the service's interface and returns the status code and the decoded body.
func (s *testService) send(method, path, contentType string, content io.Reader) (status int, body any, err error) {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.url+"/api/v1"+path, content)
	noError(s.t, err)
	request.Header.Set("Content-Type", contentType)
	if s.token != "" {
		request.Header.Set("Authorization", "Bearer "+s.token)
	}
	response, err := httpClient.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	decoder := json.NewDecoder(response.Body)
	decoder.UseNumber()
	if err := decoder.Decode(&body); err != nil {
		body = nil
	}
	return response.StatusCode, body, nil
}

// request sends a JSON request. A nil body is no body.
func (s *testService) request(method, path string, body any) (status int, decoded any, err error) {
	s.t.Helper()
	var content io.Reader = http.NoBody
	if body != nil {
		encoded, err := json.Marshal(body)
		noError(s.t, err)
		content = bytes.NewReader(encoded)
	}
	return s.send(method, path, "application/json", content)
}

// must sends a request that has to succeed and returns the decoded body.
func (s *testService) must(method, path string, body any) any {
	s.t.Helper()
	status, decoded, err := s.request(method, path, body)
	noError(s.t, err)
	if status/100 != 2 {
		s.t.Fatalf("%s %s: %d %v", method, path, status, decoded)
	}
	return decoded
}

// create creates an application and returns its path.
func (s *testService) create(body object) string {
	s.t.Helper()
	return fmt.Sprintf("/ext/applications/%v", at(s.must(http.MethodPost, "/ext/applications", body), "id"))
}

func (s *testService) emails() []control.Email {
	s.t.Helper()
	emails, err := s.Outbox(s.t.Context())
	noError(s.t, err)
	return emails
}

// at follows names and indexes into decoded JSON.
func at(tree any, path ...any) any {
	for _, step := range path {
		switch node := tree.(type) {
		case object:
			name, _ := step.(string)
			tree = node[name]
		case []any:
			index, isIndex := step.(int)
			if !isIndex || index >= len(node) {
				return fmt.Sprintf("no element %v", step)
			}
			tree = node[index]
		default:
			return fmt.Sprintf("nothing at %v", step)
		}
	}
	return tree
}

func wantEqual(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
