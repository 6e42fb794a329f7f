package testenv

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/mandate-io/idv/internal/test/await"
)

const parentVariable = "TESTENV_TEST_PARENT"

// TestMain is a parent whose children are watched, when TestNothingOutlivesTheParent starts it.
func TestMain(m *testing.M) {
	if os.Getenv(parentVariable) == "" {
		os.Exit(m.Run())
	}
	if err := parent(); err != nil {
		fmt.Fprintln(os.Stdout, "error:", err)
		os.Exit(1)
	}
}

// parent starts one of everything, prints where it all listens and waits to be killed.
func parent() error {
	e, err := New()
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stdout, "dir", e.Dir)
	if err := e.StartControlPlane(); err != nil {
		return err
	}
	binary, err := e.Build("./internal/test/testenv/testdata/hello")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), HangTimeout)
	defer cancel()
	p, err := e.Start("hello", exec.CommandContext(ctx, binary))
	if err != nil {
		return err
	}
	match, err := p.WaitForLog(ctx, regexp.MustCompile(`http://\S+`))
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stdout, "url", match[0])
	fmt.Fprintln(os.Stdout, "url", e.Config.Host)
	fmt.Fprintln(os.Stdout, "url", e.controlPlane.ControlPlane.Etcd.URL)
	fmt.Fprintln(os.Stdout, "started")
	select {}
}

func TestNothingOutlivesTheParent(t *testing.T) {
	SkipIfShort(t)
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), executable)
	cmd.Env = append(os.Environ(), parentVariable+"=1")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })

	var hosts []string
	for lines := bufio.NewScanner(stdout); lines.Scan() && lines.Text() != "started"; {
		kind, value, _ := strings.Cut(lines.Text(), " ")
		switch kind {
		case "dir":
			// Nobody is left to remove it.
			t.Cleanup(func() { _ = os.RemoveAll(value) })
		case "url":
			address, err := url.Parse(value)
			if err != nil {
				t.Fatal(err)
			}
			hosts = append(hosts, address.Host)
		default:
			t.Error(lines.Text())
		}
	}
	if len(hosts) != 3 {
		t.Fatalf("hosts = %q, want three", hosts)
	}
	for _, host := range hosts {
		if !listens(t, host) {
			t.Errorf("nothing listens at %s before the parent is killed", host)
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for _, host := range hosts {
		await.Until(t, func() (bool, string) { return !listens(t, host), "something listens at " + host })
	}
}

func listens(t *testing.T, host string) bool {
	t.Helper()
	var dialer net.Dialer
	connection, err := dialer.DialContext(t.Context(), "tcp", host)
	if err != nil {
		return false
	}
	_ = connection.Close()
	return true
}
