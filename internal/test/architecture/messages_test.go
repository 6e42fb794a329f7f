package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strconv"
	"strings"
	"testing"
)

// maxWords is the length of a message that people read at a glance. docs/conditions.md and docs/operator.md have the
// details.
const maxWords = 30

// messagePackages write conditions, events, logs and the help of flags.
var messagePackages = map[string]bool{
	"operator": true, "operator/mandate": true, "operator/action": true, "operator/service": true, "operator/ledger": true,
	"operator/notification": true,
}

func TestMessagesAreShort(t *testing.T) {
	count := 0
	for name, content := range inOrder(textFiles(t)) {
		if !messagePackages[path.Dir(name)] || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		positions := token.NewFileSet()
		file, err := parser.ParseFile(positions, name, content, parser.SkipObjectResolution)
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
			words := len(strings.Fields(message))
			if words > maxWords {
				t.Errorf("%s: %d words, want at most %d: %s", positions.Position(node.Pos()), words, maxWords, message)
			}
			if words > 1 {
				count++
			}
			return false
		})
	}
	if count < 130 {
		t.Errorf("%d messages, want 130 at least: does the test still find them?", count)
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
