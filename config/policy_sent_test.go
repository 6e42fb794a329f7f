package config

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// A decision is about the people, the type and the service that its author saw. Nobody without the verb puts others
// under it before the application exists.
func TestPolicyKeepsWhatIsDecidedAbout(t *testing.T) {
	_, namespace := policed(t)
	const (
		free   = "spec: {individuals: [{name: jane, email: canary@example.com}, {name: john, email: canary@example.com}]}"
		others = "{individuals: [{name: jane, email: other-canary@example.com}]}"
	)
	decided := strings.TrimSuffix(free, "}") + ", decision: " + complete + "}"
	reviewed := strings.TrimSuffix(free, "}") + ", checkReviews: [" + review1 + "]}"
	archived := strings.TrimSuffix(free, "}") + ", archived: true}"
	adopted := strings.TrimSuffix(decided, "}") + ", adopt: {applicationID: 4711}}"
	cases := map[string]struct {
		before, edit string
		// status is what the operator has written, if anything.
		status string
		// field is what the refusal names, for all who do not have the verb decide; nobody is refused if empty.
		field string
	}{
		"erased": {
			before: decided, status: "{status: {applicationID: 4711, outcome: Rejected}}",
			edit: "{individuals: [{name: jane, erased: true}, {name: john, erased: true}]}",
		},
		"people":              {before: decided, edit: others, field: "spec.individuals can change"},
		"people of a review":  {before: reviewed, edit: others, field: "spec.individuals can change"},
		"a person more":       {before: decided, edit: people(3, "canary"), field: "spec.individuals can change"},
		"a person less":       {before: decided, edit: people(1, "canary"), field: "spec.individuals can change"},
		"the type":            {before: decided, edit: "{mandateType: {code: other}}", field: "spec.mandateType can change"},
		"the service":         {before: decided, edit: "{serviceRef: {name: other}}", field: "spec.serviceRef can change"},
		"the kind of service": {before: decided, edit: "{serviceRef: {kind: ClusterIdentityService}}", field: "serviceRef"},
		"the name":            {before: decided, edit: "{name: Other}", field: "spec.name can change"},
		"the reference":       {before: decided, edit: "{reference: other}", field: "spec.reference can change"},
		"e-mails":             {before: decided, edit: "{suppressEmailNotification: true}", field: "spec.suppressEmail"},
		"what is archived":    {before: archived, edit: others, field: "spec.individuals can change"},
		"where it is":         {before: archived, edit: "{serviceRef: {name: other}}", field: "spec.serviceRef can change"},
		"several fields": {
			before: decided,
			edit:   "{name: Other, mandateType: {code: other}}",
			field:  "spec.name, spec.mandateType can change",
		},
		"people, and the decision goes": {
			before: decided,
			edit:   "{decision: null, individuals: [{name: jane, email: other-canary@example.com}]}",
			field:  "spec.decision can be set",
		},
		"people, and the reviews go": {
			before: reviewed,
			edit:   "{checkReviews: [], individuals: [{name: jane, email: other-canary@example.com}]}",
			field:  "spec.checkReviews can be set",
		},
		"as many people as there can be": {
			before: "spec: " + strings.TrimSuffix(people(50, "canary"), "}") + ", decision: " + complete + "}",
			edit:   people(50, "other-canary"),
			field:  "spec.individuals can change",
		},

		"nothing is decided": {before: free, edit: "{name: Other, individuals: [{name: joe, email: canary@example.com}]}"},
		"what was not sent":  {before: decided, edit: "{suspend: true, createBefore: 2026-12-31T00:00:00Z}"},
		"the same again":     {before: adopted, edit: strings.TrimPrefix(adopted, "spec: ")},
		"the same people in another order": {
			before: decided,
			edit:   "{individuals: [{name: john, email: canary@example.com}, {name: jane, email: canary@example.com}]}",
		},
		"an adoption that has no effect any more": {
			before: adopted, status: "{status: {applicationID: 4711}}", edit: "{adopt: null}",
		},
	}
	number := 0
	for name, tc := range cases {
		number++
		object := mandate(t, namespace, tc.before)
		object.SetName(fmt.Sprintf("mandate-%d", number))
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := in(t, env)
			c.check(c.Create(t.Context(), object))
			if tc.status != "" {
				c.check(c.Status().Patch(t.Context(), object, mergePatch(t, tc.status)))
			}
			for user, verb := range verbs {
				err := c.attempt(user, namespace, object, "spec: "+tc.edit)
				switch {
				case tc.field != "" && verb != "decide":
					refused(t, user, err, tc.field, "verb decide on mandates.idv.mandate.io")
				case err != nil:
					t.Errorf("%s is refused: %v", user, err)
				}
			}
		})
	}
}

// people is an edit with as many individuals, whose e-mail addresses begin alike.
func people(number int, address string) string {
	var all []string
	for i, name := range append([]string{"jane", "john"}, make([]string, 48)...)[:number] {
		if name == "" {
			name = fmt.Sprintf("person-%d", i)
		}
		all = append(all, fmt.Sprintf("{name: %s, email: %s@example.com}", name, address))
	}
	return "{individuals: [" + strings.Join(all, ", ") + "]}"
}

// A name that the API server makes needs the verb as any other.
func TestPolicyAndGeneratedNames(t *testing.T) {
	_, namespace := policed(t)
	for user, verb := range verbs {
		c := in(t, env)
		object := mandate(t, namespace, "spec: {decision: "+complete+"}")
		object.SetName("")
		object.SetGenerateName("acme-")
		err := c.as(user).Create(t.Context(), object)
		switch {
		case verb != "decide":
			refused(t, user, err, "spec.decision", "verb decide on mandates.idv.mandate.io")
		case err != nil:
			t.Errorf("%s is refused: %v", user, err)
		default:
			err = c.as("pipeline").Patch(t.Context(), object, mergePatch(t, "{spec: {name: Other}}"), client.DryRunAll)
			refused(t, "pipeline", err, "spec.name can change")
		}
	}
}

// What a person with the verb applies on the server's side, a pipeline without it can neither change by force nor
// take over by applying the rest.
func TestPolicyAndForcedApply(t *testing.T) {
	_, namespace := policed(t)
	c := in(t, env)
	apply := func(user, email string, decides bool) error {
		object := mandate(t, namespace, "spec: {individuals: [{name: jane, email: "+email+"@example.com}]}")
		object.SetName("forced")
		if decides {
			decision := map[string]any{"outcome": "Complete", "when": "AllChecksPassed"}
			c.check(unstructured.SetNestedMap(object.Object, decision, "spec", "decision"))
		}
		configuration := client.ApplyConfigurationFromUnstructured(object)
		return c.as(user).Apply(t.Context(), configuration, client.FieldOwner(user), client.ForceOwnership)
	}
	c.check(apply("pipeline", "canary", false))
	c.check(apply("decider", "canary", true))
	c.check(apply("pipeline", "canary", false))
	refused(t, "pipeline", apply("pipeline", "other-canary", false), "spec.individuals can change")
	c.check(apply("decider", "other-canary", true))
}

func mergePatch(t *testing.T, edit string) client.Patch {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(edit))
	if err != nil {
		t.Fatal(err)
	}
	return client.RawPatch(types.MergePatchType, data)
}
