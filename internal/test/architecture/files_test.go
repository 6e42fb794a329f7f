package architecture

import (
	"bytes"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// maxLines is where a file stops having one concern.
const maxLines = 500

// mayBeLong names files that may be longer, by path, by base name or by the end of the name, each with the reason.
var mayBeLong = map[string]string{
	"go.sum":                "the go command writes it",
	"*.golden":              "a test compares it as a whole",
	"dashboard.json":        "Grafana's format has a line for each member",
	"dashboard_owners.json": "Grafana's format has a line for each member",
	"docs/conditions.md":    "messages of conditions link to it: it has a section for each reason",
}

func TestFilesStayShort(t *testing.T) {
	for name, content := range inOrder(textFiles(t)) {
		lines := bytes.Count(content, []byte("\n"))
		listed := mayBeLong[name] != "" || mayBeLong[path.Base(name)] != "" || mayBeLong["*"+path.Ext(name)] != ""
		if lines > maxLines && !listed && !isGenerated(content) {
			t.Errorf("%s has %d lines, more than %d: split it by concern", name, lines, maxLines)
		}
	}
}

// minLines is where a Go file is long enough to be found by its name instead of in the file of its only user.
const minLines = 25

// mayBeShort names Go files that may be shorter, by pattern, each with the reason.
var mayBeShort = map[string]string{
	"*_linux.go":               "built on one system only",
	"*_other.go":               "built on the other systems",
	"doc.go":                   "the comment of a package that has tests only, or several files of one rank",
	"main.go":                  "a program",
	"zz_generated.deepcopy.go": "controller-gen writes it",
}

func TestFilesAreLongEnough(t *testing.T) {
	patterns := slices.Sorted(maps.Keys(mayBeShort))
	for name, content := range inOrder(textFiles(t)) {
		lines := bytes.Count(content, []byte("\n"))
		if strings.HasSuffix(name, ".go") && lines < minLines && !matchesAny(patterns, name) {
			t.Errorf("%s has %d lines, fewer than %d: put it where it is used", name, lines, minLines)
		}
	}
}

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	documented := map[string]bool{}
	for name, content := range textFiles(t) {
		dir := path.Dir(name)
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || within(dir, "tools") {
			continue
		}
		if built, err := build.Default.MatchFile(filepath.Join(root, dir), path.Base(name)); err != nil || !built {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, content, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		documented[dir] = documented[dir] || saysSomething(file.Doc)
	}
	if len(documented) == 0 {
		t.Fatal("no package was found")
	}
	for dir, ok := range documented {
		if !ok {
			t.Errorf("the package in %s has no doc comment", dir)
		}
	}
}

// saysSomething is false for a comment of directives only.
func saysSomething(doc *ast.CommentGroup) bool {
	return strings.TrimSpace(doc.Text()) != ""
}

// machinePath matches a directory of one person's or one build machine's: a home.
var machinePath = regexp.MustCompile(`(^|[^\w.$})-])(/(home|Users)/[\w.-]+|/root)/`)

func TestNoPathOfAMachine(t *testing.T) {
	for name, content := range inOrder(textFiles(t)) {
		if found := machinePath.Find(content); found != nil {
			t.Errorf("%s holds %q, a path of one machine", name, found)
		}
	}
}

// conflict matches what a merge leaves in a file where it needs a person.
var conflict = regexp.MustCompile(`(?m)^(<{7}|>{7}|\|{7})( .*)?$`)

func TestNoConflictIsLeft(t *testing.T) {
	for name, content := range inOrder(textFiles(t)) {
		if found := conflict.Find(content); found != nil {
			t.Errorf("%s holds %q, of a merge that nobody finished", name, found)
		}
	}
}

func TestMachinePath(t *testing.T) {
	for text, want := range map[string]bool{
		"cd /home/" + "ada/src":               true,
		`"/Users/` + `ada/go"`:                true,
		"GOCACHE=/root" + "/.cache":           true,
		"https://example.com/home/" + "page/": false,
		"$(CURDIR)/root" + "/x":               false,
		"/tmp/x":                              false,
		"the root/branch":                     false,
	} {
		if got := machinePath.MatchString(text); got != want {
			t.Errorf("%q: %t, want %t", text, got, want)
		}
	}
}
