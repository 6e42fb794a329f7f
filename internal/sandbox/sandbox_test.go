package sandbox_test

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
	"github.com/mandate-io/idv/internal/test/await"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// kyc is the id of the mandate type with the checks document, liveness and address.
const kyc = 17

type object = map[string]any

// testService is a sandbox with a client that has a token.
type testService struct {
	*control.Client
	t     *testing.T
	url   string
	token string
}

func startSandbox(t *testing.T, options sandbox.Options) *testService {
	t.Helper()
	service := sandbox.New(options)
	server := httptest.NewServer(service)
	t.Cleanup(func() {
		service.Close()
		server.Close()
	})
	s := &testService{Client: control.New(server.URL), t: t, url: server.URL}
	s.token = s.login()
	return s
}

func withDialect(t *testing.T, name, value string) *testService {
	t.Helper()
	var options sandbox.Options
	if err := options.Dialect.Set(name, value); err != nil {
		t.Fatal(err)
	}
	return startSandbox(t, options)
}

type response struct {
	status int
	header http.Header
	body   []byte
}

// tree decodes the body; numbers stay as they are written.
func (a response) tree() any {
	decoder := json.NewDecoder(bytes.NewReader(a.body))
	decoder.UseNumber()
	var tree any
	if err := decoder.Decode(&tree); err != nil {
		return "not JSON: " + string(a.body)
	}
	return tree
}

// at follows names and indexes into the body.
func (a response) at(path ...any) any { return at(a.tree(), path...) }

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

// members returns the members of an object, and none if it is something else.
func members(tree any) object {
	node, _ := tree.(object)
	return node
}

var client = &http.Client{
	Transport:     &http.Transport{DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// try sends a request to the interface; a string body is sent as it is.
func (s *testService) try(method, path string, body any) (response, error) {
	s.t.Helper()
	contentType := "application/json"
	var content io.Reader = http.NoBody
	switch body := body.(type) {
	case nil:
	case untyped:
		contentType = ""
	case string:
		content = strings.NewReader(body)
	default:
		encoded, err := json.Marshal(body)
		if err != nil {
			s.t.Fatal(err)
		}
		content = bytes.NewReader(encoded)
	}
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.url+"/api/v1"+path, content)
	if err != nil {
		s.t.Fatal(err)
	}
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	request.Header.Set("Authorization", "Bearer "+s.token)
	return send(request)
}

// untyped is no body and no Content-Type.
type untyped struct{}

// bodies are those of operations whose payload is not documented.
var bodies = map[string]any{"nothing": untyped{}, "a Content-Type": nil, "an empty object": object{}}

// statusesOf returns the expected statuses of the bodies.
func statusesOf(nothing, contentType, emptyObject int) map[string]int {
	return map[string]int{"nothing": nothing, "a Content-Type": contentType, "an empty object": emptyObject}
}

func send(request *http.Request) (response, error) {
	resp, err := client.Do(request)
	if err != nil {
		return response{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return response{resp.StatusCode, resp.Header, body}, err
}

func (s *testService) request(method, path string, body any) response {
	s.t.Helper()
	got, err := s.try(method, path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	return got
}

// must sends a request that must succeed.
func (s *testService) must(method, path string, body any) response {
	s.t.Helper()
	got := s.request(method, path, body)
	if got.status/100 != 2 {
		s.t.Fatalf("%s %s: %d %s", method, path, got.status, got.body)
	}
	return got
}

func (s *testService) postForm(form url.Values, header http.Header) response {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost,
		s.url+"/api/v1/ext/authentications/token", strings.NewReader(form.Encode()))
	if err != nil {
		s.t.Fatal(err)
	}
	request.Header = header.Clone()
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	got, err := send(request)
	if err != nil {
		s.t.Fatal(err)
	}
	return got
}

func credentials() url.Values {
	return url.Values{
		"grant_type": {"password"}, "username": {sandbox.DefaultUsername}, "password": {sandbox.DefaultPassword},
	}
}

func basic() http.Header {
	request := http.Request{Header: http.Header{}}
	request.SetBasicAuth(sandbox.DefaultClientID, sandbox.DefaultClientSecret)
	return request.Header
}

func (s *testService) login() string {
	s.t.Helper()
	got := s.postForm(credentials(), basic())
	if got.status != http.StatusOK {
		return ""
	}
	token, _ := got.at("access_token").(string)
	return token
}

// mandate is a create with one individual per name, all references made from reference.
func mandate(reference string, names ...string) object {
	people := []object{}
	for _, name := range names {
		people = append(people, object{
			"email": name + "@example.com", "first_name": name, "reference": reference + "." + name,
		})
	}
	return object{"name": "Acme", "reference": reference, "mandate_type": kyc, "individuals": people}
}

// create makes an application and returns its path.
func (s *testService) create(body object) string {
	s.t.Helper()
	return fmt.Sprintf("/ext/applications/%v", s.must(http.MethodPost, "/ext/applications", body).at("id"))
}

func (s *testService) play(play control.Play) control.Application {
	s.t.Helper()
	app, err := s.Play(s.t.Context(), play)
	if err != nil {
		s.t.Fatal(err)
	}
	return app
}

func (s *testService) emails() []control.Email {
	s.t.Helper()
	emails, err := s.Outbox(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return emails
}

// eventually waits until check is content, and fails with what it last said.
func eventually(t *testing.T, check func() string) {
	t.Helper()
	await.Until(t, func() (bool, string) {
		complaint := check()
		return complaint == "", complaint
	})
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
