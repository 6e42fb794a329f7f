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

func writeOnly(secret, more string) string {
	return fmt.Sprintf("payload_json_wo = jsonencode({ signing = { secret = %q } })\n  %s\n  deletion_policy = \"ABANDON\"", secret, more)
}

// The service has no update, so that another secret is another subscription, to the same URL.
func TestSubscriptionWithAnotherSecret(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.speak(t, "retrieveWebhook", "list")
	onEachCLI(t, func(t *testing.T, c cli) {
		cases := map[string]struct {
			before, after string
			replaced      bool
			warning       string
		}{
			"counted by the provider, the same":     {before: writeOnly("one", ""), after: writeOnly("one", "")},
			"counted by the provider, another":      {before: writeOnly("one", ""), after: writeOnly("two", ""), replaced: true, warning: "goes on delivering"},
			"counted by the provider, taken away":   {before: writeOnly("one", ""), after: `deletion_policy = "ABANDON"`, replaced: true, warning: "goes on delivering"},
			"another with another number":           {before: writeOnly("one", "payload_json_wo_version = 1"), after: writeOnly("two", "payload_json_wo_version = 2"), replaced: true, warning: "goes on delivering"},
			"another with the same number":          {before: writeOnly("one", "payload_json_wo_version = 1"), after: writeOnly("two", "payload_json_wo_version = 1"), warning: "not what was sent"},
			"the number is left to the provider":    {before: writeOnly("one", "payload_json_wo_version = 7"), after: writeOnly("one", "")},
			"events, which need the same treatment": {before: "deletion_policy = \"ABANDON\"", after: "deletion_policy = \"ABANDON\"\nevents = [\"a\"]", replaced: true, warning: "goes on delivering"},
		}
		for situation, test := range cases {
			t.Run(situation, func(t *testing.T) {
				application := s.application(t)
				w := c.workspace(t, s.environment()...)
				w.configure(t, subscription(application, "https://hooks.example.com/idv", test.before))
				w.must(t, "apply", "-auto-approve")
				w.mustPlanNothing(t)
				w.configure(t, subscription(application, "https://hooks.example.com/idv", test.after))
				r := w.must(t, "apply", "-auto-approve")
				if quiet := test.warning == ""; quiet != (len(r.warnings) == 0) || !quiet && !has(r.warnings, test.warning) {
					t.Errorf("want a warning with %q, got %+v", test.warning, r.warnings)
				}
				w.mustPlanNothing(t)
				want := 1
				if test.replaced {
					want = 2
				}
				if n := s.subscribed(t, application); n != want {
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
		"a number without a payload":     {arguments: "payload_json_wo_version = 1", want: []string{"payload_json_wo"}},
		"the URL where it is not kept":   {arguments: `payload_json_wo = jsonencode({ url = "https://canary.example.com" })`, want: []string{`"url"`, "payload_json"}, not: "canary"},
		"the same by its name there":     {arguments: "field_names = { url = \"to\" }\npayload_json_wo = jsonencode({ to = \"https://canary.example.com\" })", want: []string{`"to"`}, not: "canary"},
		"a secret that is no JSON":       {arguments: `payload_json_wo = "canary"`, want: []string{"payload_json_wo", "jsonencode"}, not: "canary"},
		"a list where an object belongs": {arguments: `payload_json = jsonencode(["canary"])`, want: []string{"payload_json", "jsonencode"}, not: "canary"},
		"one field for two attributes":   {arguments: `field_names = { url = "to", events = "to" }`, want: []string{"field_names", `"to"`}},
		"one that another has by itself": {arguments: `field_names = { url = "events" }`, want: []string{"field_names", `"events"`}},
		"names that change places":       {arguments: `field_names = { url = "events", events = "url" }`},
		"a time without a unit":          {arguments: "timeouts {\n create = \"5\"\n }", want: []string{"unit suffix"}},
		"times":                          {arguments: "timeouts {\n create = \"5m\"\n read = \"10s\"\n }"},
	}
	onEachCLI(t, func(t *testing.T, c cli) {
		w := c.workspace(t)
		for situation, test := range cases {
			w.configure(t, subscription(4711, "https://hooks.example.com/idv", test.arguments))
			r := w.run(t, "validate")
			if ok := test.want == nil; ok != (r.exit == 0) || !ok && !has(r.errors, test.want...) {
				t.Errorf("%s: want an error with %q, got %+v", situation, test.want, r.errors)
			}
			if test.not != "" && strings.Contains(fmt.Sprint(r.errors), test.not) {
				t.Errorf("%s: the value is shown: %+v", situation, r.errors)
			}
		}
	})
}

// What a run leaves behind and prints, at TRACE too, has nothing of what is secret or personal. What is write-only is not
// in the plan nor in the state either, though the service repeats it in its answers.
func TestSubscriptionLeaksNothing(t *testing.T) {
	t.Parallel()
	const user, password, clientID, clientSecret = "canary-user", "canary-password", "canary-client", "canary-client-secret"
	s := newServiceWith(t, sandbox.Options{Username: user, Password: password, ClientID: clientID, ClientSecret: clientSecret})
	onEachCLI(t, func(t *testing.T, c cli) {
		application := s.application(t)
		log := filepath.Join(t.TempDir(), "trace.log")
		w := c.workspace(t, append(s.environment(), "IDV_CLIENT_ID="+clientID, "IDV_CLIENT_SECRET="+clientSecret,
			"TF_VAR_secret=canary-ephemeral", "TF_LOG=TRACE", "TF_LOG_PATH="+log)...)
		said := map[string]string{}
		w.configure(t, "variable \"secret\" {\n  type = string\n  ephemeral = true\n}\n"+subscription(application, "https://hooks.example.com/idv", `
			payload_json    = jsonencode({ contact = "canary-stored@example.com" })
			payload_json_wo = jsonencode({ signing = { secret = var.secret }, email = "canary-jane@example.com", born = "canary-1990-01-01" })
			deletion_policy = "ABANDON"`))
		said["plan"] = w.must(t, "plan", "-out=plan.bin").output
		planned := w.must(t, "show", "-json", "plan.bin").output
		said["apply"] = w.must(t, "apply", "plan.bin").output
		state := w.state(t)
		said["plan again"] = w.mustPlanNothing(t).output
		s.fault(t, control.Fault{Operation: control.RetrieveWebhook, Kind: control.Answer, Status: 400, Times: 1})
		said["a failing plan"] = w.run(t, "plan").output
		said["destroy"] = w.must(t, "destroy", "-auto-approve").output
		trace, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(trace), "request to the identity verification service") {
			t.Error("the trace lacks the provider's own lines, so that it proves nothing")
		}
		said["trace"] = string(trace)
		for where, text := range said {
			forbid(t, where, text, "canary-")
		}
		// payload_json is a part of plan and state as its description says; the rest is not.
		for where, text := range map[string]string{"plan file": planned, "state": state + privateOf(t, state)} {
			if !strings.Contains(text, "canary-stored") {
				t.Errorf("%s lacks payload_json, so that it proves nothing", where)
			}
			forbid(t, where, strings.ReplaceAll(text, "canary-stored", ""), "canary-")
		}
	})
}

func forbid(t *testing.T, where, text, canary string) {
	t.Helper()
	if before, after, found := strings.Cut(text, canary); found {
		t.Errorf("%s holds a canary: %.200q", where, before[max(0, len(before)-200):]+canary+after)
	}
}

// privateOf is the private state of the resources, in which the provider remembers things.
func privateOf(t *testing.T, state string) string {
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
		t.Errorf("the private state lacks the imprint, so that it proves nothing: %s", &all)
	}
	return all.String()
}
