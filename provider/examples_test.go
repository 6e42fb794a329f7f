package provider_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const examples = "../examples/terraform"

func TestExamplesAreValid(t *testing.T) {
	files, err := filepath.Glob(examples + "/*/*.tf")
	if err != nil {
		t.Fatal(err)
	}
	deeper, err := filepath.Glob(examples + "/*/*/*.tf")
	if err != nil {
		t.Fatal(err)
	}
	onEachCLI(t, func(t *testing.T, c cli) {
		for _, file := range append(files, deeper...) {
			t.Run(strings.TrimPrefix(file, examples+"/"), func(t *testing.T) {
				w := c.workspace(t)
				example := read(t, file)
				if strings.HasPrefix(filepath.Base(file), "import-") {
					if strings.Contains(example, "identity") && !c.hasIdentity(t) {
						return // nothing to validate: this version has no identities
					}
					example += read(t, filepath.Join(filepath.Dir(file), "resource.tf"))
				}
				if !strings.Contains(example, "required_providers") {
					example = required + example
				}
				write(t, filepath.Join(w.dir, "main.tf"), example)
				if r := w.run(t, "validate"); r.exit != 0 {
					t.Errorf("not valid: %+v", r.errors)
				}
			})
		}
	})
}

func TestGettingStarted(t *testing.T) {
	s := newService(t)
	onEachCLI(t, func(t *testing.T, c cli) {
		w := c.workspace(t, s.environment()...)
		write(t, filepath.Join(w.dir, "main.tf"), read(t, examples+"/getting-started/main.tf"))
		w.must(t, "apply", "-auto-approve")
		if output := w.must(t, "output", "-json").output; !strings.Contains(output, `"kyc"`) || !strings.Contains(output, "127.0.0.1:8481") {
			t.Errorf("the outputs lack something: %s", output)
		}
		w.mustPlanNothing(t)
		w.must(t, "destroy", "-auto-approve")
	})
}

func read(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
