package architecture

import (
	"os/exec"
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
	recipe := regexp.MustCompile(`^tools/build\.sh "[^"]+" bin/\S+ tools/\w+ [\w./-]+ ` +
		`-trimpath -ldflags="[^"]*"( -tags=[\w,]+)?\n$`)
	recipes := 0
	for line := range strings.Lines(string(output)) {
		if !strings.HasPrefix(line, "tools/build.sh") {
			continue
		}
		recipes++
		if !recipe.MatchString(line) {
			t.Errorf("%s: want one package and its flags: %s", makefile, line)
		}
	}
	if want := strings.Count(string(textFiles(t)[makefile]), "$(eval $(call tool,"); recipes != want || want == 0 {
		t.Errorf("make has %d recipes of tools, want one for each of the %d of %s", recipes, want, makefile)
	}
}
