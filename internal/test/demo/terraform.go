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

// terraform is the tofu or terraform on PATH, or else the tofu in bin.
type terraform struct {
	name, path string
}

// configuration is the directory of the example to apply.
const configuration = "examples/terraform/notifications"

// providerHosts are the default registries of tofu and terraform.
var providerHosts = []string{"registry.opentofu.org", "registry.terraform.io"}

func (d *demo) findTerraform() (terraform, error) {
	built := filepath.Join(d.Root, "bin")
	for _, name := range []string{"tofu", "terraform"} {
		// `make demo` appends bin to PATH.
		if path, err := exec.LookPath(name); err == nil && filepath.Dir(path) != built {
			return terraform{name, path}, nil
		}
	}
	path, err := exec.LookPath(filepath.Join(built, "tofu"))
	if err != nil {
		return terraform{}, fmt.Errorf("tofu and terraform are missing; run `make demo`, which builds tofu: %w", err)
	}
	return terraform{"tofu", path}, nil
}

// applyTerraform applies the example in its own directory, with the built provider and without a registry.
func (d *demo) applyTerraform(ctx context.Context) (string, error) {
	dir := filepath.Join(d.Dir, "terraform")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(d.Root, configuration))); err != nil {
		return "", err
	}
	settings := filepath.Join(d.Dir, "terraform.tfrc")
	if err := os.WriteFile(settings, []byte(cliConfiguration(d.programs)), 0o600); err != nil {
		return "", err
	}
	env := environ(
		"TF_CLI_CONFIG_FILE="+settings, "TF_IN_AUTOMATION=1", "CHECKPOINT_DISABLE=1",
		"TF_VAR_receiver_url="+d.receiverURL, "TF_VAR_receiver_token="+d.token,
		"IDV_BASE_URL="+d.sandboxURL, "IDV_USERNAME="+sandbox.DefaultUsername, "IDV_PASSWORD="+sandbox.DefaultPassword,
	)
	apply := []string{"apply", "-auto-approve", "-input=false", "-no-color"}
	if err := d.runTerraform(ctx, dir, env, "terraform", apply...); err != nil {
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

// runTerraform runs tofu or terraform, and stops it and its provider if ctx is done.
func (d *demo) runTerraform(ctx context.Context, dir string, env []string, log string, arguments ...string) error {
	// Stop lets it stop its provider, which the kill of a context would not.
	command := exec.Command(d.terraform.path, arguments...) //nolint:noctx,gosec // stopped below
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

// cliConfiguration makes tofu and terraform use the provider in a directory, without `init`.
func cliConfiguration(programs string) string {
	var text strings.Builder
	text.WriteString("provider_installation {\n  dev_overrides {\n")
	for _, host := range providerHosts {
		fmt.Fprintf(&text, "    %q = %q\n", host+"/mandate-io/idv", programs)
	}
	text.WriteString("  }\n  direct {}\n}\n")
	return text.String()
}

// describeOutputs describes the outputs of the example.
func describeOutputs(printed []byte) (string, error) {
	var outputs struct {
		MandateTypes struct {
			Value map[string]string `json:"value"`
		} `json:"mandate_types"`
	}
	if err := json.Unmarshal(printed, &outputs); err != nil {
		return "", fmt.Errorf("decode the outputs: %w", err)
	}
	types := slices.Sorted(maps.Keys(outputs.MandateTypes.Value))
	if len(types) == 0 {
		return "", errors.New("the output mandate_types is missing or empty")
	}
	return "the operator is subscribed; mandate types " + strings.Join(types, ", "), nil
}
