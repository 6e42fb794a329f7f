package provider_test

import (
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
		if !strings.Contains(output, "6 passed, 0 failed") {
			t.Errorf("want six runs that pass:\n%s", output)
		}
		if posts := s.requests(t, control.SubscribeWebhook); posts != 1 {
			t.Errorf("want one subscription, got %d", posts)
		}
	})
}

// TestModule applies the module with a token in the URL, and with one in a header of which nothing is stored.
func TestModule(t *testing.T) {
	t.Parallel()
	onEachCLI(t, func(t *testing.T, c cli) {
		s := newService(t)
		s.setDialect(t, "retrieveWebhook", "list")
		w := c.inProcess(t, s.providerBlock())
		w.env = append(w.env, "TF_VAR_token="+receiverToken)
		w.copyModule(t, notificationsModule, "notifications")
		configure := func(arguments string) {
			w.configure(t, "variable \"token\" {\n  type = string\n  sensitive = true\n  ephemeral = "+
				map[bool]string{true: "true", false: "false"}[strings.Contains(arguments, "header")]+"\n}\n"+
				"module \"notifications\" {\n  source = \"./notifications\"\n  base_url = \"https://hooks.example.com\"\n"+
				"  namespace = \"team-a\"\n  deletion_policy = \"ABANDON\"\n"+arguments+"\n}\n"+
				"output \"subscriptions\" { value = module.notifications.subscriptions }\n")
		}
		configure("  token = var.token\n  application_ids = [" + formatID(s.createApplication(t)) + "]")
		w.getModules(t)
		w.must(t, "validate")
		mustNotContain(t, "the apply", w.must(t, "apply", "-auto-approve").output, "canary")
		mustNotContain(t, "the plan", w.mustPlanNothing(t).output, "canary")
		w.must(t, "destroy", "-auto-approve")

		configure("  header_token = var.token\n  headers_field = \"headers\"\n  application_ids = [" +
			formatID(s.createApplication(t)) + "]")
		mustNotContain(t, "the apply", w.must(t, "apply", "-auto-approve").output, "canary")
		mustNotContain(t, "the plan", w.mustPlanNothing(t).output, "canary")
		mustNotContain(t, "the state", w.state(t), "canary")
		if posts := s.requests(t, control.SubscribeWebhook); posts != 2 {
			t.Errorf("want two subscriptions, got %d", posts)
		}
	})
}
