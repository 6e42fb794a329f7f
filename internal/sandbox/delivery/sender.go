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

// retryDelays are the delays before the attempts, one for each attempt.
var retryDelays = []time.Duration{0, 200 * time.Millisecond, time.Second}

const timeout = 5 * time.Second

var errRemote = errors.New("the target is not on this machine")

type sender struct {
	client *http.Client
	remote bool
}

func newSender(remote bool) sender {
	dialer := &net.Dialer{Timeout: timeout}
	if !remote {
		// This checks the dialled address, so that no DNS name can bypass it.
		dialer.Control = func(_, address string, _ syscall.RawConn) error {
			target, err := netip.ParseAddrPort(address)
			if err != nil || !target.Addr().Unmap().IsLoopback() {
				return errRemote
			}
			return nil
		}
	}
	return sender{remote: remote, client: &http.Client{
		Timeout:       timeout,
		Transport:     &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// post makes one attempt. The state is Queued if it is to be retried.
func (s sender) post(ctx context.Context, request Request) (status int, state control.DeliveryState) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, request.URL, bytes.NewReader(request.Body))
	if err != nil {
		return 0, control.Failed
	}
	if request.ContentType != "" {
		r.Header.Set("Content-Type", request.ContentType)
	}
	response, err := s.client.Do(r)
	var unresolved *net.DNSError
	switch {
	// A name that does not resolve is not a name of this machine.
	case errors.Is(err, errRemote), !s.remote && errors.As(err, &unresolved):
		return 0, control.Blocked
	case err != nil && ctx.Err() != nil:
		return 0, control.Dropped
	case err != nil:
		return 0, control.Queued
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, 1<<16)
	if response.StatusCode == http.StatusOK || response.StatusCode/100 == 2 && !request.Only200 {
		return response.StatusCode, control.Delivered
	}
	return response.StatusCode, control.Queued
}
