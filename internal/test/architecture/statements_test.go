package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// maxAssignments is how many values one statement assigns and a reader still sees which goes where. The results of one
// function count as one value.
const maxAssignments = 2

func TestStatements(t *testing.T) {
	for name, content := range inOrder(textFiles(t)) {
		if !strings.HasSuffix(name, ".go") || isGenerated(content) {
			continue
		}
		for _, problem := range statementProblems(t, name, content) {
			t.Error(problem)
		}
	}
}

// statementProblems finds statements that assign too much, or that share a line with the one before.
func statementProblems(t *testing.T, name string, content []byte) []string {
	t.Helper()
	positions := token.NewFileSet()
	file, err := parser.ParseFile(positions, name, content, 0)
	if err != nil {
		t.Fatal(err)
	}
	var problems []string
	report := func(n ast.Node, problem string) {
		problems = append(problems, positions.Position(n.Pos()).String()+": "+problem)
	}
	checkLines := func(statements []ast.Stmt) {
		for i := 1; i < len(statements); i++ {
			if positions.Position(statements[i-1].End()).Line == positions.Position(statements[i].Pos()).Line {
				report(statements[i], "a second statement on a line")
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		values := 0
		switch n := n.(type) {
		case *ast.AssignStmt:
			values = len(n.Rhs)
		case *ast.ValueSpec:
			values = len(n.Values)
		case *ast.BlockStmt:
			checkLines(n.List)
		case *ast.CaseClause:
			checkLines(n.Body)
		case *ast.CommClause:
			checkLines(n.Body)
		}
		if values > maxAssignments {
			report(n, "more than two assignments in a statement")
		}
		return true
	})
	return problems
}

func TestStatementProblems(t *testing.T) {
	for body, want := range map[string]int{
		"a, b := 1, 2":                          0,
		"a, b, c := f()":                        0,
		"a, b, c := 1, 2, 3":                    1,
		"a, b, c = b, c, a":                     1,
		"var a, b, c = 1, 2, 3":                 1,
		"var a, b, c int":                       0,
		"if a := 1; a > 0 {\n}":                 0,
		"for i, j := 0, 1; i < j; i++ {\n}":     0,
		"f(); g()":                              1,
		"f()\ng()":                              0,
		"f(func() { g(); h() })":                1,
		"switch {\ncase a:\nf(); g()\n}":        1,
		"select {\ncase <-a:\nf(); g(); h()\n}": 2,
	} {
		problems := statementProblems(t, "x.go", []byte("package x\nfunc x() {\n"+body+"\n}\n"))
		if len(problems) != want {
			t.Errorf("%s\n%d problems %q, want %d", body, len(problems), problems, want)
		}
	}
}
