package provider_test

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/echoprovider"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/mandate-io/idv/provider"
)

// cli is a Terraform or OpenTofu that the acceptance tests run on.
type cli struct{ name, path string }

// onEachCLI runs a test on the pinned OpenTofu, and on Terraform where one is on PATH.
func onEachCLI(t *testing.T, test func(*testing.T, cli)) {
	t.Helper()
	clis := []cli{{"tofu", tofu(t)}}
	if path, err := exec.LookPath("terraform"); err == nil {
		clis = append(clis, cli{"terraform", path})
	}
	for _, c := range clis {
		t.Run(c.name, func(t *testing.T) { test(t, c) })
	}
}

func tofu(t testing.TB) string {
	t.Helper()
	path, err := filepath.Abs(cmp.Or(os.Getenv("IDV_TOFU"), "../bin/tofu"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%s does not exist; run `make tools` first, or set IDV_TOFU to the path of an OpenTofu", path)
	}
	return path
}

// version is the CLI's own, such as 1.12.6.
func (c cli) version(t *testing.T) string {
	t.Helper()
	var printed struct {
		Version string `json:"terraform_version"`
	}
	output := c.workspaceWithoutProvider(t).must(t, "version", "-json").output
	if err := json.Unmarshal([]byte(output), &printed); err != nil {
		t.Fatal(err)
	}
	return printed.Version
}

// hasIdentity reports whether the CLI supports resource identity, as OpenTofu and Terraform do since version 1.12.
func (c cli) hasIdentity(t *testing.T) bool {
	t.Helper()
	var minor int
	if _, err := fmt.Sscanf(c.version(t), "1.%d.", &minor); err != nil {
		t.Fatal(err)
	}
	return minor >= 12
}

// skipIfShort ends a test that runs a CLI.
func skipIfShort(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: runs OpenTofu or Terraform")
	}
}

// testCase runs steps of terraform-plugin-testing, against the provider in this process.
func (c cli) testCase(t *testing.T, steps ...resource.TestStep) {
	t.Helper()
	skipIfShort(t)
	t.Setenv("TF_ACC", "1")
	t.Setenv("TF_ACC_TERRAFORM_PATH", c.path)
	empty := filepath.Join(t.TempDir(), "cli.tfrc") // instead of the user's own configuration
	write(t, empty, "")
	t.Setenv("TF_CLI_CONFIG_FILE", empty)
	if c.name == "tofu" {
		t.Setenv("TF_ACC_PROVIDER_NAMESPACE", "hashicorp")
		t.Setenv("TF_ACC_PROVIDER_HOST", "registry.opentofu.org")
	}
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: map[string]func() (tfprotov6.ProviderServer, error){
			"idv":  providerserver.NewProtocol6WithError(provider.New("test")()),
			"echo": echoprovider.NewProviderServer(),
		},
		Steps: steps,
	})
}

var build struct {
	once sync.Once
	dir  string
	err  error
}

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "curl" { // see installFakeCurl
		os.Exit(curl(os.Args[1:]))
	}
	if runRole(os.Args) {
		return
	}
	code := m.Run()
	if build.dir != "" {
		_ = os.RemoveAll(build.dir)
	}
	os.Exit(code)
}

// builtProvider returns a directory with the provider's binary. If the tests run with the race detector, so does the
// provider: only a CLI calls it concurrently.
func builtProvider(t testing.TB) string {
	t.Helper()
	skipIfShort(t)
	build.once.Do(func() {
		if build.dir, build.err = os.MkdirTemp("", "terraform-provider-idv"); build.err != nil {
			return
		}
		race := "-race=" + strconv.FormatBool(raceDetector())
		//nolint:noctx // the binary outlives the first test that needs it
		command := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-w", race, "-o", build.dir,
			"../cmd/terraform-provider-idv")
		if output, err := command.CombinedOutput(); err != nil {
			build.err = fmt.Errorf("go build: %w\n%s", err, output)
		}
	})
	if build.err != nil {
		t.Fatal(build.err)
	}
	return build.dir
}

func raceDetector() bool {
	info, _ := debug.ReadBuildInfo()
	return info != nil && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// workspace is a directory with a configuration, in which a CLI runs the provider's binary.
type workspace struct {
	cli   cli
	dir   string
	env   []string
	block string // configures the provider, if the environment does not
	races string // prefix of the files for reports of data races
}

const required = `
terraform {
  required_providers {
    idv = { source = "mandate-io/idv" }
  }
}
`

func (c cli) workspace(t testing.TB, env ...string) *workspace {
	t.Helper()
	config := "TF_CLI_CONFIG_FILE=" + cliConfig(t, builtProvider(t))
	return c.workspaceWithoutProvider(t, append([]string{config}, env...)...)
}

func (c cli) workspaceWithoutProvider(t testing.TB, env ...string) *workspace {
	t.Helper()
	races := filepath.Join(t.TempDir(), "races")
	return &workspace{cli: c, dir: t.TempDir(), races: races, env: append([]string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + t.TempDir(),
		"CHECKPOINT_DISABLE=1",
		"TF_IN_AUTOMATION=1",
		// Without the second that a program with the race detector waits before it exits.
		"GORACE=atexit_sleep_ms=0 log_path='" + races + "'",
	}, env...)}
}

// cliConfig writes a CLI configuration that finds the providers of mandate-io in a directory.
func cliConfig(t testing.TB, dir string) string {
	t.Helper()
	var overrides strings.Builder
	for _, host := range []string{"registry.terraform.io", "registry.opentofu.org"} {
		for _, name := range []string{"idv", "plain"} {
			fmt.Fprintf(&overrides, "    %q = %q\n", host+"/mandate-io/"+name, dir)
		}
	}
	rc := filepath.Join(t.TempDir(), "cli.tfrc")
	write(t, rc, "provider_installation {\n  dev_overrides {\n"+overrides.String()+"  }\n}\n")
	return rc
}

func (w *workspace) configure(t testing.TB, configuration string) {
	t.Helper()
	write(t, filepath.Join(w.dir, "main.tf"), required+w.block+configuration)
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// result is the result of a command, without the CLI's warnings about the development override.
type result struct {
	exit             int
	cpu              time.Duration // of the CLI and the provider
	errors, warnings []diagnostic
	output           string
}

type diagnostic struct{ Severity, Summary, Detail, Address string }

// has reports whether one of the diagnostics contains all the words.
func has(diagnostics []diagnostic, words ...string) bool {
	return slices.ContainsFunc(diagnostics, func(d diagnostic) bool {
		return containsAll(d.Summary+"\n"+d.Detail, words)
	})
}

// run runs a command. Plan, apply, destroy and validate run with -json.
func (w *workspace) run(t testing.TB, arguments ...string) result {
	t.Helper()
	switch arguments[0] {
	case "plan", "apply", "destroy":
		arguments = append([]string{arguments[0], "-json", "-no-color", "-input=false"}, arguments[1:]...)
	case "validate":
		arguments = append(arguments, "-json", "-no-color")
	}
	command := exec.CommandContext(t.Context(), w.cli.path, arguments...)
	command.Dir = w.dir
	command.Env = w.env
	output, err := command.CombinedOutput()
	r := result{
		exit:   command.ProcessState.ExitCode(),
		cpu:    command.ProcessState.UserTime() + command.ProcessState.SystemTime(),
		output: string(output),
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if reports, _ := filepath.Glob(w.races + ".*"); len(reports) > 0 {
		report, err := os.ReadFile(reports[0])
		t.Fatalf("the provider has data races (%v):\n%s", err, report)
	}
	for _, d := range parseDiagnostics(output) {
		switch {
		case d.Severity == "error":
			r.errors = append(r.errors, d)
		case !strings.Contains(d.Summary, "development overrides"):
			r.warnings = append(r.warnings, d)
		}
	}
	return r
}

// parseDiagnostics parses the lines of -json, or the single document of validate.
func parseDiagnostics(output []byte) []diagnostic {
	var whole struct{ Diagnostics []diagnostic }
	if json.Unmarshal(output, &whole) == nil && whole.Diagnostics != nil {
		return whole.Diagnostics
	}
	var diagnostics []diagnostic
	lines := bufio.NewScanner(bytes.NewReader(output))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct{ Diagnostic *diagnostic }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Diagnostic != nil {
			diagnostics = append(diagnostics, *line.Diagnostic)
		}
	}
	return diagnostics
}

// must runs a command and fails the test if the command fails.
func (w *workspace) must(t testing.TB, arguments ...string) result {
	t.Helper()
	r := w.run(t, arguments...)
	if r.exit != 0 {
		t.Fatalf("%s %v: exit %d\n%s", w.cli.name, arguments, r.exit, r.output)
	}
	return r
}

// mustPlanNothing fails the test if a plan has changes.
func (w *workspace) mustPlanNothing(t *testing.T) result {
	t.Helper()
	r := w.run(t, "plan", "-detailed-exitcode")
	if r.exit != 0 {
		t.Fatalf("%s: the plan is not empty (exit %d)\n%s", w.cli.name, r.exit, r.output)
	}
	return r
}

// state returns the state file; "" if there is none.
func (w *workspace) state(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(w.dir, "terraform.tfstate"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(raw)
}
