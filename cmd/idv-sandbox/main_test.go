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
	file := configFile(t, "accounts: [{autoplay: {delay_ms: 7}, dialect: {createStatus: 202, ids: string}}, "+
		"{name: b, username: b, password: b}]")
	portFile := filepath.Join(t.TempDir(), "port")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out, in := io.Pipe()
	exited := make(chan error, 1)
	go func() {
		args := []string{
			"--listen=127.0.0.1:0", "--port-file=" + portFile,
			"--dialect=createStatus=201", "--dialect", "readLag=2", "--autoplay", "--config=" + file,
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
	for account, ids := range map[string]string{"default": "string", "b": "number"} {
		switches, err := sandbox.Account(account).Dialects(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		wanted := map[string]string{"createStatus": "201", "readLag": "2", "ids": ids}
		for _, s := range switches {
			if want, set := wanted[s.Name]; set && s.Value != want {
				t.Errorf("%s: %s is %s, want %s", account, s.Name, s.Value, want)
			}
		}
		mode, err := sandbox.Account(account).Autoplay(t.Context())
		delay := map[string]int64{"default": 7, "b": 500}[account]
		if err != nil || mode != (control.Autoplay{Enabled: true, DelayMillis: delay}) {
			t.Errorf("autoplay of %s: %+v, %v", account, mode, err)
		}
	}
	stop()
	if err := <-exited; err != nil {
		t.Error(err)
	}
	if _, err := sandbox.Now(t.Context()); err == nil {
		t.Error("it still responds")
	}
}

func configFile(t *testing.T, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "sandbox.yaml")
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestBadFlags(t *testing.T) {
	inUse, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer inUse.Close()
	wrong := configFile(t, "accounts: [{seed: 1}]")
	invalid := configFile(t, "accounts: [{applications: [{mandate_type: kyc, individuals: [{}]}]}]")
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
		"no such file":            {[]string{"--config=/absent.yaml"}, []string{"--config", "/absent.yaml"}},
		"a field that is wrong":   {[]string{"--config=" + wrong}, []string{"--config", "accounts[0]", "seed: unknown"}},
		"a create that is wrong":  {[]string{"--config=" + invalid}, []string{"--config", "applications[0]", "name: "}},
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
		"--listen", "127.0.0.1:8480", "--config", "sandbox-secret", "+fail@", "completeMethod", "/sandbox/v1/",
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
