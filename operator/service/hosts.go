package service

import (
	"fmt"
	"net/netip"
	"net/url"
	"path"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// URLPolicy says to which base URLs the operator connects. The zero value allows all that the CRD allows.
type URLPolicy struct {
	// Hosts that a URL may name; none allows all.
	Hosts []HostPattern
	// HTTPSOnly does not allow http. The CRD, and the client of the service, limit http to loopback hosts.
	HTTPSOnly bool
}

// HostPattern is a host with a port.
type HostPattern struct {
	host    string // in its normal form, maybe with *
	port    uint64 // 0 is the default port of the scheme
	anyPort bool
}

// anyHost allows every host and port.
const anyHost = "*"

// ParseHostPatterns reads host[:port], separated by commas. In a name, * matches any characters but a dot. Without a
// port, a pattern matches the default port of the scheme only; the port * matches all. A single * allows everything,
// and gives no patterns.
func ParseHostPatterns(patterns string) ([]HostPattern, error) {
	var parsed []HostPattern
	for text := range strings.SplitSeq(patterns, ",") {
		text = strings.TrimSpace(text)
		if text == anyHost {
			return nil, nil
		}
		pattern, err := parseHostPattern(text)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, pattern)
	}
	return parsed, nil
}

func parseHostPattern(text string) (HostPattern, error) {
	hostPort, anyPort := strings.CutSuffix(text, ":*")
	u, err := url.Parse("https://" + hostPort)
	if err != nil || u.Host != hostPort || strings.HasSuffix(text, ":") {
		return HostPattern{}, fmt.Errorf("%q is neither host nor host:port. Use a form such as idv.example.com, "+
			"*.example.com:8443 or [2001:db8::1]", text)
	}
	port, ok := portOf(u, 0)
	labels := strings.Split(u.Hostname(), ".")
	for i, label := range labels {
		if !strings.Contains(label, "*") && label != "" {
			var valid bool
			labels[i], valid = normalHost(label)
			ok = ok && valid
		}
	}
	host, valid := normalHost(strings.Join(labels, "."))
	switch {
	case !ok || !valid:
		return HostPattern{}, fmt.Errorf("%q has no valid host or port. Use a form such as idv.example.com or "+
			"*.example.com:8443", text)
	case host != anyHost && strings.Contains(host[strings.LastIndex(host, ".")+1:], "*"):
		return HostPattern{}, fmt.Errorf("%q has a * in its last part, so it matches names that anybody can register. "+
			"Write the last part out, as in *.example.com", text)
	}
	return HostPattern{host: host, port: port, anyPort: anyPort}, nil
}

// Allows reports whether the operator may connect to a base URL. It does not look the host up.
func (p URLPolicy) Allows(baseURL string) bool {
	u, err := url.Parse(baseURL)
	standard := uint64(443)
	switch {
	case err != nil:
		return false
	case u.Scheme == "http" && !p.HTTPSOnly:
		standard = 80
	case u.Scheme != "https":
		return false
	}
	if len(p.Hosts) == 0 {
		return true
	}
	host, isHost := normalHost(u.Hostname())
	port, isPort := portOf(u, standard)
	for _, pattern := range p.Hosts {
		samePort := pattern.anyPort || pattern.port == port || pattern.port == 0 && port == standard
		if isHost && isPort && samePort && pattern.matches(host) {
			return true
		}
	}
	return false
}

// matches reports whether the pattern names a host in its normal form.
func (p HostPattern) matches(host string) bool {
	if p.host == anyHost || p.host == host {
		return true
	}
	if _, err := netip.ParseAddr(host); err == nil { // an address matches itself only
		return false
	}
	slashes := strings.NewReplacer(".", "/")
	matched, err := path.Match(slashes.Replace(p.host), slashes.Replace(host))
	return matched && err == nil
}

// portOf gives the port of a URL, or the default if it has none.
func portOf(u *url.URL, standard uint64) (port uint64, ok bool) {
	if u.Port() == "" {
		return standard, true
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	return port, err == nil && port > 0
}

// normalHost is the host that net/http connects to, in lower case and without the dot at its end. It reports false for
// what is no host.
func normalHost(host string) (string, bool) {
	isASCII := !strings.ContainsFunc(host, func(r rune) bool { return r >= 0x80 })
	if !isASCII { // net/http encodes only these
		encoded, err := idna.Lookup.ToASCII(host)
		if err != nil {
			return "", false
		}
		host = encoded
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if address, err := netip.ParseAddr(host); err == nil {
		return address.Unmap().String(), true
	}
	return host, !strings.Contains("."+host+".", "..") && !strings.ContainsAny(host, `/\:[]?`)
}
