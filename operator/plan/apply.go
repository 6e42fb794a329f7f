package plan

import (
	"cmp"
	"context"
	"fmt"
	"regexp"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/apierror"
	"github.com/mandate-io/idv/operator/connection"
)

// Manifest is an object as somebody applies it. It has a namespace, if its kind is in one.
type Manifest struct {
	Object *unstructured.Unstructured
	// Refused is why the API server refuses it, if it was asked; Merged is what it makes of it otherwise.
	Refused string
	Merged  *unstructured.Unstructured
}

// KeyOf names the object of a manifest.
func (m *Manifest) KeyOf() ObjectKey {
	return ObjectKey{m.Object.GetKind(), m.Object.GetNamespace(), m.Object.GetName()}
}

// IsPlanned reports whether a plan knows the kind of an object, and whether that is in no namespace.
func IsPlanned(object *unstructured.Unstructured) (planned, clusterScoped bool) {
	known, err := kinds()
	kind := known[object.GetKind()]
	if err != nil || kind == nil || object.GetObjectKind().GroupVersionKind().Group != v1alpha1.SchemeGroupVersion.Group ||
		object.GetKind() == kindRecord {
		return false, false
	}
	return true, kind.clusterScoped
}

// apply makes the change in the world, as the API server would, and the items of the plan.
func (p *planner) apply(input Input) error {
	known, err := kinds()
	if err != nil {
		return err
	}
	for i := range input.Manifests {
		manifest := &input.Manifests[i]
		if planned, _ := IsPlanned(manifest.Object); !planned {
			p.applyOther(manifest.Object)
			continue
		}
		if p.byKey[manifest.KeyOf()] != nil {
			p.itemOf(manifest.KeyOf()).warn(appliedTwice)
		}
		if err := p.applyManifest(known[manifest.Object.GetKind()], manifest); err != nil {
			return fmt.Errorf("%s: %w", manifest.KeyOf(), err)
		}
	}
	for _, key := range input.Pruned {
		if stored := p.world.objects[key]; stored != nil {
			p.itemOf(key).Change = Pruned
		}
	}
	for _, object := range input.Cluster {
		if key := KeyOf(object); p.byKey[key] == nil && mayWait(object) {
			p.itemOf(key).outside = true
		}
	}
	p.noteUnseen(input.Unseen)
	p.openToUnread()
	for _, item := range p.items {
		p.describe(item)
	}
	return nil
}

func (p *planner) applyManifest(kind *kindSchema, manifest *Manifest) error {
	key := manifest.KeyOf()
	item := p.itemOf(key)
	stored := p.world.objects[key]
	var before *unstructured.Unstructured
	if stored != nil {
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(stored)
		if err != nil {
			return err
		}
		before = &unstructured.Unstructured{Object: fields}
		defaulting.Default(fields, kind.structural) // Go leaves false and 0 out
	}
	for _, unknown := range kind.prune(manifest.Object) {
		item.warn(unknownField(unknown) + " does not exist. The API server drops it, or refuses the object.")
	}
	after := manifest.Merged
	if after == nil {
		after = kind.merge(before, manifest.Object)
	}
	defaulting.Default(after.Object, kind.structural)
	refusal := manifest.Refused
	if refusal == "" {
		refusal = kind.refusal(context.Background(), after, before)
	}
	if refusal != "" {
		item.refusal = cmp.Or(item.refusal, refusal)
		return nil
	}
	object, err := scheme.New(v1alpha1.SchemeGroupVersion.WithKind(key.Kind))
	if err != nil {
		return err
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(after.Object, object); err != nil {
		item.refusal = "spec: a value has a wrong type"
		return nil //nolint:nilerr // the text can have values
	}
	applied := object.(client.Object) //nolint:forcetypeassert // all kinds of the API are objects
	switch {
	case stored == nil:
		item.Change = New
		applied.SetUID(p.world.newUID())
		applied.SetGeneration(1)
		applied.SetCreationTimestamp(metav1.NewTime(p.now))
	case !equality.Semantic.DeepEqual(before.Object["spec"], after.Object["spec"]):
		if item.Change == Unchanged {
			item.Change = Changed
		}
		applied.SetGeneration(stored.GetGeneration() + 1)
	case item.Change == Unchanged && connection.VouchedAccount(applied) != connection.VouchedAccount(stored):
		item.Change = Changed // that releases Mandates, as the spec of a service can
	}
	p.world.put(applied)
	return nil
}

// itemOf is the item of an object, a new one if there is none.
func (p *planner) itemOf(key ObjectKey) *planned {
	if item := p.byKey[key]; item != nil {
		return item
	}
	item := &planned{key: key, Item: Item{
		Kind: key.Kind, Namespace: key.Namespace, Name: key.Name, Change: Unchanged,
	}}
	p.items, p.byKey[key] = append(p.items, item), item
	return item
}

// fieldPath is what the path of a field looks like. Another key can be personal data.
var fieldPath = regexp.MustCompile(`^[A-Za-z0-9_.\[\]-]+$`)

func unknownField(path string) string {
	if !fieldPath.MatchString(path) {
		return "A field whose name a plan does not show"
	}
	return "The field " + path
}

// describe gives an item the Mandate that it is about, and what was sent for that before.
func (p *planner) describe(item *planned) {
	name := item.key.Name
	if a, ok := p.world.objects[item.key].(*v1alpha1.MandateAction); ok {
		name = a.Spec.MandateRef.Name
	}
	if item.isService() {
		return
	}
	m, record := p.world.mandate(item.key.Namespace, name), p.world.record(item.key.Namespace, name)
	item.mandate = m.DeepCopy()
	if record == nil {
		return
	}
	if m != nil && len(secretsOf(m)) > 0 {
		record.Spec.SpecDigests = nil // they are of details that only Secrets have
	}
	item.before = record.DeepCopy()
	if m != nil && isOlder(m, record) {
		dropOldEvidence(item, m)
	}
}

// dropOldEvidence makes reviews that are about the checks before a reset outdated, as the operator will.
func dropOldEvidence(item *planned, m *v1alpha1.Mandate) {
	if m.Spec.Decision != nil || len(m.Spec.CheckReviews) > 0 {
		item.assume(assumedOldStatus)
	}
	for i := range m.Status.Individuals {
		for c := range m.Status.Individuals[i].Checks {
			m.Status.Individuals[i].Checks[c].Evidence = ""
		}
	}
}

// RefusalOf is why the API server refuses an object, without what it quotes of it.
func RefusalOf(err error) string { return apierror.Redact(err).Error() }

// MissingNamespace is the namespace that the API server says an object lacks; none if it says something else.
func MissingNamespace(err error) ObjectKey {
	return ObjectKey{Kind: "Namespace", Name: apierror.MissingNamespace(err)}
}
