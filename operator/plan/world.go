package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/connection"
)

// world is an API server in memory: the objects of the cluster, with the change that is planned. What the operator
// writes goes nowhere else. One goroutine uses it.
type world struct {
	client.Writer // the methods that the controllers of Mandates and MandateActions do not use
	objects       map[ObjectKey]client.Object
	version, uids int
	now           time.Time
	// secretRead is told of each Secret that the operator would read.
	secretRead func(name string)
}

// ObjectKey names an object.
type ObjectKey struct{ Kind, Namespace, Name string }

// String is for people.
func (k ObjectKey) String() string { return fmt.Sprintf("%s %s/%s", k.Kind, k.Namespace, k.Name) }

var scheme = func() *runtime.Scheme {
	known := runtime.NewScheme()
	utilruntime.Must(corev1.AddToScheme(known))
	utilruntime.Must(v1alpha1.AddToScheme(known))
	return known
}()

// KeyOf names an object of a cluster.
func KeyOf(object client.Object) ObjectKey {
	return ObjectKey{kindOf(object), object.GetNamespace(), object.GetName()}
}

func kindOf(object runtime.Object) string {
	if partial, ok := object.(*metav1.PartialObjectMetadata); ok {
		return partial.Kind
	}
	gvk, err := apiutil.GVKForObject(object, scheme)
	utilruntime.Must(err)
	return gvk.Kind
}

// put stores an object as it is, with a version of its own.
func (w *world) put(object client.Object) {
	w.version++
	object.SetResourceVersion(strconv.Itoa(w.version))
	w.objects[KeyOf(object)] = object
}

// mandate is a Mandate; nil if there is none.
func (w *world) mandate(namespace, name string) *v1alpha1.Mandate {
	found, _ := w.objects[ObjectKey{kindMandate, namespace, name}].(*v1alpha1.Mandate)
	return found
}

// record is the record for the name of a Mandate; nil if there is none.
func (w *world) record(namespace, name string) *v1alpha1.ApplicationRecord {
	found, _ := w.objects[ObjectKey{kindRecord, namespace, name}].(*v1alpha1.ApplicationRecord)
	return found
}

// newUID is for an object that the plan creates.
func (w *world) newUID() types.UID {
	w.uids++
	return types.UID("plan-" + strconv.Itoa(w.uids))
}

// Get implements client.Reader. A Secret is there, and has what the operator asks for: a plan reads none.
func (w *world) Get(_ context.Context, name client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	kind := kindOf(object)
	if secret, ok := object.(*corev1.Secret); ok {
		w.secretRead(name.Name)
		*secret = corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: name.Namespace, Name: name.Name,
				Labels: map[string]string{v1alpha1.SecretUseLabel: string(v1alpha1.SecretUseIndividual)},
			},
			Data: map[string][]byte{"email": []byte(unreadEmail)},
		}
		return nil
	}
	stored := w.objects[ObjectKey{kind, name.Namespace, name.Name}]
	if stored == nil {
		return notFound(kind, name.Name)
	}
	return copyTo(object, stored)
}

// unreadEmail is in the place of an address that only a Secret has.
const unreadEmail = "unread@secret.invalid"

func notFound(kind, name string) error {
	return apierrors.NewNotFound(schema.GroupResource{Group: v1alpha1.SchemeGroupVersion.Group, Resource: kind}, name)
}

func copyTo(object, stored client.Object) error {
	if partial, ok := object.(*metav1.PartialObjectMetadata); ok {
		meta.AsPartialObjectMetadata(stored).ObjectMeta.DeepCopyInto(&partial.ObjectMeta)
		return nil
	}
	reflect.ValueOf(object).Elem().Set(reflect.ValueOf(stored.DeepCopyObject()).Elem())
	return nil
}

// List implements client.Reader.
func (w *world) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	o, found := (&client.ListOptions{}).ApplyOptions(options), []runtime.Object(nil)
	kind := strings.TrimSuffix(kindOf(list), "List")
	for key, object := range w.objects {
		if key.Kind == kind && (o.Namespace == "" || key.Namespace == o.Namespace) &&
			(o.FieldSelector == nil || o.FieldSelector.Matches(fieldsOf(object))) {
			found = append(found, object.DeepCopyObject())
		}
	}
	return meta.SetList(list, found)
}

// fieldsOf are the fields by which the operator selects objects.
func fieldsOf(object client.Object) fields.Set {
	switch o := object.(type) {
	case *v1alpha1.Mandate:
		return fields.Set{connection.MandateField: connection.KeyOf(o).String()}
	case *v1alpha1.ApplicationRecord:
		set := fields.Set{
			"spec.serviceURL": o.Spec.ServiceURL, "spec.reference": o.Spec.Reference,
			"spec.serviceRef.kind": string(o.Spec.ServiceRef.Kind), "spec.serviceRef.name": o.Spec.ServiceRef.Name,
		}
		if o.Spec.ApplicationID != nil {
			set["spec.applicationID"] = strconv.FormatInt(*o.Spec.ApplicationID, 10)
		}
		return set
	default:
		return nil
	}
}

// Create implements client.Writer.
func (w *world) Create(_ context.Context, object client.Object, _ ...client.CreateOption) error {
	if w.objects[KeyOf(object)] != nil {
		return apierrors.NewAlreadyExists(schema.GroupResource{Resource: kindOf(object)}, object.GetName())
	}
	object.SetUID(w.newUID())
	w.put(object.DeepCopyObject().(client.Object)) //nolint:forcetypeassert // a copy has the type of the original
	object.SetResourceVersion(strconv.Itoa(w.version))
	return nil
}

// Delete implements client.Writer. An object with a finalizer stays until the operator takes that off.
func (w *world) Delete(_ context.Context, object client.Object, _ ...client.DeleteOption) error {
	key, deleted := KeyOf(object), metav1.NewTime(w.now)
	stored := w.objects[key]
	if stored == nil || len(stored.GetFinalizers()) == 0 {
		w.version++
		delete(w.objects, key)
		return nil
	}
	stored.SetDeletionTimestamp(&deleted)
	stored.SetGeneration(stored.GetGeneration() + 1)
	w.put(stored)
	return nil
}

// Patch implements client.Writer, for JSON patches and merge patches. An object in deletion goes with its last
// finalizer.
func (w *world) Patch(_ context.Context, object client.Object, patch client.Patch, _ ...client.PatchOption) error {
	stored := w.objects[KeyOf(object)]
	if stored == nil {
		return notFound(kindOf(object), object.GetName())
	}
	patched, err := patchedWith(stored, object, patch)
	if err != nil {
		return err
	}
	if patched.GetResourceVersion() != stored.GetResourceVersion() { // a merge patch with the version that was read
		return apierrors.NewConflict(schema.GroupResource{Resource: kindOf(object)}, object.GetName(), errStale)
	}
	w.put(patched)
	if patched.GetDeletionTimestamp() != nil && len(patched.GetFinalizers()) == 0 {
		delete(w.objects, KeyOf(patched))
	}
	return copyTo(object, patched)
}

var errStale = fmt.Errorf("the object has changed")

func patchedWith(stored, object client.Object, patch client.Patch) (client.Object, error) {
	data, err := patch.Data(object)
	if err != nil {
		return nil, err
	}
	before, err := json.Marshal(stored)
	if err != nil {
		return nil, err
	}
	after, err := applyPatch(before, data, patch.Type())
	if err != nil { // a test that fails
		return nil, &apierrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonInvalid}}
	}
	patched := reflect.New(reflect.TypeOf(stored).Elem()).Interface().(client.Object) //nolint:forcetypeassert // as stored
	return patched, json.Unmarshal(after, patched)
}

func applyPatch(before, data []byte, kind types.PatchType) ([]byte, error) {
	if kind != types.JSONPatchType {
		return jsonpatch.MergePatch(before, data)
	}
	operations, err := jsonpatch.DecodePatch(data)
	if err != nil {
		return nil, err
	}
	return operations.Apply(before)
}

// statusWriter writes statuses into a world.
type statusWriter struct {
	client.SubResourceWriter
	world *world
}

// Patch implements client.SubResourceWriter.
func (w statusWriter) Patch(
	ctx context.Context, object client.Object, patch client.Patch, _ ...client.SubResourcePatchOption,
) error {
	return w.world.Patch(ctx, object, patch)
}
