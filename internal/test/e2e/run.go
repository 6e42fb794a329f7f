package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

// scenario is what the steps share.
type scenario struct {
	*node
	cluster client.Client
	sandbox *control.Client
	load    *load
	people  int      // who have a Mandate, and must have one e-mail each
	found   []string // Mandates whose answers were lost in the last step, and found by notifications
	// podStart is what the Pod of the sandbox took to be ready, on this machine today.
	podStart time.Duration
}

// run starts the node, and runs the steps on it.
func run(ctx context.Context) error {
	options, err := newOptions()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, options.timeout, fmt.Errorf("TIMEOUT=%s has passed", options.timeout))
	defer cancel()
	if err := prepareMachine(); err != nil {
		return err
	}
	n, err := newNode(ctx)
	if err != nil {
		return err
	}
	s := &scenario{node: n}
	if err = runSteps(n.failed, options.selected(s.steps())); err != nil {
		err = errors.Join(err, s.keepLogs(context.WithoutCancel(ctx)))
	}
	return err
}

func (s *scenario) steps() []step {
	return []step{
		{"", "start the control plane", s.startControlPlane},
		{"", "start containerd and import the images", s.startContainerd},
		{"", "start the kubelet, kube-proxy and DNS", s.startNode},
		{"", "run the sandbox in a Pod, with TLS", s.deploySandbox},
		{"install", "do what README's section Install says", s.followReadme},
		{"example", "do what examples/sandbox says", s.trySandbox},
		{"outcome", "take a Mandate to its outcome, by notifications through the Service", s.reachOutcome},
		{"containers", "look at the containers from the node", s.inspectContainers},
		{"restricted", "refuse a Pod that is not restricted", s.refusePrivileged},
		{"metrics", "scrape the metrics", s.scrapeMetrics},
		{"kill", "kill the leader during creates", s.killLeader},
		{"delete", "delete the leader's Pod during creates", s.deleteLeader},
		{"memory", "let the leader run out of memory during creates", s.exhaustLeader},
		{"hang", "stop the leader's process during creates, and let it continue", s.hangLeader},
		{"power", "cut the power of the node during creates", s.losePower},
		{"upgrade", "upgrade during creates", s.upgrade},
		{"uninstall", "uninstall", s.uninstall},
		{"reinstall", "install again", s.reinstall},
	}
}

// keepLogs copies the logs of the node and of all Pods, and prints where they are. Those of the operator then have what
// each of its goroutines did.
func (s *scenario) keepLogs(ctx context.Context) error {
	n := s.node
	s.dumpGoroutines(ctx)
	logs := filepath.Join(n.Root, "bin", "e2e-logs")
	if err := errors.Join(os.RemoveAll(logs), os.MkdirAll(logs, 0o755)); err != nil { //nolint:gosec // for their reader
		return err
	}
	fmt.Println("The logs are in bin/e2e-logs.")
	for file, arguments := range map[string][]string{
		"events.txt":   {"get", "events", "--all-namespaces", "--sort-by=.lastTimestamp"},
		"pods.txt":     {"describe", "pods", "--all-namespaces"},
		"mandates.txt": {"get", "mandates,identityservices,applicationrecords", "--all-namespaces", "-o", "yaml"},
	} {
		output, err := n.kubectl(ctx, arguments...)
		if err != nil {
			output += err.Error()
		}
		if err := os.WriteFile(filepath.Join(logs, file), []byte(output), 0o600); err != nil {
			return err
		}
	}
	files, err := filepath.Glob(filepath.Join(n.Dir, "*.log"))
	if err != nil {
		return err
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(logs, filepath.Base(file)), content, 0o600); err != nil {
			return err
		}
	}
	err = os.CopyFS(filepath.Join(logs, "pods"), os.DirFS(n.podLogs()))
	if errors.Is(err, fs.ErrNotExist) { // no Pod has run
		return nil
	}
	return err
}
