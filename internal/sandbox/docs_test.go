package sandbox_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

const manual = "../../docs/sandbox.md"

var update = flag.Bool("update", false, "write the tables of "+manual)

// TestManual holds the tables of docs/sandbox.md equal to the code, from which they are made.
func TestManual(t *testing.T) {
	have, err := os.ReadFile(manual)
	noError(t, err)
	page := string(have)
	for name, table := range map[string]string{
		"fields": fieldTables(t), "routes": routeTable(t), "faults": faultTable(t), "switches": switchTables(),
	} {
		before, rest, opened := strings.Cut(page, "<!-- "+name+" -->\n")
		_, after, closed := strings.Cut(rest, "<!-- end of "+name+" -->\n")
		if !opened || !closed {
			t.Fatalf("%s has no place for the table of %s", manual, name)
		}
		page = before + "<!-- " + name + " -->\n" + table + "<!-- end of " + name + " -->\n" + after
	}
	if *update {
		noError(t, os.WriteFile(manual, []byte(page), 0o600))
		return
	}
	if page != string(have) {
		t.Errorf("%s is not what the code says; run make update", manual)
	}
}

// The configuration of the manual is one.
func TestConfigurationOfTheManual(t *testing.T) {
	page, err := os.ReadFile(manual)
	noError(t, err)
	_, rest, _ := strings.Cut(string(page), "```yaml\n")
	file, _, found := strings.Cut(rest, "```\n")
	if !found {
		t.Fatal("there is none")
	}
	s := open(t, file)
	applications, err := s.Applications(t.Context())
	noError(t, err)
	wantEqual(t, "an application in review", "in review", applications[0].State)
}

func switchTables() string {
	var tables strings.Builder
	group := ""
	for _, s := range (dialect.Dialect{}).Switches() {
		if s.Group != group {
			group = s.Group
			fmt.Fprintf(&tables, "\n### %s\n\n| switch | values | what it selects |\n|---|---|---|\n", group)
		}
		values := "a number; 0"
		if !s.Number {
			values = "`" + strings.Join(s.Values, "`, `") + "`"
		}
		fmt.Fprintf(&tables, "| `%s` | %s | %s |\n", s.Name, values, cell(s.Meaning))
	}
	return tables.String() + "\n"
}

func routeTable(t *testing.T) string {
	t.Helper()
	s := startSandbox(t, sandbox.Options{})
	table := "\n| route | what it does |\n|---|---|\n"
	routes, _ := s.get(control.Prefix+"/", "application/json").tree().([]any)
	for _, route := range routes {
		summary := cell(fmt.Sprint(at(route, "summary")))
		table += fmt.Sprintf("| `%s %s` | %s |\n", at(route, "method"), at(route, "path"), summary)
	}
	return table + "\n"
}

// cell writes a text in a cell of a table, with its JSON as code.
func cell(text string) string {
	text = strings.ReplaceAll(text, "|", `\|`)
	if before, object, found := strings.Cut(text, "{"); found {
		if end := strings.LastIndex(object, "}"); end >= 0 {
			return before + "`{" + object[:end+1] + "`" + object[end+1:]
		}
	}
	return text
}

// fieldTables has a table for each type of the configuration, with the comments of its fields.
func fieldTables(t *testing.T) string {
	t.Helper()
	var tables strings.Builder
	for _, declaration := range parse(t, "config/config.go").Decls {
		types, isType := declaration.(*ast.GenDecl)
		if !isType || types.Tok != token.TYPE {
			continue
		}
		spec := types.Specs[0].(*ast.TypeSpec)
		fields, isStruct := spec.Type.(*ast.StructType)
		if !isStruct {
			continue
		}
		fmt.Fprintf(&tables, "\n%s:\n\n| field | meaning |\n|---|---|\n", titles[spec.Name.Name])
		names, comment := []string{}, ""
		for i, field := range fields.Fields.List {
			// Fields without a comment share that of the field before them.
			names = append(names, jsonName(field))
			if field.Doc != nil {
				comment = field.Doc.Text()
			}
			if i+1 == len(fields.Fields.List) || fields.Fields.List[i+1].Doc != nil {
				text := fieldNames(fields).Replace(strings.Join(strings.Fields(comment), " "))
				fmt.Fprintf(&tables, "| `%s` | %s |\n", strings.Join(names, "`, `"), text)
				names = nil
			}
		}
	}
	return tables.String() + "\n"
}

var titles = map[string]string{
	"Config": "The file", "Account": "Each of `accounts`", "MandateType": "Each of `mandate_types`",
	"Country": "Each of `countries`", "DocumentType": "Each of `document_types`",
	"Application": "Each of `applications`", "Individual": "Each of `individuals`",
}

// fieldNames replaces the names of Go by those of the file.
func fieldNames(fields *ast.StructType) *strings.Replacer {
	var pairs []string
	for _, field := range fields.Fields.List {
		name := field.Names[0].Name
		pairs = append(pairs, name+" ", "`"+jsonName(field)+"` ", name+",", "`"+jsonName(field)+"`,")
	}
	return strings.NewReplacer(append(pairs, "those of DefaultUsername and so on", "those that `--help` shows")...)
}

func jsonName(field *ast.Field) string {
	name, _, _ := strings.Cut(reflect.StructTag(strings.Trim(field.Tag.Value, "`")).Get("json"), ",")
	return name
}

func faultTable(t *testing.T) string {
	t.Helper()
	table := "\n| kind | what it does |\n|---|---|\n"
	for _, declaration := range parse(t, "control/fault.go").Decls {
		constants, isConst := declaration.(*ast.GenDecl)
		if !isConst || constants.Tok != token.CONST {
			continue
		}
		for _, one := range constants.Specs {
			spec := one.(*ast.ValueSpec)
			kind, isName := spec.Type.(*ast.Ident)
			if !isName || kind.Name != "FaultKind" {
				continue
			}
			text := strings.Join(strings.Fields(spec.Doc.Text()), " ")
			_, text, _ = strings.Cut(text, " ")
			text = strings.NewReplacer(
				"AfterWork", "`after_work`", "DelayMillis", "`delay_ms`", "Status", "`status`", "RetryAfter", "`retry_after`",
			).Replace(text)
			value := strings.Trim(spec.Values[0].(*ast.BasicLit).Value, `"`)
			table += "| `" + value + "` | " + text + " |\n"
		}
	}
	return table + "\n"
}

func parse(t *testing.T, file string) *ast.File {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	noError(t, err)
	return parsed
}
