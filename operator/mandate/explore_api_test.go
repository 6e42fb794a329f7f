package mandate

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	jsonpatch "github.com/evanphx/json-patch/v5"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/ledger"
)

// apiServer answers as the real one does, as far as the operator asks: preconditions, JSON Patch with tests, merge
// patch, AlreadyExists, Conflict, and Invalid with and without causes. What it is asked beyond that panics.
type apiServer struct {
	client.Writer
	*environment
}

func resource(name string) schema.GroupResource {
	return schema.GroupResource{Group: v1alpha1.SchemeGroupVersion.Group, Resource: name}
}

// Get reads one object.
func (a apiServer) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	if err := a.read(); err != nil {
		return err
	}
	if a.fault == faultUnread {
		a.hit = true
		return apierrors.NewServiceUnavailable("it is away")
	}
	switch into := into.(type) {
	case *corev1.Secret:
		if a.world.secretGone {
			return apierrors.NewNotFound(resource("secrets"), key.Name)
		}
		into.Labels = map[string]string{v1alpha1.SecretUseLabel: "individual.notifications"}
		into.Data = map[string][]byte{
			"email": []byte("john@example.com"), "reference": []byte("person-2"), "token": []byte(receiverToken),
		}
		return nil
	case *v1alpha1.Mandate:
		a.seeLive(key.Name)
		return copied(a.world.mandates[key.Name], into, "mandates", key.Name)
	case *v1alpha1.ApplicationRecord:
		return copied(a.world.records[key.Name], into, "applicationrecords", key.Name)
	case *metav1.PartialObjectMetadata:
		a.seeLive(key.Name)
		live := &v1alpha1.Mandate{}
		err := copied(a.world.mandates[key.Name], live, "mandates", key.Name)
		into.ObjectMeta = live.ObjectMeta
		return err
	case *v1alpha1.IdentityService:
		a.live.service = a.world.service.Generation
		return copied(a.world.service, into, "identityservices", key.Name)
	case *v1alpha1.ClusterIdentityService:
		a.live.service = a.world.service.Generation
		share(a.world.service, into)
		return nil
	default:
		return apierrors.NewNotFound(resource("others"), key.Name)
	}
}

// share makes the service one for all namespaces.
func share(service *v1alpha1.IdentityService, into *v1alpha1.ClusterIdentityService) {
	into.ObjectMeta, into.Namespace = *service.ObjectMeta.DeepCopy(), ""
	into.Spec.ServiceSettings = service.Spec.ServiceSettings
	into.Spec.NamespaceSelector = &metav1.LabelSelector{}
}

func copied[T any, P interface {
	*T
	DeepCopyInto(out *T)
}](from, into P, plural, name string) error {
	if from == nil {
		return apierrors.NewNotFound(resource(plural), name)
	}
	from.DeepCopyInto(into)
	return nil
}

// List reads records.
func (a apiServer) List(_ context.Context, into client.ObjectList, options ...client.ListOption) error {
	if err := a.read(); err != nil {
		return err
	}
	list := into.(*v1alpha1.ApplicationRecordList)
	selected := (&client.ListOptions{}).ApplyOptions(options)
	for _, name := range sorted(a.world.records) {
		record := a.world.records[name]
		inNamespace := selected.Namespace == "" || selected.Namespace == record.Namespace
		if inNamespace && selected.FieldSelector.Matches(selectable(record)) {
			list.Items = append(list.Items, *record.DeepCopy())
		}
	}
	return nil
}

// selectable are the fields by which the CRD lets records be selected.
func selectable(record *v1alpha1.ApplicationRecord) fields.Set {
	spec, id := &record.Spec, ""
	if spec.ApplicationID != nil {
		id = strconv.FormatInt(*spec.ApplicationID, 10)
	}
	return fields.Set{
		"spec.applicationID": id, "spec.reference": spec.Reference, "spec.serviceURL": spec.ServiceURL,
		"spec.serviceRef.kind": string(spec.ServiceRef.Kind), "spec.serviceRef.name": spec.ServiceRef.Name,
	}
}

// Create creates a record.
func (a apiServer) Create(_ context.Context, object client.Object, _ ...client.CreateOption) error {
	record := object.(*v1alpha1.ApplicationRecord)
	return a.write(func() error {
		if a.world.records[record.Name] != nil {
			return apierrors.NewAlreadyExists(resource("applicationrecords"), record.Name)
		}
		a.world.uids++
		record.UID = types.UID("record-" + strconv.Itoa(a.world.uids))
		record.Generation = 1
		record.CreationTimestamp = metav1.NewTime(now)
		a.claimed(record.Name)
		a.world.storeRecord(record)
		return nil
	})
}

// claimed notes whether the record of a Mandate is claimed for the Mandate and the IdentityService as they are.
func (a apiServer) claimed(name string) {
	live, of := a.world.mandates[name], a.current.mandate
	a.world.outdated[name] = live == nil || live.UID != of.UID || live.Generation != of.Generation ||
		live.DeletionTimestamp != nil || a.world.service.Generation != a.current.session.Connection.Generation
}

func (w *world) storeRecord(record *v1alpha1.ApplicationRecord) {
	record.ResourceVersion = w.version()
	w.records[record.Name] = record.DeepCopy()
}

// Delete deletes a record, under preconditions.
func (a apiServer) Delete(_ context.Context, object client.Object, options ...client.DeleteOption) error {
	wanted := (&client.DeleteOptions{}).ApplyOptions(options).Preconditions
	return a.write(func() error {
		live := a.world.records[object.GetName()]
		switch {
		case live == nil:
			return apierrors.NewNotFound(resource("applicationrecords"), object.GetName())
		case wanted != nil && wanted.UID != nil && *wanted.UID != live.UID,
			wanted != nil && wanted.ResourceVersion != nil && *wanted.ResourceVersion != live.ResourceVersion:
			return apierrors.NewConflict(resource("applicationrecords"), live.Name, nil)
		}
		delete(a.world.records, live.Name)
		return nil
	})
}

// Patch patches a record, or the metadata of a Mandate.
func (a apiServer) Patch(_ context.Context, object client.Object, patch client.Patch, _ ...client.PatchOption) error {
	data, err := patch.Data(object)
	if err != nil {
		return err
	}
	return a.write(func() error {
		if record, ok := object.(*v1alpha1.ApplicationRecord); ok {
			return a.patchRecord(record, data)
		}
		return a.patchMetadata(object.(*metav1.PartialObjectMetadata), data)
	})
}

func (a apiServer) patchRecord(record *v1alpha1.ApplicationRecord, data []byte) error {
	live := a.world.records[record.Name]
	if live == nil {
		return apierrors.NewNotFound(resource("applicationrecords"), record.Name)
	}
	patched := &v1alpha1.ApplicationRecord{}
	err := patchWith(live, patched, func(document []byte) ([]byte, error) {
		operations, err := jsonpatch.DecodePatch(data)
		if err != nil {
			return nil, err
		}
		return operations.Apply(document)
	})
	if err != nil { // a test that does not hold, or a path that is not there: no causes
		return apierrors.NewInvalid(schema.GroupKind{Kind: "ApplicationRecord"}, record.Name, nil)
	}
	if id := live.Spec.ApplicationID; id != nil &&
		(patched.Spec.ApplicationID == nil || *patched.Spec.ApplicationID != *id) {
		return forbidden("ApplicationRecord", record.Name)
	}
	moved := patched.Spec.ServiceURL != live.Spec.ServiceURL || patched.Spec.Reference != live.Spec.Reference
	if moved && ledger.MayExist(live) || !onlyForward(live.Spec.Calls, patched.Spec.Calls) {
		return forbidden("ApplicationRecord", record.Name)
	}
	if before, after := ledger.CreateOf(live), ledger.CreateOf(patched); after != nil &&
		(before == nil || before.Nonce != after.Nonce) {
		a.claimed(record.Name)
	}
	a.world.storeRecord(patched)
	patched.DeepCopyInto(record)
	return nil
}

// onlyForward is what the rules of the CRD say of calls.
func onlyForward(before, after []v1alpha1.Call) bool {
	for _, old := range before {
		i := slices.IndexFunc(after, func(c v1alpha1.Call) bool { return c.Seq == old.Seq })
		if i < 0 {
			return false
		}
		final := old.Result == v1alpha1.CallDone || old.Result == v1alpha1.CallAccepted
		again := after[i].Nonce != old.Nonce
		if final && (again || after[i].Result != v1alpha1.CallDone && after[i].Result != old.Result) ||
			old.Result != "" && after[i].Result == "" && !again || again && after[i].Sends != old.Sends+1 {
			return false
		}
	}
	return true
}

// forbidden is how the API server says that a validation rule of the CRD does not hold.
func forbidden(kind, name string) error {
	err := apierrors.NewInvalid(schema.GroupKind{Kind: kind}, name, nil)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeFieldValueInvalid}}
	return err
}

func patchWith(live, into any, apply func([]byte) ([]byte, error)) error {
	document, err := json.Marshal(live)
	if err != nil {
		return err
	}
	if document, err = apply(document); err != nil {
		return err
	}
	return json.Unmarshal(document, into)
}

// conditional finds the Mandate that a merge patch is for, and checks the resourceVersion in it.
func (a apiServer) conditional(name string, data []byte) (*v1alpha1.Mandate, error) {
	var wanted metav1.PartialObjectMetadata
	live := a.world.mandates[name]
	if live == nil {
		return nil, apierrors.NewNotFound(resource("mandates"), name)
	}
	if err := json.Unmarshal(data, &wanted); err != nil {
		return nil, err
	}
	if wanted.ResourceVersion != "" && wanted.ResourceVersion != live.ResourceVersion {
		return nil, apierrors.NewConflict(resource("mandates"), name, nil)
	}
	return live, nil
}

func (a apiServer) patchMetadata(object *metav1.PartialObjectMetadata, data []byte) error {
	live, err := a.conditional(object.Name, data)
	if err != nil {
		return err
	}
	patched := live.DeepCopy()
	patched.Finalizers, patched.Annotations = slices.Clone(object.Finalizers), maps.Clone(object.Annotations)
	a.world.store(patched)
	if patched.DeletionTimestamp != nil && len(patched.Finalizers) == 0 {
		delete(a.world.mandates, patched.Name)
	}
	object.ResourceVersion = patched.ResourceVersion
	return nil
}

// statusWriter is the status subresource of Mandates.
type statusWriter struct {
	client.SubResourceWriter
	api apiServer
}

// Patch patches the status of a Mandate.
func (s statusWriter) Patch(
	_ context.Context, object client.Object, patch client.Patch, _ ...client.SubResourcePatchOption,
) error {
	name := object.GetName() // of a Mandate: nothing else has a status here
	data, err := patch.Data(object)
	if err != nil {
		return err
	}
	return s.api.write(func() error {
		live, err := s.api.conditional(name, data)
		if err != nil {
			return err
		}
		merged := &v1alpha1.Mandate{}
		if err := patchWith(
			live,
			merged,
			func(document []byte) ([]byte, error) { return jsonpatch.MergePatch(document, data) },
		); err != nil {
			return err
		}
		if id := live.Status.ApplicationID; id != nil &&
			(merged.Status.ApplicationID == nil || *merged.Status.ApplicationID != *id) {
			return forbidden("Mandate", name)
		}
		patched := live.DeepCopy()
		patched.Status = merged.Status
		s.api.world.store(patched)
		object.SetResourceVersion(patched.ResourceVersion)
		return nil
	})
}

// cacheReader reads what the caches of an operator have.
type cacheReader struct{ *operator }

// Get reads from the cache.
func (c cacheReader) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	if mandate, ok := into.(*v1alpha1.Mandate); ok {
		return copied(c.mandates[key.Name], mandate, "mandates", key.Name)
	}
	if shared, ok := into.(*v1alpha1.ClusterIdentityService); ok {
		share(c.service, shared)
		return nil
	}
	return copied(c.service, into.(*v1alpha1.IdentityService), "identityservices", key.Name)
}

// List lists the Mandates of a namespace, or of a service.
func (c cacheReader) List(_ context.Context, into client.ObjectList, options ...client.ListOption) error {
	list, selected := into.(*v1alpha1.MandateList), (&client.ListOptions{}).ApplyOptions(options)
	for _, name := range sorted(c.mandates) {
		m := c.mandates[name]
		index := fields.Set{connection.MandateField: connection.KeyOf(m).String()}
		ofService := selected.FieldSelector == nil || selected.FieldSelector.Matches(index)
		if ofService && (selected.Namespace == "" || selected.Namespace == m.Namespace) {
			list.Items = append(list.Items, *m)
		}
	}
	return nil
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
