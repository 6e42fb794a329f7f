package config

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/test/testenv"
)

// withOperatorPolicy applies config/admission and waits until its policy of the operator is in force, or removes it and
// waits until it is not. It removes config/policy, which would refuse some of the same requests.
func (c *cluster) withOperatorPolicy(applied bool) {
	c.Helper()
	c.kubectl("delete", "--ignore-not-found", "--kustomize", "config/policy")
	c.withRecordPolicy(applied)
	namespace := c.Namespace(c.T)
	m := mandate(c.T, namespace, "{}")
	c.check(c.Create(c.Context(), m))
	c.eventually(func() (bool, string) {
		err := c.tryPatch(testenv.OperatorUser, m, "{metadata: {labels: {a: b}}}")
		return apierrors.IsForbidden(err) == applied, fmt.Sprintf("the policy of the operator: error %v", err)
	})
	decided := mandate(c.T, namespace, "spec: {adopt: {applicationID: 1}, decision: "+complete+"}")
	for _, object := range []*unstructured.Unstructured{decided, identityService(c.T, namespace)} {
		c.eventually(func() (bool, string) {
			object.SetName("other")
			err := c.as(writer).Create(c.Context(), object.DeepCopy(), client.DryRunAll)
			return err == nil, fmt.Sprintf("without config/policy, error %v", err)
		})
	}
}

// tryPatch edits an object as a user, without effect.
func (c *cluster) tryPatch(user string, object *unstructured.Unstructured, edit string) error {
	c.Helper()
	return c.as(user).Patch(c.Context(), object.DeepCopy(), mergePatch(c.T, edit), client.DryRunAll)
}

// ownedObjects creates an object of each kind that the operator may patch, as they are in a cluster where other tools
// are at work.
func (c *cluster) ownedObjects(namespace string) map[string]*unstructured.Unstructured {
	c.Helper()
	objects := map[string]*unstructured.Unstructured{
		"mandates":                mandate(c.T, namespace, "spec: {suspend: true, decision: "+reject+"}"),
		"identityservices":        identityService(c.T, namespace),
		"clusteridentityservices": clusterIdentityService(c.T, namespace),
	}
	for _, object := range objects {
		object.SetLabels(map[string]string{"team": "a"})
		object.SetAnnotations(map[string]string{corev1.LastAppliedConfigAnnotation: "{}"})
		object.SetFinalizers([]string{"example.com/theirs"})
		object.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "Namespace", Name: namespace, UID: "1"}})
		c.check(c.Create(c.Context(), object))
	}
	return objects
}

// foreignEdits are merge patches of what the operator never changes, by what a refusal names.
var foreignEdits = map[string][]string{
	"metadata.labels": {`{"metadata":{"labels":{"a":"b"}}}`, `{"metadata":{"labels":{"team":"b"}}}`},
	"metadata.annotations": {
		`{"metadata":{"annotations":{"a":"b"}}}`,
		`{"metadata":{"annotations":{"` + corev1.LastAppliedConfigAnnotation + `":"{\"spec\":{}}"}}}`,
		`{"metadata":{"annotations":{"` + v1alpha1.SameAccountAnnotation + `":"0123456789abcdef"}}}`,
		`{"metadata":{"annotations":{"a":"b","` + v1alpha1.ReconcileRequestAnnotation + `":"now"}}}`,
	},
	"metadata.finalizers": {`{"metadata":{"finalizers":["example.com/theirs","example.com/mine"]}}`},
	"metadata.ownerReferences": {
		`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"a","uid":"2"}]}}`,
	},
}

// removals are merge patches that take away what is not the operator's.
var removals = map[string][]string{
	"metadata.labels": {"{metadata: {labels: null}}"},
	"metadata.annotations": {
		"{metadata: {annotations: null}}",
		"{metadata: {annotations: {" + corev1.LastAppliedConfigAnnotation + ": null, " +
			v1alpha1.ReconcileRequestAnnotation + ": now}}}",
	},
	"metadata.finalizers": {
		"{metadata: {finalizers: null}}", "{metadata: {finalizers: [" + v1alpha1.ApplicationFinalizer + "]}}",
	},
	"metadata.ownerReferences": {"{metadata: {ownerReferences: null}}"},
}

// specEdits are merge patches of specs, by resource.
var specEdits = map[string][]string{
	"mandates": {
		`{"spec":{"suspend":false}}`,
		`{"spec":{"decision":{"outcome":"Complete","evidence":"7d9f2c41-3"}}}`,
		`{"spec":{"adopt":{"applicationID":1}}}`,
		`{"spec":{"archived":true}}`,
		`{"spec":{"deletionPolicy":"Delete"}}`,
		`{"spec":{"name":"Other"},"metadata":{"annotations":{"` + v1alpha1.CandidateAnnotation + `":"1"}}}`,
	},
	"identityservices":        {`{"spec":{"baseURL":"https://other.example.com"}}`},
	"clusteridentityservices": {`{"spec":{"baseURL":"https://other.example.com"}}`},
}

// attempt is a request that the policy refuses to the operator, and the field that the refusal names.
type attempt struct {
	write
	field string
}

// foreignWrites are all ways to change what is not the operator's.
func (c *cluster) foreignWrites(objects map[string]*unstructured.Unstructured) (attempts []attempt) {
	c.Helper()
	for resource, object := range objects {
		edits := maps.Clone(foreignEdits)
		edits["spec"] = specEdits[resource]
		for field, edits := range edits {
			for _, edit := range edits {
				writes := map[string]write{}
				c.addEdits(writes, edit, resource, object, edit)
				for _, w := range writes {
					attempts = append(attempts, attempt{w, field})
				}
			}
		}
		for field, edits := range removals {
			for _, edit := range edits {
				patch := write{"patch", resource, func(user client.Client) error {
					return user.Patch(c.Context(), object.DeepCopy(), mergePatch(c.T, edit), client.DryRunAll)
				}}
				attempts = append(attempts, attempt{patch, field})
			}
		}
	}
	return attempts
}

// Without the policy, the operator's account changes whatever it may patch. With it, it changes its own metadata only,
// by whatever request, whatever its name is. Others change what RBAC lets them.
func TestOperatorChangesItsMetadataOnly(t *testing.T) {
	c, namespace := in(t, env), env.Namespace(t)
	c.withOperatorPolicy(false)
	c.bind(namespace, "operator-of-a-namespace", "mandate-operator")
	c.bind("", "operator-of-a-namespace", "mandate-operator-record")
	c.bind(namespace, "editor", "idv-editor")
	c.bind(namespace, "restorer", "idv-editor")
	c.bind("", "restorer", "idv-restorer")
	c.bind("", "administrator", "cluster-admin")
	c.waitForAccess(namespace, "operator-of-a-namespace", "patch", "mandates")
	c.waitForAccess("", "operator-of-a-namespace", "record", "applicationrecords")
	c.waitForAccess(namespace, "editor", "patch", "mandates")
	c.waitForAccess(namespace, "restorer", "patch", "mandates")
	c.waitForAccess("", "restorer", "record", "applicationrecords")
	c.waitForAccess("", "administrator", "patch", "mandates")
	objects := c.ownedObjects(namespace)
	attempts := c.foreignWrites(objects)
	c.grantReceiver()
	users := map[string]bool{ // and whether they are limited
		testenv.OperatorUser: true, "operator-of-a-namespace": true, receiver: true, "editor": false, "restorer": false,
		"administrator": false,
	}
	try := func(user string, limited bool) (refusals int) {
		for _, a := range attempts {
			where := namespace
			if strings.HasPrefix(a.resource, "cluster") {
				where = ""
			}
			err := a.send(c.as(user))
			switch permitted := c.may(where, user, a.verb, a.resource); {
			case permitted && limited:
				refusals++
				refused(t, user, err, a.field+" can change only with the verb update on "+a.resource)
			case permitted && err != nil:
				t.Errorf("%s cannot %s %s of %s: %v", user, a.verb, a.field, a.resource, err)
			case !permitted && !apierrors.IsForbidden(err):
				t.Errorf("%s can %s %s of %s: error %v, want one of RBAC", user, a.verb, a.field, a.resource, err)
			}
		}
		return refusals
	}
	for user := range users {
		try(user, false)
	}
	c.withOperatorPolicy(true)
	for user, limited := range users {
		if got := try(user, limited); (got > 20) != limited {
			t.Errorf("%s is refused %d of %d requests", user, got, len(attempts))
		}
	}
	// What the policy knows the operator by.
	for resource := range objects {
		if c.may("", testenv.OperatorUser, "update", resource) {
			t.Errorf("the operator may update %s: the policy does not apply to it any more", resource)
		}
	}
}

// The operator sets and removes its own metadata, beside that of others.
func TestOperatorPolicyLeavesItsMetadata(t *testing.T) {
	c, namespace := in(t, env), env.Namespace(t)
	c.withOperatorPolicy(true)
	const theirs = "example.com/theirs"
	for resource, object := range c.ownedObjects(namespace) {
		finalizer := v1alpha1.ServiceFinalizer
		if resource == "mandates" {
			finalizer = v1alpha1.ApplicationFinalizer
		}
		request, candidates := v1alpha1.ReconcileRequestAnnotation, v1alpha1.CandidateAnnotation
		for _, edit := range []string{
			fmt.Sprintf("{metadata: {finalizers: [%s, %s]}}", theirs, finalizer),
			fmt.Sprintf("{metadata: {finalizers: [%s, %s]}}", finalizer, theirs),
			fmt.Sprintf("{metadata: {annotations: {%s: notification/1, %s: '4711'}}}", request, candidates),
			fmt.Sprintf("{metadata: {annotations: {%s: notification/2}}}", request),
			fmt.Sprintf("{metadata: {annotations: {%s: null, %s: 'true'}}}", candidates, v1alpha1.ArchivingAnnotation),
			fmt.Sprintf("{metadata: {finalizers: [%s]}}", theirs),
			"{spec: {}}",
			"{metadata: {labels: {team: a}}}",
		} {
			if err := c.as(testenv.OperatorUser).Patch(t.Context(), object, mergePatch(t, edit)); err != nil {
				t.Errorf("the operator cannot patch %s with %s: %v", resource, edit, err)
			}
		}
		observed := mergePatch(t, "{status: {observedGeneration: 1}}")
		if err := c.as(testenv.OperatorUser).Status().Patch(t.Context(), object, observed); err != nil {
			t.Errorf("the operator cannot write the status of %s: %v", resource, err)
		}
	}
}

// The cost of an expression is limited. If a Mandate exceeded it, the operator could not release it.
func TestOperatorPolicyOfALargeMandate(t *testing.T) {
	c, namespace := in(t, env), env.Namespace(t)
	c.withOperatorPolicy(true)
	large := mandate(t, namespace, reviews("Accept"))
	annotations, finalizers := map[string]string{}, []string{v1alpha1.ApplicationFinalizer}
	for i := range 10_000 {
		annotations[fmt.Sprintf("a%05d", i)] = ""
	}
	for i := range 1000 {
		finalizers = append(finalizers, fmt.Sprintf("example.com/%d", i))
	}
	large.SetAnnotations(annotations)
	large.SetFinalizers(finalizers)
	c.check(c.Create(t.Context(), large))
	released := large.DeepCopy()
	released.SetFinalizers(finalizers[1:])
	if err := c.as(testenv.OperatorUser).Patch(t.Context(), released, client.MergeFrom(large)); err != nil {
		t.Errorf("the operator cannot release it: %v", err)
	}
	refused(t, "the operator", c.tryPatch(testenv.OperatorUser, large, "{spec: {suspend: true}}"), "spec can change only")
}
