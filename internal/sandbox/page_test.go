package sandbox_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// The page may load nothing and run nothing but what is in it.
func TestPageIsSelfContained(t *testing.T) {
	s := startSandbox(t, sandbox.Options{})
	got := s.get("/", "text/html")
	html := string(got.body)
	wantEqual(t, "status code", http.StatusOK, got.status)
	policy := got.header.Get("Content-Security-Policy")
	for _, directive := range []string{"default-src 'none'", "connect-src 'self'", "frame-ancestors 'none'"} {
		if !strings.Contains(policy, directive) {
			t.Errorf("the policy %q lacks %s", policy, directive)
		}
	}
	for _, element := range []string{"style", "script"} {
		found := regexp.MustCompile(`(?s)<`+element+`>(.*?)</`+element+`>`).FindAllStringSubmatch(html, -1)
		if len(found) != 1 {
			t.Fatalf("%d elements %s", len(found), element)
		}
		sum := sha256.Sum256([]byte(found[0][1]))
		source := element + "-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
		if !strings.Contains(policy, source) {
			t.Errorf("the policy does not let the page's own %s run", element)
		}
	}
	if outside := regexp.MustCompile(`(?i)(src|href)="(https?:|//)|@import|url\(`).FindString(html); outside != "" {
		t.Errorf("the page loads something: %s", outside)
	}
	for _, operation := range control.Operations() {
		if !strings.Contains(html, `<option value="`+string(operation)+`">`) {
			t.Errorf("no fault can be set for %s", operation)
		}
	}
	for _, kind := range control.FaultKinds() {
		if !strings.Contains(html, `<option value="`+string(kind)+`">`) {
			t.Errorf("the fault %s cannot be set", kind)
		}
	}
}

// The page shows data only as text, so its scripts must not use anything that parses markup.
func TestPageScriptsMakeNoMarkup(t *testing.T) {
	scripts, err := filepath.Glob("page/*.js")
	noError(t, err)
	forbidden := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|` +
		`createContextualFragment|DOMParser|srcdoc`)
	html := string(startSandbox(t, sandbox.Options{}).get("/", "").body)
	for _, script := range scripts {
		content, err := os.ReadFile(script)
		noError(t, err)
		if found := forbidden.FindString(string(content)); found != "" {
			t.Errorf("%s uses %s", script, found)
		}
		if !strings.Contains(html, string(content)) {
			t.Errorf("%s is not in the page", script)
		}
	}
	if len(scripts) < 5 {
		t.Errorf("only %d scripts", len(scripts))
	}
}

func TestOverview(t *testing.T) {
	s := startSandbox(t, sandbox.Options{})
	s.must(http.MethodPost, "/ext/webhooks/subscribe", object{"url": "http://192.0.2.1/"})
	const hostile = `</script><img src=x onerror="alert(1)">`
	for i := range control.OverviewLimit + 1 {
		s.create(object{"name": hostile, "reference": fmt.Sprint(i), "mandate_type": 23, "individuals": []object{{
			"email": "ann@example.com", "title": "Dr", "first_name": hostile, "last_name": "Doe",
		}}})
	}
	s.play(control.Play{Reference: "200", Step: control.CompleteActions})
	noError(t, s.Fault(t.Context(), control.Fault{Operation: control.Token, Kind: control.Close}))
	noError(t, s.SetDialect(t.Context(), "readLag", "2"))
	got, err := s.Overview(t.Context())
	noError(t, err)

	now, err := s.Now(t.Context())
	noError(t, err)
	if age := now.Sub(got.Now); age < 0 || age.Minutes() > 1 {
		t.Errorf("its time is %s", got.Now)
	}
	wantEqual(t, "newest e-mail", "200", got.Emails[0].Reference)
	wantEqual(t, "its recipient", "Dr "+hostile+" Doe", got.Emails[0].Recipient)
	wantEqual(t, "its application", hostile, got.Emails[0].ApplicationName)
	wantEqual(t, "its mandate type", "Identity", got.Emails[0].MandateType)
	app := got.Applications[0]
	summary := strings.Join([]string{app.Reference, app.State, app.MandateType}, " ")
	wantEqual(t, "newest application", "200 in progress Identity", summary)
	wantEqual(t, "kept for", 56*24.0, app.ExpiryTime.Sub(app.CreatedTime).Hours())
	person := app.Individuals[0]
	wantEqual(t, "its individual", []any{"Dr " + hostile + " Doe", "ann@example.com", true, true},
		[]any{person.Name, person.Email, person.TermsAccepted, person.ActionsCompleted})
	wantEqual(t, "lengths", []int{200, 200, 200}, []int{len(got.Emails), len(got.Applications), len(got.Deliveries)})
	wantEqual(t, "totals", control.Totals{Emails: 201, Applications: 201, Deliveries: 202}, got.Totals)
	wantEqual(t, "faults", 1, len(got.Faults))
	wantEqual(t, "creates", int64(201), got.Statistics.Requests(control.CreateApplication))
	for _, one := range got.Dialects {
		if one.Group == "" || one.Number != (len(one.Values) == 4 && one.Values[3] == "...") {
			t.Errorf("the switch %s is not whole: %+v", one.Name, one)
		}
	}
}

// Other pages in the same browser cannot use the control API.
func TestOtherPagesAreKeptAway(t *testing.T) {
	s := startSandbox(t, sandbox.Options{})
	port := s.url[strings.LastIndex(s.url, ":"):]
	cases := map[string]struct {
		method, host string
		header       map[string]string
		status       int
	}{
		"a program":                      {"POST", "", nil, 204},
		"the sandbox's page":             {"POST", "", map[string]string{"Sec-Fetch-Site": "same-origin"}, 204},
		"another page":                   {"POST", "", map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		"another page in an old browser": {"POST", "", map[string]string{"Origin": "https://example.com"}, 403},
		"a name that points here":        {"GET", "example.com" + port, nil, 403},
		"a name that points here, acting": {
			"POST", "example.com" + port, map[string]string{"Sec-Fetch-Site": "same-origin"}, 403,
		},
		"localhost":              {"POST", "localhost" + port, nil, 204},
		"a name below localhost": {"POST", "idv.localhost", nil, 204},
		"an address of IPv6":     {"POST", "[::1]" + port, nil, 204},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			path := map[string]string{"GET": "/overview", "POST": "/reset"}[c.method]
			body := io.NopCloser(strings.NewReader(""))
			request, err := http.NewRequestWithContext(t.Context(), c.method, s.url+control.Prefix+path, body)
			noError(t, err)
			request.Host = c.host
			for name, value := range c.header {
				request.Header.Set(name, value)
			}
			got, err := send(request)
			noError(t, err)
			wantEqual(t, "status code", c.status, got.status)
			if c.status == http.StatusForbidden && got.at("error") == nil {
				t.Errorf("no reason: %s", got.body)
			}
		})
	}
}

// The refusal of another name says how to reach the control API, over TLS, too.
func TestRefusedNameSaysTheAddress(t *testing.T) {
	service := sandbox.New(sandbox.Options{})
	t.Cleanup(service.Close)
	for _, start := range []func(http.Handler) *httptest.Server{httptest.NewServer, httptest.NewTLSServer} {
		server := start(service)
		t.Cleanup(server.Close)
		url := server.URL + control.Prefix + "/overview"
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
		noError(t, err)
		request.Host = "example.com"
		answer, err := server.Client().Do(request)
		noError(t, err)
		body, err := io.ReadAll(answer.Body)
		noError(t, err)
		noError(t, answer.Body.Close())
		if answer.StatusCode != http.StatusForbidden || !strings.Contains(string(body), "use "+server.URL) {
			t.Errorf("%d %s, want a refusal with %s", answer.StatusCode, body, server.URL)
		}
	}
}
