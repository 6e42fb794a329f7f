package main

import (
	"context"
	"path/filepath"
)

const (
	operatorNamespace = "mandate-operator-system"
	operatorName      = "mandate-operator"
	replicas          = 2
	upgradeTag        = "upgraded"
	readmeImage       = "registry.example.com/mandate-operator"
	emailHost         = "@e2e.example"
)

func (s *scenario) install(ctx context.Context, tag string) error {
	if _, err := s.execute(ctx, "", "make", "deploy", "IMG="+readmeImage+":"+tag); err != nil {
		return err
	}
	return s.scale(ctx)
}

func (s *scenario) scale(ctx context.Context) error {
	if _, err := s.kubectl(ctx, "scale", "-n", operatorNamespace, "deployment/"+operatorName, "--replicas=2"); err != nil {
		return err
	}
	return s.available(ctx)
}

func (s *scenario) remove(ctx context.Context) error {
	_, err := s.execute(ctx, "", "make", "undeploy")
	return err
}

// ctr runs the client of containerd, where the kubelet finds images.
func (n *node) ctr(ctx context.Context, arguments ...string) error {
	flags := []string{"-a", filepath.Join(n.Dir, "containerd.sock"), "-n", "k8s.io"}
	_, err := n.execute(ctx, "", "ctr", append(flags, arguments...)...)
	return err
}

// importImages imports the images, the operator's under two tags.
func (n *node) importImages(ctx context.Context) error {
	archives, err := filepath.Glob(filepath.Join(n.bin, "e2e-images", "*.tar"))
	if err != nil {
		return err
	}
	for _, archive := range archives {
		if err := n.ctr(ctx, "images", "import", archive); err != nil {
			return err
		}
	}
	return n.ctr(ctx, "images", "tag", readmeImage+":dev", readmeImage+":"+upgradeTag)
}
