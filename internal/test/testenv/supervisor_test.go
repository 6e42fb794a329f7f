package testenv

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/mandate-io/idv/internal/test/await"
)

// supervised is a shell script that runs as the library runs etcd, and is ready.
type supervised struct {
	*supervisor
	cmd *exec.Cmd
}

func startSupervised(t *testing.T, script string) supervised {
	t.Helper()
	dir := t.TempDir()
	s, err := newSupervisor(dir)
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	wrapped, err := s.wrap(program)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), wrapped)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	if output, err := bufio.NewReader(stdout).ReadString('\n'); output != "ready\n" {
		t.Fatalf("the program wrote %q, %v", output, err)
	}
	return supervised{s, cmd}
}

func (p supervised) signal(t *testing.T, signal syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(-p.cmd.Process.Pid, signal); err != nil {
		t.Fatal(err)
	}
}

// SIGTERM does not stop a kube-apiserver whose etcd is gone or that has watches.
func TestSupervisorKillsWhatIgnoresSIGTERM(t *testing.T) {
	cases := map[string][]syscall.Signal{
		"at once":          nil,
		"after SIGTERM":    {syscall.SIGTERM},
		"after everything": {syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGTERM},
	}
	for name, signals := range cases {
		t.Run(name, func(t *testing.T) {
			p := startSupervised(t, `trap '' HUP INT TERM; echo ready; while :; do sleep 0.05; done`)
			for _, signal := range signals {
				p.signal(t, signal)
			}
			if err := p.killAll(); err != nil {
				t.Error(err)
			}
			exited := make(chan error, 1)
			go func() { exited <- p.cmd.Wait() }()
			err := await.Receive(t, exited, "it still runs after killAll")
			if got, want := p.cmd.ProcessState.ExitCode(), 128+int(syscall.SIGKILL); got != want {
				t.Errorf("it exited with %v, want %d", err, want)
			}
		})
	}
}

// Signals reach the program, and its exit code reaches the library.
func TestSupervisorIsTransparent(t *testing.T) {
	cases := map[string]struct {
		script string
		signal syscall.Signal
		want   int
	}{
		"exits": {script: "echo ready; exit 3", want: 3},
		"exits some time after SIGTERM": {
			script: `trap 'sleep 0.2; exit 4' TERM; echo ready; while :; do sleep 0.05; done`,
			signal: syscall.SIGTERM, want: 4,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := startSupervised(t, tc.script)
			if tc.signal != 0 {
				p.signal(t, tc.signal)
			}
			if err := p.cmd.Wait(); p.cmd.ProcessState.ExitCode() != tc.want {
				t.Errorf("it exited with %v, want %d", err, tc.want)
			}
			if err := syscall.Kill(-p.cmd.Process.Pid, 0); !errors.Is(err, syscall.ESRCH) {
				t.Errorf("its process group still exists: %v", err)
			}
			if err := p.killAll(); err != nil {
				t.Error(err)
			}
		})
	}
}
