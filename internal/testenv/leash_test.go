package testenv

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// onLeash is a shell script that runs as the library runs etcd, and has said that it is ready.
type onLeash struct {
	leash *supervisor
	cmd   *exec.Cmd
}

func startOnLeash(t *testing.T, script string) onLeash {
	t.Helper()
	dir := t.TempDir()
	l, err := newSupervisor(dir)
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	wrapped, err := l.wrap(program)
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
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the program said %q, %v", line, err)
	}
	return onLeash{l, cmd}
}

func (p onLeash) signal(t *testing.T, signal syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(-p.cmd.Process.Pid, signal); err != nil {
		t.Fatal(err)
	}
}

// A kube-apiserver whose etcd is gone, or that somebody watches, is such a program: SIGTERM does not end it.
func TestLeashEndsWhatSIGTERMDoesNot(t *testing.T) {
	cases := map[string][]syscall.Signal{
		"at once":          nil,
		"after SIGTERM":    {syscall.SIGTERM},
		"after everything": {syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGTERM},
	}
	for name, signals := range cases {
		t.Run(name, func(t *testing.T) {
			p := startOnLeash(t, `trap '' HUP INT TERM; echo ready; while :; do sleep 0.05; done`)
			for _, signal := range signals {
				p.signal(t, signal)
			}
			if err := p.leash.killAll(); err != nil {
				t.Error(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- p.cmd.Wait() }()
			select {
			case err := <-ended:
				if got, want := p.cmd.ProcessState.ExitCode(), 128+int(syscall.SIGKILL); got != want {
					t.Errorf("it ended with %v, want %d", err, want)
				}
			case <-time.After(time.Second):
				t.Fatal("it still runs although release has returned")
			}
		})
	}
}

// The library's signal and its way to tell how the program ended are those of the program.
func TestLeashIsTransparent(t *testing.T) {
	cases := map[string]struct {
		script string
		signal syscall.Signal
		want   int
	}{
		"ends by itself": {script: "echo ready; exit 3", want: 3},
		"ends on SIGTERM, some time later": {
			script: `trap 'sleep 0.2; exit 4' TERM; echo ready; while :; do sleep 0.05; done`, signal: syscall.SIGTERM, want: 4,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := startOnLeash(t, tc.script)
			if tc.signal != 0 {
				p.signal(t, tc.signal)
			}
			if err := p.cmd.Wait(); p.cmd.ProcessState.ExitCode() != tc.want {
				t.Errorf("it ended with %v, want %d", err, tc.want)
			}
			if err := syscall.Kill(-p.cmd.Process.Pid, 0); !errors.Is(err, syscall.ESRCH) {
				t.Errorf("something of its process group is left: %v", err)
			}
			if err := p.leash.killAll(); err != nil {
				t.Error(err)
			}
		})
	}
}
