package config

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// verbs are the users of these tests, by name, and which of the policy's verbs each has. All may create and patch.
var verbs = map[string]string{
	"pipeline": "", "decider": "decide", "actor": "act", "adopter": "adopt", "connector": "connect",
}

var rolesOf = map[string][]string{
	"pipeline": {"idv-editor"}, "decider": {"idv-editor", "idv-decider"}, "actor": {"idv-editor", "idv-actor"},
	"adopter": {"idv-editor", "idv-adopter"}, "connector": {"idv-editor", "idv-connector"},
}

// resourceOf is what each of the verbs is on.
var resourceOf = map[string]string{
	"decide": "mandates", "act": "mandateactions", "adopt": "mandates", "connect": "identityservices",
}

// policed is a cluster with the policy in force, and a namespace in which its users have their roles.
func policed(t *testing.T) (c *cluster, namespace string) {
	t.Helper()
	c, namespace = in(t, env), env.Namespace(t)
	installed(c)
	c.apply("--kustomize", "config/policy")
	for user, roles := range rolesOf {
		c.bind(namespace, user, roles...)
	}
	// Neither a policy nor a binding is in force as soon as it is stored.
	for user, verb := range verbs {
		c.eventually(func() (bool, string) {
			inForce, errs := true, []error{}
			for needed, object := range map[string]*unstructured.Unstructured{
				"decide":  mandate(t, namespace, "spec: {decision: "+complete+"}"),
				"act":     action(t, namespace),
				"adopt":   mandate(t, namespace, "spec: {adopt: {applicationID: 1}}"),
				"connect": identityService(t, namespace),
			} {
				err := c.as(user).Create(t.Context(), object, client.DryRunAll)
				inForce = inForce && (err == nil) == (verb == needed)
				errs = append(errs, err)
			}
			return inForce, fmt.Sprintf("%s: %v", user, errs)
		})
	}
	return c, namespace
}

// apply as an administrator, again as often as one likes.
func (c *cluster) apply(flag, path string) {
	c.Helper()
	c.kubectl("apply", "--server-side", "--validate=strict", flag, path)
}

const mandateManifest = `
apiVersion: idv.mandate.io/v1alpha1
kind: Mandate
metadata: {name: acme, labels: {}, annotations: {}}
spec: {mandateType: {code: kyc}, individuals: [{name: jane, email: canary@example.com}]}
`

// mandate is a Mandate with an edit, a JSON merge patch.
func mandate(t *testing.T, namespace, edit string) *unstructured.Unstructured {
	t.Helper()
	object := parse(t, mandateManifest)
	object.SetNamespace(namespace)
	var fields struct{ Spec map[string]any }
	if err := yaml.Unmarshal([]byte(edit), &fields); err != nil {
		t.Fatal(err)
	}
	for field, value := range fields.Spec {
		if err := unstructured.SetNestedField(object.Object, value, "spec", field); err != nil {
			t.Fatal(err)
		}
	}
	return object
}

func action(t *testing.T, namespace string) *unstructured.Unstructured {
	t.Helper()
	object := parse(t, `
apiVersion: idv.mandate.io/v1alpha1
kind: MandateAction
metadata: {name: resend}
spec: {mandateRef: {name: acme}, type: ResendInvite, individual: jane}
`)
	object.SetNamespace(namespace)
	return object
}

func identityService(t *testing.T, namespace string) *unstructured.Unstructured {
	t.Helper()
	object := parse(t, `
apiVersion: idv.mandate.io/v1alpha1
kind: IdentityService
metadata: {name: default}
spec: {baseURL: "https://idv.example.com", credentialsSecretRef: {name: idv}}
`)
	object.SetNamespace(namespace)
	return object
}

const (
	// complete and reject are values of spec.decision. The first has a rule, the second evidence.
	complete = `{outcome: Complete, when: AllChecksPassed}`
	reject   = `{outcome: Reject, evidence: 7d9f2c41-3}`
	// rejectInstead is reject, as a merge patch of complete.
	rejectInstead = `{outcome: Reject, evidence: 7d9f2c41-3, when: null}`

	review1 = `{individual: jane, check: liveness, evidence: 41aa90c2, decision: Accept, comment: looks fine}`
	review2 = `{individual: jane, check: address, evidence: 5bd0f6e1, decision: Reject}`
)

// Each rule with what it lets pass and what it refuses, tried by everybody: who has the verb that it needs may, who has
// another or none may not.
func TestPolicy(t *testing.T) {
	c, shared := policed(t)
	decided := "spec: {decision: " + complete + ", archived: true, deletionPolicy: Archive, checkReviews: [" +
		review1 + ", " + review2 + "]}"
	cases := map[string]struct {
		reason string
		// before is the Mandate that an administrator has created; it is created by the users themselves if empty.
		before, edit string
		// field is what the refusal names, for all who do not have the verb decide; nobody is refused if empty.
		field string
	}{
		"created without any":            {edit: "spec: {name: Acme}"},
		"created with their defaults":    {edit: "spec: {archived: false, deletionPolicy: Retain, checkReviews: []}"},
		"created with a decision":        {edit: "spec: {decision: " + reject + "}", field: "spec.decision"},
		"created by a rule":              {edit: "spec: {decision: " + complete + "}", field: "spec.decision"},
		"created archived":               {edit: "spec: {archived: true}", field: "spec.archived"},
		"created with a review":          {edit: "spec: {checkReviews: [" + review1 + "]}", field: "spec.checkReviews"},
		"created with the policy Delete": {edit: "spec: {deletionPolicy: Delete}", field: "spec.deletionPolicy"},
		"created with Archive":           {edit: "spec: {deletionPolicy: Archive}", field: "spec.deletionPolicy"},

		"nothing else is there, and something else is edited": {before: "{}", edit: "spec: {suspend: true}"},
		"everything is there, and something else is edited": {
			before: decided,
			edit:   "spec: {suspend: true, createBefore: 2026-12-31T00:00:00Z}",
		},
		"everything is there, and sent again": {before: decided, edit: decided},

		"a decision is set":     {before: "{}", edit: "spec: {decision: " + complete + "}", field: "spec.decision"},
		"a decision is changed": {before: decided, edit: "spec: {decision: " + rejectInstead + "}", field: "spec.decision"},
		"a decision is removed": {before: decided, edit: "spec: {decision: null}", field: "spec.decision"},
		"a decision names other evidence": {
			before: "spec: {decision: " + reject + "}",
			edit:   "spec: {decision: {evidence: 7d9f2c41-4}}",
			field:  "spec.decision",
			reason: "an outdated decision would be sent after all",
		},
		"a decision names evidence in place of its rule": {
			before: decided,
			edit:   "spec: {decision: {when: null, evidence: 7d9f2c41-3}}",
			field:  "spec.decision",
		},
		"a decision has a rule in place of its evidence": {
			before: "spec: {decision: {outcome: Complete, evidence: 7d9f2c41-3}}",
			edit:   "spec: {decision: {when: AllChecksPassed, evidence: null}}",
			field:  "spec.decision",
		},
		"only the outcome of a decision is changed": {
			before: "spec: {decision: " + reject + "}",
			edit:   "spec: {decision: {outcome: Complete}}",
			field:  "spec.decision",
		},
		"a decision on evidence is sent again": {
			before: "spec: {decision: " + reject + "}",
			edit:   "spec: {decision: " + reject + "}",
		},
		"it is archived":    {before: "{}", edit: "spec: {archived: true}", field: "spec.archived"},
		"a review is added": {before: "{}", edit: "spec: {checkReviews: [" + review2 + "]}", field: "spec.checkReviews"},
		"a review is changed": {
			before: decided,
			edit:   "spec: {checkReviews: [" + review1 + ", " + strings.Replace(review2, "Reject", "Accept", 1) + "]}",
			field:  "spec.checkReviews",
		},
		"a review names other evidence": {
			before: decided,
			edit:   "spec: {checkReviews: [" + strings.Replace(review1, "41aa90c2", "0c35d5ae", 1) + ", " + review2 + "]}",
			field:  "spec.checkReviews",
			reason: "an outdated review would be sent after all",
		},
		"a comment is changed": {
			before: decided,
			edit:   "spec: {checkReviews: [" + strings.Replace(review1, "fine", "bad", 1) + ", " + review2 + "]}",
			field:  "spec.checkReviews",
		},
		"a review is removed": {
			before: decided,
			edit:   "spec: {checkReviews: [" + review2 + "]}",
			field:  "spec.checkReviews",
		},
		"all reviews are removed": {before: decided, edit: "spec: {checkReviews: null}", field: "spec.checkReviews"},
		"reviews change places": {
			before: decided,
			edit:   "spec: {checkReviews: [" + review2 + ", " + review1 + "]}",
			reason: "their order means nothing",
		},
		"as many reviews as there can be": {
			before: reviews("Accept"),
			edit:   reviews("Reject"),
			field:  "spec.checkReviews",
			reason: "the cost of an expression is limited",
		},
		"as many reviews as there can be, sent again": {before: reviews("Accept"), edit: reviews("Accept")},

		"the policy becomes Archive": {
			before: "{}",
			edit:   "spec: {deletionPolicy: Archive}",
			field:  "spec.deletionPolicy",
			reason: "a Mandate could be archived by deleting it",
		},
		"the policy becomes Delete": {
			before: "{}",
			edit:   "spec: {deletionPolicy: Delete}",
			field:  "spec.deletionPolicy",
		},
		"the policy Archive becomes Delete": {
			before: decided,
			edit:   "spec: {deletionPolicy: Delete}",
			field:  "spec.deletionPolicy",
		},
		"the policy Archive becomes Retain": {
			before: decided,
			edit:   "spec: {deletionPolicy: Retain}",
			reason: "that is how a person lets go a deletion that waits",
		},
		"the policy Archive is removed": {
			before: decided,
			edit:   "spec: {deletionPolicy: null}",
			reason: "it becomes Retain",
		},
		"a decision comes with a change that needs no verb": {
			before: "{}",
			edit:   "spec: {name: Acme, decision: " + complete + "}",
			field:  "spec.decision",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := in(t, env)
			namespace := shared
			var existing *unstructured.Unstructured
			if tc.before != "" {
				namespace = env.Namespace(t)
				for user, roles := range rolesOf {
					c.bind(namespace, user, roles...)
				}
				existing = mandate(t, namespace, tc.before)
				c.check(c.Create(t.Context(), existing))
			}
			for user, verb := range verbs {
				err := c.attempt(user, namespace, existing, tc.edit)
				if tc.field == "" || verb == "decide" {
					if err != nil {
						t.Errorf("%s is refused: %v\n%s", user, err, tc.reason)
					}
					continue
				}
				refused(t, user, err, tc.field, "verb decide on mandates.idv.mandate.io")
			}
		})
	}
	t.Run("an action is created", func(t *testing.T) {
		for user, verb := range verbs {
			err := c.as(user).Create(t.Context(), action(t, shared), client.DryRunAll)
			switch {
			case verb != "act":
				refused(t, user, err, "MandateAction", "verb act on mandateactions.idv.mandate.io")
			case err != nil:
				t.Errorf("%s is refused: %v", user, err)
			}
		}
	})
	t.Run("an action is edited", func(t *testing.T) {
		c := in(t, env)
		existing := action(t, shared)
		c.check(c.Create(t.Context(), existing))
		for user := range verbs {
			if err := c.attempt(user, shared, existing, "spec: {ttlSecondsAfterFinished: 60}"); err != nil {
				t.Errorf("%s is refused: %v", user, err)
			}
		}
	})
}

// A verb that is granted in one namespace is worth nothing in another.
func TestPolicyIsGrantedByNamespace(t *testing.T) {
	c, _ := policed(t)
	here, there := env.Namespace(t), env.Namespace(t)
	c.bind(here, "decider", "idv-editor", "idv-decider")
	c.bind(there, "decider", "idv-editor")
	c.waitForAccess(there, "decider", "create", "mandates")
	if err := c.attempt("decider", here, nil, "spec: {decision: "+complete+"}"); err != nil {
		t.Errorf("the decider is refused: %v", err)
	}
	err := c.as("decider").Create(t.Context(), mandate(t, there, "spec: {decision: "+complete+"}"), client.DryRunAll)
	refused(t, "decider", err, "spec.decision")
}

// reviews are as many as the CRD allows.
func reviews(decision string) string {
	var all []string
	for i := range 200 {
		all = append(all, fmt.Sprintf("{individual: jane, check: check-%d, evidence: 41aa90c2, decision: %s, comment: %s}",
			i, decision, strings.Repeat("long ", 300)))
	}
	return "spec: {checkReviews: [" + strings.Join(all, ", ") + "]}"
}

// attempt creates a Mandate with an edit, or edits the one that exists, without effect.
func (c *cluster) attempt(user, namespace string, existing *unstructured.Unstructured, edit string) error {
	c.Helper()
	c.waitForAccess(namespace, user, "patch", "mandates")
	if verb := verbs[user]; verb != "" {
		c.waitForAccess(namespace, user, verb, resourceOf[verb])
	}
	if existing == nil {
		return c.as(user).Create(c.Context(), mandate(c.T, namespace, edit), client.DryRunAll)
	}
	data, err := yaml.YAMLToJSON([]byte(edit))
	c.check(err)
	patch := client.RawPatch(types.MergePatchType, data)
	return c.as(user).Patch(c.Context(), existing.DeepCopy(), patch, client.DryRunAll)
}

// refused holds a refusal to what it must say, and what it must not.
func refused(t *testing.T, user string, err error, texts ...string) {
	t.Helper()
	// Not Invalid: on that, a forced apply deletes the object and creates it again.
	if !apierrors.IsForbidden(err) {
		t.Errorf("%s: error = %v, want one that forbids it", user, err)
		return
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%s: the error does not say %q: %v", user, text, err)
		}
	}
	for _, text := range []string{"canary", "looks fine", "immutable"} {
		if strings.Contains(err.Error(), text) {
			t.Errorf("%s: the error says %q: %v", user, text, err)
		}
	}
}
