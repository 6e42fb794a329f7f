package provider_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// TestRetryAfter: the provider waits as the service asks, and subscribes once. It sends nothing again after a failure
// that proves nothing, and shows a pause that is too long.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	onEachCLI(t, func(t *testing.T, c cli) {
		s := newService(t)
		application := s.createApplication(t)
		limited := control.Fault{Operation: control.SubscribeWebhook, Kind: control.Answer, Status: 429, RetryAfter: "6"}
		for name, test := range map[string]struct {
			fault         control.Fault
			posts, exists int64
			want          []string // of an error or a warning; nil: none
		}{
			"a pause": {limited, 2, 1, nil},
			"too long a pause": {
				control.Fault{Operation: control.SubscribeWebhook, Kind: control.Answer, Status: 429, RetryAfter: "600"}, 1, 0,
				[]string{"HTTP 429", "nothing was created", "A fault of the xxxxx", "10m0s"},
			},
			"unknown outcome": {
				control.Fault{Operation: control.SubscribeWebhook, Kind: control.Answer, Status: 503, RetryAfter: "1"}, 1, 0,
				[]string{"may not exist", "HTTP 503", "A fault of the xxxxx", "pause of 1s"},
			},
		} {
			t.Run(name, func(t *testing.T) {
				s.resetStats(t)
				s.fault(t, test.fault)
				id := application
				if name == "unknown outcome" {
					id = 0 // nothing to read back, so the warning comes at once
				}
				w := c.workspace(t, append(s.environment(), "IDV_REQUEST_TIMEOUT=5s")...)
				w.configure(t, subscription(id, "https://hooks.example.com/"+string(name[0]), ""))
				before := s.countSubscriptions(t, application)
				r := w.run(t, "apply", "-auto-approve")
				problems := r.errors
				if name == "unknown outcome" {
					problems = r.warnings // it is kept
				}
				if failed := len(test.want) > 0; failed != (len(problems) > 0) || failed && !has(problems, test.want...) {
					t.Errorf("want a problem with %q, got %+v", test.want, problems)
				}
				if posts := s.requests(t, control.SubscribeWebhook); posts != test.posts {
					t.Errorf("want %d requests, got %d", test.posts, posts)
				}
				if n := s.countSubscriptions(t, application) - before; int64(n) != test.exists {
					t.Errorf("want %d more subscriptions, got %d", test.exists, n)
				}
			})
		}
	})
}

// TestSubscribedDuringAPause: somebody else subscribes the URL while the provider waits. It then sends nothing.
func TestSubscribedDuringAPause(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.setDialect(t, "retrieveWebhook", "list")
	application := s.createApplication(t)
	s.fault(t, control.Fault{Operation: control.SubscribeWebhook, Kind: control.Answer, Status: 429, RetryAfter: "6"})
	target, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ModifyResponse = func(response *http.Response) error {
		if response.StatusCode != http.StatusTooManyRequests {
			return nil
		}
		_, err := s.client.SubscribeWebhook(t.Context(), client.Subscription{
			URL: client.Hide("https://hooks.example.com/idv"), ApplicationID: application,
		})
		return err
	}
	server := httptest.NewServer(proxy)
	defer server.Close()
	environment := append(s.environment(), "IDV_REQUEST_TIMEOUT=5s", "IDV_BASE_URL="+server.URL)
	w := cli{"tofu", tofu(t)}.workspace(t, environment...)
	w.configure(t, subscription(application, "https://hooks.example.com/idv", ""))
	if r := w.run(t, "apply", "-auto-approve"); len(r.errors) != 1 || !has(r.errors, "already exists") {
		t.Errorf("want an error that it exists, got %+v", r.errors)
	}
	if posts, n := s.requests(t, control.SubscribeWebhook), s.countSubscriptions(t, application); posts != 2 || n != 1 {
		t.Errorf("want one request of each and one subscription, got %d, %d", posts, n)
	}
}

func TestRetryAfterOfReferences(t *testing.T) {
	s := newService(t)
	p := newPlugin(t, s.url)
	s.fault(t, control.Fault{
		Operation: control.References, Kind: control.Answer, Status: 429, RetryAfter: "600", Times: control.Always,
	})
	_, diagnostics := p.read(t, "idv_references", nil)
	if !hasError(diagnostics, "HTTP 429", "10m0s") {
		t.Error(formatDiagnostics(diagnostics))
	}
}
