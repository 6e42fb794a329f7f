package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/testenv"
)

// demo is what runs, and what steps learn that later ones need.
type demo struct {
	*testenv.Environment
	screen   *screen
	programs string // the directory of idv-sandbox, mandate-operator and terraform-provider-idv
	started  time.Time

	url       string // of the sandbox
	sandbox   *control.Client
	service   *testenv.Process // the sandbox
	operator  *testenv.Process
	receiver  *receiver
	kubectl   kubectl
	terraform terraform
	stopWatch func()
}

func newDemo(screen *screen, programs string) (*demo, error) {
	for _, name := range []string{"idv-sandbox", "mandate-operator", "terraform-provider-idv"} {
		if _, err := os.Stat(filepath.Join(programs, name)); err != nil {
			return nil, fmt.Errorf("%s is missing: run `make demo`, which builds it: %w", name, err)
		}
	}
	env, err := testenv.New()
	if err != nil {
		return nil, err
	}
	d := &demo{Environment: env, screen: screen, programs: programs, started: time.Now(), stopWatch: func() {}}
	if d.terraform, err = d.findTerraform(); err != nil {
		return nil, errors.Join(err, env.Close())
	}
	return d, nil
}

// play takes the steps until one fails.
func (d *demo) play(ctx context.Context) error {
	defer func() { d.stopWatch() }()
	d.screen.print("Everything runs on this machine, and no e-mail leaves it.", "")
	for _, s := range []step{
		{"the sandbox starts: it stands in for the service and plays its people", d.startSandbox},
		{"etcd and kube-apiserver start", d.startControlPlane},
		{"kubectl apply -k config/crd", d.installCRDs},
		{"the operator starts", d.startOperator},
		{d.terraform.name + " apply", d.applyTerraform},
		{"kubectl apply -f examples/mandates", d.applyMandates},
		{"kubectl wait mandates --all --for=condition=Ready", d.awaitReady},
		{"the operator is killed and started again: nobody is e-mailed twice", d.restartOperator},
		{"globex comes in review: its checks have failed", d.awaitReview},
		{"kubectl patch mandate globex: decision Reject", d.decide},
		{"kubectl wait mandates --all --for=condition=Completed", d.awaitCompleted},
		{"acme is deleted and applied again", d.replaceAcme},
		{"every Mandate has its expected outcome", d.checkOutcomes},
		{"the outbox of the sandbox", d.checkEmails},
		{"the webhook that " + d.terraform.name + " subscribed", d.checkEvents},
	} {
		if ctx.Err() != nil { // not every step can be interrupted
			return ctx.Err()
		}
		if err := d.screen.step(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// sayResult prints the table as it is in the end.
func (d *demo) sayResult() {
	took := time.Since(d.started)
	lines := []string{"", "$ kubectl get mandates"}
	lines = append(lines, d.screen.table.lines()...)
	d.screen.print(append(lines, "", fmt.Sprintf("That took %.0f s.", took.Seconds()))...)
}

// keepRunning says how to look around and waits for Ctrl-C, which is no error, or for a part that ends.
func (d *demo) keepRunning(ctx context.Context) error {
	d.screen.print("", "It keeps running until Ctrl-C. In another terminal, in this directory:", "")
	k := d.kubectl.shown()
	for _, line := range []string{
		"export KUBECONFIG=" + d.kubectl.kubeconfig,
		k + " get mandates --watch",
		k + " describe mandate acme",
		k + " get applicationrecords",
		"curl " + d.url + control.Prefix + "/outbox",
	} {
		d.screen.print("  " + line)
	}
	d.screen.print("", "The sandbox: "+d.url, "Manifests:   "+d.manifestsDir()+" (those of "+manifests+" have another address)",
		"Logs:        "+filepath.Join(d.Dir, "*.log"), "", "Nothing here deletes namespaces: that takes a kube-controller-manager.", "")
	select {
	case <-ctx.Done():
		return nil
	case <-d.operator.Exited():
		return failure{errors.New("the operator ended by itself"), d.operator.Log}
	case <-d.service.Exited():
		return failure{errors.New("the sandbox ended by itself"), d.service.Log}
	}
}

// close ends everything, the youngest first.
func (d *demo) close() error {
	if d.receiver != nil {
		d.receiver.close()
	}
	return d.Close()
}

// environ is the environment for what the demo starts: nothing in it names a real cluster or a real service.
func environ(extra ...string) []string {
	var clean []string
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if name != "KUBECONFIG" && !strings.HasPrefix(name, "IDV_") && !strings.HasPrefix(name, "TF_") {
			clean = append(clean, variable)
		}
	}
	return append(clean, extra...)
}
