package provider

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The apply of a saved plan plans again. A plan that depended on the clock would then fail as inconsistent.
func TestPlansReadNoClock(t *testing.T) {
	bodies := functionBodies(t)
	reached := map[string]bool{}
	var follow func(name string)
	follow = func(name string) {
		if reached[name] {
			return
		}
		reached[name] = true
		for _, body := range bodies[name] {
			ast.Inspect(body, func(node ast.Node) bool {
				if selector, ok := node.(*ast.SelectorExpr); ok {
					readsClock := slices.Contains([]string{"Now", "Since", "Until"}, selector.Sel.Name)
					if x, ok := selector.X.(*ast.Ident); ok && x.Name == "time" && readsClock {
						t.Errorf("%s uses time.%s", name, selector.Sel.Name)
					}
				}
				if name, ok := node.(*ast.Ident); ok && bodies[name.Name] != nil {
					follow(name.Name)
				}
				return true
			})
		}
	}
	follow("planUpdate")
	for _, name := range []string{"changes", "checkDeletionPolicy", "nextPayloadVersion"} {
		if !reached[name] {
			t.Errorf("the test does not see that planUpdate calls %s", name)
		}
	}
}

// functionBodies returns the bodies of the package's functions and methods by name.
func functionBodies(t *testing.T) map[string][]*ast.BlockStmt {
	t.Helper()
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	bodies := map[string][]*ast.BlockStmt{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, declaration := range file.Decls {
			if function, ok := declaration.(*ast.FuncDecl); ok && function.Body != nil {
				bodies[function.Name.Name] = append(bodies[function.Name.Name], function.Body)
			}
		}
	}
	return bodies
}
