package architecture

import (
	"bytes"
	"os/exec"
	"path"
	"regexp"
	"strings"
	"testing"
)

// A tool that bin/ has already is not built again, so a wrong recipe shows on new machines only.
func TestRecipesOfTools(t *testing.T) {
	const makefile = "tools/tools.mk"
	dryRun := exec.CommandContext(t.Context(), "make", "--no-print-directory", "--dry-run", "--always-make",
		"tools", "e2e-tools", "test-gitops", "test-rules", "vulnerabilities")
	dryRun.Dir = root
	output, err := dryRun.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", dryRun, err, output)
	}
	recipe := regexp.MustCompile(`^tools/build\.sh "[^"]+" bin/\S+ (tools/\w+) ([\w./-]+) ` +
		`-trimpath -ldflags="[^"]*"( -tags=[\w,]+)?\n$`)
	files := textFiles(t)
	recipes := 0
	for line := range strings.Lines(string(output)) {
		if !strings.HasPrefix(line, "tools/build.sh") {
			continue
		}
		recipes++
		match := recipe.FindStringSubmatch(line)
		if match == nil {
			t.Errorf("%s: want one package and its flags: %s", makefile, line)
			continue
		}
		directory, pkg := match[1], match[2]
		if pkg == "." && files[directory+"/main.go"] == nil || pkg != "." && !pins(files[directory+"/go.mod"], pkg) {
			t.Errorf("%s: %s has no package %s: %s", makefile, directory, pkg, line)
		}
	}
	if want := strings.Count(string(files[makefile]), "$(eval $(call tool,"); recipes != want || want == 0 {
		t.Errorf("make has %d recipes of tools, want one for each of the %d of %s", recipes, want, makefile)
	}
}

// pins reports whether a go.mod requires the module of a package.
func pins(goMod []byte, pkg string) bool {
	for module := pkg; module != "."; module = path.Dir(module) {
		if bytes.Contains(goMod, []byte("\t"+module+" v")) {
			return true
		}
	}
	return false
}

// TestUpdateRunsEveryTestThatWrites holds that one command writes all that is made of other files.
func TestUpdateRunsEveryTestThatWrites(t *testing.T) {
	const script = "tools/update.sh"
	files := textFiles(t)
	run := map[string]string{}
	for _, line := range regexp.MustCompile(`(?m)^\t(\S+) (Test\S+)$`).FindAllStringSubmatch(string(files[script]), -1) {
		run[line[1]] = line[2]
	}
	found := map[string]string{} // the tests of each package with such a flag
	for name, content := range files {
		if strings.HasSuffix(name, "_test.go") && bytes.Contains(content, []byte(`= flag.Bool("update", `)) {
			found[path.Dir(name)] = testsOf(files, path.Dir(name))
		}
	}
	for dir, tests := range found {
		if run[dir] == "" {
			t.Errorf("%s does not run the tests of %s that write", script, dir)
		}
		for test := range strings.SplitSeq(run[dir], "|") {
			if !strings.Contains(tests, "\nfunc "+test+"(") {
				t.Errorf("%s runs %s, which %s does not have", script, test, dir)
			}
		}
	}
	if len(run) != len(found) || len(found) < 2 {
		t.Errorf("%s runs the tests of %d packages, and %d have the flag -update", script, len(run), len(found))
	}
}

// testsOf returns the text of all test files of a directory.
func testsOf(files map[string][]byte, dir string) string {
	var text strings.Builder
	for name, content := range files {
		if path.Dir(name) == dir && strings.HasSuffix(name, "_test.go") {
			text.Write(content)
		}
	}
	return text.String()
}

// byPerson are the Go modules that no bot updates, each with the reason.
var byPerson = map[string]string{
	"tools/kubernetes": "the replace lines of the staging modules change together with k8s.io/kubernetes",
	"tools/opentofu":   "the fork of hcl is the one of OpenTofu's own go.mod",
}

// TestEveryModuleIsUpdated holds that a bot proposes new versions for each Go module, and nothing for others.
func TestEveryModuleIsUpdated(t *testing.T) {
	const config = ".github/dependabot.yml"
	files := textFiles(t)
	listed := map[string]int{}
	for _, line := range regexp.MustCompile(`(?m)^ {2}- /(\S*)$`).FindAllStringSubmatch(string(files[config]), -1) {
		listed[path.Clean(line[1])]++
	}
	for name := range files {
		if dir := path.Dir(name); path.Base(name) == "go.mod" && byPerson[dir] == "" {
			if listed[dir] != 1 {
				t.Errorf("%s has the module %s %d times, want once", config, dir, listed[dir])
			}
			delete(listed, dir)
		}
	}
	for dir := range listed {
		t.Errorf("%s has %s, which is no module that a bot may update", config, dir)
	}
}

// TestMinorsBeginWithTheOldest holds that make minors tests the oldest Kubernetes that the charts and the pages name.
func TestMinorsBeginWithTheOldest(t *testing.T) {
	files := textFiles(t)
	oldest := regexp.MustCompile(`(?m)^MINORS \?= (\d+\.\d+)\.`).FindStringSubmatch(string(files["Makefile"]))
	if oldest == nil {
		t.Fatal("Makefile has no MINORS")
	}
	kubeVersion, sentence := `kubeVersion: ">=`+oldest[1]+`.0-0"`, "Kubernetes "+oldest[1]+" or later"
	for name, want := range map[string]string{
		"config/chart/mandate-operator/Chart.yaml":      kubeVersion,
		"config/chart/mandate-operator-crds/Chart.yaml": kubeVersion,
		"README.md":       sentence,
		"docs/install.md": sentence,
	} {
		if !bytes.Contains(files[name], []byte(want)) {
			t.Errorf("%s does not say %s", name, want)
		}
	}
}
