package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

const sandboxHost = "sandbox.idv-sandbox.svc.cluster.local"

// run starts the node, and runs the steps on it.
func run(ctx context.Context) error {
	if err := prepareMachine(); err != nil {
		return err
	}
	n, err := newNode(ctx)
	if err != nil {
		return err
	}
	err = runSteps(n.failed, n.steps())
	if err != nil {
		err = errors.Join(err, n.keepLogs(context.WithoutCancel(ctx)))
	}
	return err
}

func (n *node) steps() []step {
	return []step{
		{"start the control plane", func(context.Context) (string, error) { return "etcd", n.startControlPlane() }},
		{"start containerd", func(ctx context.Context) (string, error) { return "", n.startContainerd(ctx) }},
		{"import the images", n.importImages},
		{"start the node", func(ctx context.Context) (string, error) { return "kubelet", n.startNode(ctx) }},
	}
}

func (n *node) importImages(ctx context.Context) (string, error) {
	for name, reference := range map[string]string{
		"pause": pauseImage,
	} {
		binary := filepath.Join(n.Dir, name)
		build := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-trimpath", "-ldflags=-s -w", "-o", binary, "./internal/e2e/"+name)
		build.Dir = n.Root
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if output, err := build.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%w: %s", err, output)
		}
		content, err := os.ReadFile(binary)
		if err != nil {
			return "", err
		}
		archive := binary + ".tar"
		if err := writeImage(archive, reference, name, content); err != nil {
			return "", err
		}
		if err := n.importImage(ctx, archive); err != nil {
			return "", err
		}
	}
	return "", nil
}

func (n *node) importImage(ctx context.Context, archive string) error {
	_, err := n.execute(ctx, "", "ctr", "-a", filepath.Join(n.Dir, "containerd.sock"), "-n", "k8s.io", "images", "import", archive)
	return err
}

func (n *node) keepLogs(ctx context.Context) error {
	out := filepath.Join(n.Root, "bin", "e2e-logs")
	_ = os.RemoveAll(out)
	_ = os.MkdirAll(out, 0o755)
	_, err := n.execute(ctx, "", "sh", "-c", "cp "+n.Dir+"/*.log "+out+"; cp -r "+n.podLogs()+" "+out)
	return err
}
