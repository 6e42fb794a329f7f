package plugin_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/test/await"
	"github.com/mandate-io/idv/plugin"
)

// hostile is a text that gives orders to a terminal, and imitates a line of the plugin.
const hostile = "\x1b[31m\x1b]52;c;ZXZpbA==\a\u202e\u009b2J\r\x00\nFORGED: all is well\t"

// everyVerb runs each command of the plugin.
var everyVerb = [][]string{
	{"status"},
	{"status", "-o", "wide"},
	{"status", "acme"},
	{"status", "acme", "-o", "yaml"},
	{"status", "-o", "name"},
	{"status", "-o", "jsonpath={.items[*]}"},
	{"erase", "acme", "--yes"},
	{"history", "acme"},
	{"history", "acme", "-o", "yaml"},
	{"explain", "OutcomeUnknown"},
	{"wait", "acme", "--timeout=1s"},
	{"wait", "acme", "--for=outcome=Rejected", "--timeout=1s"},
	{"refresh", "acme", "--timeout=1s"},
	{"refresh", "--identityservice", "default", "--timeout=1s"},
	{"adopt", "acme", "1", "--timeout=1s"},
	{"settle", "acme", "--not-created", "--yes", "--timeout=1s"},
	{"decide", "acme", "Reject", "--yes", "--timeout=1s"},
	{"decide", "acme", "Reject", "--refresh=false"},
	{"decide", "acme", "Reject", "--dry-run=client", "-o", "yaml"},
	{"review", "acme", "jane", "liveness", "Accept", "--refresh=false"},
	{"review", "acme", "jane", "7", "Reject", "--dry-run=client", "-o", "yaml"},
	{"resend", "acme", "jane", "--yes", "--timeout=1s"},
	{"reset", "acme", "jane", "--yes", "--timeout=1s"},
	{"report", "acme", "jane", "--timeout=1s"},
	{"check-connection", "--identityservice", "default", "--mandate", "acme", "--yes"},
	{"suspend", "mandate/acme", "identityservice/default"},
	{"resume", "mandate/acme"},
	{"plan", "-f", "MANIFEST", "--prune"},
	{"plan", "-f", "MANIFEST", "-o", "markdown"},
	{"plan", "-f", "MANIFEST", "-o", "yaml"},
	{"check"},
	{"check", "-o", "yaml"},
	{"plan", "-f", "testdata/plan.yaml", "--prune"},
	{"plan", "-f", "testdata/plan.yaml", "-o", "markdown"},
	{"plan", "-f", "testdata/plan.yaml", "-o", "yaml"},
	{"export", "--file", "/dev/null"},
	{"import", "--file", "MANIFEST"},
	{"adopt", "--from", "MANIFEST", "--timeout=1s"},
	{"version"},
	{"options"},
	{"__complete", "review", ""},
	{"__complete", "review", "acme", ""},
	{"__complete", "review", "acme", "jane", ""},
}

// TestPrintableOutput has an API server that puts orders to the terminal into each text of each object, and into each
// error. No command passes them on.
func TestPrintableOutput(t *testing.T) {
	run := map[string]bool{}
	for _, arguments := range everyVerb {
		run[arguments[0]] = true
	}
	for _, command := range plugin.New(plugin.Streams{}, "test").Commands() {
		if !run[command.Name()] && !slices.Contains([]string{"help", "completion"}, command.Name()) {
			t.Errorf("the command %s is not in everyVerb", command.Name())
		}
	}
	w := newWorld(t, sandbox.Options{})
	w.connect()
	w.mandate("acme")
	w.fill()
	w.deploy("1.2.3")
	for name, change := range map[string]func(*http.Response) error{
		"texts": hostileTexts(true), "texts and names": hostileTexts(false), //nolint:bodyclose // they open none
		"errors": hostileErrors,
	} {
		w.changing(change)
		for _, arguments := range everyVerb {
			w.printable(name, arguments)
		}
	}
}

func (w *world) printable(name string, arguments []string) {
	w.Helper()
	out := &bytes.Buffer{}
	streams := plugin.Streams{In: strings.NewReader(""), Out: out, ErrOut: out}
	arguments = slices.Clone(arguments)
	if at := slices.Index(arguments, "MANIFEST"); at > 0 {
		arguments[at] = w.hostileManifest()
	}
	cluster := []string{"--kubeconfig", w.kubeconfig, "--namespace", w.namespace}
	at := 1
	if arguments[0] == "__complete" {
		at = 2
	}
	plugin.Run(await.Context(w.T), streams, "test", slices.Insert(arguments, at, cluster...))
	bad := strings.IndexFunc(out.String(), func(r rune) bool {
		return r != '\n' && r != '\t' && !unicode.IsGraphic(r)
	})
	if bad >= 0 || forged.MatchString(out.String()) || out.Len() == 0 {
		w.Errorf("%s: %v: a byte at %d that is not printable, a line that is not the plugin's, or nothing:\n%q",
			name, arguments, bad, out)
	}
	passes := slices.Contains([]string{"status", "history", "version"}, arguments[0])
	if name == "texts" && passes && !slices.Contains(arguments, "name") && !strings.Contains(out.String(), "FORGED") {
		w.Errorf("%v: the test shows nothing, because no text is there:\n%s", arguments, out)
	}
}

// hostileManifest is a file with a Mandate and an action, as somebody else may propose them.
func (w *world) hostileManifest() string {
	w.Helper()
	m, action := &v1alpha1.Mandate{}, &v1alpha1.MandateAction{}
	m.Kind, m.APIVersion = "Mandate", v1alpha1.SchemeGroupVersion.String()
	m.Name, m.Spec.Name = "acme", "name"+hostile
	m.Spec.MandateType.Code, m.Spec.Reference = "kyc"+hostile, "other"+hostile
	m.Spec.Individuals = []v1alpha1.Individual{{Name: "jane" + hostile, Email: "jane@example.com" + hostile}}
	m.Spec.Decision = &v1alpha1.Decision{Outcome: "Reject" + hostile, Evidence: "7d9f2c41" + hostile}
	action.Kind, action.APIVersion = "MandateAction", m.APIVersion
	action.Name = "again" + hostile
	action.Spec.Individual = "jane" + hostile
	manifests := ""
	for _, object := range []any{m, action} {
		manifest, err := json.Marshal(object)
		w.check(err)
		manifests += "---\n" + strings.ReplaceAll(string(manifest), "\u009b", `\u009b`) + "\n" // YAML takes it escaped only
	}
	file := filepath.Join(w.TempDir(), "manifest.yaml")
	w.check(os.WriteFile(file, []byte(manifests), 0o600))
	return file
}

var forged = regexp.MustCompile(`(?m)^\s*FORGED`)

// fill gives the Mandate acme all that an operator writes.
func (w *world) fill() {
	w.Helper()
	acme := &v1alpha1.Mandate{ObjectMeta: w.named("acme")}
	w.patchStatus(acme, `{"status": {"observedGeneration": 1, "applicationID": 4711, "reference": "ref",
	  "state": "in review", "progress": "0/1", "evidence": "7d9f2c41-3", "createdTime": "2026-01-01T00:00:00Z",
	  "expiryTime": "2026-03-01T00:00:00Z",
	  "problems": [{"field": "spec.reference", "reason": "Refused", "message": "The service refuses it."}],
	  "individuals": [{"name": "jane", "id": 91, "state": {"id": 1, "name": "in review"}, "checksInReview": 1, "checks": [
	    {"id": 7, "name": "liveness", "title": "Liveness", "state": {"id": 1, "name": "in review"}, "evidence": "41aa90c2",
	     "failedFields": ["face"]}]}],
	  "conditions": [
	    {"type": "Ready", "status": "False", "reason": "Refused", "message": "Refused.",
	     "lastTransitionTime": "2026-01-01T00:00:00Z", "observedGeneration": 1},
	    {"type": "Stalled", "status": "True", "reason": "Refused", "message": "Refused.",
	     "lastTransitionTime": "2026-01-01T00:00:00Z", "observedGeneration": 1}]}}`)
	w.patchStatus(&v1alpha1.IdentityService{ObjectMeta: w.named("default")}, `{"status": {"conditions": [
	  {"type": "Ready", "status": "False", "reason": "Unreachable", "message": "Unreachable.",
	   "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}`)
	record := &v1alpha1.ApplicationRecord{ObjectMeta: w.named("acme")}
	w.check(json.Unmarshal([]byte(strings.ReplaceAll(`{"spec": {"serviceURL": "https://idv.example.com",
	  "reference": "other", "mandateRef": {"uid": "1"}, "applicationID": 4711, "salt": "DIGEST", "account": "DIGEST",
	  "calls": [
	    {"seq": 1, "kind": "Create", "nonce": "n", "firstStartedTime": "2026-01-01T00:00:00.000000Z",
	     "startedTime": "2026-01-01T00:00:00.000000Z", "sends": 1, "result": "Done", "requestedBy": "ada"}]}}`,
		"DIGEST", strings.Repeat("ab", 16))), record))
	w.check(w.Create(w.Context(), record))
	action := &v1alpha1.MandateAction{ObjectMeta: w.named("acme-resend-1")}
	action.Spec.MandateRef.Name, action.Spec.Individual = "acme", "jane"
	action.Spec.Type = v1alpha1.MandateActionResendInvite
	w.check(w.Create(w.Context(), action))
	w.patchStatus(action, strings.ReplaceAll(complete, "Complete", "Failed"))
}

// steering are the members that say what an object is. The others are texts.
var steering = []string{
	"apiVersion", "kind", "name", "namespace", "uid", "resourceVersion", "type", "status", "code",
}

// foreign matches the paths of what the plugin reads.
var foreign = regexp.MustCompile("/(idv.mandate.io/v1alpha1|apps/v1)/")

// hostileTexts adds to the texts of all objects: to each, or to those that steer nothing.
func hostileTexts(keepSteering bool) func(*http.Response) error {
	return func(response *http.Response) error {
		if !foreign.MatchString(response.Request.URL.Path) || response.StatusCode != http.StatusOK ||
			response.Request.URL.Query().Get("watch") != "" {
			return nil
		}
		var content any
		if err := json.NewDecoder(response.Body).Decode(&content); err != nil {
			return err
		}
		return replaceBody(response, addHostile(content, "", keepSteering))
	}
}

func addHostile(value any, key string, keepSteering bool) any {
	switch value := value.(type) {
	case map[string]any:
		for k := range value {
			value[k] = addHostile(value[k], k, keepSteering)
		}
	case []any:
		for i := range value {
			value[i] = addHostile(value[i], key, keepSteering)
		}
	case string:
		_, noTime := time.Parse(time.RFC3339, value)
		isNeeded := slices.Contains([]string{"apiVersion", "kind", "continue"}, key) // for any answer at all
		if noTime == nil || isNeeded || keepSteering && slices.Contains(steering, key) {
			return value
		}
		return value + hostile
	}
	return value
}

// hostileErrors answers everything with an error that quotes a text.
func hostileErrors(response *http.Response) error {
	if !strings.Contains(response.Request.URL.Path, "/namespaces/") && !foreign.MatchString(response.Request.URL.Path) {
		return nil
	}
	response.StatusCode = http.StatusUnprocessableEntity
	response.Header.Add("Warning", "299 - \"\u202e warned\"") // no control characters pass Go
	return replaceBody(response, map[string]any{
		"apiVersion": "v1", "kind": "Status", "status": "Failure", "code": response.StatusCode, "reason": "Invalid",
		"message": "wrong: " + hostile,
	})
}

func replaceBody(response *http.Response, content any) error {
	body, err := json.Marshal(content)
	if err != nil {
		return err
	}
	response.Header.Set("Content-Type", "application/json")
	return editBody(response, func(string) string { return string(body) })
}

func editBody(response *http.Response, edit func(string) string) error {
	content, err := io.ReadAll(response.Body)
	body := edit(string(content))
	response.Body = io.NopCloser(strings.NewReader(body))
	response.Header.Set("Content-Length", strconv.Itoa(len(body)))
	response.ContentLength = int64(len(body))
	return err
}
