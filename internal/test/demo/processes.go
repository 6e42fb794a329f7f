package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/test/testenv"
)

const (
	// autoplayMillis is the time between two steps of an individual. It is long enough to watch them.
	autoplayMillis = 1000
	// settleDelay is longer than the sandbox needs for any request.
	settleDelay = "5s"
)

var (
	sandboxListening = regexp.MustCompile(`listening on (http://\S+)`)
	operatorReady    = regexp.MustCompile(`"Starting workers".*"controller":"mandate"`)
	receiverReady    = regexp.MustCompile(`"Receiving notifications".*"address":"([^"]+)"`)
)

func (d *demo) startSandbox(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, testenv.HangTimeout)
	defer cancel()
	// ctx does not stop it: close does, the newest process first.
	command := exec.Command(filepath.Join(d.programs, "idv-sandbox"), //nolint:noctx,gosec // our own program
		"--listen=127.0.0.1:0")
	command.Env = environ()
	var err error
	if d.sandboxProcess, err = d.Start("sandbox", command); err != nil {
		return "", err
	}
	match, err := d.sandboxProcess.WaitForLog(ctx, sandboxListening)
	if err != nil {
		return "", err
	}
	d.sandboxURL = match[1]
	d.sandbox = control.New(d.sandboxURL)
	return "", nil
}

func (d *demo) startControlPlane(context.Context) (string, error) {
	if err := d.StartControlPlane(); err != nil {
		return "", err
	}
	var err error
	d.kubectl, err = d.newKubectl()
	return "", err
}

func (d *demo) startOperator(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, testenv.HangTimeout)
	defer cancel()
	receiver := "127.0.0.1:0"
	if d.receiverURL != "" { // the subscription has it
		receiver = strings.TrimPrefix(d.receiverURL, "http://")
	}
	command := exec.Command(filepath.Join(d.programs, "mandate-operator"), //nolint:noctx,gosec // our own program
		"--kubeconfig="+d.kubectl.kubeconfig, "--health-probe-bind-address=0", "--settle-delay="+settleDelay,
		"--notification-bind-address="+receiver)
	command.Env = environ()
	var err error
	if d.operator, err = d.Start("operator", command); err != nil {
		return "", err
	}
	if _, err = d.operator.WaitForLog(ctx, operatorReady); err != nil {
		return "", err
	}
	match, err := d.operator.WaitForLog(ctx, receiverReady)
	if err != nil {
		return "", err
	}
	d.receiverURL = "http://" + match[1]
	return "it receives notifications", nil
}

// restartOperator kills the operator, so that it cannot shut down gracefully.
func (d *demo) restartOperator(ctx context.Context) (string, error) {
	if err := d.operator.Kill(); err != nil {
		return "", fmt.Errorf("kill the operator: %w", err)
	}
	_, err := d.startOperator(ctx)
	return "", err
}
