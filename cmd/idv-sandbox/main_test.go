package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"go.uber.org/goleak"

	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestServesUntilCanceled(t *testing.T) {
	portFile := filepath.Join(t.TempDir(), "port")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out, in := io.Pipe()
	exited := make(chan error, 1)
	go func() {
		args := []string{
			"--listen=127.0.0.1:0", "--port-file=" + portFile,
			"--dialect=createStatus=201", "--dialect", "readLag=2", "--autoplay",
		}
		err := run(ctx, args, in, io.Discard)
		exited <- errors.Join(err, in.Close())
	}()
	output, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err, <-exited)
	}
	url, found := strings.CutPrefix(strings.TrimSpace(output), "listening on ")
	if !found {
		t.Fatalf("the first line is %q", output)
	}
	port, err := os.ReadFile(portFile)
	if err != nil || !strings.HasSuffix(url, ":"+strings.TrimSpace(string(port))) {
		t.Errorf("the port file has %q (%v), the sandbox listens on %s", port, err, url)
	}
	sandbox := control.New(url)
	switches, err := sandbox.Dialects(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range switches {
		if want, set := map[string]string{"createStatus": "201", "readLag": "2"}[s.Name]; set && s.Value != want {
			t.Errorf("%s is %s, want %s", s.Name, s.Value, want)
		}
	}
	mode, err := sandbox.Autoplay(t.Context())
	if err != nil || mode != (control.Autoplay{Enabled: true, DelayMillis: 500}) {
		t.Errorf("autoplay: %+v, %v", mode, err)
	}
	stop()
	if err := <-exited; err != nil {
		t.Error(err)
	}
	if _, err := sandbox.Now(t.Context()); err == nil {
		t.Error("it still responds")
	}
}

func TestBadFlags(t *testing.T) {
	inUse, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer inUse.Close()
	cases := map[string]struct {
		args []string
		want []string // parts of the error
	}{
		"every address":           {[]string{"--listen=:0"}, []string{"--listen", "--allow-remote"}},
		"an address of a network": {[]string{"--listen=192.0.2.1:0"}, []string{"--listen", "--allow-remote"}},
		"no port":                 {[]string{"--listen=127.0.0.1"}, []string{"--listen", "port"}},
		"a port in use":           {[]string{"--listen=" + inUse.Addr().String()}, []string{"--listen", "port 0"}},
		"an unknown dialect":      {[]string{"--dialect=klingon=yes"}, []string{"--dialect", "klingon", "completeMethod"}},
		"an unknown value":        {[]string{"--dialect=wrap=twice"}, []string{"--dialect", "none, data"}},
		"an empty password":       {[]string{"--password="}, []string{"--password", "default"}},
		"a lifetime too short":    {[]string{"--token-lifetime=10ms"}, []string{"--token-lifetime", "1s"}},
		"a delay of nothing":      {[]string{"--autoplay-delay=0s"}, []string{"--autoplay-delay", "1ms"}},
		"an argument":             {[]string{"serve"}, []string{"serve", "--help"}},
		"an unknown flag":         {[]string{"--port=1"}, []string{"--port"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var stdout bytes.Buffer
			// If the flags are accepted, the sandbox must not serve forever.
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			err := run(ctx, tc.args, &stdout, io.Discard)
			if err == nil || stdout.Len() > 0 {
				t.Fatalf("it started: %q", stdout.String())
			}
			for _, part := range tc.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("the error %q does not name %q", err, part)
				}
			}
		})
	}
}

func TestHelp(t *testing.T) {
	var help bytes.Buffer
	if err := run(t.Context(), []string{"--help"}, &help, io.Discard); !errors.Is(err, pflag.ErrHelp) {
		t.Error(err)
	}
	for _, part := range []string{
		"--listen", "127.0.0.1:8480", "--client-secret", "sandbox-secret", "+fail@", "completeMethod", "/sandbox/v1/",
	} {
		if !strings.Contains(help.String(), part) {
			t.Errorf("the help lacks %q", part)
		}
	}
	for _, s := range (dialect.Dialect{}).Switches() {
		if !strings.Contains(help.String(), "\n  "+s.Name+" ") || !strings.Contains(help.String(), "\n"+s.Group+":\n") {
			t.Errorf("the help lacks the switch %s of %s", s.Name, s.Group)
		}
	}
	for output := range strings.Lines(help.String()) {
		if len(strings.TrimSpace(output)) > helpWidth {
			t.Errorf("the line is too long: %s", output)
		}
	}
}
