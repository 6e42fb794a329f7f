package v1alpha1_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	evidenceOrWhen = "must have exactly one of evidence and when: copy evidence from status.evidence, or set when to " +
		"AllChecksPassed"
	onlyComplete = "is only for outcome Complete: to reject, set evidence"
)

var (
	notOne  = violation{"spec.decision", evidenceOrWhen}
	notRule = violation{"spec.decision.when", onlyComplete}
	empty   = `"": spec.decision.evidence in body should be at least 1 chars long`
)

// decisionCreates are values of spec.decision, and reviews without evidence.
var decisionCreates = map[string]attempt{
	"a decision on evidence":            decision(`outcome: Reject, evidence: 7d9f2c41-3`),
	"a decision by a rule":              decision(`outcome: Complete, when: AllChecksPassed`),
	"evidence that looks like a number": decision(`outcome: Complete, evidence: "12345678"`),
	"evidence that looks like 12e3":     decision(`outcome: Complete, evidence: "12e3"`),
	"empty evidence": decision(
		`outcome: Complete, evidence: ""`, violation{"spec.decision.evidence", empty},
	),
	"neither evidence nor a rule": decision(`outcome: Complete`, notOne),
	"evidence and a rule":         decision(`outcome: Complete, evidence: a-1, when: AllChecksPassed`, notOne),
	"a rejection by a rule":       decision(`outcome: Reject, when: AllChecksPassed`, notRule),
	"a rejection by a rule and evidence": decision(
		`outcome: Reject, evidence: a-1, when: AllChecksPassed`, notRule, notOne,
	),
	"a decision without an outcome": decision(
		`evidence: a-1`, violation{"spec.decision.outcome", "Required value"},
	),
	"another outcome": decision(`outcome: Approve, evidence: a-1`, violation{
		"spec.decision.outcome", `Unsupported value: "Approve": supported values: "Complete", "Reject"`,
	}),
	"another rule": decision(`outcome: Complete, when: Always`, violation{
		"spec.decision.when", `Unsupported value: "Always": supported values: "AllChecksPassed"`,
	}),
	"evidence that is a number": decision(`outcome: Complete, evidence: 12345678`, violation{
		"spec.decision.evidence", `"integer": spec.decision.evidence in body must be of type string: "integer"`,
	}),
	"a decision that is a word": {
		edit:   `spec: {decision: Complete}`,
		reason: "it names nothing that its author has seen",
		want:   []violation{{"spec.decision", `"string": spec.decision in body must be of type object: "string"`}},
	},
	"a review without evidence": {
		edit: `spec: {checkReviews: [{individual: jane, check: liveness, decision: Accept}]}`,
		want: []violation{{"spec.checkReviews[0].evidence", "Required value"}},
	},
	"a review with empty evidence": {
		edit: `spec: {checkReviews: [{individual: jane, check: liveness, evidence: "", decision: Accept}]}`,
		want: []violation{
			{"spec.checkReviews[0].evidence", `"": spec.checkReviews[0].evidence in body should be at least 1 chars long`},
		},
	},
}

// decisionUpdates are edits of a Mandate that is decided on evidence.
var decisionUpdates = map[string]attempt{
	"other evidence":                        {edit: `spec: {decision: {evidence: 7d9f2c41-4}}`},
	"another outcome, on the same evidence": {edit: `spec: {decision: {outcome: Reject}}`},
	"a rule instead":                        {edit: `spec: {decision: {evidence: null, when: AllChecksPassed}}`},
	"a rule too": {
		edit: `spec: {decision: {when: AllChecksPassed}}`,
		want: []violation{notOne},
	},
	"no decision": {edit: `spec: {decision: null}`},
}

func decision(fields string, want ...violation) attempt {
	return attempt{edit: `spec: {decision: {` + fields + `}}`, want: want}
}

// Who applies a decision owns all of it: a rule takes the place of evidence that somebody else has applied.
func TestDecisionIsAppliedAsAWhole(t *testing.T) {
	c, namespace := newClient(t), env.Namespace(t)
	apply := func(owner, spec string) map[string]any {
		t.Helper()
		object := &unstructured.Unstructured{Object: parse(t, mandateSuite.manifest)}
		object.SetNamespace(namespace)
		merge(object.Object, edit(t, spec))
		configuration := client.ApplyConfigurationFromUnstructured(object)
		if err := c.Apply(t.Context(), configuration, client.FieldOwner(owner), client.ForceOwnership); err != nil {
			t.Fatal(err)
		}
		got := object.DeepCopy()
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(object), got); err != nil {
			t.Fatal(err)
		}
		decision, _, _ := unstructured.NestedMap(got.Object, "spec", "decision")
		return decision
	}
	apply("person", `spec: {decision: {outcome: Reject, evidence: 7d9f2c41-3}}`)
	got := apply("pipeline", `spec: {decision: {outcome: Complete, when: AllChecksPassed}}`)
	if diff := cmp.Diff(map[string]any{"outcome": "Complete", "when": "AllChecksPassed"}, got); diff != "" {
		t.Errorf("the decision (-want +got):\n%s", diff)
	}
}
