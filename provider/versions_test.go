package provider_test

import (
	"flag"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/sandbox"
)

var update = flag.Bool("update", false, "write the results of TestVersions and TestLifecycle into the guides")

// versionsGuide has a table of what works on which version. A run of TestVersions with -update on a version writes its
// column. Every other run on that version compares it.
const versionsGuide = "../docs/templates/guides/versions.md"

// features are the features of the provider that need support by the CLI. The first runs on the provider's binary.
var features = []struct {
	name string
	// works tries the feature. Any failure but missing support by the CLI fails the test.
	works func(*testing.T, *workspace, *service) bool
}{
	{"Subscriptions: plan, apply, empty plan, destroy", func(t *testing.T, w *workspace, _ *service) bool {
		w.configure(t, abandoned)
		w.must(t, "apply", "-auto-approve")
		w.mustPlanNothing(t)
		w.must(t, "destroy", "-auto-approve")
		return true
	}},
	{"Warning during `plan -destroy` that the subscription remains", func(t *testing.T, w *workspace, _ *service) bool {
		w.configure(t, abandoned)
		w.must(t, "apply", "-auto-approve")
		return has(w.must(t, "plan", "-destroy").warnings, "https://hooks.example.com/idv")
	}},
	{"`import` command", func(t *testing.T, w *workspace, s *service) bool {
		application := s.createSubscribedApplication(t)
		w.configure(t, subscription(application, "https://hooks.example.com/idv", ""))
		w.must(t, "import", "-input=false", ops, fmt.Sprintf("%d/https://hooks.example.com/idv", application))
		w.mustPlanNothing(t)
		return true
	}},
	{"`import` block with an id", func(t *testing.T, w *workspace, s *service) bool {
		return w.importsCleanly(t, s.createSubscribedApplication(t), "id = \"%d/https://hooks.example.com/idv\"")
	}},
	{"`import` block with an identity", func(t *testing.T, w *workspace, s *service) bool {
		return w.importsCleanly(t, s.createSubscribedApplication(t),
			"identity = {\n    application_id = %d\n    url_sha256 = \""+hookDigest+"\"\n  }")
	}},
	{
		"`removed` block: removes a subscription from the state without a destroy",
		func(t *testing.T, w *workspace, _ *service) bool {
			w.configure(t, `resource "idv_webhook_subscription" "ops" { url = "https://hooks.example.com/idv" }`)
			w.must(t, "apply", "-auto-approve")
			w.configure(t, "removed {\n  from = idv_webhook_subscription.ops\n  lifecycle {\n    destroy = false\n  }\n}")
			return w.accepts(t, "Unsupported block type") && w.removesFromState(t)
		},
	},
	{"`lifecycle { destroy = false }`: the same instead of a destroy", func(t *testing.T, w *workspace, _ *service) bool {
		w.configure(t, subscription(0, "https://hooks.example.com/idv", "lifecycle {\n    destroy = false\n  }"))
		if !w.accepts(t, "Unsupported argument") {
			return false
		}
		w.must(t, "apply", "-auto-approve")
		w.configure(t, "")
		return w.removesFromState(t)
	}},
	{"Write-only arguments: `url_wo`, `payload_json_wo`", func(t *testing.T, w *workspace, _ *service) bool {
		w.configure(t, "resource \"idv_webhook_subscription\" \"ops\" {\n  url_wo = \"https://hooks.example.com/canary\"\n"+
			"  payload_json_wo = jsonencode({ secret = \"canary\" })\n  payload_json_wo_version = 1\n}\n")
		return w.accepts(t, "Write-only") && !strings.Contains(w.mustApply(t).state(t), "canary")
	}},
	{"Data sources", func(t *testing.T, w *workspace, _ *service) bool {
		w.configure(t, `data "idv_references" "all" {}`)
		w.must(t, "apply", "-auto-approve")
		return strings.Contains(w.state(t), "mandate_types")
	}},
	{"Function `mandate_reference`", func(t *testing.T, w *workspace, _ *service) bool {
		w.configure(t, `output "reference" { value = provider::idv::mandate_reference("a", "b") }`)
		return w.accepts(t, "Invalid function name") && strings.Contains(w.mustApply(t).state(t), `"a.b"`)
	}},
	{"Function `notification_url`", func(t *testing.T, w *workspace, _ *service) bool {
		w.configure(t, `output "url" { value = provider::idv::notification_url("https://a", null, "b", null) }`)
		return w.accepts(t, "Invalid function name") &&
			strings.Contains(w.mustApply(t).state(t), `"https://a/notifications/-/b"`)
	}},
	{"Function `url_sha256`", func(t *testing.T, w *workspace, _ *service) bool {
		w.configure(t, "output \"digest\" { value = provider::idv::url_sha256(\""+hookURL+"\") }")
		return w.accepts(t, "Invalid function name") && strings.Contains(w.mustApply(t).state(t), hookDigest)
	}},
	{"List resource: `query` command", func(t *testing.T, w *workspace, s *service) bool {
		w.configure(t, "")
		write(t, filepath.Join(w.dir, "list.tfquery.hcl"), fmt.Sprintf("list \"idv_webhook_subscription\" \"all\" {\n"+
			"  provider = idv\n  config {\n    application_id = %d\n  }\n}\n", s.createSubscribedApplication(t)))
		r := w.run(t, "query")
		if !strings.Contains(r.output, "no command named") && !strings.Contains(r.output, "hooks.example.com") {
			t.Errorf("want the subscription or no such command: exit %d\n%s", r.exit, r.output)
		}
		return r.exit == 0
	}},
	{"Ephemeral resources", func(t *testing.T, w *workspace, _ *service) bool {
		w.configure(t, `ephemeral "idv_access_token" "t" {}`)
		return w.accepts(t, "Unsupported block type") && !strings.Contains(w.mustApply(t).state(t), "idv_access_token")
	}},
	{"Warning that an access token expires while it is in use", func(t *testing.T, w *workspace, _ *service) bool {
		w.block = newServiceWith(t, sandbox.Options{TokenLifetime: time.Second}).providerBlock()
		w.configure(t, `
			ephemeral "idv_access_token" "t" {}
			resource "terraform_data" "slow" {
			  provisioner "local-exec" {
			    command     = "sleep 2"
			    environment = { TOKEN = ephemeral.idv_access_token.t.token }
			  }
			}`)
		if !w.accepts(t, "Unsupported block type") {
			return false
		}
		r := w.must(t, "apply", "-auto-approve")
		if !strings.Contains(r.output, "Renewing...") {
			t.Errorf("the CLI did not ask for a renewal:\n%s", r.output)
		}
		return has(r.warnings, "expires while it is in use")
	}},
	{"Ephemeral values in the provider block", func(t *testing.T, w *workspace, s *service) bool {
		w.block = strings.Replace(w.block, `"sandbox-password"`, "var.password", 1)
		w.configure(t, "variable \"password\" {\n  type = string\n  ephemeral = true\n}\n"+`data "idv_references" "all" {}`)
		w.env = append(w.env, "TF_VAR_password=sandbox-password")
		return w.accepts(t, "Unsupported argument") && strings.Contains(w.mustApply(t).state(t), "mandate_types")
	}},
	{"Action `idv_resend_invites`", func(t *testing.T, w *workspace, _ *service) bool {
		w.configure(t, "action \"idv_resend_invites\" \"jane\" {\n  config {\n    individual_id = 4712\n  }\n}")
		return w.accepts(t, "Unsupported block type")
	}},
}

const abandoned = `resource "idv_webhook_subscription" "ops" {
  url             = "https://hooks.example.com/idv"
  deletion_policy = "ABANDON"
}`

// accepts reports whether the CLI supports the configuration. Otherwise, its error has to contain the given text.
func (w *workspace) accepts(t *testing.T, unsupported string) bool {
	t.Helper()
	r := w.run(t, "validate")
	if r.exit != 0 && !has(r.errors, unsupported) {
		t.Fatalf("want a valid configuration, or %q, got %+v", unsupported, r.errors)
	}
	return r.exit == 0
}

func (w *workspace) mustApply(t *testing.T) *workspace {
	t.Helper()
	w.must(t, "apply", "-auto-approve")
	return w
}

// removesFromState reports whether an apply removes a subscription with PREVENT from the state.
func (w *workspace) removesFromState(t *testing.T) bool {
	t.Helper()
	return !strings.Contains(w.mustApply(t).state(t), "hooks.example.com")
}

// importsCleanly reports whether a block imports the subscription of an application with an empty plan afterwards.
func (w *workspace) importsCleanly(t *testing.T, application int64, selector string) bool {
	t.Helper()
	w.configure(t, subscription(application, "https://hooks.example.com/idv", "")+
		fmt.Sprintf("import {\n  to = "+ops+"\n  "+selector+"\n}\n", application))
	if !w.accepts(t, "Unsupported argument") {
		return false
	}
	w.mustApply(t).mustPlanNothing(t)
	return true
}

// createSubscribedApplication creates an application with a subscription of https://hooks.example.com/idv.
func (s *service) createSubscribedApplication(t *testing.T) int64 {
	t.Helper()
	application := s.createApplication(t)
	if _, err := s.client.SubscribeWebhook(t.Context(), client.Subscription{
		URL: client.Hide("https://hooks.example.com/idv"), ApplicationID: application,
	}); err != nil {
		t.Fatal(err)
	}
	return application
}

// TestVersions checks that the table in the guide about versions holds on the CLIs of this run.
func TestVersions(t *testing.T) {
	t.Parallel()
	skipIfShort(t) // without the CLIs, no cell of the table would be known
	written := parseVersions(t, read(t, versionsGuide))
	ran := versions{}
	var mu sync.Mutex
	t.Run("features", func(t *testing.T) {
		onEachCLI(t, func(t *testing.T, c cli) {
			column := map[string]string{"tofu": "OpenTofu ", "terraform": "Terraform "}[c.name] + c.version(t)
			ran[column] = map[string]string{}
			for i, feature := range features {
				t.Run(feature.name, func(t *testing.T) {
					t.Parallel()
					s := newService(t)
					w := c.workspace(t, s.environment()...)
					if i > 0 {
						w = c.inProcess(t, s.providerBlock())
					}
					cell := "no"
					if feature.works(t, w, s) {
						cell = "yes"
					}
					mu.Lock()
					defer mu.Unlock()
					ran[column][feature.name] = cell
				})
			}
		})
	})
	if t.Failed() {
		return
	}
	if *update {
		maps.Copy(written, ran)
		write(t, versionsGuide, written.replacedIn(read(t, versionsGuide)))
		return
	}
	for column, cells := range ran {
		if _, listed := written[column]; !listed && strings.HasPrefix(column, "Terraform ") {
			t.Logf("%s has no column in %s; -update adds it", column, versionsGuide)
			continue
		}
		if diff := cmp.Diff(cells, written[column]); diff != "" {
			t.Errorf("%s differs for %s (-ran +written); run make update:\n%s", versionsGuide, column, diff)
		}
	}
	if got := written.replacedIn(read(t, versionsGuide)); got != read(t, versionsGuide) {
		t.Errorf("the table in %s differs in its format", versionsGuide)
	}
}

// versions has the cells of the table, by column and feature.
type versions map[string]map[string]string

func parseVersions(t *testing.T, guide string) versions {
	t.Helper()
	table := tableIn(guide)
	if len(table) < 2 {
		t.Fatalf("%s has no table", versionsGuide)
	}
	columns := cellsOf(table[0])[1:]
	all := versions{}
	for _, column := range columns {
		all[column] = map[string]string{}
	}
	for _, line := range table[2:] {
		cells := cellsOf(line)
		for i, column := range columns {
			all[column][cells[0]] = cells[i+1]
		}
	}
	return all
}

// replacedIn writes the table into the guide. A feature that no test has tried on a version is "not run".
func (v versions) replacedIn(guide string) string {
	columns := slices.Sorted(maps.Keys(v))
	lines := []string{"| | " + strings.Join(columns, " | ") + " |", "|---" + strings.Repeat("|---", len(columns)) + "|"}
	for _, feature := range features {
		line := "| " + feature.name
		for _, column := range columns {
			cell, ran := v[column][feature.name]
			if !ran {
				cell = "not run"
			}
			line += " | " + cell
		}
		lines = append(lines, line+" |")
	}
	return strings.Replace(guide, strings.Join(tableIn(guide), "\n"), strings.Join(lines, "\n"), 1)
}

// tableIn returns the lines of the guide's only table.
func tableIn(guide string) []string {
	return slices.DeleteFunc(strings.Split(guide, "\n"), func(line string) bool { return !strings.HasPrefix(line, "|") })
}

func cellsOf(line string) []string {
	var cells []string
	for cell := range strings.SplitSeq(strings.Trim(line, "|"), "|") {
		cells = append(cells, strings.TrimSpace(cell))
	}
	return cells
}
