package provider_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

const abandonPolicy = `deletion_policy = "ABANDON"`

// writeOnly returns arguments with a secret and a version, if it is not 0.
func writeOnly(secret string, version int) string {
	arguments := fmt.Sprintf("payload_json_wo = jsonencode({ signing = { secret = %q } })\n  %s\n", secret, abandonPolicy)
	if version != 0 {
		arguments += fmt.Sprintf("  payload_json_wo_version = %d\n", version)
	}
	return arguments
}

// The service has no update, so another secret needs a second subscription to the same URL.
func TestSubscriptionSecretChange(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.setDialect(t, "retrieveWebhook", "list")
	onEachCLI(t, func(t *testing.T, c cli) {
		const remains = "continues to deliver"
		cases := map[string]struct {
			before, after string
			replaced      bool
			warning       string
		}{
			"automatic version, no change": {before: writeOnly("one", 0), after: writeOnly("one", 0)},
			"automatic version, change": {
				before: writeOnly("one", 0), after: writeOnly("two", 0), replaced: true, warning: remains,
			},
			"automatic version, removal": {
				before: writeOnly("one", 0), after: abandonPolicy, replaced: true, warning: remains,
			},
			"change with a new version": {
				before: writeOnly("one", 1), after: writeOnly("two", 2), replaced: true, warning: remains,
			},
			"change with the same version": {
				before: writeOnly("one", 1), after: writeOnly("two", 1), warning: "is ignored",
			},
			"from a version to the automatic one": {before: writeOnly("one", 7), after: writeOnly("one", 0)},
			"events": {
				before: abandonPolicy, after: abandonPolicy + "\nevents = [\"a\"]", replaced: true, warning: remains,
			},
		}
		for name, test := range cases {
			t.Run(name, func(t *testing.T) {
				application := s.createApplication(t)
				w := c.inProcess(t, s.providerBlock())
				w.configure(t, subscription(application, "https://hooks.example.com/idv", test.before))
				w.must(t, "apply", "-auto-approve")
				w.mustPlanNothing(t)
				w.configure(t, subscription(application, "https://hooks.example.com/idv", test.after))
				r := w.must(t, "apply", "-auto-approve")
				noWarning := test.warning == ""
				if noWarning != (len(r.warnings) == 0) || !noWarning && !has(r.warnings, test.warning) {
					t.Errorf("want a warning with %q, got %+v", test.warning, r.warnings)
				}
				w.mustPlanNothing(t)
				want := 1
				if test.replaced {
					want = 2
				}
				if n := s.countSubscriptions(t, application); n != want {
					t.Errorf("want %d subscriptions, got %d", want, n)
				}
			})
		}
	})
}

func TestSubscriptionValidates(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		arguments string
		want      []string // an error with these words; nil: valid
		not       string
	}{
		"a version without a payload": {arguments: "payload_json_wo_version = 1", want: []string{"payload_json_wo"}},
		"a secret that is not JSON": {
			arguments: `payload_json_wo = "canary"`,
			want:      []string{"payload_json_wo", "jsonencode"}, not: "canary",
		},
		"a list instead of an object": {
			arguments: `payload_json = jsonencode(["canary"])`,
			want:      []string{"payload_json", "jsonencode"}, not: "canary",
		},
		"no JSON pointer": {arguments: `response_export_values = { id = "id" }`, want: []string{"JSON pointer"}},
		"a JSON pointer":  {arguments: `response_export_values = { id = "/data/0/id", all = "" }`},
		"url and url_wo": {
			arguments: `url_wo = "https://canary.example.com"`, want: []string{"url_wo"}, not: "canary",
		},
		"a version without url_wo": {arguments: `url_wo_version = 1`, want: []string{"url_wo"}},
		"a url_wo that is no URL":  {arguments: `url_wo = "canary"`, want: []string{"url_wo"}, not: "canary"},
		"a timeout without a unit": {arguments: "timeouts {\n create = \"5\"\n }", want: []string{"unit suffix"}},
		"timeouts":                 {arguments: "timeouts {\n create = \"5m\"\n read = \"10s\"\n }"},
	}
	onEachCLI(t, func(t *testing.T, c cli) {
		w := c.inProcess(t, "")
		for name, test := range cases {
			w.configure(t, subscription(4711, "https://hooks.example.com/idv", test.arguments))
			r := w.run(t, "validate")
			if ok := test.want == nil; ok != (r.exit == 0) || !ok && !has(r.errors, test.want...) {
				t.Errorf("%s: want an error with %q, got %+v", name, test.want, r.errors)
			}
			if test.not != "" && strings.Contains(fmt.Sprint(r.errors), test.not) {
				t.Errorf("%s: the value is shown: %+v", name, r.errors)
			}
		}
	})
}

// The provider block names the fields, so the plan knows which fields identify a subscription.
func TestSubscriptionFieldNames(t *testing.T) {
	t.Parallel()
	hidden := "payload_json_wo = jsonencode({ url = \"https://canary.example.com\" })"
	cases := map[string]struct {
		names, arguments string
		want             []string // an error with these words; nil: valid
	}{
		"the URL in the write-only payload": {"", hidden, []string{`"url"`, "payload_json"}},
		"the URL in a renamed field": {
			`{ url = "to" }`, `payload_json_wo = jsonencode({ to = "https://canary.example.com" })`, []string{`"to"`},
		},
		"a field that is named url": {`{ url = "to" }`, hidden, nil},
		"one field for two arguments": {
			`{ url = "to", events = "to" }`, "", []string{"webhook_field_names", `"to"`},
		},
		"the field of another argument": {`{ url = "events" }`, "", []string{"webhook_field_names", `"events"`}},
		"exchanged names":               {`{ url = "events", events = "url" }`, "", nil},
	}
	onEachCLI(t, func(t *testing.T, c cli) {
		for name, test := range cases {
			block := unreachable
			if test.names != "" {
				block = strings.Replace(block, "  username", "  webhook_field_names = "+test.names+"\n  username", 1)
			}
			w := c.inProcess(t, block)
			w.configure(t, subscription(0, hookURL, test.arguments))
			r := w.run(t, "plan")
			if ok := test.want == nil; ok != (r.exit == 0) || !ok && !has(r.errors, test.want...) {
				t.Errorf("%s: want an error with %q, got %+v", name, test.want, r.errors)
			}
			if strings.Contains(fmt.Sprint(r.errors), "canary") {
				t.Errorf("%s: the value is shown: %+v", name, r.errors)
			}
		}
	})
}

// A run prints and logs no secret and no personal data, even at level TRACE. Write-only values are neither in the plan
// nor in the state, although the service repeats them in its responses.
func TestSubscriptionLeaksNothing(t *testing.T) {
	t.Parallel()
	const clientID, clientSecret = "canary-client", "canary-client-secret"
	s := newServiceWith(t, sandbox.Options{
		Username: "canary-user", Password: "canary-password", ClientID: clientID, ClientSecret: clientSecret,
	})
	onEachCLI(t, func(t *testing.T, c cli) {
		application := s.createApplication(t)
		log := filepath.Join(t.TempDir(), "trace.log")
		w := c.workspace(t, append(s.environment(), "IDV_CLIENT_ID="+clientID, "IDV_CLIENT_SECRET="+clientSecret,
			"TF_VAR_secret=canary-ephemeral", "TF_LOG=TRACE", "TF_LOG_PATH="+log)...)
		outputs := map[string]string{}
		const variable = "variable \"secret\" {\n  type = string\n  ephemeral = true\n}\n"
		w.configure(t, variable+subscription(application, "https://hooks.example.com/idv", `
			payload_json    = jsonencode({ contact = "canary-stored@example.com" })
			payload_json_wo = jsonencode({
			  signing = { secret = var.secret }
			  email   = "canary-jane@example.com"
			  born    = "canary-1990-01-01"
			})
			deletion_policy = "ABANDON"`))
		outputs["plan"] = w.must(t, "plan", "-out=plan.bin").output
		planned := w.must(t, "show", "-json", "plan.bin").output
		outputs["apply"] = w.must(t, "apply", "plan.bin").output
		state := w.state(t)
		outputs["plan again"] = w.mustPlanNothing(t).output
		s.fault(t, control.Fault{Operation: control.RetrieveWebhook, Kind: control.Answer, Status: 400, Times: 1})
		outputs["a failing plan"] = w.run(t, "plan").output
		outputs["destroy"] = w.must(t, "destroy", "-auto-approve").output
		trace, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(trace), "Request to the identity verification service") {
			t.Error("the trace has no entries of the provider, so the test proves nothing")
		}
		outputs["trace"] = string(trace)
		for where, text := range outputs {
			mustNotContain(t, where, text, "canary-")
		}
		// Only payload_json is in the plan and in the state.
		for where, text := range map[string]string{"plan file": planned, "state": state + privateStateOf(t, state)} {
			if !strings.Contains(text, "canary-stored") {
				t.Errorf("%s lacks payload_json, so the test proves nothing", where)
			}
			mustNotContain(t, where, strings.ReplaceAll(text, "canary-stored", ""), "canary-")
		}
	})
}

func mustNotContain(t *testing.T, where, text, canary string) {
	t.Helper()
	if before, after, found := strings.Cut(text, canary); found {
		t.Errorf("%s contains a canary: %.200q", where, before[max(0, len(before)-200):]+canary+after)
	}
}

// privateStateOf returns the private state of the resources in a state.
func privateStateOf(t *testing.T, state string) string {
	t.Helper()
	var all strings.Builder
	for _, match := range regexp.MustCompile(`"private": "([^"]*)"`).FindAllStringSubmatch(state, -1) {
		raw, err := base64.StdEncoding.DecodeString(match[1])
		if err != nil {
			t.Fatal(err)
		}
		all.Write(raw)
		for _, value := range regexp.MustCompile(`"history":"([^"]*)"`).FindAllSubmatch(raw, -1) {
			inner, err := base64.StdEncoding.DecodeString(string(value[1]))
			if err != nil {
				t.Fatal(err)
			}
			all.Write(inner)
		}
	}
	if !strings.Contains(all.String(), "write_only") {
		t.Errorf("the private state lacks the digest, so the test proves nothing: %s", &all)
	}
	return all.String()
}
