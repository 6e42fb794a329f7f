package plugin_test

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
	"github.com/mandate-io/idv/internal/test/testenv"
)

// unusual is a service with other readings than the default ones, of which reads show each.
var unusual = dialect.Dialect{
	TokenBasic: dialect.TokenBasicRefused, StateNames: dialect.StateNamesOther, SubscribeFields: dialect.SubscribeRenamed,
	CompleteMethod: dialect.MethodPost, RejectMethod: dialect.MethodPut, References: dialect.ReferencesFlat,
	IDs: dialect.IDsString,
}

// first is what a person has created by the time of a second look: an application in each state, and a subscription.
func (w *world) first() (inReview, completed int64) {
	w.Helper()
	c, err := idv.New(idv.Config{
		BaseURL: w.url, TokenAuthorization: idv.TokenAuthorizationNone, RequestsPerSecond: -1,
		Credentials: idv.Credentials{Username: sandbox.DefaultUsername, Password: idv.Hide(sandbox.DefaultPassword)},
	})
	w.check(err)
	defer c.Close()
	references, err := c.RetrieveReferences(w.Context())
	w.check(err)
	var ids []int64
	for _, reference := range []string{"one", "two"} {
		application, err := c.CreateApplication(w.Context(), idv.NewApplication{
			Name: idv.Hide(reference), Reference: reference, MandateTypeID: references.MandateTypes[0].ID,
			Individuals: []idv.NewIndividual{{Email: idv.Hide(email)}},
		})
		w.check(err)
		_, err = w.sandbox.Play(w.Context(), control.Play{ApplicationID: application.ID, Result: control.ResultPass})
		w.check(err)
		ids = append(ids, application.ID)
	}
	seen, err := c.RetrieveApplication(w.Context(), ids[1])
	w.check(err)
	_, err = c.CompleteApplication(w.Context(), ids[1], seen.State)
	w.check(err)
	_, err = c.SubscribeWebhook(w.Context(), idv.Subscription{
		URL: idv.Hide("https://hooks.example.com/secret-path"), ApplicationID: ids[0], Events: []string{"all"},
		FieldNames: map[string]string{"url": "target_url", "events": "event_types", "application_id": "mandate_id"},
	})
	w.check(err)
	return ids[0], ids[1]
}

// TestSuggestedLoginsWork has the operator and the provider log in with what check-connection suggests, where a service
// takes only one way to log in.
func TestSuggestedLoginsWork(t *testing.T) {
	testenv.SkipIfShort(t)
	user := map[string]string{"username": sandbox.DefaultUsername, "password": sandbox.DefaultPassword}
	pair := map[string]string{"client_id": sandbox.DefaultClientID, "client_secret": sandbox.DefaultClientSecret}
	both := maps.Clone(user)
	maps.Copy(both, pair)
	cases := map[string]struct {
		service     dialect.Dialect
		given, keys map[string]string
		suggested   []string
	}{
		"HTTP Basic and user": {
			dialect.Dialect{TokenBasic: dialect.TokenBasicRequired, Credentials: dialect.CredentialsUser},
			both, both,
			[]string{"the keys username, password, client_id, client_secret.", "tokenAuthorization: Basic"},
		},
		"client only": {
			dialect.Dialect{Credentials: dialect.CredentialsClient}, both, pair, []string{"the keys client_id, client_secret."},
		},
		"no header": {
			dialect.Dialect{TokenBasic: dialect.TokenBasicRefused}, both, user, []string{"tokenAuthorization: None"},
		},
		"the client's own grant": {
			dialect.Dialect{GrantType: dialect.GrantTypeClientCredentials}, both, pair,
			[]string{"the keys client_id, client_secret.", "grantType: client_credentials"},
		},
		"the user in the header": {
			dialect.Dialect{TokenBasic: dialect.TokenBasicUser}, user, user, []string{"tokenAuthorization: UserBasic"},
		},
	}
	worlds, namespaces := map[string]*world{}, []string{}
	for name, tc := range cases {
		worlds[name] = newWorld(t, sandbox.Options{Dialect: tc.service})
		namespaces = append(namespaces, worlds[name].namespace)
	}
	newWorld(t, sandbox.Options{}).start(namespaces...)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worlds[name]
			w.T = t
			w.secret("given", tc.given)
			w.secret("suggested", tc.keys)
			suggested := w.suggested(w.examine(0, "", "--base-url", w.url, "--secret", "given", "-o", "json"))
			w.contains(suggested.Manifest, tc.suggested...)
			service := &v1alpha1.IdentityService{}
			w.check(yaml.UnmarshalStrict([]byte(suggested.Manifest), service))
			service.Spec.CredentialsSecretRef.Name = "suggested"
			w.check(w.Create(t.Context(), service))
			w.contains(w.run("", 0, "refresh", "--identityservice", "default"), "Ready=True, Connected")
			w.tofu(suggested.Provider, "", tc.keys)
		})
	}
}

// TestSuggestionsWork has the operator and the provider use what check-connection suggests.
func TestSuggestionsWork(t *testing.T) {
	testenv.SkipIfShort(t)
	w := newWorld(t, sandbox.Options{Dialect: unusual})
	w.connect() // with the defaults, only to take the address and the Secret from it
	inReview, completed := w.first()
	out := w.examine(0, "", "--identityservice", "default", "-o", "json",
		"--application", strconv.FormatInt(inReview, 10)+"=inReview",
		"--application", strconv.FormatInt(completed, 10)+"=completed")
	suggested := w.suggested(out)
	for _, hidden := range []string{email, sandbox.DefaultPassword, "secret-path"} {
		if strings.Contains(out, hidden) {
			t.Errorf("%q in:\n%s", hidden, out)
		}
	}
	manifest := &unstructured.Unstructured{}
	w.check(yaml.Unmarshal([]byte(suggested.Manifest), &manifest.Object))
	manifest.SetName("suggested")
	w.check(w.Create(t.Context(), manifest))
	w.start()
	w.mandateAt("acme", "suggested")
	w.run("", 0, "wait", "acme")
	_, err := w.sandbox.Play(t.Context(), control.Play{Reference: w.namespace + ".acme", Result: control.ResultPass})
	w.check(err)
	w.run("", 0, "refresh", "acme")
	w.run("", 0, "decide", "acme", "Complete", "--yes")
	w.run("", 0, "wait", "acme", "--for=outcome=Completed")
	if !strings.Contains(suggested.Provider, "webhook_field_names") {
		t.Fatalf("no field names in:\n%s", suggested.Provider)
	}
	w.tofu(suggested.Provider, `
resource "idv_webhook_subscription" "second" {
  url            = "https://hooks.example.com/second"
  application_id = `+strconv.FormatInt(inReview, 10)+`
}
`, map[string]string{"username": sandbox.DefaultUsername, "password": sandbox.DefaultPassword})
}

type suggestion struct{ Manifest, Provider string }

// suggested reads the output in JSON, after the line that says where the credentials go.
func (w *world) suggested(out string) suggestion {
	w.Helper()
	var found suggestion
	_, object, _ := strings.Cut(out, "\n")
	w.check(json.Unmarshal([]byte(object), &found))
	return found
}

// tofu applies the suggested provider block, with resources and with credentials from the environment.
func (w *world) tofu(provider, resources string, credentials map[string]string) {
	w.Helper()
	binary, err := env.BuildPlain("./cmd/terraform-provider-idv")
	w.check(err)
	dir := w.TempDir()
	source := "registry.opentofu.org/mandate-io/idv"
	files := map[string]string{
		"cli.tfrc": `provider_installation {
  dev_overrides { "` + source + `" = "` + filepath.Dir(binary) + `" }
}`,
		"main.tf": `terraform {
  required_providers {
    idv = { source = "` + source + `" }
  }
}
` + provider + `
data "idv_references" "all" {}
output "types" { value = length(data.idv_references.all.mandate_types) > 0 }
` + resources,
	}
	for name, content := range files {
		w.check(os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	tofu := filepath.Join(filepath.Dir(env.Kubectl), "tofu")
	command := exec.CommandContext(w.Context(), tofu, "-chdir="+dir, "apply", "-auto-approve", "-no-color")
	command.Env = append(os.Environ(), "TF_CLI_CONFIG_FILE="+filepath.Join(dir, "cli.tfrc"))
	for key, value := range credentials {
		command.Env = append(command.Env, "IDV_"+strings.ToUpper(key)+"="+value)
	}
	output, err := command.CombinedOutput()
	if err != nil || !strings.Contains(string(output), "types = true") {
		w.Fatalf("tofu: %v\n%s\n%s", err, output, files["main.tf"])
	}
}
