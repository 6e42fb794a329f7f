package provider_test

import (
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

const readConfig = `data "idv_references" "all" {}`

func TestProviderCertificateAuthorities(t *testing.T) {
	t.Parallel()
	handler := sandbox.New(sandbox.Options{})
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // some handshakes fail on purpose
	server.StartTLS()
	t.Cleanup(server.Close)
	t.Cleanup(handler.Close)
	authority := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	file := filepath.Join(t.TempDir(), "ca.pem")
	write(t, file, authority)
	environment := []string{
		"IDV_BASE_URL=" + server.URL,
		"IDV_USERNAME=" + sandbox.DefaultUsername,
		"IDV_PASSWORD=" + sandbox.DefaultPassword,
	}
	cases := map[string]struct {
		block, environment string
		fails              bool
	}{
		"the certificates themselves": {block: fmt.Sprintf("ca_pem = %q", authority)},
		"a file":                      {block: fmt.Sprintf("ca_file = %q", file)},
		"a file in the environment":   {environment: "IDV_CA_FILE=" + file},
		"only the system's":           {fails: true},
	}
	onEachCLI(t, func(t *testing.T, c cli) {
		for name, test := range cases {
			w := c.workspace(t, append(slices.Clone(environment), test.environment)...)
			w.configure(t, "provider \"idv\" {\n"+test.block+"\n}\n"+readConfig)
			if r := w.run(t, "plan"); test.fails != (r.exit != 0) || test.fails && !has(r.errors, "unknown authority") {
				t.Errorf("%s: want failure %v, got exit %d, %+v", name, test.fails, r.exit, r.errors)
			}
		}
	})
}

// recordingProxy forwards requests and records them.
type recordingProxy struct {
	mu        sync.Mutex
	hosts     []string
	agents    []string
	passwords []string
}

func (r *recordingProxy) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	r.hosts = append(r.hosts, req.URL.Host)
	r.agents = append(r.agents, req.UserAgent())
	r.passwords = append(r.passwords, req.Header.Get("Proxy-Authorization"))
	r.mu.Unlock()
	proxy := httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) { p.Out.Header.Del("Proxy-Authorization") }}
	proxy.ServeHTTP(w, req)
}

func TestProviderProxyAndUserAgent(t *testing.T) {
	t.Parallel()
	s := newService(t)
	onEachCLI(t, func(t *testing.T, c cli) {
		proxy := &recordingProxy{}
		server := httptest.NewServer(proxy)
		defer server.Close()
		through, err := url.Parse(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		through.User = url.UserPassword("user", "canary-proxy")
		w := c.workspace(t, append(s.environment(), "TF_APPEND_USER_AGENT=platform-team/7")...)
		w.configure(t, fmt.Sprintf("provider \"idv\" {\n  proxy_url = %q\n}\n", through)+readConfig)
		mustNotContain(t, "the plan", w.must(t, "plan").output, "canary")
		if len(proxy.hosts) < 2 || !strings.HasPrefix(s.url, "http://"+proxy.hosts[0]) || proxy.passwords[0] == "" {
			t.Errorf("want the login and the read in the proxy, got %v with %v", proxy.hosts, proxy.passwords)
		}
		version := "(Terraform " + c.version(t) + " or compatible; "
		if c.name == "tofu" {
			version = "(Terraform 1." // the version that it is compatible with
		}
		for _, agent := range proxy.agents {
			if !containsAll(agent, []string{"terraform-provider-idv/dev", version}) ||
				!strings.HasSuffix(agent, " platform-team/7") {
				t.Errorf("incomplete user agent: %q", agent)
			}
		}
	})
}

func TestProviderAcceptsEphemeralValues(t *testing.T) {
	t.Parallel()
	s := newService(t)
	onEachCLI(t, func(t *testing.T, c cli) {
		w := c.workspace(t, "IDV_BASE_URL="+s.url, "TF_VAR_password="+sandbox.DefaultPassword)
		w.configure(t, fmt.Sprintf(`
			variable "password" {
			  type      = string
			  ephemeral = true
			}
			provider "idv" {
			  username = %q
			  password = var.password
			}`, sandbox.DefaultUsername)+"\n"+readConfig+"\n"+subscription(0, "https://hooks.example.com/idv", ""))
		w.must(t, "apply", "-auto-approve")
		w.mustPlanNothing(t)
		mustNotContain(t, "the state", w.state(t), sandbox.DefaultPassword)
	})
}

func TestProviderTimeouts(t *testing.T) {
	t.Parallel()
	s := newService(t)
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts, and never responds
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	onEachCLI(t, func(t *testing.T, c cli) {
		w := c.workspace(t, s.environment()...)
		w.configure(t, fmt.Sprintf(`provider "idv" {
		  base_url        = "http://%s"
		  username        = "u"
		  password        = "p"
		  request_timeout = "300ms"
		}
		`, silent.Addr())+readConfig)
		if r := w.run(t, "plan"); len(r.errors) != 1 || !has(r.errors, "Cannot read the reference data", "base_url") {
			t.Errorf("request_timeout: want one error, got %+v", r.errors)
		}
		s.fault(t, control.Fault{
			Operation: control.SubscribeWebhook, Kind: control.Slow, AfterWork: true, DelayMillis: 600_000,
		})
		timeouts := "timeouts {\n  create = \"300ms\"\n}"
		w.configure(t, subscription(s.createApplication(t), "https://hooks.example.com/idv", timeouts))
		if r := w.must(t, "apply", "-auto-approve"); !has(r.warnings, "was lost") {
			t.Errorf("timeouts: want a lost response and the subscription found, got %+v", r.warnings)
		}
		w.mustPlanNothing(t)
	})
}

// No released CLI allows a deferral by default.
func TestProviderDeferral(t *testing.T) {
	p := newProtocol(t)
	for _, allowed := range []bool{true, false} {
		configured, err := p.ConfigureProvider(t.Context(), &tfprotov6.ConfigureProviderRequest{
			Config: object(t, p.schema.Provider, map[string]tftypes.Value{
				"base_url": tftypes.NewValue(tftypes.String, tftypes.UnknownValue),
				"username": tftypes.NewValue(tftypes.String, "u"), "password": tftypes.NewValue(tftypes.String, "p"),
			}),
			ClientCapabilities: &tfprotov6.ConfigureProviderClientCapabilities{DeferralAllowed: allowed},
		})
		noErrors(t, err, configured.Diagnostics)
		read, err := p.ReadDataSource(t.Context(), &tfprotov6.ReadDataSourceRequest{
			TypeName: "idv_references", Config: object(t, p.schema.DataSourceSchemas["idv_references"], nil),
			ClientCapabilities: &tfprotov6.ReadDataSourceClientCapabilities{DeferralAllowed: allowed},
		})
		if err != nil {
			t.Fatal(err)
		}
		if deferred := read.Deferred != nil; deferred != allowed || allowed == (len(read.Diagnostics) == 1) {
			t.Errorf("allowed %v: deferred is %v, with %+v", allowed, read.Deferred, read.Diagnostics)
		}
		if !allowed && !strings.Contains(read.Diagnostics[0].Attribute.String(), "base_url") {
			t.Errorf("want the path of the argument, got %s", read.Diagnostics[0].Attribute)
		}
	}
}
