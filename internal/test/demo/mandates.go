package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// The example manifests, and the address of the sandbox in them. The demo has its own connection, with notifications.
const (
	manifests  = "examples/mandates"
	connection = "examples/notifications/identityservice.yaml"
	exampleURL = "http://127.0.0.1:8480"
)

// manifestsDir has the examples with the address of the running sandbox.
func (d *demo) manifestsDir() string {
	return filepath.Join(d.Dir, "mandates")
}

// connect copies the examples, and applies the connection.
func (d *demo) connect(ctx context.Context) (string, error) {
	if err := copyManifests(d.manifestsDir(), d.Root, d.sandboxURL); err != nil {
		return "", err
	}
	if _, err := d.kubectl.run(ctx, "apply", "-f", d.manifest(filepath.Base(connection))); err != nil {
		return "", err
	}
	_, err := d.kubectl.run(ctx, "wait", "identityservice/default", "--for=condition=Ready", waitTimeout)
	return "it polls hourly", d.withOperatorLog(err)
}

// planMandates has the plugin say whom the next step e-mails, and checks that against what the examples expect.
func (d *demo) planMandates(ctx context.Context) (string, error) {
	output, failure := d.plugin().run(ctx, "plan", "-f", d.manifestsDir(), "-o", "json") // exit code 2: something is sent
	var planned struct {
		Emails int `json:"emails"`
	}
	if err := json.Unmarshal([]byte(output), &planned); err != nil {
		return "", d.withOperatorLog(errors.Join(failure, err))
	}
	want := -expected[lost].emails // which were sent before
	for _, mandate := range expected {
		want += mandate.emails
	}
	if planned.Emails != want {
		return "", fmt.Errorf("the plan has %d e-mails, want %d", planned.Emails, want)
	}
	return fmt.Sprintf("%d e-mails would be sent", planned.Emails), nil
}

// applyMandates applies the Mandates that are new. An unchanged one would take kubectl some seconds for its schema.
func (d *demo) applyMandates(ctx context.Context) (string, error) {
	arguments := []string{"apply"}
	for name := range expected {
		if name != lost {
			arguments = append(arguments, "-f", d.manifest(name+".yaml"))
		}
	}
	_, err := d.kubectl.run(ctx, arguments...)
	return fmt.Sprintf("the other %d Mandates", len(expected)-1), d.withOperatorLog(err)
}

// manifest is the path of one of the copies.
func (d *demo) manifest(name string) string { return filepath.Join(d.manifestsDir(), name) }

// copyManifests copies the examples of a module, with the URL of a sandbox.
func copyManifests(to, root, url string) error {
	from, err := filepath.Glob(filepath.Join(root, manifests, "*.yaml"))
	if err != nil {
		return err
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	for _, path := range append(from, filepath.Join(root, connection)) { // the last one replaces that of manifests
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		content = []byte(strings.ReplaceAll(string(content), exampleURL, url))
		copied := filepath.Join(to, filepath.Base(path))
		if err := os.WriteFile(copied, content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

func (d *demo) awaitReady(ctx context.Context) (string, error) {
	_, err := d.kubectl.run(ctx, "wait", "mandates", "--all", "--for=condition=Ready", waitTimeout)
	return "", d.withOperatorLog(err)
}

// awaitReview has the sandbox play the individuals. They begin no earlier, so that nothing is notified while the
// operator is down.
func (d *demo) awaitReview(ctx context.Context) (string, error) {
	autoplay := control.Autoplay{Enabled: true, DelayMillis: autoplayMillis}
	if err := d.sandbox.SetAutoplay(ctx, autoplay); err != nil {
		return "", err
	}
	_, err := d.kubectl.run(ctx, "wait", "mandates", "--all", "--for=jsonpath={.status.state}=in review", waitTimeout)
	return "", d.withOperatorLog(err)
}

// decide decides each Mandate on the evidence that its status shows. A rule would have to hold for ten minutes.
func (d *demo) decide(ctx context.Context) (string, error) {
	mandates, err := d.mandates(ctx)
	if err != nil {
		return "", err
	}
	for i := range mandates {
		m := &mandates[i]
		decision := v1alpha1.DecisionComplete
		if expected[m.Name].outcome == v1alpha1.OutcomeRejected {
			decision = v1alpha1.DecisionReject
		}
		patch := fmt.Sprintf(`{"spec":{"decision":{"outcome":%q,"evidence":%q,"when":null}}}`, decision, m.Status.Evidence)
		if _, err := d.kubectl.run(ctx, "patch", "mandate", m.Name, "--type=merge", "-p", patch); err != nil {
			return "", err
		}
	}
	return "each on the evidence that its status shows", nil
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
		{"apply", "-f", d.manifest("acme.yaml")},
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
