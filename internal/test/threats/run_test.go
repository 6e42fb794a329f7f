package threats

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mandate-io/idv/internal/test/await"
	"github.com/mandate-io/idv/internal/test/guards"
	"github.com/mandate-io/idv/internal/test/testenv"
)

// minTimeout of a test without a control, which may wait for what does not come.
const minTimeout = 90 * time.Second

// runner runs tests in a process for each control that is off.
type runner struct {
	overlay string
	dir     string // of the binaries

	binaries map[string]func() (binary, error) // by package
}

// binary has the tests of a package.
type binary struct {
	path string
	took map[string]time.Duration // by each test with all controls on, on this machine today
}

// timeout of a test without a control: three times what it takes with all of them.
func (b *binary) timeout(test string) time.Duration {
	name, _, _ := strings.Cut(test, "/")
	return max(minTimeout, 3*b.took[name])
}

// newRunner writes the sources with a switch at every control that is in one.
func newRunner(t *testing.T) *runner {
	t.Helper()
	all := map[string]guards.Guard{}
	for _, of := range controls {
		for i := range of {
			c := &of[i]
			if c.guard != "" || c.inManifest() {
				continue
			}
			g := guards.Guard{Why: c.off, File: c.file, Old: c.old, Off: c.new, CaughtBy: c.test}
			if before, ok := all[c.name()]; ok && before != g {
				t.Fatalf("two controls are called %q", c.name())
			}
			if !strings.Contains(c.new, "ON") {
				t.Fatalf("%q has no switch", c.name())
			}
			all[c.name()] = g
		}
	}
	r := &runner{
		overlay: guards.Overlay(t, root, all), dir: t.TempDir(), binaries: map[string]func() (binary, error){},
	}
	if *withGuards {
		r.build(t)
	}
	return r
}

// without runs the test of a control without it, and prints what it says.
func (r *runner) without(t *testing.T, threat string, c *control) {
	t.Helper()
	if c.guard != "" {
		t.Logf("%s: without %q, %s of %s fails, as its own test of guards shows", threat, c.guard, testOfGuard(t, c), c.in)
		return
	}
	t.Run(c.name(), func(t *testing.T) {
		t.Parallel()
		var output []byte
		var err error
		if c.inManifest() {
			output, err = r.inChangedTree(t, c)
		} else {
			output, err = r.test(t, c, filepath.Join(root, c.in), append(r.env(), "GUARD_OFF="+c.name())...)
		}
		switch {
		case err == nil:
			t.Fatalf("nothing notices that %s, not even %s", c.off, c.test)
		case !failed(c.test).Match(output) || strings.Contains(string(output), "panic: test timed out"):
			t.Fatalf("%s: %s does not fail, but its process does:\n%s", c.off, c.test, output)
		}
		t.Logf("%s: if %s, %s fails: %.200s", threat, c.off, c.test, guards.Complaint(output))
	})
}

// env has a test take the operator with the switches, and build other programs with them, too.
func (r *runner) env() []string {
	return []string{testenv.Programs + "=" + r.dir, "GOFLAGS=" + os.Getenv("GOFLAGS") + " -overlay=" + r.overlay}
}

// test runs the test of a control.
func (r *runner) test(t *testing.T, c *control, directory string, env ...string) ([]byte, error) {
	t.Helper()
	tests, err := r.binaries[c.in]()
	if err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(await.Context(t), tests.path, "-test.run", guards.Pattern(c.test), "-test.v",
		"-test.failfast", "-test.timeout="+tests.timeout(c.test).String())
	run.Dir = directory
	run.Env = append(os.Environ(), env...)
	return run.CombinedOutput()
}

// build builds the tests of all packages, and the operator, which some of them start.
func (r *runner) build(t *testing.T) {
	t.Helper()
	tests := map[string][]string{} // by package
	for _, of := range controls {
		for i := range of {
			if c := &of[i]; c.guard == "" {
				test, _, _ := strings.Cut(c.test, "/")
				tests[c.in] = append(tests[c.in], test)
			}
		}
	}
	var packages []string
	for in, named := range tests {
		packages = append(packages, "./"+in)
		slices.Sort(named)
		pattern := "^(" + strings.Join(slices.Compact(named), "|") + ")$"
		r.binaries[in] = sync.OnceValues(func() (binary, error) { return r.baseline(await.Context(t), in, pattern) })
	}
	guards.Build(t, r.overlay, root, r.dir, packages...)
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-ldflags=-w", "-overlay", r.overlay,
		"-o", r.dir+"/", "./cmd/mandate-operator")
	build.Dir = root
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the operator with switches: %v\n%s", err, output)
	}
}

// baseline runs the named tests of a package with all controls on: they must pass.
func (r *runner) baseline(ctx context.Context, in, pattern string) (binary, error) {
	tests := filepath.Join(r.dir, filepath.Base(in)+".test")
	run := exec.CommandContext(ctx, tests, "-test.run", pattern, "-test.v")
	run.Dir = filepath.Join(root, in)
	run.Env = append(os.Environ(), r.env()...)
	output, err := run.CombinedOutput()
	if err != nil {
		return binary{}, fmt.Errorf("%s fails with all controls on: %w\n%s", in, err, output)
	}
	took := map[string]time.Duration{}
	for _, test := range passed.FindAllSubmatch(output, -1) {
		if took[string(test[1])], err = time.ParseDuration(string(test[2])); err != nil {
			return binary{}, err
		}
	}
	return binary{path: tests, took: took}, nil
}

// passed matches the lines that say how long a test took that passed.
var passed = regexp.MustCompile(`(?m)^--- PASS: (\w+) \(([0-9.]+s)\)$`)

// inChangedTree runs the test of a control in a copy of the sources that lacks the control.
func (r *runner) inChangedTree(t *testing.T, c *control) ([]byte, error) {
	t.Helper()
	tree := t.TempDir()
	copyTree(t, tree)
	changed := strings.Replace(read(t, c.file), c.old, c.new, 1)
	if err := os.WriteFile(filepath.Join(tree, c.file), []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	return r.test(t, c, filepath.Join(tree, c.in))
}

// copyTree copies the sources, and not what was built of them.
func copyTree(t *testing.T, tree string) {
	t.Helper()
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		relative, relErr := filepath.Rel(root, name)
		if failed := errors.Join(err, relErr); failed != nil {
			return failed
		}
		target := filepath.Join(tree, relative)
		switch {
		case relative == "bin" || relative == ".git":
			return skip(entry)
		case entry.IsDir():
			return os.MkdirAll(target, 0o700)
		case !entry.Type().IsRegular():
			return nil
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(target, content, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func skip(entry fs.DirEntry) error {
	if entry.IsDir() {
		return fs.SkipDir
	}
	return nil
}
