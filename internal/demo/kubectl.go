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
)

// kubectl runs the kubectl that the user has, or else the one that make built.
type kubectl struct {
	path       string
	own        string // the one that make built, as it is to be typed
	kubeconfig string
	cacheDir   string
}

// waitTimeout is for `kubectl wait`: several times what it takes on a slow machine.
const waitTimeout = "--timeout=60s"

func (d *demo) newKubectl() (kubectl, error) {
	k := kubectl{
		path: d.Kubectl, own: filepath.Join(d.Root, "bin", "kubectl"),
		kubeconfig: filepath.Join(d.Dir, "kubeconfig"), cacheDir: filepath.Join(d.Dir, "kubectl-cache"),
	}
	if path, err := exec.LookPath("kubectl"); err == nil {
		k.path = path
	}
	return k, d.WriteKubeconfig(k.kubeconfig)
}

// shown is what to type to run it.
func (k kubectl) shown() string {
	if k.path == k.own {
		return "bin/kubectl"
	}
	return "kubectl"
}

// run returns what kubectl prints. Its error is what kubectl said.
func (k kubectl) run(ctx context.Context, arguments ...string) (string, error) {
	// The cache would otherwise go to the user's home, one directory for every port that a demo has had.
	command := exec.CommandContext(ctx, k.path, append([]string{"--kubeconfig", k.kubeconfig, "--cache-dir", k.cacheDir}, arguments...)...) //nolint:gosec // the demo's arguments
	// KUBERC: aliases and defaults of the user could change what it prints.
	command.Env = environ("KUBERC=off", "LC_ALL=C")
	// A group of its own: Ctrl-C is for the demo, and some kubectls are a script that starts the real one.
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
