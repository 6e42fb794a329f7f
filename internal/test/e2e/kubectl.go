package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// client is one of the cluster administrator.
func (n *node) client() (client.Client, error) {
	config, err := clientcmd.BuildConfigFromFlags("", n.kubeconfig("admin"))
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst = -1, -1
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	return client.New(config, client.Options{Scheme: scheme})
}

// environ is the environment of what a user runs: kubectl is that of the node, and talks to it alone.
func (n *node) environ() []string {
	var environment []string
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); !strings.HasPrefix(name, "HELM_") && name != "KUBECONFIG" {
			environment = append(environment, variable)
		}
	}
	return append(environment, "KUBECONFIG="+n.kubeconfig("admin"), "KUBERC=off", "LC_ALL=C", "HOME="+n.Dir,
		"KUBECACHEDIR="+filepath.Join(n.Dir, "kubectl-cache"))
}

// kubectl runs kubectl in the repository, and returns its stdout.
func (n *node) kubectl(ctx context.Context, arguments ...string) (string, error) {
	return n.execute(ctx, "", "kubectl", arguments...)
}

// apply applies a manifest.
func (n *node) apply(ctx context.Context, manifest string) error {
	_, err := n.execute(ctx, manifest, "kubectl", "apply", "-f", "-")
	return err
}

// execute runs a program of PATH in the repository as a user does, and returns its stdout. An error has the stderr.
func (n *node) execute(ctx context.Context, stdin, program string, arguments ...string) (string, error) {
	command := exec.CommandContext(ctx, program, arguments...) //nolint:gosec // the steps say which
	command.Dir, command.Env = n.Root, n.environ()
	var stdout, stderr bytes.Buffer
	command.Stdin = strings.NewReader(stdin)
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return stdout.String(), fmt.Errorf("%s %s: %w: %s",
			program, strings.Join(arguments, " "), err, strings.TrimSpace(stderr.String()))
	}
	return stdout.String(), nil
}
