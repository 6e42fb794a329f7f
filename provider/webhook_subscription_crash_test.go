package provider_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

// The provider dies after the service has made the subscription, and before it has the answer.
func TestSubscriptionWithProviderKilledDuringCreate(t *testing.T) {
	t.Parallel()
	s := newService(t)
	onEachCLI(t, func(t *testing.T, c cli) {
		for situation, application := range map[string]int64{"of an application": s.application(t), "of all": 0} {
			t.Run(situation, func(t *testing.T) {
				pids := filepath.Join(t.TempDir(), "pids")
				w := c.workspace(t, append(s.environment(), "TF_CLI_CONFIG_FILE="+installation(t, providerThatTellsItsPID(t, pids)))...)
				w.configure(t, subscription(application, "https://hooks.example.com/idv", ""))
				s.forget(t)
				s.fault(t, control.Fault{Operation: control.SubscribeWebhook, Kind: control.Slow, AfterWork: true, DelayMillis: 600_000})
				done := make(chan result)
				go func() { done <- w.run(t, "apply", "-auto-approve") }()
				eventually(t, "the subscription is sent", func() bool { return s.requests(t, control.SubscribeWebhook) == 1 })
				if application != 0 {
					eventually(t, "the service has it", func() bool { return s.subscribed(t, application) == 1 })
				}
				kill(t, pids)
				if r := <-done; r.exit == 0 || strings.Contains(w.state(t), "tainted") {
					t.Errorf("want an error and nothing tainted, got exit %d, %s", r.exit, w.state(t))
				}
				w.configure(t, subscription(application, "https://hooks.example.com/idv", `on_existing = "adopt"`))
				w.must(t, "apply", "-auto-approve")
				w.mustPlanNothing(t)
				if n := s.requests(t, control.SubscribeWebhook); n != 1 {
					t.Errorf("want one subscription sent, got %d", n)
				}
			})
		}
	})
}

// providerThatTellsItsPID is a directory with the provider behind a script that writes process ids into a file.
func providerThatTellsItsPID(t *testing.T, pids string) string {
	t.Helper()
	dir := t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\necho $$ >>'%s'\nexec '%s/terraform-provider-idv' \"$@\"\n", pids, builtProvider(t))
	if err := os.WriteFile(filepath.Join(dir, "terraform-provider-idv"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// kill ends the process that started last.
func kill(t *testing.T, pids string) {
	t.Helper()
	lines := strings.Fields(read(t, pids))
	pid, err := strconv.Atoi(lines[len(lines)-1])
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); {
		if time.Now().After(deadline) {
			t.Fatalf("it never came to be that %s", what)
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-t.Context().Done():
		}
	}
}
