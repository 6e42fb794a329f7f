package service

import (
	"strings"
	"testing"

	"github.com/mandate-io/idv/api/v1alpha1"
)

func TestURLPolicy(t *testing.T) {
	cases := map[string]struct {
		hosts      string
		allowed    string // base URLs, separated by spaces
		notAllowed string
	}{
		"all": {
			hosts:      "*",
			allowed:    "https://idv.example.com https://10.0.0.1:8443 https://[2001:db8::1] http://127.0.0.1:8080",
			notAllowed: "ftp://idv.example.com idv.example.com :",
		},
		"a name": {
			hosts: "idv.example.com",
			allowed: "https://idv.example.com https://idv.example.com/ https://idv.example.com:443 https://idv.example.com: " +
				"HTTPS://IDV.Example.COM https://idv.example.com. https://idv.example.com/tenant https://idv.example.com:0443",
			notAllowed: "https://idv.example.com:8443 https://example.com https://a.idv.example.com " +
				"https://idv.example.com.evil.test https://idv.example.com@evil.test https://evil.test/idv.example.com " +
				"https://evil.test#idv.example.com https://evil.test?idv.example.com https://idvxexample.com " +
				"https://idv.example.com.. https://.idv.example.com https://idv.example.com:80443",
		},
		"a port": {
			hosts:      "idv.example.com:8443",
			allowed:    "https://idv.example.com:8443",
			notAllowed: "https://idv.example.com https://idv.example.com:443 https://idv.example.com:18443",
		},
		"any port": {
			hosts:      "idv.example.com:*",
			allowed:    "https://idv.example.com https://idv.example.com:1 https://idv.example.com:65535",
			notAllowed: "https://idv.example.com:0 https://idv.example.com:65536 https://evil.test:443",
		},
		"any host, one port": {
			hosts:      "*:8443",
			allowed:    "https://idv.example.com:8443 https://[2001:db8::1]:8443 https://10.0.0.1:8443",
			notAllowed: "https://idv.example.com",
		},
		"one label": {
			hosts:      "*.idv.example.com",
			allowed:    "https://eu.idv.example.com https://EU.idv.example.com.",
			notAllowed: "https://idv.example.com https://a.b.idv.example.com https://.idv.example.com https://xidv.example.com",
		},
		"a part of a label": {
			hosts:      "idv-*.example.com",
			allowed:    "https://idv-eu.example.com https://idv-.example.com",
			notAllowed: "https://idv.example.com https://idv-a.b.example.com https://idv-eu.example.com.evil.test",
		},
		"several": {
			hosts:      "a.example.com, B.example.com.:8443,*",
			allowed:    "https://c.example.com",
			notAllowed: "",
		},
		"letters that are not ASCII": {
			hosts:      "bücher.example",
			allowed:    "https://bücher.example https://BÜCHER.example https://xn--bcher-kva.example https://bücher。example",
			notAllowed: "https://bucher.example",
		},
		"as net/http encodes them": {
			hosts:      "xn--bcher-kva.example",
			allowed:    "https://bücher.example",
			notAllowed: "https://bu\u0308cher.exa\u200bmple2 https://bücher.example.evil.test",
		},
		"wide letters": {
			hosts:      "idv.example.com,10.0.0.1",
			allowed:    "https://ｉｄｖ.example.com https://１０.0.0.1",
			notAllowed: "https://ｅｖｉｌ.example.com",
		},
		"an IPv4 address": {
			hosts:      "10.0.0.1",
			allowed:    "https://10.0.0.1 https://[::ffff:10.0.0.1] https://[::ffff:a00:1]:443",
			notAllowed: "https://10.0.0.2 https://10.1 https://167772161 https://0x0a.0.0.1 https://10.0.0.1.evil.test",
		},
		"an IPv6 address": {
			hosts:      "[2001:db8::1],[2001:DB8::2]:8443",
			allowed:    "https://[2001:db8::1] https://[2001:0db8:0::1]:443 https://[2001:db8::2]:8443",
			notAllowed: "https://[2001:db8::1]:8443 https://[2001:db8::2] https://[2001:db8::1%25eth0] https://[2001:db8::11]",
		},
		"names of which a part looks like an address": {
			hosts:      "10.*.example.com",
			allowed:    "https://10.a.example.com",
			notAllowed: "https://10.0.0.1",
		},
		"http": {
			hosts:      "127.0.0.1,localhost:8080",
			allowed:    "http://127.0.0.1 http://127.0.0.1:80 http://localhost:8080 https://127.0.0.1",
			notAllowed: "http://127.0.0.1:443 http://127.0.0.1:8080 http://localhost https://127.0.0.1:80",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			hosts, err := ParseHostPatterns(tc.hosts)
			if err != nil {
				t.Fatal(err)
			}
			for _, httpsOnly := range []bool{false, true} {
				policy := URLPolicy{Hosts: hosts, HTTPSOnly: httpsOnly}
				for baseURL := range strings.FieldsSeq(tc.allowed) {
					want := !httpsOnly || !strings.HasPrefix(baseURL, "http:")
					if got := policy.Allows(baseURL); got != want {
						t.Errorf("%s with HTTPSOnly=%t: %t", baseURL, httpsOnly, got)
					}
				}
				for baseURL := range strings.FieldsSeq(tc.notAllowed) {
					if policy.Allows(baseURL) {
						t.Errorf("%s is allowed", baseURL)
					}
				}
			}
		})
	}
}

func TestInvalidHostPatterns(t *testing.T) {
	for _, pattern := range []string{
		"", "a.example.com,", "https://idv.example.com", "idv.example.com/", "idv.example.com/api", "u:p@idv.example.com",
		"u@idv.example.com", "idv.example.com:", "idv.example.com:0", "idv.example.com:65536", "idv.example.com:https",
		"2001:db8::1", "[2001:db8::1", "2001:db8::1]", "[idv.example.com]", "a..example.com", ".example.com", "*.*",
		"idv.*", "10.0.0.*", "*.*:443", "idv.example.com?", "idv.example.com#a", "idv example.com", "exa[m]ple.com", "a\\b",
	} {
		if hosts, err := ParseHostPatterns(pattern); err == nil {
			t.Errorf("%q is valid: %+v", pattern, hosts)
		}
	}
}

// A service that the flags do not allow gets nothing, and its Secret is not read. So it is after an edit.
func TestBaseURLNotAllowed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.password("right")
	f.wants(v1alpha1.ReasonConnected, 1)
	reads, requests := f.reads, f.requests.Load()
	hosts, err := ParseHostPatterns("idv.example.com")
	if err != nil {
		t.Fatal(err)
	}
	f.config.URLs.Hosts = hosts
	f.e.nextProbe = f.e.nextProbe.Add(-2 * probeInterval)
	f.wants(v1alpha1.ReasonBaseURLNotAllowed, 1)
	if f.reads != reads || f.requests.Load() != requests {
		t.Errorf("%d reads of the Secret, %d requests; want none", f.reads-reads, f.requests.Load()-requests)
	}
	if f.e.client != nil {
		t.Error("the client is kept")
	}
	f.config.URLs.Hosts = nil
	f.wants(v1alpha1.ReasonConnected, 2)
}
