package provider_test

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

const notificationsModule = examples + "/modules/notifications"

// copyModule copies a module with its tests into the workspace.
func (w *workspace) copyModule(t *testing.T, module, dir string) {
	t.Helper()
	if err := os.CopyFS(filepath.Join(w.dir, dir), os.DirFS(module)); err != nil {
		t.Fatal(err)
	}
}

// getModules installs the modules of the configuration. It needs no registry.
func (w *workspace) getModules(t *testing.T) {
	t.Helper()
	w.must(t, "get", "-no-color")
}

func formatID(id int64) string { return strconv.FormatInt(id, 10) }

// TestModuleTests runs the .tftest.hcl files of the module, as its users do.
func TestModuleTests(t *testing.T) {
	t.Parallel()
	onEachCLI(t, func(t *testing.T, c cli) {
		s := newService(t)
		w := c.workspace(t, s.environment()...)
		w.copyModule(t, notificationsModule, ".")
		output := w.must(t, "test", "-no-color").output
		if !strings.Contains(output, "5 passed, 0 failed") {
			t.Errorf("want five runs that pass:\n%s", output)
		}
		if posts := s.requests(t, control.SubscribeWebhook); posts != 1 {
			t.Errorf("want one subscription, got %d", posts)
		}
	})
}

// tokensOfTeams are those of the example with five teams.
var tokensOfTeams = func() string {
	tokens := map[string]string{}
	for _, team := range []string{"billing", "lending", "onboarding", "payments", "risk"} {
		tokens[team] = receiverToken + team
	}
	encoded, err := json.Marshal(tokens)
	if err != nil {
		panic(err)
	}
	return string(encoded)
}()

// TestModule applies the module with a token in the URL, and with one in a header. Nothing of it is stored, printed or
// logged, even at level TRACE.
func TestModule(t *testing.T) {
	t.Parallel()
	onEachCLI(t, func(t *testing.T, c cli) {
		for name, header := range map[string]string{"in the URL": "", "in a header": "  headers_field = \"headers\"\n"} {
			t.Run(name, func(t *testing.T) {
				s := newService(t)
				s.setDialect(t, "retrieveWebhook", "list")
				log := filepath.Join(t.TempDir(), "trace.log")
				w := c.workspace(t, append(s.environment(), "TF_VAR_token="+receiverToken, "TF_LOG=TRACE", "TF_LOG_PATH="+log)...)
				w.copyModule(t, notificationsModule, "notifications")
				w.configure(t, "variable \"token\" {\n  type = string\n  ephemeral = true\n}\n"+
					"module \"notifications\" {\n  source = \"./notifications\"\n  base_url = \"https://hooks.example.com\"\n"+
					"  namespace = \"team-a\"\n  deletion_policy = \"ABANDON\"\n  token = var.token\n"+header+
					"  application_ids = ["+formatID(s.createApplication(t))+"]\n}\n"+
					"output \"subscriptions\" { value = module.notifications.subscriptions }\n")
				w.getModules(t)
				w.must(t, "validate")
				outputs := map[string]string{}
				outputs["plan"] = w.must(t, "plan", "-out=tfplan").output
				outputs["plan in JSON"] = w.must(t, "show", "-json", "tfplan").output
				outputs["plan file"] = unzipped(t, filepath.Join(w.dir, "tfplan"))
				outputs["apply"] = w.must(t, "apply", "tfplan").output
				outputs["empty plan"] = w.mustPlanNothing(t).output
				outputs["state"] = w.state(t)
				outputs["state in JSON"] = w.must(t, "show", "-json").output
				outputs["destroy"] = w.must(t, "destroy", "-auto-approve").output
				outputs["backup"] = read(t, filepath.Join(w.dir, "terraform.tfstate.backup"))
				outputs["trace"] = read(t, log)
				for where, text := range outputs {
					mustNotContain(t, where, text, receiverToken)
					mustNotContain(t, where+" in Base64", text, base64.StdEncoding.EncodeToString([]byte(receiverToken)))
				}
				if !containsAll(outputs["trace"], []string{"Request to the identity verification service", "[TRACE]"}) {
					t.Error("the log has no traces, or none of the provider, so the test proves nothing")
				}
				if posts := s.requests(t, control.SubscribeWebhook); posts != 1 {
					t.Errorf("want one subscription, got %d", posts)
				}
			})
		}
	})
}
