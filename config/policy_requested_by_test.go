package config

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// signed is an edit that names the author.
func signed(author string) string {
	return `metadata: {annotations: {idv.mandate.io/requested-by: "` + author + `"}}`
}

func sign(object *unstructured.Unstructured, author string) *unstructured.Unstructured {
	object.SetAnnotations(map[string]string{"idv.mandate.io/requested-by": author})
	return object
}

// Nobody signs for somebody else, and nothing is ordered under the name of somebody else.
func TestPolicyOfAuthors(t *testing.T) {
	c, namespace := policed(t)
	const other = "somebody-else"
	c.eventually(func() (bool, string) {
		err := c.as("actor").Create(t.Context(), sign(action(t, namespace), other), client.DryRunAll)
		return err != nil, "the policy is not in force"
	})
	const name = "requested-by can name only"
	t.Run("an action", func(t *testing.T) {
		err := c.as("actor").Create(t.Context(), sign(action(t, namespace), other), client.DryRunAll)
		refused(t, "another user's name", err, name)
		err = c.as("actor").Create(t.Context(), sign(action(t, namespace), "actor"), client.DryRunAll)
		if err != nil {
			t.Errorf("the own name is refused: %v", err)
		}
		existing := sign(action(t, namespace), "actor")
		c.check(c.as("actor").Create(t.Context(), existing))
		refused(t, "changed", c.attempt("actor", namespace, existing, signed(other)), name)
		for _, edit := range []string{"spec: {ttlSecondsAfterFinished: 60}", "metadata: {annotations: null}"} {
			if err := c.attempt("pipeline", namespace, existing, edit); err != nil {
				t.Errorf("%s is refused: %v", edit, err)
			}
		}
	})
	decided := "spec: {decision: " + complete + ", checkReviews: [" + review1 + ", " + review2 + "]}"
	for i, tc := range []struct {
		name, status, edit string
		// refused is what a refusal says; nothing is refused if empty.
		refused string
	}{
		{name: "signed for somebody else", edit: signed(other), refused: name},
		{name: "signed by oneself", edit: signed("decider")},
		{name: "not signed", edit: "metadata: {annotations: null}"},
		{name: "signed, and decided", edit: signed("decider") + "\nspec: {decision: " + rejectInstead + "}"},
		{name: "decided, without a name", edit: "metadata: {annotations: null}\nspec: {decision: null}"},
		{name: "decided under the name of who came before",
			edit: "spec: {decision: " + rejectInstead + "}", refused: "spec.decision can change only together"},
		{name: "archived under it", edit: "spec: {archived: true}", refused: "spec.archived can change"},
		{name: "reviewed under it", refused: "spec.checkReviews can change",
			edit: "spec: {checkReviews: [{individual: jane, check: other, evidence: 0c35d5ae, decision: Reject}]}"},
		{name: "other people under it", edit: "spec: {individuals: [{name: jane, email: joe@example.com}]}",
			refused: "spec.individuals can change"},
		{name: "another type and service under it", edit: "spec: {mandateType: {code: other}, serviceRef: {name: other}}",
			refused: "spec.mandateType, spec.serviceRef can change"},
		{name: "a create that created nothing under it", edit: "metadata: {annotations: {idv.mandate.io/not-created: a}}",
			refused: "the annotation idv.mandate.io/not-created can change"},
		{name: "a review is taken back", edit: "spec: {checkReviews: [" + review2 + "]}"},
		{name: "the same again", edit: decided},
		{name: "what orders nothing", edit: "spec: {suspend: true, createBefore: 2026-12-31T00:00:00Z}"},
		{name: "of no effect", status: bound, edit: "spec: {adopt: {applicationID: 1}}"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := in(t, env)
			existing := sign(mandate(t, namespace, decided), "author")
			existing.SetName(fmt.Sprintf("signed-%d", i))
			c.bind(namespace, "author", "idv-editor", "idv-decider", "idv-adopter")
			c.bind(namespace, "decider", "idv-editor", "idv-decider", "idv-adopter")
			c.waitForAccess(namespace, "author", "decide", "mandates")
			c.waitForAccess(namespace, "decider", "adopt", "mandates")
			c.check(c.as("author").Create(t.Context(), existing))
			if tc.status != "" {
				c.check(c.Status().Patch(t.Context(), existing, mergePatch(t, tc.status)))
			}
			err := c.attempt("decider", namespace, existing, tc.edit)
			switch {
			case tc.refused != "":
				refused(t, "decider", err, tc.refused)
			case err != nil:
				t.Errorf("it is refused: %v", err)
			}
		})
	}
}
