package release

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// The provider installs as from a registry: by init from a mirror, with checksums of two platforms in the lock file,
// and without dev_overrides. The example of the guide then makes a subscription at the sandbox.
func TestInstall(t *testing.T) {
	mirror, err := filepath.Abs(filepath.Join(root, "dist", "mirror"))
	check(t, err)
	for _, cli := range []struct{ name, program, host string }{
		{"OpenTofu", os.Getenv("TOFU"), "registry.opentofu.org"},
		{"Terraform", "terraform", "registry.terraform.io"},
	} {
		t.Run(cli.name, func(t *testing.T) {
			program, err := exec.LookPath(cli.program)
			if err != nil {
				t.Skipf("%s is not on this machine, so it did not install the provider", cli.name)
			}
			c := workspace(t, program, mirror)
			c.run("providers", "lock", "-fs-mirror="+mirror, "-platform=linux_amd64", "-platform=linux_arm64")
			c.checkLock(cli.host)
			c.run("init", "-lockfile=readonly", "-input=false")
			c.run("plan", "-input=false", "-out=plan")
			c.run("apply", "-input=false", "plan")
			c.run("plan", "-input=false", "-detailed-exitcode") // fails if something is left to do
			if got := c.run("version"); !strings.Contains(got, cli.host+"/mandate-io/idv v"+stamp(t, "VERSION")) {
				t.Errorf("it runs another provider:\n%s", got)
			}
		})
	}
}

type client struct {
	*testing.T
	program, directory string
	environment        []string
}

func workspace(t *testing.T, program, mirror string) client {
	t.Helper()
	c := client{T: t, program: program, directory: t.TempDir()}
	example, err := os.ReadFile(filepath.Join(root, "examples", "terraform", "getting-started", "main.tf"))
	check(t, err)
	check(t, os.WriteFile(filepath.Join(c.directory, "main.tf"), example, 0o600))
	configuration := filepath.Join(c.directory, "cli.tfrc")
	check(t, os.WriteFile(configuration, documented(t, mirror), 0o600))
	c.environment = slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return strings.HasPrefix(variable, "TF_") || strings.HasPrefix(variable, "IDV_")
	})
	c.environment = append(c.environment, "TF_CLI_CONFIG_FILE="+configuration, "CHECKPOINT_DISABLE=1",
		"IDV_BASE_URL="+sandbox(t), "IDV_USERNAME=sandbox", "IDV_PASSWORD=sandbox-password")
	return c
}

// documented is the configuration of docs/install.md.
func documented(t *testing.T, mirror string) []byte {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root, "docs", "install.md"))
	check(t, err)
	_, block, _ := strings.Cut(string(page), "```hcl\n   provider_installation {")
	block, _, _ = strings.Cut(block, "```")
	const path = "/path/to/mirror"
	if !strings.Contains(block, path) {
		t.Fatalf("docs/install.md configures no mirror at %s: %s", path, block)
	}
	return []byte("provider_installation {" + strings.ReplaceAll(block, path, mirror))
}

func (c client) run(args ...string) string {
	c.Helper()
	command := exec.CommandContext(c.Context(), c.program, args...)
	command.Dir, command.Env = c.directory, c.environment
	output, err := command.CombinedOutput()
	if err != nil {
		c.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, output)
	}
	return string(output)
}

// checkLock wants a checksum of each platform: h1 is that of the files, zh that of a zip.
func (c client) checkLock(host string) {
	c.Helper()
	lock, err := os.ReadFile(filepath.Join(c.directory, ".terraform.lock.hcl"))
	check(c.T, err)
	sums := regexp.MustCompile(`"h1:[^"]+"`).FindAll(lock, -1)
	if !bytes.Contains(lock, []byte(`provider "`+host+`/mandate-io/idv"`)) || len(sums) != 2 {
		c.Errorf("the lock file has %d checksums of platforms, want 2:\n%s", len(sums), lock)
	}
}

// sandbox starts the one that was packaged, and returns its URL.
func sandbox(t *testing.T) string {
	t.Helper()
	directory := t.TempDir()
	untar(t, "idv-sandbox_v"+stamp(t, "VERSION")+"_linux_"+runtime.GOARCH+".tar.gz", directory)
	// Without the test's context, which ends before the cleanup that stops it.
	command := exec.CommandContext(context.Background(), filepath.Join(directory, "idv-sandbox"), "--listen=127.0.0.1:0")
	output, err := command.StdoutPipe()
	check(t, err)
	check(t, command.Start())
	t.Cleanup(func() {
		if err := errors.Join(command.Process.Signal(syscall.SIGTERM), command.Wait()); err != nil {
			t.Error(err)
		}
	})
	line, err := bufio.NewReader(output).ReadString('\n')
	check(t, err)
	url, found := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if !found {
		t.Fatalf("the first line is %q", line)
	}
	return url
}
