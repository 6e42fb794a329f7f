package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// maxWords is how many words of a condition or an event somebody reads in a terminal.
const maxWords = 30

// writers are the packages that write conditions and events.
var writers = []string{"operator/mandate", "operator/action", "operator/service"}

// TestMessagesAreShort counts the words of all strings of these packages, because any may become a condition's message,
// the note of an event, an error or a log message.
func TestMessagesAreShort(t *testing.T) {
	longest := 0
	for name, content := range inOrder(textFiles(t)) {
		if !slices.Contains(writers, path.Dir(name)) || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		positions := token.NewFileSet()
		file, err := parser.ParseFile(positions, name, content, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			expression, ok := n.(ast.Expr)
			if !ok {
				return true
			}
			text, ok := constant(expression)
			if !ok {
				return true
			}
			words := len(strings.Fields(text))
			longest = max(longest, words)
			if words > maxWords {
				t.Errorf("%s: %d words, more than %d: the rest belongs on docs/conditions.md: %s",
					positions.Position(n.Pos()), words, maxWords, text)
			}
			return false
		})
	}
	if longest == 0 {
		t.Fatalf("no text was found in %q", writers)
	}
}

// constant is the value of a string, or of several that are added.
func constant(expression ast.Expr) (string, bool) {
	switch e := expression.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, e.Kind == token.STRING && err == nil
	case *ast.BinaryExpr:
		left, isText := constant(e.X)
		right, rightToo := constant(e.Y)
		return left + right, isText && rightToo
	}
	return "", false
}
