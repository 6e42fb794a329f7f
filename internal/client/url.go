package client

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
)

const apiPrefix = "/api/v1"

// ValidateBaseURL checks a URL by the rule of Config.BaseURL. The error does not repeat it: it may hold a password.
func ValidateBaseURL(baseURL string) error {
	u, err := url.Parse(baseURL)
	switch {
	case baseURL == "":
		return errors.New("base URL: missing; set it to the service's address, such as https://idv.example.com")
	case err != nil || u.Hostname() == "":
		return errors.New("base URL: not a URL with a host; set it to an address such as https://idv.example.com")
	case u.User != nil:
		return errors.New("base URL: must not hold a user name or password; set the credentials instead")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return errors.New("base URL: must have no query and no fragment; remove them")
	case u.Scheme != "https" && (u.Scheme != "http" || !IsLoopback(u.Hostname())):
		return errors.New("base URL: must begin with https://, or with http:// on a loopback host such as 127.0.0.1")
	case strings.HasSuffix(strings.TrimRight(u.Path, "/"), apiPrefix):
		return fmt.Errorf("base URL: must not end in %s; remove it, the client adds it", apiPrefix)
	default:
		return nil
	}
}

// ValidateProxyURL checks a URL by the rule of Config.ProxyURL. The error does not repeat the URL, which may hold a
// password. An empty URL is invalid.
func ValidateProxyURL(proxyURL string) error {
	u, err := url.Parse(proxyURL)
	if err != nil || u.Hostname() == "" || !slices.Contains([]string{"http", "https", "socks5"}, u.Scheme) {
		return errors.New("proxy URL: must be an http, https or socks5 URL with a host, " +
			"such as http://proxy.example.com:3128")
	}
	return nil
}

// IsLoopback reports whether a host name or an IP address without a port means this machine: localhost in any letter
// case, 127.0.0.0/8 and ::1. Only such a host may be reached over http.
func IsLoopback(host string) bool {
	return strings.EqualFold(host, "localhost") || net.ParseIP(host).IsLoopback() // of nil, it is false
}

// SameBaseURL reports whether two values of Config.BaseURL are valid, and the same address.
func SameBaseURL(one, other string) bool {
	return ValidateBaseURL(one) == nil && NormalBaseURL(one) == NormalBaseURL(other)
}

// NormalBaseURL returns the one form of all base URLs that are the same address: the letter case of scheme and host,
// the default port, and slashes at the end make no difference. What cannot be parsed stays as it is.
func NormalBaseURL(baseURL string) string { return strings.TrimRight(CanonicalURL(baseURL), "/") }

// CanonicalURL returns the form that all URLs share that a service may take for the same (RFC 3986, 6.2): the letter
// case of scheme and host, the default port, and an empty path make no difference.
func CanonicalURL(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return text
	}
	u.Host = strings.ToLower(u.Host) // url.Parse does so with the scheme
	if port := map[string]string{"https": ":443", "http": ":80"}[u.Scheme]; port != "" {
		u.Host = strings.TrimSuffix(u.Host, port)
	}
	u.Path = cmp.Or(u.Path, "/")
	return u.String()
}
