package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"strings"
	"testing"
)

// net/http writes bytes of responses, which may be personal data, to the standard log. So a command that has the client
// of the service in it filters that log before it does anything else.
func TestCommandsRedactTheStandardLog(t *testing.T) {
	imported := importedBy(t)
	files := textFiles(t)
	found := 0
	for dir := range imported {
		if path.Dir(dir) != "cmd" || !reaches(imported, dir, "internal/client", map[string]bool{}) {
			continue
		}
		found++
		if first := firstStatement(t, dir+"/main.go", files[dir+"/main.go"]); first != "client.RedactStandardLog()" {
			t.Errorf("main of %s begins with %q, want client.RedactStandardLog()", dir, first)
		}
	}
	if found < 2 {
		t.Errorf("%d commands have the client in them, want 2 at least", found)
	}
}

// importedBy gives what each directory imports of ours, but for its tests.
func importedBy(t *testing.T) map[string][]string {
	t.Helper()
	imported := map[string][]string{}
	for _, e := range imports(t) {
		if to, ours := strings.CutPrefix(e.path, module+"/"); ours && !strings.HasSuffix(e.file, "_test.go") {
			imported[path.Dir(e.file)] = append(imported[path.Dir(e.file)], to)
		}
	}
	return imported
}

// reaches reports whether a package imports another one, directly or not.
func reaches(imported map[string][]string, from, to string, seen map[string]bool) bool {
	if from == to {
		return true
	}
	seen[from] = true
	for _, next := range imported[from] {
		if !seen[next] && reaches(imported, next, to, seen) {
			return true
		}
	}
	return false
}

func firstStatement(t *testing.T, name string, content []byte) string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, content, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, declaration := range file.Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if !ok || function.Name.Name != "main" {
			continue
		}
		if first, ok := function.Body.List[0].(*ast.ExprStmt); ok {
			return types.ExprString(first.X)
		}
	}
	return ""
}
