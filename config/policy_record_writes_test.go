package config

import (
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// record is one as the operator creates it.
func record(t *testing.T, namespace, name string) *unstructured.Unstructured {
	t.Helper()
	object := parse(t, `
apiVersion: idv.mandate.io/v1alpha1
kind: ApplicationRecord
spec: {salt: "0123456789abcdef0123456789abcdef", account: "0123456789abcdef0123456789abcdef",
  serviceURL: "https://idv.example.com", reference: acme, mandateRef: {uid: "1"}, applicationID: 4711}
`)
	object.SetNamespace(namespace)
	object.SetName(name)
	return object
}

// clusterIdentityService has the name of a namespace, because it is in none.
func clusterIdentityService(t *testing.T, namespace string) *unstructured.Unstructured {
	t.Helper()
	object := identityService(t, "")
	object.SetKind("ClusterIdentityService")
	object.SetName(namespace)
	setFields(object.Object, map[string]any{"spec": map[string]any{
		"credentialsSecretRef": map[string]any{"namespace": namespace},
	}})
	return object
}

// write is a request of a user, without effect.
type write struct {
	verb, resource string // that RBAC has to grant
	send           func(client.Client) error
}

// recordWrites creates an object of each kind, and gives all requests that write a record or a status, by name.
func (c *cluster) recordWrites(namespace string) map[string]write {
	c.Helper()
	existing := record(c.T, namespace, "acme")
	c.check(c.Create(c.Context(), existing))
	const (
		records        = "applicationrecords"
		ownerReference = `{"apiVersion":"v1","kind":"Pod","name":"canary","uid":"1"}`
	)
	writes := map[string]write{
		"create a record": {"create", records, func(user client.Client) error {
			return user.Create(c.Context(), record(c.T, namespace, "forged"), client.DryRunAll)
		}},
		"delete a record": {"delete", records, func(user client.Client) error {
			return user.Delete(c.Context(), existing.DeepCopy(), client.DryRunAll)
		}},
		"delete all records": {"deletecollection", records, func(user client.Client) error {
			return user.DeleteAllOf(c.Context(), existing.DeepCopy(), client.InNamespace(namespace), client.DryRunAll)
		}},
	}
	for what, edit := range map[string]string{
		"a record":                    `{"spec":{"mandateRef":{"uid":"canary"}}}`,
		"a label of a record":         `{"metadata":{"labels":{"canary":"b"}}}`,
		"an annotation of a record":   `{"metadata":{"annotations":{"canary":"b"}}}`,
		"the finalizers of a record":  `{"metadata":{"finalizers":["example.com/canary"]}}`,
		"the owner of a record":       `{"metadata":{"ownerReferences":[` + ownerReference + `]}}`,
		"a record and its annotation": `{"spec":{"mandateRef":{"uid":"canary"}},"metadata":{"annotations":{"a":"b"}}}`,
	} {
		c.addEdits(writes, what, records, existing, edit)
	}
	for resource, object := range map[string]*unstructured.Unstructured{
		"mandates":                mandate(c.T, namespace, "{}"),
		"mandateactions":          action(c.T, namespace),
		"identityservices":        identityService(c.T, namespace),
		"clusteridentityservices": clusterIdentityService(c.T, namespace),
	} {
		c.check(c.Create(c.Context(), object))
		c.addEdits(writes, "the status of "+resource, resource+"/status", object, `{"status":{"observedGeneration":7}}`)
	}
	c.addEdits(writes, "the application of a Mandate", "mandates/status", mandate(c.T, namespace, "{}"),
		`{"status":{"applicationID":101,"reference":"canary"}}`)
	return writes
}

// addEdits adds every way to make an edit, a JSON merge patch.
func (c *cluster) addEdits(to map[string]write, what, resource string, object *unstructured.Unstructured, edit string) {
	c.Helper()
	applied := &unstructured.Unstructured{}
	c.check(json.Unmarshal([]byte(edit), &applied.Object))
	applied.SetGroupVersionKind(object.GroupVersionKind())
	applied.SetNamespace(object.GetNamespace())
	applied.SetName(object.GetName())
	updated := object.DeepCopy()
	c.check(c.Get(c.Context(), client.ObjectKeyFromObject(object), updated))
	setFields(updated.Object, applied.Object)
	for way, patch := range map[string]client.Patch{
		"patch":  client.RawPatch(types.MergePatchType, []byte(edit)),
		"apply":  client.RawPatch(types.ApplyPatchType, []byte(encoded(c.T, applied.Object))),
		"update": nil,
	} {
		verb := "patch"
		if patch == nil {
			verb = "update"
		}
		to[way+" "+what] = write{verb, resource, func(user client.Client) error {
			return c.edit(user, resource, updated.DeepCopy(), patch)
		}}
	}
}

// edit patches an object or its status, or updates it if there is no patch.
func (c *cluster) edit(user client.Client, resource string, object client.Object, patch client.Patch) error {
	status := user.SubResource("status")
	switch isStatus := strings.HasSuffix(resource, "/status"); {
	case patch == nil && isStatus:
		return status.Update(c.Context(), object, client.DryRunAll)
	case patch == nil:
		return user.Update(c.Context(), object, client.DryRunAll)
	case patch.Type() == types.ApplyPatchType && isStatus:
		return status.Patch(c.Context(), object, patch, client.DryRunAll, client.ForceOwnership, client.FieldOwner("test"))
	case patch.Type() == types.ApplyPatchType:
		return user.Patch(c.Context(), object, patch, client.DryRunAll, client.ForceOwnership, client.FieldOwner("test"))
	case isStatus:
		return status.Patch(c.Context(), object, patch, client.DryRunAll)
	default:
		return user.Patch(c.Context(), object, patch, client.DryRunAll)
	}
}

// setFields sets the fields of a merge patch that removes none.
func setFields(object, patch map[string]any) {
	for field, value := range patch {
		below, isMap := value.(map[string]any)
		existing, exists := object[field].(map[string]any)
		if isMap && exists {
			setFields(existing, below)
		} else {
			object[field] = value
		}
	}
}
