package provider_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2/hclparse"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

const examples = "../examples/terraform"

// exampleSettings is what the test of an example needs besides the sandbox, or expects in its outputs.
var exampleSettings = map[string]struct {
	dialects map[string]string
	using    string // a configuration that uses the example
	outputs  []string
}{
	"provider":        {using: `data "idv_references" "all" {}`},
	"getting-started": {outputs: []string{`"kyc"`, "account/sha256:"}},
	"notifications":   {outputs: []string{`"kyc"`, "account/sha256:"}},
	"notifications-of-teams": {outputs: []string{
		`"billing"`, `"lending"`, `"onboarding"`, `"payments"`, `"risk"`, "account/sha256:",
	}},
	"other-field-names": {dialects: map[string]string{"subscribeFields": "renamed"}},
	"functions/notification_url": {outputs: []string{
		"https://hooks.example.com/notifications/team-a/default/replace-me", "/notifications/-/shared",
	}},
	"functions/url_sha256":          {outputs: []string{"account/sha256:" + hookDigest}},
	"functions/mandate_reference":   {outputs: []string{`"onboarding.acme"`, `"eu-onboarding.acme"`}},
	"data-sources/idv_country":      {outputs: []string{"United Kingdom"}},
	"data-sources/idv_mandate_type": {outputs: []string{"17"}},
}

// TestExamples applies every example against the sandbox, expects an empty plan, imports it where it has an import, and
// destroys it. An example that configures the provider runs on the provider's binary.
func TestExamples(t *testing.T) {
	t.Parallel()
	dirs := exampleDirs(t)
	curl := installFakeCurl(t)
	onEachCLI(t, func(t *testing.T, c cli) {
		for _, dir := range dirs {
			t.Run(dir, func(t *testing.T) {
				t.Parallel()
				s := newService(t)
				if err := s.control.SetDialects(t.Context(), exampleSettings[dir].dialects); err != nil {
					t.Fatal(err)
				}
				s.setDialect(t, "retrieveWebhook", "list")
				e := example{workspace: c.workspace(t, s.environment()...), dir: dir, adapt: sandboxValues(t, s)}
				if !strings.Contains(e.configuration(t), `provider "idv" {`) {
					e.workspace = c.inProcess(t, s.providerBlock())
				}
				e.env = append(e.env, "PATH="+curl+":"+os.Getenv("PATH"), "TF_VAR_webhook_secret=s",
					"TF_VAR_receiver_token="+receiverToken, "TF_VAR_receiver_tokens="+tokensOfTeams)
				e.writeAdapted(t, "main.tf", e.configuration(t)+e.block)
				if strings.Contains(e.configuration(t), `"../modules/notifications"`) {
					e.copyModule(t, notificationsModule, "../modules/notifications")
					e.getModules(t)
				}

				e.must(t, "apply", "-auto-approve")
				e.mustPlanNothing(t)
				mustNotContain(t, "the state", e.state(t), receiverToken)
				output := e.must(t, "output", "-json").output
				for _, want := range exampleSettings[dir].outputs {
					if !strings.Contains(output, want) {
						t.Errorf("the outputs lack %s: %s", want, output)
					}
				}
				e.importAllWays(t)
				e.destroy(t)
			})
		}
	})
}

// exampleDirs returns the directories that the CLIs of the tests can apply, so not those of actions.
func exampleDirs(t *testing.T) []string {
	t.Helper()
	var dirs []string
	err := filepath.WalkDir(examples, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		dir, err := filepath.Rel(examples, path)
		if entry.Name() == "actions" || entry.Name() == "modules" { // see TestActionExample and TestModule
			return fs.SkipDir
		}
		if files, _ := filepath.Glob(filepath.Join(path, "*.tf")); len(files) > 0 {
			dirs = append(dirs, filepath.ToSlash(dir))
		}
		return err
	})
	if err != nil || len(dirs) < 12 {
		t.Fatal(err, dirs)
	}
	return dirs
}

// sandboxValues replaces the values of the examples with those of the sandbox: 4711 is an application in review with a
// webhook, and 4712 its individual.
func sandboxValues(t *testing.T, s *service) *strings.Replacer {
	t.Helper()
	application := s.createJane(t)
	s.play(t, control.Play{ApplicationID: application.ID, Result: control.ResultReview})
	fields := map[string]string{}
	if exampleSettings["other-field-names"].dialects["subscribeFields"] == s.dialect(t, "subscribeFields") {
		fields = map[string]string{"url": "target_url", "application_id": "mandate_id"}
	}
	if _, err := s.client.SubscribeWebhook(t.Context(), client.Subscription{
		URL: client.Hide("https://hooks.example.com/first"), ApplicationID: application.ID, FieldNames: fields,
	}); err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer(
		"4711", strconv.FormatInt(application.ID, 10),
		"4712", strconv.FormatInt(application.Individuals[0].ID, 10),
		"https://idv.example.com", s.url,
		`"terraform"`, strconv.Quote(sandbox.DefaultUsername),
	)
}

// example is one directory of the examples, in a workspace.
type example struct {
	*workspace
	dir   string
	adapt *strings.Replacer
}

func (e example) path(name string) string { return filepath.Join(examples, e.dir, name) }

func (e example) writeAdapted(t *testing.T, name, content string) {
	t.Helper()
	write(t, filepath.Join(e.workspace.dir, name), e.adapt.Replace(content))
}

// configuration returns the configuration of the example, with what it lacks.
func (e example) configuration(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob(e.path("*.tf"))
	if err != nil {
		t.Fatal(err)
	}
	configuration := exampleSettings[e.dir].using
	for _, file := range files {
		if !strings.HasPrefix(filepath.Base(file), "import-") {
			configuration += "\n" + read(t, file)
		}
	}
	if !strings.Contains(configuration, "required_providers") {
		configuration = required + configuration
	}
	return configuration
}

var imported = regexp.MustCompile(`terraform import (\S+)`)

// importAllWays removes the resource from the state, imports it, and expects an empty plan, for each way to import.
func (e example) importAllWays(t *testing.T) {
	t.Helper()
	script, err := os.ReadFile(e.path("import.sh"))
	if err != nil {
		return // TestSchemas checks that the importable ones have a script
	}
	address := imported.FindStringSubmatch(string(script))[1]
	before := e.state(t)

	e.must(t, "state", "rm", address)
	e.shell(t, strings.Replace(e.adapt.Replace(string(script)), "terraform import", `"$CLI" import -input=false`, 1))
	e.mustPlanNothing(t)
	for _, block := range []string{"import-by-string-id.tf", "import-by-identity.tf"} {
		if block == "import-by-identity.tf" && !e.cli.hasIdentity(t) {
			continue
		}
		e.must(t, "state", "rm", address)
		e.writeAdapted(t, block, read(t, e.path(block)))
		output := e.must(t, "apply", "-auto-approve").output
		if !strings.Contains(output, "1 imported, 0 added, 0 changed, 0 destroyed") {
			t.Errorf("%s: want one import and nothing else:\n%s", block, output)
		}
		e.mustPlanNothing(t)
		if err := os.Remove(filepath.Join(e.workspace.dir, block)); err != nil {
			t.Fatal(err)
		}
	}
	// An import cannot read deletion_policy and ignores the configured one for a while, so restore the applied state.
	write(t, filepath.Join(e.workspace.dir, "terraform.tfstate"), before)
}

var subscriptions = regexp.MustCompile(`(?m)^resource "idv_webhook_subscription" "\w+" {$`)

// destroy destroys the example, as the documentation says: with deletion_policy ABANDON applied first.
func (e example) destroy(t *testing.T) {
	t.Helper()
	r := e.run(t, "destroy", "-auto-approve")
	if r.exit == 0 {
		return
	}
	if !has(r.errors, "deletion_policy") {
		t.Fatalf("destroy: %+v", r.errors)
	}
	abandoned := regexp.MustCompile(`(?m)^ +deletion_policy .*\n`).ReplaceAllString(e.configuration(t), "")
	abandoned = subscriptions.ReplaceAllString(abandoned, "$0\n  deletion_policy = \"ABANDON\"")
	e.writeAdapted(t, "main.tf", abandoned+e.block)
	e.must(t, "apply", "-auto-approve")
	e.must(t, "destroy", "-auto-approve")
}

// The tests have no Terraform 1.14, so this one parses the block itself and invokes the action over the protocol.
func TestActionExample(t *testing.T) {
	s := newService(t)
	source := sandboxValues(t, s).Replace(read(t, examples+"/actions/idv_resend_invites/action.tf"))
	file, problems := hclparse.NewParser().ParseHCL([]byte(source), "action.tf")
	if problems.HasErrors() {
		t.Fatal(problems)
	}
	config := values{}
	for _, block := range blocksOf(t, file.Body, "action", "type", "name") {
		for _, inner := range blocksOf(t, block.Body, "config") {
			attributes, problems := inner.Body.JustAttributes()
			if problems.HasErrors() {
				t.Fatal(problems)
			}
			for name, attribute := range attributes {
				value, problems := attribute.Expr.Value(nil)
				if problems.HasErrors() {
					t.Fatal(problems)
				}
				config[name], _ = value.AsBigFloat().Int64()
			}
		}
	}
	_, diagnostics := newPlugin(t, s.url).invoke(t, "idv_resend_invites", config)
	if len(diagnostics) > 0 || s.countResends(t) != 1 {
		t.Errorf("want one e-mail, got %d, %s", s.countResends(t), formatDiagnostics(diagnostics))
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
