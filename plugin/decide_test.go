package plugin_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
)

// shows writes evidence into the status of a Mandate, as the operator does.
func (w *world) shows(name, evidence string) {
	w.Helper()
	m := &v1alpha1.Mandate{ObjectMeta: w.named(name)}
	patch := client.RawPatch(types.MergePatchType, []byte(
		`{"status":{"evidence":"`+evidence+`","individuals":[{"name":"jane","id":91}]}}`))
	w.check(w.Status().Patch(w.Context(), m, patch))
}

func (w *world) decision(name string) v1alpha1.Decision {
	w.Helper()
	m := &v1alpha1.Mandate{}
	w.check(w.Get(w.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, m))
	if m.Spec.Decision == nil {
		return v1alpha1.Decision{}
	}
	return *m.Spec.Decision
}

// A decision names the evidence that the status shows, or a rule. Without either, nothing is decided.
func TestDecideNamesTheEvidence(t *testing.T) {
	w := newWorld(t, sandbox.Options{})
	w.mandate("acme")
	steps := []struct {
		name      string
		shown     string // evidence from now on
		arguments []string
		code      int
		says      string
		want      v1alpha1.Decision
	}{
		{
			name: "no evidence", arguments: []string{"Complete"},
			code: 3, says: "shows no evidence yet; nothing was changed",
		},
		{
			name: "another rule", arguments: []string{"Complete", "--when", "Always"},
			code: 1, says: "use --when AllChecksPassed",
		},
		{
			name: "a rejection by a rule", arguments: []string{"Reject", "--when", "AllChecksPassed"},
			code: 1, says: "--when is only for Complete",
		},
		{
			name: "a rule needs no evidence", arguments: []string{"Complete", "--when", "AllChecksPassed"},
			says: "to Complete when AllChecksPassed", want: v1alpha1.Decision{Outcome: "Complete", When: "AllChecksPassed"},
		},
		{
			name: "the rule again", arguments: []string{"Complete", "--when", "AllChecksPassed"},
			says: "has this decision already", want: v1alpha1.Decision{Outcome: "Complete", When: "AllChecksPassed"},
		},
		{
			name: "evidence in place of the rule", shown: "7d9f2c41-3", arguments: []string{"Complete"},
			says: "to Complete on evidence 7d9f2c41-3", want: v1alpha1.Decision{Outcome: "Complete", Evidence: "7d9f2c41-3"},
		},
		{
			name: "other evidence", shown: "0c35d5ae-4", arguments: []string{"Complete"},
			says: "to Complete on evidence 0c35d5ae-4", want: v1alpha1.Decision{Outcome: "Complete", Evidence: "0c35d5ae-4"},
		},
		{
			name: "a rule in place of the evidence", arguments: []string{"Complete", "--when", "AllChecksPassed"},
			says: "to Complete when AllChecksPassed", want: v1alpha1.Decision{Outcome: "Complete", When: "AllChecksPassed"},
		},
	}
	for _, step := range steps {
		if step.shown != "" {
			w.shows("acme", step.shown)
		}
		arguments := append([]string{"decide", "acme"}, step.arguments...)
		w.contains(w.run("", step.code, append(arguments, "--yes", "--refresh=false")...), step.says)
		if got := w.decision("acme"); got != step.want {
			t.Errorf("%s: the decision is %+v, want %+v", step.name, got, step.want)
		}
	}
}

// What the status does not show, nobody has seen: no decision is on its evidence. A rule needs nobody to see it.
func TestDecideOnHiddenChecks(t *testing.T) {
	w := newWorld(t, sandbox.Options{})
	w.mandate("acme")
	for status, says := range map[string]string{
		`"conditions": [{"type": "Ready", "status": "False", "reason": "IndividualsUnmatched", "message": "",
		  "lastTransitionTime": "2026-11-28T00:00:00Z"}]`: "which individual of the application is which",
		`"individuals": [{"name": "jane"}]`: "which individual of the application is which",
		`"individuals": []`:                 "which individual of the application is which",
		`"truncated": true, "individuals": [{"name": "jane", "id": 91, "truncated": true}]`: "all checks of jane",
		`"truncated": true`: "", // actions on the application are cut
		`"individuals": [{"name": "jane", "termsAccepted": false}]`: "", // the service gives no ids
	} {
		w.inReview("acme", "a-1")
		object := &v1alpha1.Mandate{ObjectMeta: w.named("acme")}
		w.patchStatus(object, `{"status": {"truncated": false, "conditions": []}}`)
		w.patchStatus(object, `{"status": {`+status+`}}`)
		code := 0
		if says != "" {
			code = 3
		}
		w.contains(w.run("", code, "decide", "acme", "Reject", "--dry-run"), says)
		w.run("", 0, "decide", "acme", "Complete", "--when", "AllChecksPassed", "--dry-run")
	}
}
