package plugin

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/reference"
	"github.com/mandate-io/idv/operator/ledger"
	"github.com/mandate-io/idv/operator/plan"
)

// of are those of some objects that have a type.
func of[T client.Object](objects []client.Object) (found []T) {
	for _, object := range objects {
		if object, ok := object.(T); ok {
			found = append(found, object)
		}
	}
	return found
}

// countsOf says how many objects there are of each kind that moves.
func countsOf(objects []client.Object) string {
	return fmt.Sprintf("%s, %s and %s", plural(int64(len(of[service](objects))), "service"),
		plural(int64(len(of[*v1alpha1.ApplicationRecord](objects))), "ApplicationRecord"),
		plural(int64(len(of[*v1alpha1.Mandate](objects))), "Mandate"))
}

// lostRecord is the recordUID of a record whose own one is not known. The operator takes every record for restored that
// has another uid than its own there: it creates nothing, and carries out no action that the record does not have.
const lostRecord types.UID = "lost"

// lostAccount is the account of such a record where the service does not show its own: it is nobody's.
const lostAccount = "00000000000000000000000000000000"

// makePortable removes what belongs to one cluster. A service is suspended. A record without a recordUID has a create
// under way, which the other cluster must not send again.
func makePortable(object client.Object) {
	portable := metav1.ObjectMeta{
		Namespace: object.GetNamespace(), Name: object.GetName(), Labels: object.GetLabels(),
		Annotations: object.GetAnnotations(),
	}
	for _, annotation := range []string{
		corev1.LastAppliedConfigAnnotation, v1alpha1.RequestedByAnnotation, v1alpha1.RecordCompleteAnnotation,
		v1alpha1.NotCreatedAnnotation,
	} {
		delete(portable.Annotations, annotation)
	}
	switch object := object.(type) {
	case *v1alpha1.ApplicationRecord:
		object.Spec.RecordUID = cmp.Or(object.Spec.RecordUID, object.UID, lostRecord)
	case service:
		object.Settings().Creation.Suspend = true
	}
	//nolint:forcetypeassert // as of each object
	portable.DeepCopyInto(object.(metav1.ObjectMetaAccessor).GetObjectMeta().(*metav1.ObjectMeta))
}

// readMoved reads all objects of YAML documents and lists. No key is there twice, which could hide a value.
func readMoved(content []byte, namespace string) (found []client.Object, err error) {
	seen := sets.Set[plan.ObjectKey]{}
	err = eachObject(content, yaml.YAMLToJSONStrict, func(read *unstructured.Unstructured) error {
		object, err := movedObject(read, namespace)
		if err != nil {
			return err
		}
		key := plan.KeyOf(object)
		if seen.Has(key) {
			return fmt.Errorf("the %s is there twice: keep the newer one", key)
		}
		seen.Insert(key)
		makePortable(object)
		found = append(found, object)
		return nil
	})
	return found, err
}

func movedObject(read *unstructured.Unstructured, namespace string) (client.Object, error) {
	kind := read.GetKind()
	made, err := scheme().New(read.GroupVersionKind())
	object, ok := made.(client.Object)
	if err != nil || !ok || read.GetAPIVersion() != v1alpha1.SchemeGroupVersion.String() || kind == kindAction {
		return nil, fmt.Errorf("it is no service, ApplicationRecord or Mandate of %s", v1alpha1.SchemeGroupVersion)
	}
	if runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(read.Object, object, true) != nil {
		return nil, fmt.Errorf("the %s has fields that this version of the plugin does not know, or values that it cannot "+
			"read: use the version that has written it", kind)
	}
	if object.GetNamespace() == "" && kind != kindClusterService {
		object.SetNamespace(namespace)
	}
	switch {
	case len(validation.IsDNS1123Subdomain(object.GetName())) > 0:
		return nil, fmt.Errorf("the %s has no name, or none that Kubernetes allows", kind)
	case object.GetNamespace() != "" && len(validation.IsDNS1123Label(object.GetNamespace())) > 0:
		return nil, fmt.Errorf("the %s %s is in no namespace that Kubernetes allows", kind, object.GetName())
	}
	return object, nil
}

// recordFromStatus is in place of a record that is not there. It has the application that the status shows. If that
// shows none, one may exist all the same, and a person has to say that it does not.
func recordFromStatus(m *v1alpha1.Mandate, s service) *v1alpha1.ApplicationRecord {
	settings, key := s.Settings(), serviceOf(m)
	record := &v1alpha1.ApplicationRecord{ObjectMeta: metav1.ObjectMeta{Namespace: m.Namespace, Name: m.Name}}
	record.Spec = v1alpha1.ApplicationRecordSpec{
		RecordUID: lostRecord, Salt: ledger.NewSalt(), ServiceURL: idv.NormalBaseURL(settings.BaseURL),
		Account: cmp.Or(s.ServiceStatus().Account, lostAccount),
		Reference: cmp.Or(m.Status.Reference, m.Spec.Reference,
			reference.Mandate(settings.ReferencePrefix, m.Namespace, m.Name)),
		ServiceRef:    v1alpha1.IdentityServiceReference{Kind: v1alpha1.ServiceKind(key.Kind), Name: key.Name},
		MandateRef:    v1alpha1.RecordedMandate{UID: lostRecord},
		ApplicationID: m.Status.ApplicationID, CreatedTime: m.Status.CreatedTime,
	}
	for _, individual := range m.Status.Individuals {
		if individual.ID > 0 && m.Status.ApplicationID != nil {
			record.Spec.Individuals = append(record.Spec.Individuals,
				v1alpha1.RecordedIndividual{Name: individual.Name, ID: individual.ID})
		}
	}
	return record
}

// mergeRecord is the record of this cluster with what the one of another cluster says; nil if it says nothing more. A
// record that the operator has begun here becomes one that was restored. problem says what a person has to do first.
func mergeRecord(current, from *v1alpha1.ApplicationRecord) (merged *v1alpha1.ApplicationRecord, problem string) {
	here, there := &current.Spec, &from.Spec
	isOwn := here.RecordUID == "" || here.RecordUID == current.UID
	create, mayExist := ledger.CreateOf(current), ledger.MayExist(current)
	merged = current.DeepCopy()
	switch {
	case here.Salt == there.Salt:
		longer := len(there.Calls)+len(there.Earlier) > len(here.Calls)+len(here.Earlier)
		if !longer && (here.ApplicationID != nil || there.ApplicationID == nil) {
			return nil, ""
		}
		merged.Spec = from.Spec // the API server refuses it, unless it is the same log, and longer
		return merged, ""
	case here.ApplicationID != nil && there.ApplicationID != nil && *here.ApplicationID != *there.ApplicationID:
		return nil, fmt.Sprintf("it has the application %d here, and %d in the file: find out whose each one is",
			*here.ApplicationID, *there.ApplicationID)
	case here.ApplicationID != nil && there.ApplicationID != nil:
		return keepCalls(merged, from), ""
	case here.ApplicationID != nil, !isOwn && there.ApplicationID == nil:
		return nil, ""
	case create != nil && create.Sends > 0 && create.Result == "":
		return nil, "a create is under way here: repeat the command in five minutes"
	case mayExist && (here.Reference != there.Reference || here.ServiceURL != there.ServiceURL):
		return nil, "it may have another application here: kubectl mandate status -n " + current.Namespace + " " +
			current.Name
	}
	merged.Spec.RecordUID, merged.Spec.ApplicationID = there.RecordUID, there.ApplicationID
	merged.Spec.CreatedTime, merged.Spec.Individuals = there.CreatedTime, there.Individuals
	keepCalls(merged, from)
	if !mayExist {
		merged.Spec.ServiceURL, merged.Spec.ServiceRef = there.ServiceURL, there.ServiceRef
		merged.Spec.Reference, merged.Spec.Account = there.Reference, there.Account
	}
	return merged, ""
}

// keepCalls adds digests of the calls of another log, so that they are not made again. It returns nil if all are there.
func keepCalls(merged, from *v1alpha1.ApplicationRecord) (changed *v1alpha1.ApplicationRecord) {
	for _, made := range ledger.DigestsOf(from) {
		if !slices.Contains(merged.Spec.Earlier, made) {
			merged.Spec.Earlier, changed = append(merged.Spec.Earlier, made), merged
		}
	}
	return changed
}
