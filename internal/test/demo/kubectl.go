package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/mandate-io/idv/internal/test/testenv"
)

// kubectl runs the kubectl on PATH, or else the one in bin.
type kubectl struct {
	path       string
	built      string // in bin
	kubeconfig string
	cacheDir   string
}

// waitTimeout is the flag of `kubectl wait`.
var waitTimeout = "--timeout=" + testenv.HangTimeout.String()

func (d *demo) newKubectl() (kubectl, error) {
	k := kubectl{
		path: d.Kubectl, built: filepath.Join(d.Root, "bin", "kubectl"),
		kubeconfig: filepath.Join(d.Dir, "kubeconfig"), cacheDir: filepath.Join(d.Dir, "kubectl-cache"),
	}
	if path, err := exec.LookPath("kubectl"); err == nil {
		k.path = path
	}
	return k, d.WriteKubeconfig(k.kubeconfig)
}

// command is what the user types to run it.
func (k kubectl) command() string {
	if k.path == k.built {
		return "bin/kubectl"
	}
	return "kubectl"
}

// run returns the stdout of kubectl. An error has the stderr.
func (k kubectl) run(ctx context.Context, arguments ...string) (string, error) {
	// The default cache is in the user's home, with a directory for each port of a demo.
	flags := []string{"--kubeconfig", k.kubeconfig, "--cache-dir", k.cacheDir}
	command := exec.CommandContext(ctx, k.path, append(flags, arguments...)...) //nolint:gosec // the demo's arguments
	// KUBERC=off disables aliases and defaults of the user, which could change the output.
	command.Env = environ("KUBERC=off", "LC_ALL=C")
	// With its own process group, Ctrl-C reaches only the demo, and Cancel kills what a kubectl wrapper script started.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	command.WaitDelay = time.Second
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	err := command.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = fmt.Errorf("kubectl %s: %s", arguments[0], strings.TrimSpace(stderr.String()))
	}
	return stdout.String(), err
}

func (d *demo) installCRDs(ctx context.Context) (string, error) {
	if _, err := d.kubectl.run(ctx, "apply", "-k", filepath.Join(d.Root, "config", "crd")); err != nil {
		return "", err
	}
	_, err := d.kubectl.run(ctx, "wait", "crd", "--all", "--for=condition=Established", waitTimeout)
	return "", err
}
