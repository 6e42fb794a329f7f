package plan

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// merge is what an apply makes of an object, which is nil if there is none. The API server and others have set the
// rest of its metadata, and its status. A spec that cannot be merged is refused as it is.
func (k *kindSchema) merge(stored, manifest *unstructured.Unstructured) *unstructured.Unstructured {
	merged := manifest.DeepCopy()
	delete(merged.Object, "status")
	if stored == nil {
		return merged
	}
	merged.Object["metadata"] = stored.DeepCopy().Object["metadata"]
	merged.SetLabels(labels.Merge(stored.GetLabels(), manifest.GetLabels()))
	merged.SetAnnotations(labels.Merge(stored.GetAnnotations(), manifest.GetAnnotations()))
	if status, has := stored.Object["status"]; has {
		merged.Object["status"] = status
	}
	apply := k.applyAtServer
	if isAppliedByKubectl(stored) {
		apply = applyByKubectl
	}
	if spec, err := apply(stored, manifest); err == nil && spec != nil {
		merged.Object["spec"] = spec
	}
	return merged
}

// applyAtServer merges as the API server does. Of the stored fields, those stay that another field manager has set than
// who applied the manifest before.
func (k *kindSchema) applyAtServer(stored, manifest *unstructured.Unstructured) (any, error) {
	earlier, err := k.spec.FromUnstructured(stored.Object["spec"])
	if err != nil {
		return nil, err
	}
	applied, err := k.spec.FromUnstructured(manifest.Object["spec"])
	if err != nil {
		return nil, err
	}
	others, authors := fieldpath.NewSet(), authorsOf(stored)
	for _, entry := range stored.GetManagedFields() {
		if !authors.Has(entry.Manager) {
			others = others.Union(ownedSpec(&entry))
		}
	}
	merged, err := earlier.ExtractItems(others, typed.WithAppendKeyFields()).Merge(applied)
	if err != nil {
		return nil, err
	}
	return merged.AsValue().Unstructured(), nil
}

// isAppliedByKubectl reports whether kubectl apply merges a manifest itself, as it does without --server-side.
func isAppliedByKubectl(stored client.Object) bool {
	authors := authorsOf(stored)
	return stored.GetAnnotations()[corev1.LastAppliedConfigAnnotation] != "" &&
		!slices.ContainsFunc(stored.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
			return authors.Has(entry.Manager) && entry.Operation == metav1.ManagedFieldsOperationApply
		})
}

// applyByKubectl merges what was applied last, what is applied, and what there is.
func applyByKubectl(stored, manifest *unstructured.Unstructured) (any, error) {
	current, err := stored.MarshalJSON()
	if err != nil {
		return nil, err
	}
	patch, err := kubectlPatch(stored, current, manifest)
	if err != nil {
		return nil, err
	}
	merged := &unstructured.Unstructured{}
	if current, err = jsonpatch.MergePatch(current, patch); err == nil {
		err = merged.UnmarshalJSON(current)
	}
	return merged.Object["spec"], err
}

func kubectlPatch(stored client.Object, current []byte, manifest *unstructured.Unstructured) ([]byte, error) {
	applied, err := manifest.MarshalJSON()
	if err != nil {
		return nil, err
	}
	last := stored.GetAnnotations()[corev1.LastAppliedConfigAnnotation]
	return jsonmergepatch.CreateThreeWayJSONMergePatch([]byte(last), applied, current)
}

// PatchOf is the patch with which a manifest is applied: the one of kubectl, where kubectl merges, and otherwise an
// apply at the server. stored is nil if there is no object yet.
func PatchOf(stored client.Object, manifest *unstructured.Unstructured) (client.Patch, error) {
	if stored == nil || !isAppliedByKubectl(stored) {
		applied, err := manifest.MarshalJSON()
		return client.RawPatch(types.ApplyPatchType, applied), err
	}
	current, err := json.Marshal(stored)
	if err != nil {
		return nil, err
	}
	patch, err := kubectlPatch(stored, current, manifest)
	return client.RawPatch(types.MergePatchType, patch), err
}

// ownedSpec are the fields of the spec that a field manager has set.
func ownedSpec(entry *metav1.ManagedFieldsEntry) *fieldpath.Set {
	owned, spec := fieldpath.NewSet(), "spec"
	if entry.FieldsV1 != nil && entry.Subresource == "" {
		_ = owned.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())) // the API server wrote it
	}
	return owned.WithPrefix(fieldpath.PathElement{FieldName: &spec})
}

// FieldOwners are the field managers that have set a field of the spec, such as "creation.suspend", or a part of it.
func FieldOwners(object metav1.Object, field string) sets.Set[string] {
	owners, path := sets.Set[string]{}, strings.Split(field, ".")
	for _, entry := range object.GetManagedFields() {
		owned := ownedSpec(&entry)
		for _, parent := range path[:len(path)-1] {
			owned = owned.WithPrefix(fieldpath.PathElement{FieldName: &parent})
		}
		element := fieldpath.PathElement{FieldName: &path[len(path)-1]}
		if owned.Members.Has(element) || !owned.WithPrefix(element).Empty() {
			owners.Insert(entry.Manager)
		}
	}
	return owners
}

// authorsOf are the field managers of what each manifest has.
func authorsOf(object metav1.Object) sets.Set[string] {
	mandates, actions := FieldOwners(object, "mandateType"), FieldOwners(object, "mandateRef")
	return mandates.Union(actions).Union(FieldOwners(object, "baseURL"))
}

// AuthorOf is the field manager with which a manifest of an object was applied; that of kubectl for one that nobody
// has applied.
func AuthorOf(object metav1.Object) string {
	if object != nil {
		if authors := sets.List(authorsOf(object)); len(authors) > 0 {
			return authors[0]
		}
	}
	return "kubectl"
}
