package delivery

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

// pauses are the waits before each attempt; there are as many attempts.
var pauses = []time.Duration{0, 200 * time.Millisecond, time.Second}

const timeout = 5 * time.Second

var errRemote = errors.New("the target is not on this machine")

type poster struct {
	client *http.Client
	remote bool
}

func newPoster(remote bool) poster {
	dialer := &net.Dialer{Timeout: timeout}
	if !remote {
		// Checked on the address that is dialled, so that no name can point elsewhere.
		dialer.Control = func(_, address string, _ syscall.RawConn) error {
			target, err := netip.ParseAddrPort(address)
			if err != nil || !target.Addr().Unmap().IsLoopback() {
				return errRemote
			}
			return nil
		}
	}
	return poster{remote: remote, client: &http.Client{
		Timeout:       timeout,
		Transport:     &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// post makes one attempt. The state is Queued if another one is due.
func (p poster) post(ctx context.Context, call Call) (status int, state control.DeliveryState) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, call.URL, bytes.NewReader(call.Body))
	if err != nil {
		return 0, control.Failed
	}
	if call.ContentType != "" {
		request.Header.Set("Content-Type", call.ContentType)
	}
	response, err := p.client.Do(request)
	var unresolved *net.DNSError
	switch {
	// A name that nobody knows here is none of this machine.
	case errors.Is(err, errRemote), !p.remote && errors.As(err, &unresolved):
		return 0, control.Blocked
	case err != nil && ctx.Err() != nil:
		return 0, control.Dropped
	case err != nil:
		return 0, control.Queued
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, 1<<16)
	if response.StatusCode/100 == 2 {
		return response.StatusCode, control.Delivered
	}
	return response.StatusCode, control.Queued
}
