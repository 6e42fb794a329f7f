package plugin_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mandate-io/idv/internal/sandbox"
)

// -o means for each command what it means for kubectl.
func TestOutput(t *testing.T) {
	w := newWorld(t, sandbox.Options{})
	w.connect()
	w.mandate("acme")
	w.mandate("globex")
	w.fill()
	for _, c := range []struct {
		arguments, format, want string
	}{
		{"status acme", "name", "mandate.idv.mandate.io/acme\n"},
		{"status", "name", "mandate.idv.mandate.io/acme\nmandate.idv.mandate.io/globex\n"},
		{"status acme", "jsonpath={.ready.reason} {.metadata.namespace}", "Refused " + w.namespace},
		{"status acme globex", "jsonpath={.items[*].metadata.name}", "acme globex"},
		{"status", "go-template={{range .items}}{{.attention}} {{end}}", "NeedsPerson OperatorWorks "},
		{"status acme", "jsonpath={.apiVersion} {.kind}", "view.idv.mandate.io/v1alpha1 Mandate"},
		{"history acme", "jsonpath={.calls[*].kind}", "Create"},
		{"history acme globex", "name", "applicationrecord.idv.mandate.io/acme\napplicationrecord.idv.mandate.io/globex\n"},
		{"explain OutcomeUnknown --kind Mandate", "jsonpath={.reason} {.objectKind}", "OutcomeUnknown Mandate"},
		{"version", "jsonpath={.clientVersion}", "test"},
		{"decide acme Reject --dry-run", "jsonpath={.spec.decision}", `{"evidence":"7d9f2c41-3","outcome":"Reject"}`},
		{"decide acme Reject --dry-run", "name", "mandate.idv.mandate.io/acme\n"},
	} {
		out, _ := w.separate(0, append(strings.Fields(c.arguments), "-o", c.format)...)
		if out != c.want {
			t.Errorf("%s -o %s: %q, want %q", c.arguments, c.format, out, c.want)
		}
	}
	out, _ := w.separate(0, "status", "-o", "json")
	list := struct {
		Kind  string
		Items []struct{ Kind string }
	}{}
	w.check(json.Unmarshal([]byte(out), &list))
	if list.Kind != "List" || len(list.Items) != 2 || list.Items[0].Kind != "Mandate" {
		t.Errorf("%s", out)
	}
	w.contains(w.run("", 1, "status", "-o", "jsonpath={"), `--output "jsonpath={": `)
	w.contains(w.run("", 1, "history", "acme", "-o", "wide"), "use json, yaml, name, jsonpath=TEMPLATE, go-template=")
}
