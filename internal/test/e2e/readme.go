package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
)

const (
	readmeHost      = "idv.example.com" // of README's example; the cluster's DNS makes it the sandbox
	readmeNamespace = "onboarding"
	// readmeLimit is how long a person may need from README's first command to a Mandate that is Ready. On a machine that
	// is busy with other work, it is readmePods times what the Pod of the sandbox took to be ready, instead.
	readmeLimit = 5 * time.Minute
	readmePods  = 20
)

// codeBlock is a block of README: its language and text.
var codeBlock = regexp.MustCompile("(?m)^ *```(sh|yaml)\n((?:.*\n)*?) *```$")

// indent is that of the blocks in a numbered list.
var indent = regexp.MustCompile(`(?m)^ {3}`)

// block is a command to run, or a manifest to apply.
type block struct{ language, text string }

// readmeBlocks are the blocks of some sections of a page, in order.
func readmeBlocks(page string, sections ...string) ([]block, error) {
	var blocks []block
	for _, section := range sections {
		_, text, found := strings.Cut(page, "\n## "+section+"\n")
		if !found {
			return nil, fmt.Errorf("README has no section %q", section)
		}
		text, _, _ = strings.Cut(text, "\n## ")
		for _, match := range codeBlock.FindAllStringSubmatch(text, -1) {
			blocks = append(blocks, block{match[1], indent.ReplaceAllString(match[2], "")})
		}
	}
	if len(blocks) == 0 {
		return nil, fmt.Errorf("README has no commands in %q", sections)
	}
	return blocks, nil
}

// followReadme runs the commands and applies the manifests of README word for word. What it adds is the authority of
// the sandbox's certificate, as for any service with a private one.
func (s *scenario) followReadme(ctx context.Context) (string, error) {
	page, err := os.ReadFile(filepath.Join(s.Root, "README.md"))
	if err != nil {
		return "", err
	}
	blocks, err := readmeBlocks(string(page), "Install", "Your first Mandate")
	if err != nil {
		return "", err
	}
	started := time.Now()
	for _, b := range blocks {
		if b.language == "sh" {
			err = s.runDocumented(ctx, b.text)
		} else {
			err = errors.Join(s.apply(ctx, b.text), s.trustSandbox(ctx, readmeNamespace))
		}
		if err != nil {
			return "", err
		}
	}
	if s.cluster, err = s.client(); err != nil {
		return "", err
	}
	s.people = 1
	if err := s.allReady(ctx); err != nil {
		return "", err
	}
	took, limit := time.Since(started), max(readmeLimit, readmePods*s.podStart)
	if took > limit {
		return "", fmt.Errorf("README took %.0f s, and must take %.0f s at most", took.Seconds(), limit.Seconds())
	}
	return fmt.Sprintf("the Mandate is Ready after %.0f s", took.Seconds()), s.checkEmails(ctx)
}

// trySandbox follows the README of examples/sandbox, in a namespace of its own.
func (s *scenario) trySandbox(ctx context.Context) (string, error) {
	page, err := os.ReadFile(filepath.Join(s.Root, "examples", "sandbox", "README.md"))
	if err != nil {
		return "", err
	}
	commands := codeBlock.FindStringSubmatch(string(page))
	if len(commands) == 0 || !strings.Contains(commands[2], "kubectl wait --namespace "+readmeNamespace) {
		return "", errors.New("examples/sandbox/README.md has no commands that wait for its Mandate")
	}
	separate := strings.ReplaceAll(commands[2], readmeNamespace, "try-the-sandbox")
	return "its Mandate is Ready", s.runDocumented(ctx, separate)
}

// trustSandbox adds the node's authority to the IdentityServices of a namespace.
func (s *scenario) trustSandbox(ctx context.Context, namespace string) error {
	authority, err := os.ReadFile(s.authority.path("ca.crt"))
	if err != nil {
		return err
	}
	c, err := s.client()
	if err != nil {
		return err
	}
	services := &v1alpha1.IdentityServiceList{}
	if err := c.List(ctx, services, client.InNamespace(namespace)); err != nil {
		return err
	}
	for i := range services.Items {
		service := &services.Items[i]
		patch := client.MergeFrom(service.DeepCopy())
		service.Spec.CABundle = string(authority)
		if err := c.Patch(ctx, service, patch); err != nil {
			return err
		}
	}
	return nil
}
