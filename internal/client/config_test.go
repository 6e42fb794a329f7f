package client

import (
	"math"
	"strings"
	"testing"
)

func TestConfigurationErrors(t *testing.T) {
	good := func() Config {
		return Config{
			BaseURL: "https://idv.example.com", Credentials: Credentials{Username: "user", Password: Hide("password")},
		}
	}
	for name, test := range map[string]struct {
		change func(*Config)
		want   string // the field, and what is wrong with it
	}{
		"no base URL": {func(c *Config) { c.BaseURL = "" }, "base URL: missing"},
		"no scheme":   {func(c *Config) { c.BaseURL = "canary.example.com" }, "base URL: not a URL"},
		"no host":     {func(c *Config) { c.BaseURL = "https:///canary" }, "base URL: not a URL"},
		"port only":   {func(c *Config) { c.BaseURL = "https://:8443" }, "base URL: not a URL"},
		"malformed": {
			func(c *Config) { c.BaseURL = "https://canary.example.com/%zz" }, "base URL: not a URL",
		},
		"control character": {
			func(c *Config) { c.BaseURL = "https://canary.example.com/\x00" }, "base URL: not a URL",
		},
		"password in it": {
			func(c *Config) { c.BaseURL = "https://user:canary@idv.example.com" }, "base URL: must not hold",
		},
		"query": {
			func(c *Config) { c.BaseURL = "https://idv.example.com/?canary=1" }, "base URL: must have no query",
		},
		"fragment": {
			func(c *Config) { c.BaseURL = "https://idv.example.com/#canary" }, "base URL: must have no query",
		},
		"http": {
			func(c *Config) { c.BaseURL = "http://canary.example.com" }, "base URL: must begin with https://",
		},
		"http, looks like loopback": {
			func(c *Config) { c.BaseURL = "http://127.0.0.1.canary.example.com" }, "base URL: must begin with https://",
		},
		"another scheme": {
			func(c *Config) { c.BaseURL = "ftp://canary.example.com" }, "base URL: must begin with https://",
		},
		"prefix twice": {
			func(c *Config) { c.BaseURL = "https://canary.example.com/api/v1/" }, "base URL: must not end in /api/v1",
		},
		"no credentials": {func(c *Config) { c.Credentials = Credentials{} }, "credentials: missing"},
		"no password": {
			func(c *Config) { c.Credentials = Credentials{Username: "canary"} },
			"credentials: username and password go together",
		},
		"no username": {
			func(c *Config) { c.Credentials = Credentials{Password: Hide("canary")} },
			"credentials: username and password go together",
		},
		"no client secret": {
			func(c *Config) { c.Credentials.ClientID = "canary" }, "credentials: client_id and client_secret go together",
		},
		"no client id": {
			func(c *Config) { c.Credentials.ClientSecret = Hide("canary") },
			"credentials: client_id and client_secret go together",
		},
		"Basic without client": {
			func(c *Config) { c.TokenAuthorization = TokenAuthorizationBasic }, "credentials: token authorization Basic needs",
		},
		"UserBasic without user": {
			func(c *Config) {
				c.TokenAuthorization = TokenAuthorizationUserBasic
				c.Credentials = Credentials{ClientID: "canary", ClientSecret: Hide("canary")}
			}, "credentials: token authorization UserBasic needs",
		},
		"client grant without client": {
			func(c *Config) { c.GrantType = GrantClientCredentials }, "credentials: grant type client_credentials needs",
		},
		"grant type":          {func(c *Config) { c.GrantType = "canary" }, "grant type: must be"},
		"proxy":               {func(c *Config) { c.ProxyURL = Hide("canary") }, "proxy URL: must be"},
		"token authorization": {func(c *Config) { c.TokenAuthorization = "canary" }, "token authorization: must be"},
		"complete method":     {func(c *Config) { c.CompleteMethod = "canary" }, "complete method: must be"},
		"reject method":       {func(c *Config) { c.RejectMethod = "patch" }, "reject method: must be"},
		"CA bundle": {
			func(c *Config) { c.CABundle = []byte("canary") }, "CA bundle: holds no PEM certificate",
		},
		"request timeout":        {func(c *Config) { c.RequestTimeout = -1 }, "request timeout: must not be negative"},
		"maximum wait":           {func(c *Config) { c.MaxRateLimitWait = -1 }, "maximum wait: must not be negative"},
		"rate that is no number": {func(c *Config) { c.RequestsPerSecond = math.NaN() }, "requests per second: must be"},
		"rate without end":       {func(c *Config) { c.RequestsPerSecond = math.Inf(1) }, "requests per second: must be"},
	} {
		t.Run(name, func(t *testing.T) {
			config := good()
			test.change(&config)
			c, err := New(config)
			if err == nil {
				c.Close()
				t.Fatal("accepted")
			}
			if !strings.HasPrefix(err.Error(), test.want) || strings.Contains(err.Error(), "canary") {
				t.Errorf("got %q, want %q and no value", err, test.want)
			}
		})
	}
	newClient(t, good())
}

func TestBaseURLs(t *testing.T) {
	for base, want := range map[string]string{
		"https://idv.example.com":          "https://idv.example.com/api/v1/ext/references",
		"https://idv.example.com/":         "https://idv.example.com/api/v1/ext/references",
		"HTTPS://idv.example.com:8443/a//": "https://idv.example.com:8443/a/api/v1/ext/references",
		"https://idv.example.com/api/v1x":  "https://idv.example.com/api/v1x/api/v1/ext/references",
		"https://idv.example.com/a%2Fb":    "https://idv.example.com/a%2Fb/api/v1/ext/references",
		"http://127.0.0.1:80":              "http://127.0.0.1:80/api/v1/ext/references",
		"http://127.9.9.9":                 "http://127.9.9.9/api/v1/ext/references",
		"http://LOCALHOST:80":              "http://LOCALHOST:80/api/v1/ext/references",
		"http://[::1]:80":                  "http://[::1]:80/api/v1/ext/references",
	} {
		if err := ValidateBaseURL(base); err != nil {
			t.Errorf("%s: %v", base, err)
			continue
		}
		c := newClient(t, Config{BaseURL: base, Credentials: Credentials{ClientID: "id", ClientSecret: Hide("secret")}})
		var sent captured
		_, _ = c.send(t.Context(), &sent, newRequest(OpRetrieveReferences, 0))
		if got := sent.request.URL.String(); got != want {
			t.Errorf("%s: %s, want %s", base, got, want)
		}
	}
}

func TestValidateProxyURL(t *testing.T) {
	for proxy, valid := range map[string]bool{
		"http://proxy.example.com:3128": true, "https://user:password@proxy.example.com": true,
		"socks5://127.0.0.1:1080": true, "": false, "proxy.example.com:3128": false, "http://:3128": false,
		"socks4://canary.example.com": false, "http://canary.example.com/%zz": false,
	} {
		err := ValidateProxyURL(proxy)
		if (err == nil) != valid || err != nil && strings.Contains(err.Error(), "canary") {
			t.Errorf("%q: %v", proxy, err)
		}
	}
}

func TestIsLoopback(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "LocalHost": true, "127.0.0.1": true, "127.9.9.9": true, "::1": true, "::ffff:127.0.0.1": true,
		"": false, "localhost.example.com": false, "127.0.0.1.example.com": false, "0.0.0.0": false, "10.0.0.1": false,
		"::": false,
	} {
		if got := IsLoopback(host); got != want {
			t.Errorf("%q: %v, want %v", host, got, want)
		}
	}
}
