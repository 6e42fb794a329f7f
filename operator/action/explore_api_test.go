package action

import (
	"context"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/ledger"
)

// apiServer answers as the real one does, as far as the operator asks. Objects in it are replaced, never changed.
type apiServer struct {
	client.Writer
	*environment
}

// objectKey is the kind and the name of an object: there is one namespace.
func objectKey(object client.Object, name string) string {
	if metadata, ok := object.(*metav1.PartialObjectMetadata); ok {
		return metadata.Kind + "/" + name
	}
	return reflect.TypeOf(object).Elem().Name() + "/" + name
}

func notFound(key string) error {
	return apierrors.NewNotFound(schema.GroupResource{Resource: key}, key)
}
func conflict(key string) error {
	return apierrors.NewConflict(schema.GroupResource{Resource: key}, key, nil)
}

// Get reads one object, or its metadata.
func (a apiServer) Get(_ context.Context, name client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	a.reads.Lock()
	defer a.reads.Unlock()
	if err := a.read(); err != nil {
		return err
	}
	key := objectKey(into, name.Name)
	found := a.world.objects[key]
	metadata, ok := into.(*metav1.PartialObjectMetadata)
	if kind, _, _ := strings.Cut(key, "/"); kind == "IdentityService" || ok && kind != "Secret" {
		a.looked[kind], a.lookedAt = found, a.world.now
	}
	if found == nil {
		return notFound(key)
	}
	if !ok {
		copyInto(found, into)
		return nil
	}
	metadata.Name, metadata.UID = found.GetName(), found.GetUID()
	metadata.ResourceVersion, metadata.Generation = found.GetResourceVersion(), found.GetGeneration()
	metadata.DeletionTimestamp, metadata.OwnerReferences = found.GetDeletionTimestamp(), found.GetOwnerReferences()
	return nil
}

func copyInto(from, into client.Object) {
	reflect.ValueOf(into).Elem().Set(reflect.ValueOf(from.DeepCopyObject()).Elem())
}

// Create creates a Secret, or says that the operator may create one.
func (a apiServer) Create(_ context.Context, object client.Object, _ ...client.CreateOption) error {
	if review, ok := object.(*authorizationv1.SelfSubjectAccessReview); ok {
		review.Status.Allowed = true
		return a.read()
	}
	return a.write(func() error {
		key := objectKey(object, object.GetName())
		if a.world.objects[key] != nil {
			return apierrors.NewAlreadyExists(schema.GroupResource{Resource: key}, key)
		}
		a.world.add(object.DeepCopyObject().(client.Object))
		return nil
	})
}

// Delete deletes an action, under preconditions.
func (a apiServer) Delete(_ context.Context, object client.Object, options ...client.DeleteOption) error {
	wanted := (&client.DeleteOptions{}).ApplyOptions(options).Preconditions
	key := objectKey(object, object.GetName())
	return a.write(func() error {
		live := a.world.objects[key]
		switch {
		case live == nil:
			return notFound(key)
		case *wanted.UID != live.GetUID() || *wanted.ResourceVersion != live.GetResourceVersion():
			return conflict(key)
		}
		a.world.remove(key)
		return nil
	})
}

// Patch patches a record.
func (a apiServer) Patch(_ context.Context, object client.Object, patch client.Patch, _ ...client.PatchOption) error {
	data, err := patch.Data(object)
	if err != nil {
		return err
	}
	key := objectKey(object, object.GetName())
	return a.write(func() error {
		a.looked = map[string]client.Object{} // what was looked at before the call is recorded does not count
		live, ok := a.world.objects[key].(*v1alpha1.ApplicationRecord)
		if !ok {
			return notFound(key)
		}
		patched := &v1alpha1.ApplicationRecord{}
		if err := patchInto(live, patched, data, applyJSONPatch); err != nil { // a test that does not hold
			return apierrors.NewInvalid(schema.GroupKind{Kind: "ApplicationRecord"}, key, nil)
		}
		if wrong := rewritten(live, patched); wrong != "" && a.violation == "" {
			a.violation = "A5: " + wrong
		}
		a.world.noteBegin(live, patched)
		a.world.put(patched)
		copyInto(patched, object)
		return nil
	})
}

// rewritten says what must not become of the log. The CRD does not allow most of it: the tests of the ledger show that.
func rewritten(before, after *v1alpha1.ApplicationRecord) string {
	for i := range before.Spec.Calls {
		old := &before.Spec.Calls[i]
		now := ledger.Find(after, func(c *v1alpha1.Call) bool { return c.Seq == old.Seq })
		switch {
		case now == nil || now.Kind != old.Kind || now.Name != old.Name || now.Individual != old.Individual:
			return "a call goes away, or becomes another one"
		case old.Result == v1alpha1.CallDone && (now.Result != old.Result || now.Nonce != old.Nonce):
			return "what was done is not any more"
		case now.Nonce != old.Nonce && (old.Result != v1alpha1.CallNotSent || now.Sends != old.Sends+1 || now.Result != ""):
			return "a call is sent again that may have been carried out, or is not counted"
		case now.Nonce == old.Nonce && old.Result != "" && now.Result == "":
			return "a call loses its result"
		case didNothing(now) != (now.Sends == 0):
			return "a call is counted that did nothing, or is not counted"
		}
	}
	begun := ledger.Find(after, func(c *v1alpha1.Call) bool {
		return ledger.Find(before, func(old *v1alpha1.Call) bool { return old.Nonce == c.Nonce }) == nil
	})
	if begun != nil && ledger.Open(before) != nil {
		return "a call begins while another one may be under way"
	}
	return ""
}

func applyJSONPatch(document, data []byte) ([]byte, error) {
	operations, err := jsonpatch.DecodePatch(data)
	if err != nil {
		return nil, err
	}
	return operations.Apply(document)
}

func patchInto(live, into any, data []byte, apply func(document, data []byte) ([]byte, error)) error {
	document, err := json.Marshal(live)
	if err != nil {
		return err
	}
	if document, err = apply(document, data); err != nil {
		return err
	}
	return json.Unmarshal(document, into)
}

// statusWriter is the status subresource of MandateActions.
type statusWriter struct {
	client.SubResourceWriter
	api apiServer
}

// Patch patches the status of an action. An action that has ended stays so.
func (s statusWriter) Patch(
	_ context.Context, object client.Object, patch client.Patch, _ ...client.SubResourcePatchOption,
) error {
	data, err := patch.Data(object)
	if err != nil {
		return err
	}
	key := objectKey(object, object.GetName())
	return s.api.write(func() error {
		live, ok := s.api.world.objects[key].(*v1alpha1.MandateAction)
		if !ok {
			return notFound(key)
		}
		var wanted metav1.PartialObjectMetadata
		if err := json.Unmarshal(data, &wanted); err != nil {
			return err
		}
		if wanted.ResourceVersion != "" && wanted.ResourceVersion != live.ResourceVersion {
			return conflict(key)
		}
		merged, patched := &v1alpha1.MandateAction{}, live.DeepCopy()
		if err := patchInto(live, merged, data, jsonpatch.MergePatch); err != nil {
			return err
		}
		if live.Status.CompletedTime != nil && !live.Status.CompletedTime.Equal(merged.Status.CompletedTime) {
			s.api.violation = "A3: the end of an action changes"
		}
		patched.Status = merged.Status
		s.api.world.put(patched)
		copyInto(patched, object)
		return nil
	})
}

// cacheReader reads what the caches of an operator have.
type cacheReader struct{ *operator }

// Get reads from the cache.
func (c cacheReader) Get(_ context.Context, name client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	key := objectKey(into, name.Name)
	if c.cache[key] == nil {
		return notFound(key)
	}
	copyInto(c.cache[key], into)
	return nil
}

// List is not asked for.
func (cacheReader) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }

// List is not asked for.
func (apiServer) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }

// add stores a new object.
func (w *world) add(object client.Object) {
	w.uids++
	object.SetUID(types.UID("uid-" + strconv.Itoa(w.uids)))
	object.SetGeneration(1)
	object.SetCreationTimestamp(metav1.NewTime(w.now))
	w.put(object)
}

// put stores an object in place of the one that it was.
func (w *world) put(object client.Object) {
	w.revision++
	object.SetResourceVersion(strconv.Itoa(w.revision))
	w.objects[objectKey(object, object.GetName())] = object
}

// remove removes an object, and the Secret that it owns.
func (w *world) remove(key string) {
	owner := w.objects[key].GetUID()
	delete(w.objects, key)
	for other, object := range w.objects {
		for _, reference := range object.GetOwnerReferences() {
			if reference.UID == owner {
				delete(w.objects, other)
			}
		}
	}
}
