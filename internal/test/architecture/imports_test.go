package architecture

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/mandate-io/idv"

var (
	kubernetes = []string{"k8s.io", "sigs.k8s.io"}
	terraform  = []string{"github.com/hashicorp", "github.com/opentofu"}
	both       = append(kubernetes[:2:2], terraform...)

	terraformLibrary = terraform[0] + "/terraform-plugin-log/tflog"
)

// A layer is a directory with everything below it, and what its packages may import. Packages of one layer may
// import each other. A directory inside another comes first.
type layer struct {
	dir   string
	may   []string // directories of ours
	tests []string // further directories of ours, in test files only
	never []string // modules from outside, in test files too
}

// layers lists every layer. What it does not allow is forbidden, so that a new package gets a place on purpose:
//
//	cmd -> provider | operator | plugin -> internal/client
//
// and in the operator, where controllers do not know each other:
//
//	operator -> mandate | action | service -> engine -> connection
var layers = []layer{
	{dir: "api", tests: []string{"internal/test/testenv"}, never: terraform},
	{dir: "internal/client", tests: []string{"internal/lifecycle", "internal/sandbox"}, never: both},
	{dir: "internal/lifecycle", may: []string{"internal/client"}, never: both},
	// What a configuration of the sandbox is made of, without the server: the plugin writes one too.
	{
		dir: "internal/sandbox/config",
		may: []string{"internal/sandbox/control", "internal/sandbox/dialect", "internal/sandbox/strictjson"}, never: both,
	},
	// The sandbox is an independent reading of the interface: with the client's types it could only agree with it.
	{dir: "internal/sandbox", may: []string{"internal/sandbox/config"}, never: both},
	{dir: "internal/printable", never: both},
	{dir: "internal/reference", never: both},
	{dir: "internal/tolerant", may: []string{"api"}, never: terraform},
	{dir: "internal/receiver", never: both},
	{dir: "provider/jsonvalue", never: both},
	{
		dir: "provider/webhookcache", may: []string{"internal/client"},
		tests: []string{"internal/test/webhookservice"}, never: both,
	},
	{dir: "internal/test/webhookservice", may: []string{"internal/client"}, never: both},
	{dir: "provider/pluginserver", never: kubernetes},
	{dir: "internal/version", never: both},
	{
		dir: "provider", may: []string{
			"internal/client", "internal/printable", "internal/receiver", "internal/reference", "provider/jsonvalue",
			"provider/pluginserver", "provider/webhookcache",
		},
		tests: []string{"internal/sandbox", "internal/test/webhookservice"}, never: kubernetes,
	},
	{dir: "operator/apierror", may: []string{"internal/tolerant"}, never: terraform},
	{
		dir: "operator/ledger", may: []string{"api", "internal/tolerant", "operator/apierror"},
		tests: []string{"internal/test/testenv"}, never: terraform,
	},
	{
		dir: "operator/connection", never: terraform,
		may: []string{"api", "internal/client", "internal/lifecycle", "internal/receiver"},
	},
	{
		dir: "operator/engine", never: terraform,
		may: []string{
			"api", "internal/client", "internal/lifecycle", "internal/printable", "internal/tolerant", "operator/apierror",
			"operator/connection",
		},
	},
	{dir: "operator/erasure", may: []string{"api", "operator/engine"}, never: terraform},
	{
		dir: "operator/budget", may: []string{"api", "operator/connection", "operator/engine", "operator/ledger"},
		never: terraform,
	},
	{dir: "operator/secrets", may: []string{"api"}, never: terraform},
	{
		dir: "operator/individuals", never: terraform,
		may: []string{"api", "internal/client", "internal/reference", "operator/secrets"},
	},
	{dir: "operator/evidence", may: []string{"api", "internal/client", "operator/ledger"}, never: terraform},
	controller("mandate",
		[]string{
			"internal/lifecycle", "internal/receiver", "internal/reference", "operator/budget", "operator/erasure",
			"operator/evidence", "operator/individuals", "operator/ledger", "operator/secrets",
		},
		"internal/printable", "internal/sandbox", "internal/test/gitops", "internal/test/explore"),
	controller("action",
		[]string{"operator/budget", "operator/evidence", "operator/individuals", "operator/ledger"},
		"internal/test/gitops", "internal/test/explore"),
	controller("service", []string{"internal/lifecycle", "internal/receiver", "operator/budget", "operator/secrets"},
		"internal/test/gitops"),
	// It is no controller, but uses what they share, and knows none of them either.
	controller("notification", []string{"internal/receiver", "internal/reference"}),
	// It runs the controllers in memory, for the plugin: the rules are nowhere else.
	{
		dir: "operator/plan", never: terraform,
		may: []string{
			"api", "config/crd", "internal/client", "internal/reference", "operator/action",
			"operator/apierror", "operator/budget", "operator/connection", "operator/engine", "operator/evidence",
			"operator/ledger", "operator/mandate",
		},
	},
	{
		dir: "operator", may: []string{"api", "internal/client", "internal/tolerant"},
		tests: []string{"internal/reference", "internal/sandbox", "internal/test/testenv"}, never: terraform,
	},
	{
		dir: "cmd/terraform-provider-idv", may: []string{"provider", "internal/client", "internal/version"},
		never: kubernetes,
	},
	{dir: "cmd/mandate-operator", may: []string{"operator", "internal/client", "internal/version"}, never: terraform},
	{dir: "cmd/idv-sandbox", may: []string{"internal/sandbox", "internal/version"}, never: both},
	{
		dir: "plugin", may: []string{
			"api", "docs", "internal/client", "internal/lifecycle", "internal/printable", "internal/reference",
			"internal/sandbox/config", "internal/sandbox/dialect", "internal/tolerant", "operator/ledger", "operator/plan",
			"operator/secrets",
		},
		tests: []string{"internal/sandbox", "internal/test/testenv"}, never: terraform,
	},
	{dir: "docs", never: both},
	{dir: "cmd/kubectl-mandate", may: []string{"plugin", "internal/client", "internal/version"}, never: terraform},
	{dir: "config/crd", never: both},
	{dir: "config", tests: []string{"api", "internal/test/testenv"}, never: terraform},
	{dir: "internal/test/await", never: both},
	{dir: "internal/test/monitoring", never: terraform},
	{dir: "internal/test/explore", may: []string{"operator/engine", "internal/test/guards"}, never: terraform},
	{dir: "internal/test/testenv", may: []string{"internal/sandbox"}, never: terraform},
	{dir: "internal/test/demo", may: []string{"api", "internal/sandbox", "internal/test/testenv"}, never: terraform},
	{
		dir: "internal/test/e2e", never: terraform,
		may: []string{"api", "internal/client", "internal/sandbox/control", "internal/test/testenv"},
	},
	{dir: "internal/test/providerschema", may: []string{"provider"}, never: kubernetes},
	{dir: "internal/test/chartdocs", never: both},
	{
		dir: "internal/test/gitops/cluster", never: terraform,
		may: []string{"api", "internal/test/await", "internal/sandbox", "internal/test/testenv", "operator"},
	},
	{
		dir:   "internal/test/gitops/flux",
		tests: []string{"api", "internal/test/gitops/cluster", "internal/test/testenv"}, never: terraform,
	},
	{
		dir:   "internal/test/gitops/argocd",
		tests: []string{"api", "internal/test/gitops/cluster", "internal/test/testenv"}, never: terraform,
	},
	{dir: "internal/test/gitops", never: terraform},
	{dir: "internal/test/guards", never: both},
	{dir: "internal/test/threats", tests: []string{"internal/test/guards", "internal/test/testenv"}, never: both},
	{dir: "internal/test/architecture"},
}

// controller is the layer of one controller, which knows no other.
func controller(name string, may []string, tests ...string) layer {
	return layer{
		dir:   "operator/" + name,
		may:   append(may, "api", "internal/client", "operator/apierror", "operator/connection", "operator/engine"),
		tests: tests, never: terraform,
	}
}

// An edge is one import: a file names a package.
type edge struct {
	file string // slash-separated, relative to the module
	path string
}

// target is the imported directory, relative to the module; "" if it is from outside.
func (e edge) target() string {
	if !within(e.path, module) {
		return ""
	}
	return strings.TrimPrefix(strings.TrimPrefix(e.path, module), "/")
}

func (e edge) isFrom(l layer) bool {
	from, ok := layerOf(path.Dir(e.file))
	return ok && from.dir == l.dir
}

// violation says what is wrong with an import, or nothing.
func violation(e edge) string {
	from, ok := layerOf(path.Dir(e.file))
	if !ok {
		return fmt.Sprintf("%s is in no layer: add one to layers in internal/test/architecture/imports_test.go", e.file)
	}
	for _, outside := range from.never {
		if within(e.path, outside) {
			return fmt.Sprintf("%s imports %s; %s never imports %s", e.file, e.path, from.dir, outside)
		}
	}
	if !within(e.path, module) {
		return ""
	}
	may := append([]string{from.dir}, from.may...)
	if strings.HasSuffix(e.file, "_test.go") {
		may = append(append(may, from.tests...), "internal/test/await") // every test may wait
	}
	to := e.target()
	for _, dir := range may {
		if within(to, dir) {
			return ""
		}
	}
	return fmt.Sprintf("%s imports %s; %s may import of ours only %q", e.file, to, from.dir, may)
}

func layerOf(dir string) (layer, bool) {
	for _, l := range layers {
		if within(dir, l.dir) {
			return l, true
		}
	}
	return layer{}, false
}

// within reports whether a slash-separated path is dir or below it.
func within(name, dir string) bool {
	return name == dir || strings.HasPrefix(name, dir+"/")
}

func TestImportsPointOneWay(t *testing.T) {
	seen, all := map[string]bool{}, imports(t)
	for _, e := range all {
		if problem := violation(e); problem != "" {
			t.Error(problem)
		}
		if l, ok := layerOf(path.Dir(e.file)); ok {
			seen[l.dir] = true
		}
	}
	for _, l := range layers {
		if !seen[l.dir] {
			t.Errorf("the layer %s imports nothing at all: it has no code, or the walk does not find it", l.dir)
		}
		for _, dir := range slices.Concat(l.may, l.tests) {
			if !slices.ContainsFunc(all, func(e edge) bool { return e.isFrom(l) && within(e.target(), dir) }) {
				t.Errorf("the layer %s may import %s, and does not: remove that", l.dir, dir)
			}
		}
	}
}

// decisions are the files that decide what to do. They depend on facts alone, so that every case can be tested.
var decisions = []string{
	"operator/mandate/decide*.go", "operator/action/decide*.go",
}

func TestDecisionsDoNoIO(t *testing.T) {
	allowed := []string{
		"cmp", "maps", "slices", "strings", "time",
		// Of these, types and tables: without a context they do no I/O.
		module + "/api/v1alpha1", module + "/internal/client", module + "/internal/lifecycle", module + "/operator/engine",
		module + "/operator/ledger",
	}
	seen := 0
	for _, e := range imports(t) {
		if !matchesPath(decisions, e.file) || strings.HasSuffix(e.file, "_test.go") {
			continue
		}
		seen++
		if !slices.Contains(allowed, e.path) {
			t.Errorf("%s imports %s: a decision depends on facts alone; it may import only %q", e.file, e.path, allowed)
		}
	}
	if seen == 0 {
		t.Fatalf("no file matches %q", decisions)
	}
}

// TestOnlyReadingsInspect keeps what responses hold, a token or personal data, from everybody else.
func TestOnlyReadingsInspect(t *testing.T) {
	const allowed = "plugin/readings"
	seen := false
	for name, content := range inOrder(textFiles(t)) {
		if !strings.HasSuffix(name, ".go") || within(name, "internal/client") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, content, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if !setsInspect(file) {
			continue
		}
		seen = seen || within(name, allowed)
		if !within(name, allowed) {
			t.Errorf("%s sets client.Config.Inspect; only %s may", name, allowed)
		}
	}
	if !seen {
		t.Errorf("%s does not set client.Config.Inspect: does the test still find it?", allowed)
	}
}

// setsInspect reports whether a file gives a field Inspect a value, in a literal or an assignment.
func setsInspect(file *ast.File) (sets bool) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			key, ok := n.Key.(*ast.Ident)
			sets = sets || ok && key.Name == "Inspect"
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				field, ok := left.(*ast.SelectorExpr)
				sets = sets || ok && field.Sel.Name == "Inspect"
			}
		}
		return true
	})
	return sets
}

func TestSetsInspect(t *testing.T) {
	for code, want := range map[string]bool{
		"var c = client.Config{BaseURL: url, Inspect: look}": true,
		"func f(c *client.Config) { c.Inspect = look }":      true,
		"func f(c client.Config) { c.Inspect(e) }":           false,
		"var c = client.Config{Observe: look}":               false,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+code, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := setsInspect(file); got != want {
			t.Errorf("%s: %t, want %t", code, got, want)
		}
	}
}

// imports returns every import of every Go file of the module, with those of files that are not built here.
func imports(t *testing.T) []edge {
	t.Helper()
	var edges []edge
	for name, content := range inOrder(textFiles(t)) {
		if !strings.HasSuffix(name, ".go") || within(name, "tools") || path.Dir(name) == "." {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, content, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			edges = append(edges, edge{file: name, path: imported})
		}
	}
	return edges
}

func TestImportRules(t *testing.T) {
	const gitOps = "internal/test/gitops"
	cases := map[string]struct {
		file, path string
		allowed    bool
	}{
		"the standard library":                            {"internal/client/x.go", "net/http", true},
		"a library that is neither":                       {"internal/client/x.go", "golang.org/x/time/rate", true},
		"a package of the same layer":                     {"operator/x.go", module + "/operator/metrics", true},
		"a controller to the engine":                      {"operator/action/x.go", module + "/operator/engine", true},
		"the engine to connection":                        {"operator/engine/x.go", module + "/operator/connection", true},
		"a test of the operator to a controller":          {"operator/x_test.go", module + "/operator/mandate", true},
		"operator to client":                              {"operator/mandate/x.go", module + "/internal/client", true},
		"operator to api":                                 {"operator/x.go", module + "/api/v1alpha1", true},
		"provider to client":                              {"provider/x.go", module + "/internal/client", true},
		"cmd to operator":                                 {"cmd/mandate-operator/main.go", module + "/operator", true},
		"sandbox command to sandbox":                      {"cmd/idv-sandbox/main.go", module + "/internal/sandbox", true},
		"demo to sandbox":                                 {"internal/test/demo/main.go", module + "/internal/sandbox", true},
		"testenv to sandbox":                              {"internal/test/testenv/x.go", module + "/internal/sandbox", true},
		"a test of the client to sandbox":                 {"internal/client/x_test.go", module + "/internal/sandbox", true},
		"a test of the operator to testenv":               {"operator/x_test.go", module + "/internal/test/testenv", true},
		"a name that only begins like a forbidden module": {"internal/client/x.go", "k8s.iota/x", true},
		"the notifications to the engine":                 {"operator/notification/x.go", module + "/operator/engine", true},
		"the plugin to the client":                        {"plugin/x.go", module + "/internal/client", true},
		"the plugin to the dialects of the sandbox":       {"plugin/x.go", module + "/internal/sandbox/dialect", true},
		"the plugin to the file of the sandbox":           {"plugin/x.go", module + "/internal/sandbox/config", true},
		"the plugin to the use of Secrets":                {"plugin/x.go", module + "/operator/secrets", true},
		"the provider to receiver":                        {"provider/x.go", module + "/internal/receiver", true},

		"client to Kubernetes":                   {"internal/client/x.go", "k8s.io/api/core/v1", false},
		"client to controller-runtime":           {"internal/client/x.go", "sigs.k8s.io/controller-runtime", false},
		"client to Terraform":                    {"internal/client/x.go", terraformLibrary, false},
		"a test of the client to Kubernetes":     {"internal/client/x_test.go", "k8s.io/apimachinery/pkg/types", false},
		"client to api":                          {"internal/client/x.go", module + "/api/v1alpha1", false},
		"client to sandbox":                      {"internal/client/x.go", module + "/internal/sandbox", false},
		"client to the operator, even in a test": {"internal/client/x_test.go", module + "/operator", false},
		"sandbox to client":                      {"internal/sandbox/x.go", module + "/internal/client", false},
		"provider to operator":                   {"provider/x.go", module + "/operator", false},
		"provider to operator, even in a test":   {"provider/x_test.go", module + "/operator/mandate", false},
		"provider to Kubernetes":                 {"provider/x.go", "k8s.io/client-go/rest", false},
		"operator to provider":                   {"operator/x.go", module + "/provider", false},
		"operator to provider, even in a test":   {"operator/mandate/x_test.go", module + "/provider", false},
		"operator to Terraform":                  {"operator/x.go", terraformLibrary, false},
		"a controller to another":                {"operator/mandate/x.go", module + "/operator/action", false},
		"a controller to another, in a test":     {"operator/action/x_test.go", module + "/operator/mandate", false},
		"service to mandate":                     {"operator/service/x.go", module + "/operator/mandate", false},
		"a controller to the operator":           {"operator/mandate/x.go", module + "/operator", false},
		"the engine to a controller":             {"operator/engine/x.go", module + "/operator/mandate", false},
		"connection to the engine":               {"operator/connection/x.go", module + "/operator/engine", false},
		"connection to a controller":             {"operator/connection/x.go", module + "/operator/service", false},
		"the ledger to a controller":             {"operator/ledger/x.go", module + "/operator/mandate", false},
		"operator to sandbox":                    {"operator/x.go", module + "/internal/sandbox", false},
		"operator to a package of the sandbox":   {"operator/x.go", module + "/internal/sandbox/control", false},
		"operator to testenv":                    {"operator/x.go", module + "/internal/test/testenv", false},
		"provider to sandbox":                    {"provider/x.go", module + "/internal/sandbox", false},
		"api to client":                          {"api/v1alpha1/x.go", module + "/internal/client", false},
		"api to operator":                        {"api/v1alpha1/x.go", module + "/operator", false},
		"the provider's command to operator":     {"cmd/terraform-provider-idv/main.go", module + "/operator", false},
		"the operator's command to reference":    {"cmd/mandate-operator/main.go", module + "/internal/reference", false},
		"the operator's command to sandbox":      {"cmd/mandate-operator/main.go", module + "/internal/sandbox", false},
		"somebody to a command":                  {"internal/test/demo/main.go", module + "/cmd/idv-sandbox", false},
		"somebody to the module's root":          {"operator/x.go", module, false},
		"a package without a layer":              {"pkg/util/x.go", "fmt", false},
		"a name that only begins like a layer":   {"operatorx/x.go", "fmt", false},
		"the notifications to a controller":      {"operator/notification/x.go", module + "/operator/mandate", false},
		"a controller to the notifications":      {"operator/mandate/x.go", module + "/operator/notification", false},
		"the notifications to the ledger":        {"operator/notification/x.go", module + "/operator/ledger", false},
		"the plugin to operator":                 {"plugin/x.go", module + "/operator/engine", false},
		"the plugin to operator, in a test":      {"plugin/x_test.go", module + "/operator", false},
		"the configuration to sandbox":           {"internal/sandbox/config/x.go", module + "/internal/sandbox/state", false},
		"the plugin to sandbox":                  {"plugin/readings/x.go", module + "/internal/sandbox", false},
		"operator to plugin":                     {"operator/x.go", module + "/plugin", false},
		"the plugin's command to api":            {"cmd/kubectl-mandate/main.go", module + "/api/v1alpha1", false},
		"receiver to Kubernetes":                 {"internal/receiver/x.go", "k8s.io/apimachinery/pkg/types", false},
		"the node to operator":                   {"internal/test/e2e/x.go", module + "/operator", false},
		"Flux to Argo CD":                        {gitOps + "/flux/x.go", module + "/" + gitOps + "/argocd", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			problem := violation(edge{file: tc.file, path: tc.path})
			if allowed := problem == ""; allowed != tc.allowed {
				t.Errorf("%s importing %s: allowed = %t, want %t %s", tc.file, tc.path, allowed, tc.allowed, problem)
			}
		})
	}
}
