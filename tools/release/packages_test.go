// Package release pins the tools of a release, and tests what make dist packages.
package release

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

var directory = filepath.Join(root, "dist", "release")

// The registries of Terraform and OpenTofu look for these names, and refuse a release without one of them.
func TestRegistryFiles(t *testing.T) {
	provider := "terraform-provider-idv_" + stamp(t, "VERSION")
	var manifest struct {
		Version  int
		Metadata struct {
			ProtocolVersions []string `json:"protocol_versions"`
		}
	}
	decode(t, provider+"_manifest.json", &manifest)
	if manifest.Version != 1 || !slices.Equal(manifest.Metadata.ProtocolVersions, []string{"6.0"}) {
		t.Errorf("the manifest says %+v", manifest)
	}
	sums := checksums(t, provider+"_SHA256SUMS")
	names := []string{provider + "_manifest.json"}
	for _, platform := range []string{"linux_amd64", "linux_arm64"} {
		name := provider + "_" + platform + ".zip"
		names = append(names, name)
		program := "terraform-provider-idv_v" + stamp(t, "VERSION")
		if got := zipped(t, name); !slices.Equal(got, []string{"LICENSE", program}) {
			t.Errorf("%s holds %q, want LICENSE and %s", name, got, program)
		}
	}
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(directory, name))
		check(t, err)
		sum := sha256.Sum256(content)
		if sums[name] != hex.EncodeToString(sum[:]) {
			t.Errorf("SHA256SUMS has %q for %s, which is wrong", sums[name], name)
		}
	}
}

// What a person unpacks answers --version, and has a bill of materials that names what is in it.
func TestPrograms(t *testing.T) {
	for program, library := range map[string]string{
		"mandate-operator": "sigs.k8s.io/controller-runtime", "idv-sandbox": "github.com/spf13/pflag",
		"kubectl-mandate": "k8s.io/cli-runtime",
	} {
		unpacked := t.TempDir()
		archive := program + "_v" + stamp(t, "VERSION") + "_linux_" + runtime.GOARCH + ".tar.gz"
		untar(t, archive, unpacked)
		output, err := exec.CommandContext(t.Context(), filepath.Join(unpacked, program), "--version").CombinedOutput()
		want := program + " " + stamp(t, "VERSION") + " (commit " + stamp(t, "COMMIT")
		if err != nil || !strings.HasPrefix(string(output), want) {
			t.Errorf("%s --version: %v, %q, want %q", program, err, output, want)
		}
		checkBill(t, program, program+"_linux_"+runtime.GOARCH, library)
	}
	provider := "terraform-provider-idv_v" + stamp(t, "VERSION")
	checkBill(t, "terraform-provider-idv", provider+"_linux_arm64", "github.com/hashicorp/terraform-plugin-framework")
}

func checkBill(t *testing.T, program, name, library string) {
	t.Helper()
	type component struct{ Name, Version, PURL string }
	var bill struct {
		BOMFormat, SpecVersion string
		Metadata               struct{ Component component }
		Components             []component
	}
	decode(t, name+".cdx.json", &bill)
	want := component{Name: program, Version: stamp(t, "VERSION")}
	if bill.BOMFormat != "CycloneDX" || bill.SpecVersion == "" || bill.Metadata.Component != want {
		t.Errorf("%s: %s %s of %+v", name, bill.BOMFormat, bill.SpecVersion, bill.Metadata.Component)
	}
	for _, wanted := range []string{library, "std"} {
		if !slices.ContainsFunc(bill.Components, func(c component) bool {
			return c.Name == wanted && c.Version != "" && strings.HasPrefix(c.PURL, "pkg:golang/"+wanted+"@")
		}) {
			t.Errorf("the bill of materials of %s lacks %s", name, wanted)
		}
	}
}

func stamp(t *testing.T, variable string) string {
	t.Helper()
	value := os.Getenv(variable)
	if value == "" {
		t.Fatalf("the environment has no %s: run this test with make test-dist", variable)
	}
	return value
}

func decode(t *testing.T, name string, into any) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(directory, name))
	check(t, err)
	if err := json.Unmarshal(content, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func checksums(t *testing.T, name string) map[string]string {
	t.Helper()
	file, err := os.Open(filepath.Join(directory, name))
	check(t, err)
	defer file.Close()
	sums := map[string]string{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		sum, name, _ := strings.Cut(lines.Text(), "  ")
		sums[name] = sum
	}
	return sums
}

func zipped(t *testing.T, name string) []string {
	t.Helper()
	archive, err := zip.OpenReader(filepath.Join(directory, name))
	check(t, err)
	defer archive.Close()
	var names []string
	for _, file := range archive.File {
		names = append(names, file.Name)
		if strings.HasPrefix(file.Name, "terraform-provider") && file.Mode().Perm()&0o111 == 0 {
			t.Errorf("%s: %s is not executable", name, file.Name)
		}
	}
	slices.Sort(names)
	return names
}

func untar(t *testing.T, name, into string) {
	t.Helper()
	file, err := os.Open(filepath.Join(directory, name))
	check(t, err)
	defer file.Close()
	inflated, err := gzip.NewReader(file)
	check(t, err)
	for files := tar.NewReader(inflated); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		check(t, err)
		content, err := io.ReadAll(files)
		check(t, err)
		mode := header.FileInfo().Mode().Perm()
		check(t, os.WriteFile(filepath.Join(into, path.Base(header.Name)), content, mode))
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
