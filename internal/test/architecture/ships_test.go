package architecture

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// forTests has what only tests and development use. Beside it, internal shows what ships.
const forTests = "internal/test"

// TestWhatShipsImportsNothingOfTests holds for every layer, whatever it may import otherwise.
func TestWhatShipsImportsNothingOfTests(t *testing.T) {
	for _, e := range imports(t) {
		if shipsTests(e) {
			t.Errorf("%s imports %s, which only tests and development use", e.file, e.target())
		}
	}
}

// shipsTests reports whether a file that ships imports what only tests and development use.
func shipsTests(e edge) bool {
	return within(e.target(), forTests) && !within(e.file, forTests) && !strings.HasSuffix(e.file, "_test.go")
}

func TestShipsTests(t *testing.T) {
	const testEnvironment = module + "/internal/test/testenv"
	for e, want := range map[edge]bool{
		{"cmd/mandate-operator/main.go", testEnvironment}:          true,
		{"operator/mandate/x.go", module + "/internal/test/await"}: true,
		{"internal/sandbox/x.go", testEnvironment}:                 true,
		{"operator/x_test.go", testEnvironment}:                    false,
		{"internal/test/demo/main.go", testEnvironment}:            false,
		{"operator/x.go", module + "/internal/testing"}:            false,
		{"operator/x.go", "example.com/internal/test/testenv"}:     false,
	} {
		if got := shipsTests(e); got != want {
			t.Errorf("%s importing %s: %t, want %t", e.file, e.path, got, want)
		}
	}
}

func TestInternalShowsWhatShips(t *testing.T) {
	packages := map[string]bool{}
	for name := range textFiles(t) {
		dir := path.Dir(name)
		if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && within(dir, "internal") {
			packages[dir] = true
		}
	}
	if !packages["internal/client"] || !packages[forTests+"/testenv"] {
		t.Fatalf("%d packages were found, without the client or what starts the components", len(packages))
	}
	imported := importedBy(t)
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		if !within(dir, forTests) && !inACommand(imported, dir) {
			t.Errorf("no command imports %s: its place is %s", dir, forTests)
		}
	}
}

// inACommand reports whether one of the commands that ship imports a package, directly or not.
func inACommand(imported map[string][]string, pkg string) bool {
	for dir := range imported {
		if path.Dir(dir) == "cmd" && reaches(imported, dir, pkg, map[string]bool{}) {
			return true
		}
	}
	return false
}
