package provider_test

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

var update = flag.Bool("update", false, "write what TestVersions found out into the guide about versions")

// versionsGuide holds a table of what works on which version. A cell is written by a run of this test on that version, and
// compared by every other run on it.
const versionsGuide = "../docs/templates/guides/versions.md"

// features are the rows: what needs more of the CLI than resources always did.
var features = []struct {
	name string
	// works tries it out. What fails otherwise than by the CLI not knowing it is an error of the test.
	works func(*testing.T, *workspace, *service) bool
}{
	{"Subscriptions: plan, apply, an empty plan, destroy", func(t *testing.T, w *workspace, _ *service) bool {
		w.configure(t, abandoned)
		w.must(t, "apply", "-auto-approve")
		w.mustPlanNothing(t)
		w.must(t, "destroy", "-auto-approve")
		return true
	}},
	{"A warning in the plan of a destroy that the subscription stays behind", func(t *testing.T, w *workspace, _ *service) bool {
		w.configure(t, abandoned)
		w.must(t, "apply", "-auto-approve")
		return has(w.must(t, "plan", "-destroy").warnings, "https://hooks.example.com/idv")
	}},
	{"`import` command", func(t *testing.T, w *workspace, s *service) bool {
		application := s.subscribedApplication(t)
		w.configure(t, subscription(application, "https://hooks.example.com/idv", ""))
		w.must(t, "import", "-input=false", ops, fmt.Sprintf("%d/https://hooks.example.com/idv", application))
		w.mustPlanNothing(t)
		return true
	}},
	{"`import` block with an id", func(t *testing.T, w *workspace, s *service) bool {
		return w.imports(t, s.subscribedApplication(t), "id = \"%d/https://hooks.example.com/idv\"")
	}},
	{"`import` block with an identity", func(t *testing.T, w *workspace, s *service) bool {
		return w.imports(t, s.subscribedApplication(t), "identity = {\n    application_id = %d\n    url = \"https://hooks.example.com/idv\"\n  }")
	}},
	{"`removed` block: forgets a subscription without a destroy", func(t *testing.T, w *workspace, _ *service) bool {
		w.configure(t, `resource "idv_webhook_subscription" "ops" { url = "https://hooks.example.com/idv" }`)
		w.must(t, "apply", "-auto-approve")
		w.configure(t, "removed {\n  from = idv_webhook_subscription.ops\n  lifecycle {\n    destroy = false\n  }\n}")
		return w.knows(t, "Unsupported block type") && w.forgets(t)
	}},
	{"`lifecycle { destroy = false }`: forgets a subscription where it would be destroyed", func(t *testing.T, w *workspace, _ *service) bool {
		w.configure(t, "resource \"idv_webhook_subscription\" \"ops\" {\n  url = \"https://hooks.example.com/idv\"\n  lifecycle {\n    destroy = false\n  }\n}")
		if !w.knows(t, "Unsupported argument") {
			return false
		}
		w.must(t, "apply", "-auto-approve")
		w.configure(t, "")
		return w.forgets(t)
	}},
	{"`moved` block: a subscription that was a `terraform_data`", func(t *testing.T, w *workspace, s *service) bool {
		w.configure(t, `resource "terraform_data" "ops" { input = "https://hooks.example.com/idv" }`)
		w.must(t, "apply", "-auto-approve")
		w.configure(t, abandoned+"\nmoved {\n  from = terraform_data.ops\n  to = "+ops+"\n}\n")
		w.must(t, "apply", "-auto-approve")
		return s.requests(t, control.SubscribeWebhook) == 0
	}},
	{"Write-only arguments: `payload_json_wo`", func(t *testing.T, w *workspace, _ *service) bool {
		w.configure(t, "resource \"idv_webhook_subscription\" \"ops\" {\n  url = \"https://hooks.example.com/idv\"\n"+
			"  payload_json_wo = jsonencode({ secret = \"canary\" })\n  payload_json_wo_version = 1\n}\n")
		return w.knows(t, "Write-only") && !strings.Contains(w.applied(t).state(t), "canary")
	}},
	{"Data sources", func(t *testing.T, w *workspace, _ *service) bool {
		w.configure(t, `data "idv_references" "all" {}`)
		w.must(t, "apply", "-auto-approve")
		return strings.Contains(w.state(t), "mandate_types")
	}},
	{"Function `mandate_reference`", func(t *testing.T, w *workspace, _ *service) bool {
		w.configure(t, `output "reference" { value = provider::idv::mandate_reference("a", "b") }`)
		return w.knows(t, "Invalid function name") && strings.Contains(w.applied(t).state(t), `"a.b"`)
	}},
	{"Ephemeral resources", func(t *testing.T, w *workspace, _ *service) bool {
		w.configure(t, `ephemeral "idv_access_token" "t" {}`)
		return w.knows(t, "Unsupported block type") && !strings.Contains(w.applied(t).state(t), "idv_access_token")
	}},
	{"A warning that an access token expires while it is in use", func(t *testing.T, w *workspace, _ *service) bool {
		w.env = append(w.env, newServiceWith(t, sandbox.Options{TokenLifetime: time.Second}).environment()...)
		w.configure(t, `
			ephemeral "idv_access_token" "t" {}
			resource "terraform_data" "slow" {
			  provisioner "local-exec" {
			    command     = "sleep 2"
			    environment = { TOKEN = ephemeral.idv_access_token.t.token }
			  }
			}`)
		if !w.knows(t, "Unsupported block type") {
			return false
		}
		r := w.must(t, "apply", "-auto-approve")
		if !strings.Contains(r.output, "Renewing...") {
			t.Errorf("the CLI did not ask for a renewal:\n%s", r.output)
		}
		return has(r.warnings, "expires while it is in use")
	}},
	{"Ephemeral values in the provider block", func(t *testing.T, w *workspace, s *service) bool {
		w.configure(t, strings.Replace(s.providerBlock(), `"sandbox-password"`, "var.password", 1)+
			"variable \"password\" {\n  type = string\n  ephemeral = true\n}\n"+`data "idv_references" "all" {}`)
		w.env = append(w.env, "TF_VAR_password=sandbox-password")
		return w.knows(t, "Unsupported argument") && strings.Contains(w.applied(t).state(t), "mandate_types")
	}},
	{"Action `idv_resend_invites`", func(t *testing.T, w *workspace, _ *service) bool {
		w.configure(t, "action \"idv_resend_invites\" \"jane\" {\n  config {\n    individual_id = 4712\n  }\n}")
		return w.knows(t, "Unsupported block type")
	}},
}

const abandoned = `resource "idv_webhook_subscription" "ops" {
  url             = "https://hooks.example.com/idv"
  deletion_policy = "ABANDON"
}`

// knows tells whether the CLI understands the configuration; refusal is what it says otherwise.
func (w *workspace) knows(t *testing.T, refusal string) bool {
	t.Helper()
	r := w.run(t, "validate")
	if r.exit != 0 && !has(r.errors, refusal) {
		t.Fatalf("want it valid, or %q, got %+v", refusal, r.errors)
	}
	return r.exit == 0
}

func (w *workspace) applied(t *testing.T) *workspace {
	t.Helper()
	w.must(t, "apply", "-auto-approve")
	return w
}

// forgets tells whether an apply takes the subscription from the state, with PREVENT in it.
func (w *workspace) forgets(t *testing.T) bool {
	t.Helper()
	return !strings.Contains(w.applied(t).state(t), "hooks.example.com")
}

// imports tells whether a block imports the subscription of an application, with an empty plan after.
func (w *workspace) imports(t *testing.T, application int64, selector string) bool {
	t.Helper()
	w.configure(t, subscription(application, "https://hooks.example.com/idv", "")+
		fmt.Sprintf("import {\n  to = "+ops+"\n  "+selector+"\n}\n", application))
	if !w.knows(t, "Unsupported argument") {
		return false
	}
	w.applied(t).mustPlanNothing(t)
	return true
}

// subscribedApplication makes an application whose updates go to https://hooks.example.com/idv.
func (s *service) subscribedApplication(t *testing.T) int64 {
	t.Helper()
	application := s.application(t)
	if _, err := s.client.SubscribeWebhook(t.Context(), client.Subscription{
		URL: client.Hide("https://hooks.example.com/idv"), ApplicationID: application,
	}); err != nil {
		t.Fatal(err)
	}
	return application
}

// What the guide about versions says is what runs on those versions found out.
func TestVersions(t *testing.T) {
	t.Parallel()
	written := parseVersions(t, read(t, versionsGuide))
	ran := versions{}
	var mu sync.Mutex
	t.Run("features", func(t *testing.T) {
		onEachCLI(t, func(t *testing.T, c cli) {
			column := map[string]string{"tofu": "OpenTofu ", "terraform": "Terraform "}[c.name] + c.version(t)
			ran[column] = map[string]string{}
			for _, feature := range features {
				t.Run(feature.name, func(t *testing.T) {
					t.Parallel()
					s := newService(t)
					cell := "no"
					if feature.works(t, c.workspace(t, s.environment()...), s) {
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
			t.Errorf("%s says otherwise of %s; run go test ./provider -run TestVersions -update, then make generate (-ran +written):\n%s",
				versionsGuide, column, diff)
		}
	}
	if got := written.replacedIn(read(t, versionsGuide)); got != read(t, versionsGuide) {
		t.Errorf("the table in %s is not as the test writes it", versionsGuide)
	}
}

// versions has cells by column and row.
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

// replacedIn writes the table into the guide. What has not been run on a version says so.
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

// tableIn gives the lines of the guide's table: it has one.
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
