package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mandate-io/idv/internal/test/await"
	"github.com/mandate-io/idv/internal/test/testenv"
)

// output is what a demo has printed so far.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// demoRun is a demo in the background, with its own directory for temporary files.
type demoRun struct {
	output *output
	dir    string
	code   chan int
}

func startDemo(ctx context.Context, t *testing.T, programs string, keep bool) demoRun {
	t.Helper()
	p := demoRun{output: &output{}, dir: t.TempDir(), code: make(chan int, 1)}
	t.Setenv("TMPDIR", p.dir)
	screen := &screen{out: p.output, width: func() int { return 0 }}
	go func() { p.code <- run(ctx, screen, programs, keep) }()
	return p
}

// until waits for something that happens while the demo runs.
func (p demoRun) until(t *testing.T, happened func() bool) {
	t.Helper()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for !happened() {
		select {
		case code := <-p.code:
			t.Fatalf("it exited with %d:\n%s", code, p.output)
		case <-ticker.C:
		}
	}
}

// wantExit waits for the exit code, and checks which files are left in the directory for temporary files.
func (p demoRun) wantExit(t *testing.T, want int, left ...string) {
	t.Helper()
	if code := await.Receive(t, p.code, "the demo does not exit"); code != want {
		t.Errorf("exit code %d, want %d", code, want)
	}
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, entry := range entries {
		found = append(found, strings.TrimRight(entry.Name(), "0123456789"))
	}
	if !slices.Equal(found, left) {
		t.Errorf("files left: %q, want %q", found, left)
	}
	if t.Failed() {
		t.Logf("it printed:\n%s", p.output)
	}
}

func build(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	command := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", dir, "./cmd/...")
	command.Dir = filepath.Join("..", "..", "..")
	if printed, err := command.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, printed)
	}
	return dir
}

// The demo ignores the environment variables of a user that select a real service or cluster.
func TestDemo(t *testing.T) {
	testenv.SkipIfShort(t)
	for name, value := range map[string]string{
		"IDV_BASE_URL": "https://idv.example.com", "IDV_CLIENT_ID": "real",
		"KUBECONFIG": "/nonexistent", "USE_EXISTING_CLUSTER": "true",
		"TF_CLI_ARGS_apply": "-destroy", "TF_WORKSPACE": "production",
	} {
		t.Setenv(name, value)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	p := startDemo(ctx, t, build(t), true)
	kept := regexp.MustCompile(`export KUBECONFIG=(\S+)\n(?s:.*)Logs: `)
	p.until(t, func() bool { return kept.MatchString(p.output.String()) })
	for _, want := range []string{
		"5 e-mails to 5 people, none twice", "3 completed, 1 rejected", "mandate types address, identity, kyc",
		"a notification named application", "those of 4 Mandates",
	} {
		if !strings.Contains(p.output.String(), want) {
			t.Errorf("it does not print %q", want)
		}
	}
	result := regexp.MustCompile(`(?m)^\$ kubectl get mandates\nNAME .*\n(?:\S.*\n){4}\n` +
		`1 answer lost, .*\n5 e-mails to .*\n[1-9]\d* notifications, [1-9]\d* reads of applications\nThe demo took `)
	if !result.MatchString(p.output.String()) {
		t.Errorf("it does not end with the table, the e-mails and the notifications:\n%s", p.output)
	}
	if strings.Contains(p.output.String(), "@") {
		t.Error("it prints an e-mail address")
	}
	kubeconfig := kept.FindStringSubmatch(p.output.String())[1]
	if _, err := os.Stat(kubeconfig); err != nil {
		t.Error(err)
	}
	checkLogs(t, filepath.Dir(kubeconfig))
	interrupt()
	p.wantExit(t, 0)
}

// checkLogs checks that the token of the sender of notifications is in no log. A failed demo keeps its logs.
func checkLogs(t *testing.T, dir string) {
	t.Helper()
	token, err := os.ReadFile(filepath.Join(dir, "token"))
	if err != nil {
		t.Fatal(err)
	}
	logs, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil || len(logs) == 0 || len(token) < 32 {
		t.Fatalf("%d logs and a token of %d characters, %v", len(logs), len(token), err)
	}
	for _, log := range logs {
		content, err := os.ReadFile(log)
		if err != nil || bytes.Contains(content, token) {
			t.Errorf("%s has the token of the sender of notifications, or cannot be read: %v", log, err)
		}
	}
}

func TestInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	p := startDemo(ctx, t, programs(t, "echo started; exec sleep 60"), false)
	p.until(t, func() bool {
		logs, err := filepath.Glob(filepath.Join(p.dir, "idv-*", "sandbox.log"))
		return err == nil && len(logs) == 1
	})
	interrupt()
	p.wantExit(t, 130)
}

func TestFailedProcess(t *testing.T) {
	p := startDemo(t.Context(), t, programs(t, "echo out of luck; exit 3"), false)
	p.wantExit(t, 1, "idv-demo-logs-")
	for _, want := range []string{"✗", "start the sandbox", "exit status 3", "out of luck", "All logs are in " + p.dir} {
		if !strings.Contains(p.output.String(), want) {
			t.Errorf("it does not print %q:\n%s", want, p.output)
		}
	}
	logs, err := filepath.Glob(filepath.Join(p.dir, "idv-demo-logs-*", "sandbox.log"))
	if err != nil || len(logs) != 1 {
		t.Errorf("the sandbox's log was not kept: %q, %v", logs, err)
	}
}

func TestProgramsAreMissing(t *testing.T) {
	p := startDemo(t.Context(), t, t.TempDir(), false)
	p.wantExit(t, 1)
	if !strings.Contains(p.output.String(), "idv-sandbox is missing; run `make demo`") {
		t.Errorf("it does not print what to do:\n%s", p.output)
	}
}

// programs is a directory in which every program is this script.
func programs(t *testing.T, script string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"idv-sandbox", "mandate-operator", "terraform-provider-idv", "kubectl-mandate"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
