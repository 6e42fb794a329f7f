package sandbox

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

var crossOrigin = http.NewCrossOriginProtection()

// checkOrigin protects the control API from other pages in the same browser, because the API has no authentication and
// shows personal data. Such a page sends requests from another origin, or makes its own name resolve to this machine.
func checkOrigin(r *http.Request) error {
	if err := crossOrigin.Check(r); err != nil {
		return errors.New("the control API refuses requests of other pages")
	}
	address, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if !ok || !address.IP.IsLoopback() {
		return nil
	}
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	if _, err := netip.ParseAddr(host); err != nil && host != "localhost" && !strings.HasSuffix(host, ".localhost") {
		scheme := "http"
		if r.TLS != nil {
			scheme = "https"
		}
		return fmt.Errorf("the control API refuses host names other than localhost; use %s://%s", scheme, address)
	}
	return nil
}
