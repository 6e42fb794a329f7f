package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

const (
	// startTimeout is far more than a part takes to start.
	startTimeout = time.Minute
	// pace is the time between two steps of an individual: slow enough to be watched.
	pace = "1s"
	// settleDelay is longer than the sandbox takes for any request.
	settleDelay = "5s"
)

var (
	sandboxListens = regexp.MustCompile(`listening on (http://\S+)`)
	operatorWorks  = regexp.MustCompile(`"Starting workers".*"controller":"mandate"`)
)

func (d *demo) startSandbox(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	// Not ended by ctx: close does that, in order.
	command := exec.Command(filepath.Join(d.programs, "idv-sandbox"), //nolint:noctx,gosec // our own program
		"--listen=127.0.0.1:0", "--autoplay", "--autoplay-delay="+pace)
	command.Env = environ()
	var err error
	if d.service, err = d.Start("sandbox", command); err != nil {
		return "", err
	}
	match, err := d.service.WaitForLog(ctx, sandboxListens)
	if err != nil {
		return "", err
	}
	d.url = match[1]
	d.sandbox = control.New(d.url)
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
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	command := exec.Command(filepath.Join(d.programs, "mandate-operator"), //nolint:noctx,gosec // our own program
		"--kubeconfig="+d.kubectl.kubeconfig, "--health-probe-bind-address=0", "--settle-delay="+settleDelay)
	command.Env = environ()
	var err error
	if d.operator, err = d.Start("operator", command); err != nil {
		return "", err
	}
	_, err = d.operator.WaitForLog(ctx, operatorWorks)
	return "", err
}

// restartOperator is a crash, not a stop: the operator cannot put anything in order before it ends.
func (d *demo) restartOperator(ctx context.Context) (string, error) {
	if err := d.operator.Kill(); err != nil {
		return "", fmt.Errorf("killing the operator: %w", err)
	}
	return d.startOperator(ctx)
}
