package client

import (
	"net/url"
	"strings"
)

// SameBaseURL reports whether two values of Config.BaseURL are the same address. An invalid value is the same as no
// other.
func SameBaseURL(one, other string) bool {
	a, errA := parseBaseURL(one)
	b, errB := parseBaseURL(other)
	return errA == nil && errB == nil && SameURL(a.String(), b.String())
}

// NormalBaseURL returns the one form of all base URLs that are the same address: the letter case of scheme and host,
// the default port, and slashes at the end make no difference. What cannot be parsed stays as it is.
func NormalBaseURL(baseURL string) string {
	u, err := url.Parse(baseURL)
	if err != nil {
		return baseURL
	}
	normalizeHost(u)
	u.Path = strings.TrimRight(u.Path, "/")
	return u.String()
}

// SameURL reports whether two texts are the same URL.
func SameURL(a, b string) bool { return CanonicalURL(a) == CanonicalURL(b) }

// CanonicalURL returns the form that all URLs share that a service may take for the same (RFC 3986, 6.2): the letter
// case of scheme and host, the default port, and an empty path make no difference.
func CanonicalURL(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return text
	}
	normalizeHost(u)
	if u.Path == "" {
		u.Path = "/"
	}
	return u.String()
}

// normalizeHost makes the host lower case, as url.Parse does with the scheme, and removes the default port.
func normalizeHost(u *url.URL) {
	u.Host = strings.ToLower(u.Host)
	if port := map[string]string{"https": ":443", "http": ":80"}[u.Scheme]; port != "" {
		u.Host = strings.TrimSuffix(u.Host, port)
	}
}
