package plan

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// kindSecret is that of a Secret, and ends the name of the kinds that make one.
const kindSecret = "Secret"

// Matters reports whether a plan takes an object into account, though nothing is planned for it: a Namespace, whose
// labels services select, and what makes a Secret, which Mandates wait for.
func Matters(object *unstructured.Unstructured) bool {
	return isNamespace(object) || strings.HasSuffix(object.GetKind(), kindSecret)
}

func isNamespace(object *unstructured.Unstructured) bool {
	return object.GetKind() == kindNamespace && object.GetAPIVersion() == "v1"
}

// MayRelease is the namespace whose Mandates may wait for an object that Matters; "" if it is none.
func MayRelease(object *unstructured.Unstructured) string {
	switch {
	case isNamespace(object):
		return object.GetName()
	case Matters(object) && saysUse(object.Object):
		return object.GetNamespace()
	default:
		return ""
	}
}

// saysUse reports whether anything in a value is the label or the type without which no Secret is a Mandate's.
func saysUse(value any) bool {
	switch v := value.(type) {
	case string:
		return strings.HasPrefix(v, v1alpha1.SecretTypePrefix)
	case []any:
		return slices.ContainsFunc(v, saysUse)
	case map[string]any:
		_, labelled := v[v1alpha1.SecretUseLabel]
		return labelled || slices.ContainsFunc(slices.Collect(maps.Values(v)), saysUse)
	default:
		return false
	}
}

// applyOther takes over what Matters of an object of another kind.
func (p *planner) applyOther(object *unstructured.Unstructured) {
	switch {
	case isNamespace(object):
		p.applyNamespace(object)
	case strings.HasSuffix(object.GetKind(), kindSecret):
		for _, name := range append(namesIn(object.Object["spec"]), object.GetName()) {
			p.secrets[ObjectKey{kindSecret, object.GetNamespace(), name}] = true
		}
	}
}

// namesIn are the names in a spec: one of them can be that of the Secret that is made.
func namesIn(value any) (names []string) {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			names = append(names, namesIn(item)...)
		}
	case map[string]any:
		if name, ok := v["name"].(string); ok {
			names = append(names, name)
		}
		for _, field := range v {
			names = append(names, namesIn(field)...)
		}
	}
	return names
}

// applyNamespace merges the labels of a namespace as kubectl does. One that may not be read stays unknown.
func (p *planner) applyNamespace(object *unstructured.Unstructured) {
	key := ObjectKey{kindNamespace, "", object.GetName()}
	stored := p.world.objects[key]
	if stored == nil && p.unknown[key] != "" {
		return
	}
	applied := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: kindNamespace}}
	labels := map[string]string{}
	if stored != nil {
		meta.AsPartialObjectMetadata(stored).ObjectMeta.DeepCopyInto(&applied.ObjectMeta)
		maps.Copy(labels, stored.GetLabels())
		for label := range lastLabels(stored) {
			delete(labels, label)
		}
	}
	maps.Copy(labels, object.GetLabels())
	labels[corev1.LabelMetadataName] = object.GetName()
	applied.SetName(object.GetName())
	applied.SetLabels(labels)
	p.world.put(applied)
}

// lastLabels are those that kubectl applied last.
func lastLabels(stored client.Object) map[string]string {
	last := &unstructured.Unstructured{}
	if last.UnmarshalJSON([]byte(stored.GetAnnotations()[corev1.LastAppliedConfigAnnotation])) != nil {
		return nil
	}
	return last.GetLabels()
}

// mayWait reports whether the operator may still do something for an object of the cluster. Whatever is applied may be
// what that waits for.
func mayWait(object client.Object) bool {
	switch o := object.(type) {
	case *v1alpha1.Mandate:
		asks := o.Status.ApplicationID == nil || o.Spec.Decision != nil || len(o.Spec.CheckReviews) > 0
		return asks && o.Status.Outcome == "" || o.DeletionTimestamp != nil || o.Spec.Archived && !o.Status.Archived
	case *v1alpha1.MandateAction:
		return o.Status.CompletedTime == nil && o.Spec.Type != v1alpha1.MandateActionDownloadReport
	default:
		return false
	}
}

// noteUnseen makes items of what may release Mandates that the cluster lacks.
func (p *planner) noteUnseen(unseen map[ObjectKey]string) {
	for _, key := range slices.SortedFunc(maps.Keys(unseen), func(a, b ObjectKey) int {
		return cmp.Compare(a.String(), b.String())
	}) {
		item := p.itemOf(key)
		if key.Kind == kindNamespace {
			item.Change = Changed
		}
		if item.Change != Unchanged {
			item.unseen = true
			item.assume(unseen[key])
		}
	}
}

// openToUnread opens ClusterIdentityServices to all namespaces, if the labels of one may not be read.
func (p *planner) openToUnread() {
	unread := ""
	for key, unknown := range p.unknown {
		if key.Kind == kindNamespace && p.world.objects[key] == nil {
			unread = unknown
		}
	}
	if unread == "" {
		return
	}
	for key, object := range p.world.objects {
		if service, ok := object.(*v1alpha1.ClusterIdentityService); ok {
			service.Spec.NamespaceSelector = &metav1.LabelSelector{}
			p.unknown[key] = cmp.Or(p.unknown[key], unread)
		}
	}
}
