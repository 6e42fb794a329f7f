package notification

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/receiver"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
)

// testKey is the connection of most tests, and goodToken its token.
var testKey = connection.Key{Kind: v1alpha1.ServiceKindIdentityService, Namespace: "team", Name: "default"}

const goodToken = "0123456789abcdef0123456789abcdef"

// apiServer has the objects that deliveries are about, and a cache of them that is never stale.
type apiServer struct {
	client.Writer
	index *Index // that follows it

	mu       sync.Mutex
	services map[connection.Key]connection.Service
	mandates map[types.NamespacedName]*v1alpha1.Mandate
	patches  int // of Mandates
	named    int // patches of services
	fails    error
	loses    error // the answer to the next patch of a service, which is carried out
	revision int
}

func newAPIServer() *apiServer {
	return &apiServer{
		services: map[connection.Key]connection.Service{}, mandates: map[types.NamespacedName]*v1alpha1.Mandate{},
	}
}

func accountsIn(cache client.Reader, writer client.Writer, clusterServices bool) accounts {
	return accounts{connection.ServiceReader{Reader: cache, ClusterServices: clusterServices}, writer}
}

// connect makes an IdentityService whose deliveries have one of some tokens.
func (a *apiServer) connect(key connection.Key, tokens ...string) {
	service := &v1alpha1.IdentityService{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: "1"}}
	service.Spec.Notifications = &v1alpha1.Notifications{SecretRef: v1alpha1.SecretReference{Name: key.Name}}
	service.Status.Account, service.Status.Notifications = "account", &v1alpha1.NotificationsStatus{}
	for _, token := range tokens {
		digests := &service.Status.Notifications.TokenDigests
		*digests = append(*digests, receiver.Digest(token))
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.revision++
	service.ResourceVersion = strconv.Itoa(a.revision)
	a.services[key] = service
}

// failWith has every request fail; nil: none.
func (a *apiServer) failWith(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.fails = err
}

func notFound(name string) error {
	return apierrors.NewNotFound(schema.GroupResource{Resource: "objects"}, name)
}

func (a *apiServer) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch into := into.(type) {
	case *v1alpha1.Mandate:
		if a.mandates[key] == nil {
			return notFound(key.Name)
		}
		a.mandates[key].DeepCopyInto(into)
	case *v1alpha1.IdentityService:
		of := connection.Key{Kind: v1alpha1.ServiceKindIdentityService, Namespace: key.Namespace, Name: key.Name}
		found, ok := a.services[of].(*v1alpha1.IdentityService)
		if !ok {
			return notFound(key.Name)
		}
		found.DeepCopyInto(into)
	case *v1alpha1.ClusterIdentityService:
		of := connection.Key{Kind: v1alpha1.ServiceKindClusterIdentityService, Name: key.Name}
		found, ok := a.services[of].(*v1alpha1.ClusterIdentityService)
		if !ok {
			return notFound(key.Name)
		}
		found.DeepCopyInto(into)
	}
	return nil
}

// List gives all services, or the Mandates of one.
func (a *apiServer) List(_ context.Context, into client.ObjectList, options ...client.ListOption) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch into := into.(type) {
	case *v1alpha1.IdentityServiceList:
		for _, service := range a.services {
			if found, ok := service.(*v1alpha1.IdentityService); ok {
				into.Items = append(into.Items, *found.DeepCopy())
			}
		}
	case *v1alpha1.MandateList:
		of := (&client.ListOptions{}).ApplyOptions(options).FieldSelector.Requirements()[0].Value
		for _, m := range a.mandates {
			if connection.KeyOf(m).String() == of {
				into.Items = append(into.Items, *m.DeepCopy())
			}
		}
	}
	return nil
}

// staleCache shows the only Mandate, or the service, as it was, if it is to.
type staleCache struct {
	client.Reader
	shown   atomic.Pointer[v1alpha1.Mandate]
	service atomic.Pointer[v1alpha1.IdentityService]
}

func (c *staleCache) Get(ctx context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	switch into := into.(type) {
	case *v1alpha1.Mandate:
		if shown := c.shown.Load(); shown != nil {
			shown.DeepCopyInto(into)
			return nil
		}
	case *v1alpha1.IdentityService:
		if shown := c.service.Load(); shown != nil {
			shown.DeepCopyInto(into)
			return nil
		}
	}
	return c.Reader.Get(ctx, key, into)
}

// store sets a Mandate, as an event of the cache.
func (a *apiServer) store(m *v1alpha1.Mandate) {
	name := client.ObjectKeyFromObject(m)
	a.mu.Lock()
	before := a.mandates[name]
	a.revision++
	m.ResourceVersion = strconv.Itoa(a.revision)
	a.mandates[name] = m
	a.mu.Unlock()
	switch {
	case a.index == nil:
	case before == nil:
		a.index.OnAdd(m, false)
	default:
		a.index.OnUpdate(before, m)
	}
}

// Patch patches the annotations of a Mandate or a service.
func (a *apiServer) Patch(_ context.Context, object client.Object, patch client.Patch, _ ...client.PatchOption) error {
	data, err := patch.Data(object)
	if err != nil {
		return err
	}
	var wanted metav1.PartialObjectMetadata
	if err := json.Unmarshal(data, &wanted); err != nil {
		return err
	}
	key := connection.Key{Kind: v1alpha1.ServiceKind(object.GetObjectKind().GroupVersionKind().Kind)}
	key.Namespace, key.Name = object.GetNamespace(), object.GetName()
	a.mu.Lock()
	fails := a.fails
	var live client.Object = a.mandates[client.ObjectKeyFromObject(object)]
	if key.Kind != kindMandate {
		live = a.services[key]
	}
	a.mu.Unlock()
	switch {
	case fails != nil:
		return fails
	case live == nil || live == (*v1alpha1.Mandate)(nil):
		return notFound(object.GetName())
	case wanted.ResourceVersion != live.GetResourceVersion():
		return apierrors.NewConflict(schema.GroupResource{Resource: "objects"}, live.GetName(), nil)
	}
	document, err := json.Marshal(live)
	if err == nil {
		document, err = jsonpatch.MergePatch(document, data)
	}
	if err != nil {
		return err
	}
	if key.Kind != kindMandate {
		return a.patchService(key, document)
	}
	patched := &v1alpha1.Mandate{}
	if err := json.Unmarshal(document, patched); err != nil {
		return err
	}
	a.mu.Lock()
	a.patches++
	a.mu.Unlock()
	a.store(patched)
	return nil
}

func (a *apiServer) patchService(key connection.Key, document []byte) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.named++
	a.revision++
	patched := key.NewService()
	if err := json.Unmarshal(document, patched); err != nil {
		return err
	}
	patched.SetResourceVersion(strconv.Itoa(a.revision))
	a.services[key] = patched
	lost := a.loses
	a.loses = nil
	return lost
}

// unknown gives the ids on a service.
func (a *apiServer) unknown(key connection.Key) []int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return engine.IDsIn(a.services[key], v1alpha1.UnknownIDsAnnotation)
}

// takeOff takes ids off a service, as the leader does that has read them.
func (a *apiServer) takeOff(key connection.Key, ids ...int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	left := slices.DeleteFunc(engine.IDsIn(a.services[key], v1alpha1.UnknownIDsAnnotation),
		func(id int64) bool { return slices.Contains(ids, id) })
	a.revision++
	a.services[key].SetResourceVersion(strconv.Itoa(a.revision))
	a.services[key].SetAnnotations(map[string]string{v1alpha1.UnknownIDsAnnotation: engine.FormatIDs(left)})
}

// bound is a Mandate with an application and individuals.
func bound(name string, application int64, individuals ...int64) *v1alpha1.Mandate {
	m := waitingMandate(name)
	m.Status.ApplicationID, m.Status.Conditions = &application, nil
	for _, id := range individuals {
		m.Status.Individuals = append(m.Status.Individuals, v1alpha1.IndividualStatus{Name: "jane", ID: id})
	}
	return m
}

// waitingMandate is a Mandate whose create had no answer.
func waitingMandate(name string) *v1alpha1.Mandate {
	return &v1alpha1.Mandate{
		ObjectMeta: metav1.ObjectMeta{Namespace: testKey.Namespace, Name: name},
		Status: v1alpha1.MandateStatus{
			Reference: testKey.Namespace + "." + name,
			Conditions: []metav1.Condition{{
				Type: v1alpha1.ConditionCreated, Status: metav1.ConditionUnknown, Reason: v1alpha1.ReasonOutcomeUnknown,
			}},
		},
	}
}

// creatingMandate is a Mandate whose create is under way, or waits for its service.
func creatingMandate(name string) *v1alpha1.Mandate {
	m := waitingMandate(name)
	m.Status.Conditions = nil
	return m
}

func nameOf(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: testKey.Namespace, Name: name}
}

func (a *apiServer) annotation(t *testing.T, name, annotation string) string {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.mandates[nameOf(name)].Annotations[annotation]
}

func (a *apiServer) count(of *int) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return *of
}
