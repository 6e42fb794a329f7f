package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mandate-io/idv/internal/sandbox"
)

// terraform is the tofu or terraform that the user has, or else the tofu that make built.
type terraform struct {
	name, path string
}

// configuration is the example that is applied.
const configuration = "examples/terraform/getting-started"

// providerHosts are where tofu and terraform look for a provider whose source names no host.
var providerHosts = []string{"registry.opentofu.org", "registry.terraform.io"}

func (d *demo) findTerraform() (terraform, error) {
	own := filepath.Join(d.Root, "bin")
	for _, name := range []string{"tofu", "terraform"} {
		// make puts its own directory at the end of PATH.
		if path, err := exec.LookPath(name); err == nil && filepath.Dir(path) != own {
			return terraform{name, path}, nil
		}
	}
	path, err := exec.LookPath(filepath.Join(own, "tofu"))
	if err != nil {
		return terraform{}, fmt.Errorf("there is neither tofu nor terraform: run `make demo`, which builds one: %w", err)
	}
	return terraform{"tofu", path}, nil
}

// applyTerraform applies the example in a directory of its own, with the provider as it was built: no registry is
// asked.
func (d *demo) applyTerraform(ctx context.Context) (string, error) {
	dir := filepath.Join(d.Dir, "terraform")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(d.Root, configuration))); err != nil {
		return "", err
	}
	settings := filepath.Join(d.Dir, "terraform.tfrc")
	if err := os.WriteFile(settings, []byte(cliConfiguration(d.programs)), 0o600); err != nil {
		return "", err
	}
	var err error
	if d.receiver, err = newReceiver(ctx); err != nil {
		return "", fmt.Errorf("listening for webhooks: %w", err)
	}
	env := environ(
		"TF_CLI_CONFIG_FILE="+settings, "TF_IN_AUTOMATION=1", "CHECKPOINT_DISABLE=1", "TF_VAR_webhook_url="+d.receiver.url,
		"IDV_BASE_URL="+d.url, "IDV_USERNAME="+sandbox.DefaultUsername, "IDV_PASSWORD="+sandbox.DefaultPassword,
	)
	if err := d.runTerraform(ctx, dir, env, "terraform", "apply", "-auto-approve", "-input=false", "-no-color"); err != nil {
		return "", err
	}
	if err := d.runTerraform(ctx, dir, env, "terraform-output", "output", "-json", "-no-color"); err != nil {
		return "", err
	}
	printed, err := os.ReadFile(filepath.Join(d.Dir, "terraform-output.log"))
	if err != nil {
		return "", err
	}
	return describeOutputs(printed)
}

// runTerraform runs it as a child that ends with the demo, and takes the providers that it has started along.
func (d *demo) runTerraform(ctx context.Context, dir string, env []string, log string, arguments ...string) error {
	command := exec.Command(d.terraform.path, arguments...) //nolint:noctx,gosec // it is stopped below, so that it can stop its provider
	command.Dir, command.Env = dir, env
	process, err := d.Start(log, command)
	if err != nil {
		return err
	}
	select {
	case <-process.Exited():
	case <-ctx.Done():
		return errors.Join(ctx.Err(), process.Stop())
	}
	if err := process.Err(); err != nil {
		return failure{fmt.Errorf("%s %s: %w", d.terraform.name, arguments[0], err), process.Log}
	}
	return nil
}

// cliConfiguration makes tofu and terraform take the provider from a directory, without `init`.
func cliConfiguration(programs string) string {
	var text strings.Builder
	text.WriteString("provider_installation {\n  dev_overrides {\n")
	for _, host := range providerHosts {
		fmt.Fprintf(&text, "    %q = %q\n", host+"/mandate-io/idv", programs)
	}
	text.WriteString("  }\n  direct {}\n}\n")
	return text.String()
}

// describeOutputs says what the example found out.
func describeOutputs(printed []byte) (string, error) {
	var outputs struct {
		MandateTypes struct {
			Value map[string]string `json:"value"`
		} `json:"mandate_types"`
	}
	if err := json.Unmarshal(printed, &outputs); err != nil {
		return "", fmt.Errorf("reading the outputs: %w", err)
	}
	types := slices.Sorted(maps.Keys(outputs.MandateTypes.Value))
	if len(types) == 0 {
		return "", errors.New("the output mandate_types is missing or empty")
	}
	return "a webhook subscription; mandate types " + strings.Join(types, ", "), nil
}
