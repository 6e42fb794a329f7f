package config

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/internal/test/testenv"
)

const bySecret = "spec: {individuals: [{name: jane, detailsSecretRef: {name: jane}}]}"

// With the policy, nobody adds inline personal data. What is there can stay, and can be erased.
func TestPolicyRequiresSecrets(t *testing.T) {
	c, namespace := in(t, env), env.Namespace(t)
	installed(c)
	c.kubectl("delete", "--ignore-not-found", "--kustomize", "config/policy")
	existing := mandate(t, namespace, "{}")
	c.eventually(func() (bool, string) {
		return c.Create(t.Context(), existing) == nil, "config/policy is still in force"
	})
	c.check(c.Status().Patch(t.Context(), existing,
		mergePatch(t, "{status: {applicationID: 4711, outcome: Rejected}}")))
	c.apply("--kustomize", "config/policy/require-secrets")
	inline := func(edit string) *unstructured.Unstructured {
		object := mandate(t, namespace, edit)
		object.SetName("other")
		return object
	}
	try := func(edit string) error { return c.Create(t.Context(), inline(edit), client.DryRunAll) }
	const refusal = "can have no personal data inline"
	c.eventually(func() (bool, string) { return apierrors.IsForbidden(try("{}")), "the policy is not in force" })
	refused(t, "an address", try("{}"), refusal)
	refused(t, "a name beside a Secret",
		try("spec: {individuals: [{name: jane, detailsSecretRef: {name: jane}, lastName: canary}]}"), refusal)
	for _, edit := range []string{bySecret, "spec: {individuals: [{name: jane, erased: true}]}"} {
		if err := try(edit); err != nil {
			t.Errorf("%s is refused: %v", edit, err)
		}
	}
	for _, edit := range []string{"{spec: {suspend: true}}", "{spec: {individuals: [{name: jane, erased: true}]}}"} {
		if err := c.Patch(t.Context(), existing.DeepCopy(), mergePatch(t, edit), client.DryRunAll); err != nil {
			t.Errorf("%s is refused: %v", edit, err)
		}
	}
	c.kubectl("delete", "--kustomize", "config/policy/require-secrets")
	c.eventually(func() (bool, string) { return try("{}") == nil, "the policy is still in force" })
}

// The operator erases individuals after the outcome, and changes nothing else of the spec with that.
func TestOperatorPolicyAllowsErasure(t *testing.T) {
	c, namespace := in(t, env), env.Namespace(t)
	c.withOperatorPolicy(true)
	object := mandate(t, namespace, "{}")
	object.SetName("erased")
	c.check(c.Create(t.Context(), object))
	const erase = `{"op":"replace","path":"/spec/individuals/0","value":{"name":"jane","erased":true}}`
	try := func(operations string) error {
		patch := client.RawPatch(types.JSONPatchType, []byte("["+operations+"]"))
		return c.as(testenv.OperatorUser).Patch(t.Context(), object.DeepCopy(), patch, client.DryRunAll)
	}
	refused(t, "before the outcome", try(erase), "spec can change only with the verb update")
	c.check(c.Status().Patch(t.Context(), object, mergePatch(t, "{status: {applicationID: 4711, outcome: Rejected}}")))
	if err := try(erase); err != nil {
		t.Errorf("the operator cannot erase: %v", err)
	}
	for _, more := range []string{
		`{"op":"add","path":"/spec/suspend","value":true}`,
		`{"op":"add","path":"/spec/decision","value":{"outcome":"Reject","evidence":"7d9f2c41-3"}}`,
	} {
		refused(t, more, try(erase+","+more), "spec can change only with the verb update")
	}
}
