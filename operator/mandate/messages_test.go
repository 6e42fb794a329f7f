package mandate

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// maxWords is the length of a message that people read at a glance. docs/conditions.md has the details.
const maxWords = 30

// Every message of a condition, event or log line in these files is short.
func TestMessagesAreShort(t *testing.T) {
	count := 0
	for _, name := range []string{
		"reasons.go", "deletion.go", "../action/reasons.go", "../service/status.go", "../service/protection.go",
	} {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(node ast.Node) bool {
			expression, ok := node.(ast.Expr)
			if !ok {
				return true
			}
			message, ok := constantText(expression)
			if !ok {
				return true
			}
			if words := len(strings.Fields(message)); words > maxWords {
				t.Errorf("%s: %d words, want at most %d: %s", name, words, maxWords, message)
			} else if words > 1 {
				count++
			}
			return false
		})
	}
	if count < 60 {
		t.Errorf("%d messages, want 60 at least: does the test still find them?", count)
	}
}

// constantText is the text of a literal, or of literals that are added.
func constantText(expression ast.Expr) (string, bool) {
	switch e := expression.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		left, leftOK := constantText(e.X)
		right, rightOK := constantText(e.Y)
		return left + right, leftOK && rightOK && e.Op == token.ADD
	}
	return "", false
}

// docs/conditions.md has a section for every reason in which a reconciliation of a Mandate ends.
func TestReasonsHaveSections(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "conditions.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Mandate\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for reason := range conditionSpecs {
		if reason != reasonVanished && !strings.Contains(section, "\n### "+reason+"\n") {
			t.Errorf("docs/conditions.md has no section %s", reason)
		}
	}
}
