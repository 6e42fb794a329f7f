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
	"github.com/mandate-io/idv/internal/test/testenv"
)

// demo is the state that the steps share.
type demo struct {
	*testenv.Environment
	screen   *screen
	programs string // the directory of the programs of this project
	started  time.Time

	sandboxURL     string
	sandbox        *control.Client
	sandboxProcess *testenv.Process
	operator       *testenv.Process
	receiverURL    string // of the operator
	token          string // of the sender of notifications
	kubectl        kubectl
	terraform      terraform
	stopWatch      func()
	summary        []string
}

func newDemo(screen *screen, programs string) (*demo, error) {
	for _, name := range []string{"idv-sandbox", "mandate-operator", "terraform-provider-idv", "kubectl-mandate"} {
		if _, err := os.Stat(filepath.Join(programs, name)); err != nil {
			return nil, fmt.Errorf("%s is missing; run `make demo`, which builds it: %w", name, err)
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

// runSteps runs the steps until one fails.
func (d *demo) runSteps(ctx context.Context) error {
	defer func() { d.stopWatch() }()
	d.screen.print("Everything runs on this machine. No e-mail leaves it.", "")
	for _, s := range []step{
		{"start the sandbox: a stand-in of the service and of the individuals", d.startSandbox},
		{"start etcd and kube-apiserver", d.startControlPlane},
		{"kubectl apply -k config/crd", d.installCRDs},
		{"start the operator", d.startOperator},
		{"kubectl create secret generic idv-notifications", d.createToken},
		{"kubectl apply -f examples/notifications/identityservice.yaml", d.connect},
		{d.terraform.name + " apply", d.applyTerraform},
		{"kubectl apply -f examples/mandates/umbrella.yaml", d.loseAnswer},
		{"kubectl wait mandate umbrella --for=condition=Ready", d.awaitFound},
		{"kubectl mandate plan -f examples/mandates", d.planMandates},
		{"kubectl mandate suspend identityservice/default", d.suspend},
		{"kubectl apply -f examples/mandates", d.applyMandates},
		{"kubectl mandate resume identityservice/default", d.resume},
		{"kubectl wait mandates --all --for=condition=Ready", d.awaitReady},
		{"kill the operator and start it again: nobody gets a second e-mail", d.restartOperator},
		{"let the individuals begin, and wait until all are in review: the checks of globex fail", d.awaitReview},
		{"kubectl patch mandates: complete them, and reject globex", d.decide},
		{"kubectl wait mandates --all --for=condition=Completed", d.awaitCompleted},
		{"check that notifications moved the statuses, as polls are hourly", d.checkNotifications},
		{"delete acme and apply it again", d.replaceAcme},
		{"compare the outcomes of the Mandates", d.checkOutcomes},
		{"kubectl mandate history " + lost, d.showHistory},
		{"kubectl get identityservice default -o jsonpath={.status.creation}", d.showBudget},
		{"count the e-mails in the outbox of the sandbox", d.checkEmails},
		{"count the notifications, and the reads at the sandbox", d.countReads},
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

// printResult prints the final table.
func (d *demo) printResult() {
	took := time.Since(d.started)
	lines := []string{"", "$ kubectl get mandates"}
	lines = append(append(lines, d.screen.table.lines()...), "")
	lines = append(lines, d.summary...)
	d.screen.print(append(lines, fmt.Sprintf("The demo took %.0f s.", took.Seconds()))...)
}

// keepRunning prints how to explore the demo, and waits for Ctrl-C or for a process that exits, which is an error.
func (d *demo) keepRunning(ctx context.Context) error {
	d.screen.print("", "The demo runs until Ctrl-C. In another terminal, in this directory:", "")
	k := d.kubectl.command()
	for _, command := range []string{
		"export KUBECONFIG=" + d.kubectl.kubeconfig,
		k + " get mandates --watch",
		k + " describe mandate acme",
		k + " get applicationrecords",
		"curl " + d.sandboxURL + control.Prefix + "/outbox",
	} {
		d.screen.print("  " + command)
	}
	d.screen.print("",
		"Sandbox:     "+d.sandboxURL,
		"Manifests:   "+d.manifestsDir()+" (the examples with the address of this sandbox)",
		"Logs:        "+filepath.Join(d.Dir, "*.log"), "",
		"A deleted namespace stays Terminating, because the demo has no kube-controller-manager.", "")
	select {
	case <-ctx.Done():
		return nil
	case <-d.operator.Exited():
		return failure{errors.New("the operator exited"), d.operator.Log}
	case <-d.sandboxProcess.Exited():
		return failure{errors.New("the sandbox exited"), d.sandboxProcess.Log}
	}
}

// environ is the environment of child processes, without the variables that select a real cluster or service.
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
