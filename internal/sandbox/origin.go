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

// checkOrigin keeps other pages that are open in the same browser away from the
// control API, which has no authentication and shows personal details. Such a page
// either calls from another origin, or has its own name point at this machine.
func checkOrigin(r *http.Request) error {
	if err := crossOrigin.Check(r); err != nil {
		return errors.New("the control API cannot be called from another page")
	}
	listens, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if !ok || !listens.IP.IsLoopback() {
		return nil
	}
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	if _, err := netip.ParseAddr(host); err != nil && host != "localhost" && !strings.HasSuffix(host, ".localhost") {
		return fmt.Errorf("on this machine the control API is called by address: use http://%s", listens)
	}
	return nil
}
