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
		"tools", "e2e-tools", "test-gitops", "test-rules")
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
