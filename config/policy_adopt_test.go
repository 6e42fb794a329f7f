package config

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// edit is one of a Mandate, and who may make it.
type edit struct {
	before, edit string // before is empty if the user creates the Mandate
	status       string // what the operator has written, if anything
	needs        []string
	field        string // what a refusal for the first of the verbs names
}

// bound is a status that has an application.
const bound = "{status: {applicationID: 4711}}"

// needVerbs tries each edit as users who have none, one or both of the verbs decide and adopt.
func needVerbs(t *testing.T, cases map[string]edit) {
	t.Helper()
	c, namespace := policed(t)
	users := map[string][]string{
		"pipeline": nil, "decider": {"decide"}, "adopter": {"adopt"}, "lead": {"decide", "adopt"},
	}
	c.bind(namespace, "lead", "idv-editor", "idv-decider", "idv-adopter")
	number := 0
	for name, tc := range cases {
		var existing *unstructured.Unstructured
		if tc.before != "" {
			number++
			existing = mandate(t, namespace, "spec: "+tc.before)
			existing.SetName(fmt.Sprintf("mandate-%d", number))
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := in(t, env)
			if existing != nil {
				c.check(c.Create(t.Context(), existing))
			}
			if tc.status != "" {
				c.check(c.Status().Patch(t.Context(), existing, mergePatch(t, tc.status)))
			}
			for user, has := range users {
				for _, verb := range has {
					c.waitForAccess(namespace, user, verb, "mandates")
				}
				err := c.attempt(user, namespace, existing, "spec: "+tc.edit)
				lacks := slices.DeleteFunc(slices.Clone(tc.needs), func(verb string) bool { return slices.Contains(has, verb) })
				switch {
				case len(lacks) == 1:
					refused(t, user, err, tc.field, "verb "+lacks[0]+" on mandates.idv.mandate.io")
				case len(lacks) > 1:
					refused(t, user, err)
				case err != nil:
					t.Errorf("%s is refused: %v", user, err)
				}
			}
		})
	}
}

// Who may have which application adopted.
func TestPolicyOfAdoption(t *testing.T) {
	adopt, both := []string{"adopt"}, []string{"decide", "adopt"}
	const one, another = "adopt: {applicationID: 1}", "adopt: {applicationID: 2}"
	needVerbs(t, map[string]edit{
		"created with it": {edit: "{" + one + "}", needs: adopt, field: "spec.adopt can be set"},
		"set":             {before: "{}", edit: "{" + one + "}", needs: adopt, field: "spec.adopt"},
		"changed": {
			before: "{" + one + "}",
			edit:   "{" + another + "}", needs: adopt, field: "spec.adopt",
		},
		"the reference with it": {
			before: "{" + one + "}",
			edit:   "{reference: other}", needs: adopt, field: "spec.reference",
		},
		"the service with it": {
			before: "{" + one + "}",
			edit:   "{serviceRef: {name: other}}", needs: adopt, field: "serviceRef",
		},
		"removed": {before: "{" + one + "}", edit: "{adopt: null}", needs: adopt, field: "spec.adopt can be set"},
		"removed under a decision": {
			before: "{decision: " + complete + ", " + one + "}",
			edit:   "{adopt: null}", needs: both,
			field: "spec.adopt can",
		},
		"removed for a reference": {
			before: "{" + one + "}",
			edit:   "{adopt: null, reference: other}", needs: adopt, field: "spec.adopt",
		},
		"removed while suspended": {
			before: "{suspend: true, " + one + "}",
			edit:   "{adopt: null, suspend: false}", needs: adopt, field: "spec.adopt",
		},
		"a restored record that lacks nothing": {
			before: "{}",
			edit:   "{}\nmetadata: {annotations: {idv.mandate.io/record-complete: a}}", needs: adopt,
			field: "the annotation idv.mandate.io/record-complete",
		},
		"a create that created nothing": {
			before: "{}",
			edit:   "{}\nmetadata: {annotations: {idv.mandate.io/not-created: a}}", needs: adopt,
			field: "the annotation idv.mandate.io/not-created",
		},
		"it may have created something after all": {
			before: "{}\nmetadata: {annotations: {idv.mandate.io/not-created: a}}",
			edit:   "{}\nmetadata: {annotations: {idv.mandate.io/not-created: null}}",
		},
		"the record may lack something after all": {
			before: "{}\nmetadata: {annotations: {idv.mandate.io/record-complete: a}}",
			edit:   "{}\nmetadata: {annotations: {idv.mandate.io/record-complete: null}}",
		},
		"removed, once bound":    {before: "{" + one + "}", status: bound, edit: "{adopt: null}"},
		"something else":         {before: "{" + one + "}", edit: "{suspend: true, name: Other}"},
		"the same again":         {before: "{" + one + "}", edit: "{" + one + "}"},
		"no adoption":            {before: "{}", edit: "{reference: other, serviceRef: {name: other}}"},
		"set, once bound":        {before: "{}", status: bound, edit: "{" + one + "}"},
		"changed, once bound":    {before: "{" + one + "}", status: bound, edit: "{" + another + "}"},
		"under a decision":       {before: "{decision: " + complete + "}", edit: "{" + one + "}", needs: both},
		"under an archiving":     {before: "{archived: true}", edit: "{" + one + "}", needs: both},
		"to be deleted with it":  {before: "{deletionPolicy: Delete}", edit: "{" + one + "}", needs: both},
		"to be archived with it": {before: "{deletionPolicy: Archive}", edit: "{" + one + "}", needs: both},
		"retained after all": {
			before: "{deletionPolicy: Delete}",
			edit:   "{deletionPolicy: Retain, " + one + "}", needs: adopt,
		},
		"another one to be deleted": {
			before: "{deletionPolicy: Delete, " + one + "}",
			edit:   "{reference: other}", needs: both,
		},
		"continued after a suspension": {
			before: "{suspend: true, " + one + "}",
			edit:   "{suspend: false}", needs: adopt, field: "spec.suspend can be set to false",
		},
		"continued, once bound": {
			before: "{suspend: true, " + one + "}", status: bound,
			edit: "{suspend: false}", needs: []string{"decide"}, field: "because a MandateAction may wait",
		},
		"to be deleted, once bound": {before: "{deletionPolicy: Delete}", status: bound, edit: "{" + one + "}"},
	})
}
