package operator_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// explanation is the page that documents the reasons.
const explanation = "docs/conditions.md"

// seenReason is a kind and the reason of a condition, as in "Mandate Suspended".
type seenReason string

// kinds are the kinds of resources with conditions, as the page has them.
var kinds = map[string]string{
	"identityservices": "IdentityService", "clusteridentityservices": "IdentityService", "mandates": "Mandate",
	"mandateactions": "MandateAction",
}

// compareReasons compares the reasons in the tests with the documented ones, and the documented ones with the API's
// constants. All three have to be the same.
func compareReasons() (problems []string, err error) {
	page, err := os.ReadFile(filepath.Join(env.Root, explanation))
	if err != nil {
		return nil, err
	}
	documented := documentedReasons(string(page))
	if len(documented) == 0 {
		return nil, errors.New(explanation + " documents no reason")
	}
	written, err := env.WrittenReasons()
	if err != nil {
		return nil, err
	}
	seen := map[seenReason]bool{}
	for of := range written {
		seen[seenReason(kinds[of.Resource]+" "+of.Reason)] = true
	}
	add := func(format string, arguments ...any) { problems = append(problems, fmt.Sprintf(format, arguments...)) }
	for _, c := range without(seen, documented) {
		add("%s does not document the reason %q, which the operator writes", explanation, c)
	}
	for _, c := range without(documented, seen) {
		add("%s documents the reason %q, which the operator writes in no test", explanation, c)
	}
	constants, err := reasonConstants()
	if err != nil {
		return nil, err
	}
	reasons := map[string]bool{}
	for c := range documented {
		reasons[string(c)[strings.LastIndex(string(c), " ")+1:]] = true
	}
	for _, reason := range without(constants, reasons) {
		add("%s does not document the reason %s of the API", explanation, reason)
	}
	for _, reason := range without(reasons, constants) {
		add("%s documents the reason %s, for which the API has no constant", explanation, reason)
	}
	return problems, nil
}

// without returns the members of one set that another one lacks, sorted.
func without[T ~string](set, other map[T]bool) []T {
	var missing []T
	for _, member := range slices.Sorted(maps.Keys(set)) {
		if !other[member] {
			missing = append(missing, member)
		}
	}
	return missing
}

// documentedReasons reads the headings of a page: the second level has the kinds, the third their reasons.
func documentedReasons(page string) map[seenReason]bool {
	heading := regexp.MustCompile(`^## (\w+)`)
	section := regexp.MustCompile(`^### (\w+)$`)
	documented, kind := map[seenReason]bool{}, ""
	for line := range strings.Lines(page) {
		if match := heading.FindStringSubmatch(strings.TrimSpace(line)); match != nil {
			kind = match[1]
		}
		if match := section.FindStringSubmatch(strings.TrimSpace(line)); match != nil {
			documented[seenReason(kind+" "+match[1])] = true
		}
	}
	return documented
}

// reasonConstants are the values of the API's constants Reason... and Outcome...
func reasonConstants() (map[string]bool, error) {
	files, err := filepath.Glob(filepath.Join(env.Root, "api", "v1alpha1", "*.go"))
	if err != nil {
		return nil, err
	}
	constants := map[string]bool{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		ast.Inspect(file, func(node ast.Node) bool {
			spec, ok := node.(*ast.ValueSpec)
			if !ok {
				return true
			}
			for i, ident := range spec.Names {
				if value, ok := valueOf(spec, i); ok &&
					(strings.HasPrefix(ident.Name, "Reason") || strings.HasPrefix(ident.Name, "Outcome")) {
					constants[value] = true
				}
			}
			return true
		})
	}
	return constants, nil
}

func valueOf(spec *ast.ValueSpec, i int) (string, bool) {
	if i >= len(spec.Values) {
		return "", false
	}
	literal, ok := spec.Values[i].(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return "", false
	}
	return strings.Trim(literal.Value, `"`), true
}
