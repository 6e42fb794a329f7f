package provider_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/test/await"
)

// The provider is killed after the service has created the subscription and before it sends the response.
func TestSubscriptionWithProviderKilledDuringCreate(t *testing.T) {
	t.Parallel()
	s := newService(t)
	onEachCLI(t, func(t *testing.T, c cli) {
		for name, application := range map[string]int64{"of an application": s.createApplication(t), "of all": 0} {
			t.Run(name, func(t *testing.T) {
				pids := filepath.Join(t.TempDir(), "pids")
				config := cliConfig(t, providerWithPIDFile(t, pids))
				w := c.workspace(t, append(s.environment(), "TF_CLI_CONFIG_FILE="+config)...)
				w.configure(t, subscription(application, "https://hooks.example.com/idv", ""))
				s.resetStats(t)
				s.fault(t, control.Fault{
					Operation: control.SubscribeWebhook, Kind: control.Slow, AfterWork: true, DelayMillis: 600_000,
				})
				done := make(chan result)
				go func() { done <- w.run(t, "apply", "-auto-approve") }()
				eventually(t, "the subscription is sent", func() bool { return s.requests(t, control.SubscribeWebhook) == 1 })
				if application != 0 {
					eventually(t, "the service has it", func() bool { return s.countSubscriptions(t, application) == 1 })
				}
				if err := signalProvider(pids, syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
				if r := <-done; r.exit == 0 || strings.Contains(w.state(t), "tainted") {
					t.Errorf("want an error and nothing tainted, got exit %d, %s", r.exit, w.state(t))
				}
				id := "account/sha256:" + hookDigest
				if application != 0 { // the next run finds it
					id = fmt.Sprintf("%d/sha256:%s", application, hookDigest)
					if r := w.run(t, "apply", "-auto-approve"); !has(r.errors, "already exists", id) {
						t.Errorf("want an error with the import block, got %+v", r.errors)
					}
				}
				w.must(t, "import", "-input=false", ops, id)
				w.must(t, "apply", "-auto-approve")
				w.mustPlanNothing(t)
				if n := s.requests(t, control.SubscribeWebhook); n != 1 {
					t.Errorf("want one subscription sent, got %d", n)
				}
			})
		}
	})
}

// providerWithPIDFile returns a directory with a script that starts the provider and appends its process ID to a file.
func providerWithPIDFile(t *testing.T, pids string) string {
	t.Helper()
	dir := t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\necho $$ >>'%s'\nexec '%s/terraform-provider-idv' \"$@\"\n", pids, builtProvider(t))
	if err := os.WriteFile(filepath.Join(dir, "terraform-provider-idv"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// signalProvider sends a signal to the process that started last.
func signalProvider(pids string, sig syscall.Signal) error {
	started, err := os.ReadFile(pids)
	if err != nil {
		return err
	}
	lines := strings.Fields(string(started))
	pid, err := strconv.Atoi(lines[len(lines)-1])
	if err != nil {
		return err
	}
	return syscall.Kill(pid, sig)
}

func eventually(t *testing.T, condition string, isTrue func() bool) {
	t.Helper()
	await.Until(t, func() (bool, string) { return isTrue(), "not yet: " + condition })
}
