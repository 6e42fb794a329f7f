package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The directory of the example manifests, and the address of the sandbox in them.
const (
	manifests  = "examples/mandates"
	exampleURL = "http://127.0.0.1:8480"
)

// manifestsDir has the examples with the address of the running sandbox.
func (d *demo) manifestsDir() string {
	return filepath.Join(d.Dir, "mandates")
}

// applyMandates applies the examples and starts showing the table.
func (d *demo) applyMandates(ctx context.Context) (string, error) {
	if err := copyManifests(d.manifestsDir(), filepath.Join(d.Root, manifests), d.sandboxURL); err != nil {
		return "", err
	}
	d.startWatch(ctx)
	_, err := d.kubectl.run(ctx, "apply", "-f", d.manifestsDir())
	return fmt.Sprintf("an IdentityService and %d Mandates", len(expected)), d.withOperatorLog(err)
}

func copyManifests(to, from, url string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(from, entry.Name()))
		if err != nil {
			return err
		}
		content = []byte(strings.ReplaceAll(string(content), exampleURL, url))
		path := filepath.Join(to, entry.Name())
		if err := os.WriteFile(path, content, 0o600); err != nil { //nolint:gosec // our own directories
			return err
		}
	}
	return nil
}

func (d *demo) awaitReady(ctx context.Context) (string, error) {
	_, err := d.kubectl.run(ctx, "wait", "mandates", "--all", "--for=condition=Ready", waitTimeout)
	return "", d.withOperatorLog(err)
}

func (d *demo) awaitReview(ctx context.Context) (string, error) {
	_, err := d.kubectl.run(ctx, "wait", "mandate/globex", "--for=jsonpath={.status.state}=in review", waitTimeout)
	return "", d.withOperatorLog(err)
}

func (d *demo) decide(ctx context.Context) (string, error) {
	_, err := d.kubectl.run(ctx, "patch", "mandate", "globex", "--type=merge", "-p", `{"spec":{"decision":"Reject"}}`)
	return "", err
}

func (d *demo) awaitCompleted(ctx context.Context) (string, error) {
	_, err := d.kubectl.run(ctx, "wait", "mandates", "--all", "--for=condition=Completed", waitTimeout)
	return "", d.withOperatorLog(err)
}

// replaceAcme deletes and re-creates a Mandate, as a GitOps pipeline can do.
func (d *demo) replaceAcme(ctx context.Context) (string, error) {
	const id = "jsonpath={.status.applicationID}"
	before, err := d.kubectl.run(ctx, "get", "mandate", "acme", "-o", id)
	if err != nil {
		return "", err
	}
	for _, arguments := range [][]string{
		{"delete", "mandate", "acme", waitTimeout},
		{"apply", "-f", filepath.Join(d.manifestsDir(), "acme.yaml")},
		{"wait", "mandate", "acme", "--for=condition=Completed", waitTimeout},
	} {
		if _, err := d.kubectl.run(ctx, arguments...); err != nil {
			return "", d.withOperatorLog(err)
		}
	}
	after, err := d.kubectl.run(ctx, "get", "mandate", "acme", "-o", id)
	if err == nil && before != after {
		err = d.withOperatorLog(fmt.Errorf("the application of acme was %s and is now %s", before, after))
	}
	return "the application is still " + after, err
}
