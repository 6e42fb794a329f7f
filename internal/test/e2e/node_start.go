package main

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// startControlPlane starts all but what runs containers.
func (n *node) startControlPlane(ctx context.Context) (string, error) {
	flags := map[string][]string{
		"etcd": {
			"--data-dir=" + filepath.Join(n.Dir, "etcd"), "--unsafe-no-fsync", "--log-level=warn",
		},
		"kube-apiserver": n.apiServerFlags(),
		"kube-controller-manager": {
			"--kubeconfig=" + n.kubeconfig("controller-manager"), "--leader-elect=false", "--use-service-account-credentials",
			"--service-account-private-key-file=" + n.authority.path("accounts.key"),
			"--root-ca-file=" + n.authority.path("ca.crt"),
		},
		"kube-scheduler": {"--kubeconfig=" + n.kubeconfig("scheduler"), "--leader-elect=false"},
	}
	for _, name := range []string{"etcd", "kube-apiserver"} {
		if _, err := n.launch(name, flags[name]...); err != nil {
			return "", err
		}
	}
	if err := until(ctx, "the API server is ready", func(ctx context.Context) (bool, string) {
		_, err := n.kubectl(ctx, "get", "--raw", "/readyz")
		return err == nil, fmt.Sprint(err)
	}); err != nil {
		return "", err
	}
	for _, name := range []string{"kube-controller-manager", "kube-scheduler"} {
		if _, err := n.launch(name, flags[name]...); err != nil {
			return "", err
		}
	}
	return "etcd, kube-apiserver, kube-controller-manager, kube-scheduler", nil
}

func (n *node) apiServerFlags() []string {
	file := n.authority.path
	return []string{
		"--etcd-servers=http://127.0.0.1:2379",
		"--secure-port=6443", "--bind-address=0.0.0.0", "--advertise-address=" + nodeAddress,
		"--service-cluster-ip-range=" + serviceNetwork, "--allow-privileged",
		// It serves a new kind after five seconds, as in a control plane of several. What does not wait for it, fails.
		"--apiserver-count=2",
		"--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction",
		"--client-ca-file=" + file("ca.crt"),
		"--tls-cert-file=" + file("apiserver.crt"), "--tls-private-key-file=" + file("apiserver.key"),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + file("accounts.pub"),
		"--service-account-signing-key-file=" + file("accounts.key"),
		"--kubelet-preferred-address-types=InternalIP", "--kubelet-certificate-authority=",
		"--kubelet-client-certificate=" + file("admin.crt"), "--kubelet-client-key=" + file("admin.key"),
	}
}

// containerdListens is what containerd logs when it accepts connections.
var containerdListens = regexp.MustCompile(`containerd successfully booted`)

func (n *node) runContainerd(ctx context.Context) error {
	containerd, err := n.launch("containerd", "--config="+filepath.Join(n.Dir, "containerd.toml"))
	if err != nil {
		return err
	}
	_, err = containerd.WaitForLog(ctx, containerdListens)
	return err
}

func (n *node) startContainerd(ctx context.Context) (string, error) {
	if err := n.runContainerd(ctx); err != nil {
		return "", err
	}
	return "the operator, the sandbox and pause", n.importImages(ctx)
}

// startNode starts the kubelet, kube-proxy and DNS, and waits until Pods can run.
func (n *node) startNode(ctx context.Context) (string, error) {
	for name, flags := range map[string][]string{
		"kubelet": {
			"--config=" + filepath.Join(n.Dir, "kubelet.yaml"), "--kubeconfig=" + n.kubeconfig("kubelet"),
			"--root-dir=" + filepath.Join(n.Dir, "kubelet"), "--cert-dir=" + filepath.Join(n.Dir, "kubelet-pki"),
			"--hostname-override=" + nodeName, "--node-ip=" + nodeAddress, "--v=2",
		},
		"kube-proxy": {"--config=" + filepath.Join(n.Dir, "kube-proxy.yaml"), "--v=2"},
		"coredns":    {"-conf", filepath.Join(n.Dir, "Corefile")},
	} {
		if _, err := n.launch(name, flags...); err != nil {
			return "", err
		}
	}
	c, err := n.client()
	if err != nil {
		return "", err
	}
	return "Pods can run", until(ctx, "the node is Ready", func(ctx context.Context) (bool, string) {
		node, account := &corev1.Node{}, &corev1.ServiceAccount{}
		if err := c.Get(ctx, client.ObjectKey{Name: nodeName}, node); err != nil {
			return false, err.Error()
		}
		for _, condition := range node.Status.Conditions {
			if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
				err := c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "default"}, account)
				return err == nil, fmt.Sprint(err)
			}
		}
		return false, fmt.Sprintf("%+v", node.Status.Conditions)
	})
}

// until polls until done is true. It fails when the context ends, as that of the steps does after the run's timeout, or
// when a part of the node has exited.
func until(ctx context.Context, what string, done func(context.Context) (bool, string)) error {
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	var state string
	for {
		ok, now := done(ctx)
		if ok {
			return nil
		}
		if ctx.Err() == nil {
			state = now
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not yet: %s: %w: %s", what, context.Cause(ctx), state)
		case <-ticker.C:
		}
	}
}
