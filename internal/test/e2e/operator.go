package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

const (
	operatorNamespace = "mandate-operator-system"
	operatorName      = "mandate-operator"
	replicas          = 2 * 2 // of the operator, and of its receiver
	// The images that the docs push to a registry. Here they are imported.
	operatorImage = "registry.example.com/mandate-operator"
	sandboxImage  = "registry.example.com/idv-sandbox"
	docsTag       = "dev"
	upgradeTag    = "upgraded"
)

// pushCommand is what the docs tell people to do with the images, of whom only those with a registry can.
var pushCommand = regexp.MustCompile(`(?m)^make push .*\n`)

// runDocumented runs commands as the docs have them.
func (s *scenario) runDocumented(ctx context.Context, commands string) error {
	_, err := s.execute(ctx, pushCommand.ReplaceAllString(commands, ""), "sh", "-eu")
	return err
}

// helm runs a command of Helm on the operator's release, such as upgrade, with the image of a tag.
func (s *scenario) helm(ctx context.Context, command, tag string) error {
	_, err := s.execute(ctx, "", "helm", command, operatorName, "config/chart/"+operatorName,
		"--namespace", operatorNamespace, "--set", "image.repository="+operatorImage+",image.tag="+tag)
	return errors.Join(err, s.available(ctx))
}

// available waits until all replicas of the operator and of its receiver are.
func (s *scenario) available(ctx context.Context) error {
	var errs []error
	for _, name := range []string{operatorName, operatorName + "-receiver"} {
		_, err := s.kubectl(ctx, "rollout", "status", "deployment/"+name, "-n", operatorNamespace)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// ctr runs the client of containerd, on the images that the kubelet finds.
func (n *node) ctr(ctx context.Context, arguments ...string) (string, error) {
	flags := []string{"-a", filepath.Join(n.Dir, "containerd.sock"), "-n", "k8s.io", "images"}
	return n.execute(ctx, "", "ctr", append(flags, arguments...)...)
}

// importImages imports what make e2e-images has built, under the names that the docs have, too.
func (n *node) importImages(ctx context.Context) error {
	archives, err := filepath.Glob(filepath.Join(n.bin, "e2e-images", "*.tar"))
	if err != nil {
		return err
	}
	for _, archive := range archives {
		if _, err := n.ctr(ctx, "import", archive); err != nil {
			return err
		}
	}
	imported, err := n.ctr(ctx, "ls", "-q")
	if err != nil {
		return err
	}
	for _, image := range []string{
		operatorImage + ":" + docsTag, operatorImage + ":" + upgradeTag, sandboxImage + ":" + docsTag,
	} {
		_, name, _ := strings.Cut(image, "/")
		name, _, _ = strings.Cut(name, ":")
		source := regexp.MustCompile(`(?m)^\S+/` + name + `:\S+$`).FindString(imported)
		if source == "" {
			return fmt.Errorf("no image of %s was imported:\n%s", name, imported)
		}
		if _, err := n.ctr(ctx, "tag", source, image); err != nil {
			return err
		}
	}
	return nil
}
