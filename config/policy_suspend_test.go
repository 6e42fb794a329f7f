package config

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Everybody who may edit a Mandate may suspend it. Who ends the suspension needs the verb of what then happens.
func TestPolicyOfSuspension(t *testing.T) {
	decide, both := []string{"decide"}, []string{"decide", "adopt"}
	const (
		field   = "spec.suspend can be set to false"
		decided = "decision: " + complete
		adopted = "adopt: {applicationID: 1}"
		resume  = "{suspend: false}"
	)
	needVerbs(t, map[string]edit{
		"a decision continues": {before: "{suspend: true, " + decided + "}", edit: resume, needs: decide, field: field},
		"a decision on evidence continues": {
			before: "{suspend: true, decision: " + reject + "}",
			edit:   resume, needs: decide, field: field,
		},
		"an archiving continues": {before: "{suspend: true, archived: true}", edit: resume, needs: decide, field: field},
		"a review continues": {
			before: "{suspend: true, checkReviews: [" + review1 + "]}",
			edit:   resume, needs: decide, field: field,
		},
		"the suspension is removed": {
			before: "{suspend: true, " + decided + "}",
			edit:   "{suspend: null}", needs: decide, field: field,
		},
		"an application continues to be decided": {
			before: "{suspend: true, " + decided + "}", status: bound,
			edit: resume, needs: decide, field: field,
		},
		"it continues without the decision": {
			before: "{suspend: true, " + decided + "}",
			edit:   "{suspend: false, decision: null}", needs: decide, field: "spec.decision",
		},
		"it continues with a decision": {
			before: "{suspend: true}",
			edit:   "{suspend: false, " + decided + "}", needs: decide, field: "spec.decision",
		},
		"it is created not suspended": {
			edit: "{suspend: false, " + decided + "}", needs: decide, field: "spec.decision",
		},
		"an adoption and a decision continue": {
			before: "{suspend: true, " + adopted + ", " + decided + "}",
			edit:   resume, needs: both, field: field,
		},
		"an adoption continues, for a deletion": {
			before: "{suspend: true, " + adopted + ", deletionPolicy: Delete}",
			edit:   resume, needs: both, field: field,
		},
		"an adoption continues, for a deletion, once bound": {
			before: "{suspend: true, " + adopted + ", deletionPolicy: Delete}", status: bound,
			edit: resume, needs: decide, field: "because a MandateAction may wait",
		},
		"the suspension of an application is removed": {
			before: "{suspend: true}", status: bound,
			edit: "{suspend: null}", needs: decide, field: "because a MandateAction may wait",
		},
		"something else of an application is changed": {
			before: "{suspend: true}", status: bound, edit: "{createBefore: 2026-12-31T00:00:00Z}",
		},
		"an application is suspended": {before: "{}", status: bound, edit: "{suspend: true}"},

		"a creation continues":      {before: "{suspend: true}", edit: resume},
		"a deletion is not held up": {before: "{suspend: true, deletionPolicy: Delete}", edit: resume},
		"a decision is held back":   {before: "{" + decided + ", archived: true}", edit: "{suspend: true}"},
		"an adoption is held back":  {before: "{" + adopted + "}", edit: "{suspend: true}"},
		"it is suspended already":   {before: "{suspend: true, " + decided + "}", edit: "{suspend: true}"},
		"it was never suspended":    {before: "{" + decided + "}", edit: resume},
		"something else is changed": {
			before: "{suspend: true, " + decided + "}",
			edit:   "{createBefore: 2026-12-31T00:00:00Z}",
		},
		"it is created, suspended": {edit: "{suspend: true}"},
		"its deletionPolicy goes": {
			before: "{suspend: true, " + decided + ", deletionPolicy: Delete}",
			edit:   "{deletionPolicy: Retain}",
		},
	})
}

// Who may send actions may continue a Mandate for which one may wait, but not the decision that waits with it.
func TestPolicyOfSuspendedActions(t *testing.T) {
	c, namespace := policed(t)
	c.bind(namespace, "sender", "idv-editor", "idv-actor")
	c.waitForAccess(namespace, "sender", "act", "mandateactions")
	for name, spec := range map[string]string{
		"plain": "{suspend: true}", "decided": "{suspend: true, decision: " + complete + "}",
	} {
		suspended := mandate(t, namespace, "spec: "+spec)
		suspended.SetName(name)
		c.check(c.Create(t.Context(), suspended))
		c.check(c.Status().Patch(t.Context(), suspended, mergePatch(t, bound)))
		refused(t, "pipeline", c.attempt("pipeline", namespace, suspended, "spec: {suspend: false}"), "spec.suspend")
		err := c.attempt("sender", namespace, suspended, "spec: {suspend: false}")
		if name == "decided" {
			refused(t, "sender", err, "verb decide on mandates.idv.mandate.io while")
		} else {
			c.check(err)
		}
	}
}

// Who deletes a Mandate and creates it again needs the verbs for everything that it has.
func TestPolicyAndRecreation(t *testing.T) {
	c, namespace := policed(t)
	suspended := mandate(t, namespace, "spec: {suspend: true, decision: "+complete+"}")
	c.check(c.Create(t.Context(), suspended))
	c.waitForAccess(namespace, "pipeline", "delete", "mandates")
	released := mandate(t, namespace, "spec: {decision: "+complete+"}")
	output, err := c.tryKubectl(encoded(t, released.Object), "replace", "--force", "--filename=-", "--as", "pipeline")
	if err == nil || !saysForbidden(output, "spec.decision") {
		t.Errorf("kubectl replace --force is not refused: %v\n%s", err, output)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(suspended), suspended); !apierrors.IsNotFound(err) {
		t.Errorf("a deletion needs no verb, and cancels the decision: error %v, want NotFound", err)
	}
	refused(t, "pipeline", c.as("pipeline").Create(t.Context(), released), "spec.decision", "verb decide")
	c.check(c.as("pipeline").Create(t.Context(), mandate(t, namespace, "{}")))
}

// A restore writes what was in the backup, and no status. So it needs the verbs, and so does what follows: an adoption
// that had been carried out is in effect again.
func TestPolicyAndRestores(t *testing.T) {
	c, namespace := policed(t)
	c.bind(namespace, "lead", "idv-editor", "idv-decider", "idv-adopter")
	c.waitForAccess(namespace, "lead", "decide", "mandates")
	c.waitForAccess(namespace, "lead", "adopt", "mandates")
	restored := func(suspend string) *unstructured.Unstructured {
		object := mandate(t, namespace, "spec: {adopt: {applicationID: 4711}, archived: true, suspend: "+suspend+"}")
		setFields(object.Object, map[string]any{"status": map[string]any{"applicationID": int64(4711)}})
		return object
	}
	refused(t, "pipeline", c.as("pipeline").Create(t.Context(), restored("true")))
	live := restored("true")
	c.check(c.as("lead").Create(t.Context(), live))
	for _, edit := range []string{"{suspend: false}", "{adopt: null}", "{adopt: {applicationID: 4712}}"} {
		field, _, _ := strings.Cut(strings.Trim(edit, "{"), ":")
		refused(t, "pipeline", c.attempt("pipeline", namespace, live, "spec: "+edit), "spec."+field)
	}
	older := restored("false")
	older.SetResourceVersion(live.GetResourceVersion())
	refused(t, "pipeline", c.as("pipeline").Update(t.Context(), older.DeepCopy()), "spec.suspend")
	c.check(c.as("lead").Update(t.Context(), older))
}
