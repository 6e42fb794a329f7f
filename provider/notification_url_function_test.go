package provider_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// notificationURL calls the function over the plugin protocol.
func (p *plugin) notificationURL(t *testing.T, arguments ...any) (string, *tfprotov6.FunctionError) {
	t.Helper()
	return p.callFunction(t, "notification_url", arguments...)
}

const receiverToken = "canary-0123456789-0123456789-012" // as short as it may be

func TestNotificationURL(t *testing.T) {
	p := newPlugin(t, newService(t).url)
	const hooks = "https://hooks.example.com"
	token, path := receiverToken, "/notifications/team-a/default/"+receiverToken
	for name, test := range map[string]struct {
		base                   string
		namespace, name, token any
		want                   string
	}{
		"plain":           {hooks, "team-a", "default", token, hooks + path},
		"a slash":         {hooks + "/", "team-a", "default", token, hooks + path},
		"a path":          {hooks + "/b/", "team-a", "default", token, hooks + "/b" + path},
		"an escaped path": {hooks + "/b%2Fc", "team-a", "default", token, hooks + "/b%2Fc" + path},
		"a port":          {"http://127.0.0.1:8082", "team-a", "default", token, "http://127.0.0.1:8082" + path},
		"cluster, null":   {"https://a.example.com", nil, "x.y", nil, "https://a.example.com/notifications/-/x.y"},
		"cluster, empty":  {"https://a.example.com", "", "x", nil, "https://a.example.com/notifications/-/x"},
		"cluster, -":      {"https://a.example.com", "-", "x", nil, "https://a.example.com/notifications/-/x"},
		"escaped token": {
			"https://a.example.com", "n", "x", "a/b?c#d%e+" + receiverToken,
			"https://a.example.com/notifications/n/x/a%2Fb%3Fc%23d%25e+" + receiverToken,
		},
	} {
		if got, failure := p.notificationURL(t, test.base, test.namespace, test.name, test.token); got != test.want {
			t.Errorf("%s: want %s, got %s, %+v", name, test.want, got, failure)
		}
	}
}

// TestNotificationURLErrors: an error names its argument and repeats no token.
func TestNotificationURLErrors(t *testing.T) {
	p := newPlugin(t, newService(t).url)
	const base = "https://hooks.example.com"
	for name, test := range map[string]struct {
		arguments []any
		argument  int64
		want      string
	}{
		"no URL":               {[]any{"hooks.example.com", "n", "x", receiverToken}, 0, "base must be a URL"},
		"http":                 {[]any{"http://hooks.example.com", "n", "x", receiverToken}, 0, "loopback"},
		"a password":           {[]any{"https://u:canary@localhost", "n", "x", receiverToken}, 0, "base must have no user"},
		"a query":              {[]any{base + "?key=canary", "n", "x", receiverToken}, 0, "base must have no user"},
		"a namespace with a .": {[]any{base, "team.a", "x", receiverToken}, 1, "namespace must"},
		"a namespace with a /": {[]any{base, "../team", "x", receiverToken}, 1, "namespace must"},
		"no name":              {[]any{base, "n", "", receiverToken}, 2, "name must"},
		"a name with a /":      {[]any{base, "n", "x/y", receiverToken}, 2, "name must"},
		"a short token":        {[]any{base, "n", "x", receiverToken[1:]}, 3, "token must have at least 32"},
		"no token":             {[]any{base, "n", "x", ""}, 3, "token must have at least 32"},
		"a line":               {[]any{base, "n", "x", receiverToken + "\n"}, 3, "trimspace"},
	} {
		got, failure := p.notificationURL(t, test.arguments...)
		if failure == nil || !strings.Contains(failure.Text, test.want) ||
			failure.FunctionArgument == nil || *failure.FunctionArgument != test.argument {
			t.Errorf("%s: want an error of argument %d with %q, got %q, %+v", name, test.argument, test.want, got, failure)
			continue
		}
		mustNotContain(t, name, failure.Text, "canary")
	}
}

// TestTokenOfTheReceiver: a sensitive token stays sensitive in the URL, and Terraform prints it nowhere: neither in a
// plan, nor beside the name of the resource, nor in a diagnostic.
func TestTokenOfTheReceiver(t *testing.T) {
	t.Parallel()
	s := newService(t)
	onEachCLI(t, func(t *testing.T, c cli) {
		w := c.inProcess(t, s.providerBlock())
		w.env = append(w.env, "TF_VAR_token="+receiverToken)
		url := "provider::idv::notification_url(\"https://hooks.example.com\", \"team-a\", \"default\", var.token)"
		variable := "variable \"token\" {\n  type = string\n  sensitive = true\n}\n"
		w.configure(t, variable+"output \"url\" { value = "+url+" }\n")
		if r := w.run(t, "plan"); !has(r.errors, "sensitive") {
			t.Errorf("the URL is not sensitive: %+v", r.errors)
		}
		w.configure(t, variable+"resource \"idv_webhook_subscription\" \"ops\" {\n  url = "+url+
			"\n  deletion_policy = \"ABANDON\"\n}\n")
		for _, command := range [][]string{{"apply", "-auto-approve"}, {"plan"}, {"destroy", "-auto-approve"}} {
			r := w.must(t, command...)
			mustNotContain(t, command[0], r.output, "canary")
		}
		w.env = append(w.env, "TF_VAR_token="+receiverToken[1:])
		if r := w.run(t, "plan"); len(r.errors) != 1 || !has(r.errors, "token must have at least 32") {
			t.Errorf("want one error about the token, got %+v", r.errors)
		} else {
			mustNotContain(t, "the error", r.output, receiverToken[10:])
		}
	})
}
