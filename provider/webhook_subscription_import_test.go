package provider_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// A configuration that the CLI generates for an import has a plan without a change.
func TestGeneratedConfigurationOfAnImport(t *testing.T) {
	t.Parallel()
	s := newService(t)
	onEachCLI(t, func(t *testing.T, c cli) {
		application := s.createApplication(t)
		request := client.Subscription{
			URL: client.Hide(hookURL), ApplicationID: application, Events: []string{"application.completed"},
		}
		if _, err := s.client.SubscribeWebhook(t.Context(), request); err != nil {
			t.Fatal(err)
		}
		blocks := map[string]string{
			"a URL":              fmt.Sprintf("id = \"%d/%s\"", application, hookURL),
			"a digest":           fmt.Sprintf("id = \"%d/sha256:%s\"", application, hookDigest),
			"the account, a URL": fmt.Sprintf("id = \"account/%s\"", hookURL),
		}
		if c.hasIdentity(t) {
			blocks["an identity"] = fmt.Sprintf(
				"identity = {\n    application_id = %d\n    url_sha256 = %q\n  }", application, hookDigest)
		}
		for name, block := range blocks {
			t.Run(name, func(t *testing.T) {
				w := c.workspace(t, s.environment()...)
				w.configure(t, "import {\n  to = "+ops+"\n  "+block+"\n}\n")
				r := w.must(t, "plan", "-generate-config-out=generated.tf", "-out=tfplan")
				if !strings.Contains(r.output, "1 to import, 0 to add, 0 to change") {
					t.Errorf("want a plan that only imports:\n%s\n%s", read(t, filepath.Join(w.dir, "generated.tf")), r.output)
				}
				s.resetStats(t)
				w.must(t, "apply", "tfplan")
				w.mustPlanNothing(t)
				if n := s.requests(t, control.SubscribeWebhook); n != 0 {
					t.Errorf("want nothing sent, got %d requests", n)
				}
			})
		}
	})
}

// A subscription to updates about all applications is believed to exist, with one warning.
func TestImportOfTheAccount(t *testing.T) {
	t.Parallel()
	s := newService(t)
	onEachCLI(t, func(t *testing.T, c cli) {
		s.resetStats(t)
		blocks := map[string]string{
			"digest": "id = \"account/sha256:" + hookDigest + "\"", "URL": "id = \"account/" + hookURL + "\"",
		}
		if c.hasIdentity(t) {
			blocks["identity"] = "identity = { url_sha256 = \"" + hookDigest + "\" }"
		}
		for name, block := range blocks {
			for _, argument := range []string{"url", "url_wo"} {
				t.Run(name+", "+argument, func(t *testing.T) {
					w := c.inProcess(t, s.providerBlock())
					config := strings.Replace(subscription(0, hookURL, ""), "  url = ", "  "+argument+" = ", 1)
					w.configure(t, config+"import {\n  to = "+ops+"\n  "+block+"\n}\n")
					if name == "URL" && argument == "url_wo" {
						if r := w.run(t, "apply", "-auto-approve"); !has(r.errors, "by the digest", "account/sha256:"+hookDigest) ||
							strings.Contains(w.state(t), hookURL) {
							t.Errorf("want an error that says how to import it, got %+v, %s", r.errors, w.state(t))
						}
						return
					}
					if r := w.must(t, "apply", "-auto-approve"); !has(r.warnings, "assumed to exist") {
						t.Errorf("want a warning, got %+v", r.warnings)
					}
					if r := w.mustPlanNothing(t); len(r.warnings) > 0 {
						t.Errorf("want no further warning, got %+v", r.warnings)
					}
					if stored := strings.Contains(w.state(t), hookURL); stored != (argument == "url") {
						t.Errorf("want only url in the state, got %s", w.state(t))
					}
				})
			}
		}
		if n := s.requests(t, control.SubscribeWebhook); n != 0 {
			t.Errorf("want nothing sent, got %d requests", n)
		}
	})
}

// A token in the URL of an imported subscription is nowhere, although the service shows it.
func TestImportWithATokenInTheURL(t *testing.T) {
	t.Parallel()
	s := newService(t)
	onEachCLI(t, func(t *testing.T, c cli) {
		for name, url := range map[string]string{
			"path":  "https://hooks.example.com/" + receiverToken,
			"query": "https://hooks.example.com/idv?key=" + receiverToken,
			"user":  "https://u:" + receiverToken + "@hooks.example.com/idv",
			"short": "https://hooks.example.com/canary-0",
		} {
			t.Run(name, func(t *testing.T) {
				application := s.createApplication(t)
				request := client.Subscription{URL: client.Hide(url), ApplicationID: application}
				if _, err := s.client.SubscribeWebhook(t.Context(), request); err != nil {
					t.Fatal(err)
				}
				log := filepath.Join(t.TempDir(), "trace.log")
				w := c.workspace(t, append(s.environment(), "TF_VAR_url="+url, "TF_LOG=TRACE", "TF_LOG_PATH="+log)...)
				digest := digestOf(t, url)
				w.configure(t, fmt.Sprintf("variable \"url\" {\n  type = string\n  ephemeral = true\n}\n"+
					"resource \"idv_webhook_subscription\" \"ops\" {\n  url_wo = var.url\n  application_id = %[1]d\n}\n"+
					"import {\n  to = %[2]s\n  id = \"%[1]d/sha256:%[3]s\"\n}\n", application, ops, digest))
				planned := w.must(t, "plan", "-out=tfplan").output
				outputs := map[string]string{
					"plan": planned, "plan in JSON": w.must(t, "show", "-json", "tfplan").output,
					"plan file": unzipped(t, filepath.Join(w.dir, "tfplan")), "apply": w.must(t, "apply", "tfplan").output,
					"empty plan": w.mustPlanNothing(t).output, "state": w.state(t), "trace": read(t, log),
				}
				if !strings.Contains(outputs["state"], `"readable": true`) {
					t.Errorf("want it found, got %s", outputs["state"])
				}
				for where, text := range outputs {
					mustNotContain(t, where, text, "canary-0")
				}
			})
		}
	})
}

// digestOf calls the function url_sha256.
func digestOf(t *testing.T, url string) string {
	t.Helper()
	digest, problem := newPluginWith(t, values{"base_url": "http://127.0.0.1:1", "username": "u", "password": "p"}).
		callFunction(t, "url_sha256", url)
	if problem != nil {
		t.Fatal(problem.Text)
	}
	return digest
}

func TestURLSHA256(t *testing.T) {
	for _, url := range []string{hookURL, "HTTPS://Hooks.example.com:443/idv"} {
		if digest := digestOf(t, url); digest != hookDigest {
			t.Errorf("%s: got %s", url, digest)
		}
	}
	p := newPluginWith(t, values{"base_url": "http://127.0.0.1:1", "username": "u", "password": "p"})
	_, problem := p.callFunction(t, "url_sha256", "canary")
	if problem == nil || strings.Contains(problem.Text, "canary") {
		t.Errorf("want an error without the value, got %+v", problem)
	}
}

// An import by an ID that is written in another way has the same identity.
func TestImportIdentity(t *testing.T) {
	s := newService(t)
	application := s.createSubscribedApplication(t)
	session := newSession(t, s.url)
	for _, id := range []string{
		fmt.Sprintf("%d/HTTPS://hooks.example.com:443/idv", application),
		fmt.Sprintf("%d/sha256:%s", application, strings.ToUpper(hookDigest)),
	} {
		imported, err := session.server.ImportResourceState(t.Context(), &tfprotov6.ImportResourceStateRequest{
			TypeName: subscriptionType, ID: id,
		})
		if err != nil || hasError(imported.Diagnostics) {
			t.Fatal(err, formatDiagnostics(imported.Diagnostics))
		}
		identity, err := imported.ImportedResources[0].Identity.IdentityData.Unmarshal(tftypes.Object{
			AttributeTypes: map[string]tftypes.Type{"application_id": tftypes.Number, "url_sha256": tftypes.String},
		})
		if err != nil || !strings.Contains(identity.String(), hookDigest) {
			t.Errorf("%s: got %s, %v", id, identity, err)
		}
	}
}
