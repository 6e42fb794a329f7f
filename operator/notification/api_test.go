package notification

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/receiver"
	"github.com/mandate-io/idv/operator/connection"
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
	secrets  map[client.ObjectKey]map[string][]byte
	mandates map[types.NamespacedName]*v1alpha1.Mandate
	reads    int           // of Secrets
	patches  int           // of Mandates
	statuses int           // of services
	fails    error         // every request
	slow     time.Duration // a read of a Secret
	revision int
}

func newAPIServer() *apiServer {
	return &apiServer{
		services: map[connection.Key]connection.Service{}, secrets: map[client.ObjectKey]map[string][]byte{},
		mandates: map[types.NamespacedName]*v1alpha1.Mandate{},
	}
}

// connect makes an IdentityService whose deliveries have a token.
func (a *apiServer) connect(key connection.Key, tokens ...string) {
	service := &v1alpha1.IdentityService{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: "1"}}
	service.Spec.Notifications = &v1alpha1.Notifications{SecretRef: v1alpha1.SecretReference{Name: key.Name}}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.services[key] = service
	data := map[string][]byte{}
	for i, token := range tokens {
		data[[]string{receiver.KeyToken, receiver.KeyPreviousToken}[i]] = []byte(token)
	}
	a.secrets[client.ObjectKey{Namespace: key.Namespace, Name: key.Name}] = data
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
	if _, secret := into.(*corev1.Secret); secret && a.slow > 0 {
		<-time.After(a.slow)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch into := into.(type) {
	case *corev1.Secret:
		a.reads++
		if a.fails != nil {
			return a.fails
		}
		if into.Data = a.secrets[key]; into.Data == nil {
			return notFound(key.Name)
		}
	case *v1alpha1.Mandate:
		if a.mandates[key] == nil {
			return notFound(key.Name)
		}
		a.mandates[key].DeepCopyInto(into)
	case *metav1.PartialObjectMetadata: // of a Mandate
		if a.mandates[key] == nil {
			return notFound(key.Name)
		}
		a.mandates[key].ObjectMeta.DeepCopyInto(&into.ObjectMeta)
	case *v1alpha1.IdentityService:
		found, ok := a.services[connection.Key{
			Kind: v1alpha1.ServiceKindIdentityService, Namespace: key.Namespace, Name: key.Name,
		}].(*v1alpha1.IdentityService)
		if !ok {
			return notFound(key.Name)
		}
		found.DeepCopyInto(into)
	case *v1alpha1.ClusterIdentityService:
		found, ok := a.services[connection.Key{
			Kind: v1alpha1.ServiceKindClusterIdentityService, Name: key.Name,
		}].(*v1alpha1.ClusterIdentityService)
		if !ok {
			return notFound(key.Name)
		}
		found.DeepCopyInto(into)
	}
	return nil
}

// staleCache shows the only Mandate as it was, if it is to.
type staleCache struct {
	client.Reader
	shown atomic.Pointer[v1alpha1.Mandate]
}

func (c *staleCache) Get(ctx context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	if m, shown := into.(*v1alpha1.Mandate), c.shown.Load(); shown != nil {
		shown.DeepCopyInto(m)
		return nil
	}
	return c.Reader.Get(ctx, key, into)
}

func (*apiServer) List(context.Context, client.ObjectList, ...client.ListOption) error {
	panic("nobody lists")
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

// Patch patches the annotations of a Mandate.
func (a *apiServer) Patch(_ context.Context, object client.Object, patch client.Patch, _ ...client.PatchOption) error {
	data, err := patch.Data(object)
	if err != nil {
		return err
	}
	var wanted metav1.PartialObjectMetadata
	if err := json.Unmarshal(data, &wanted); err != nil {
		return err
	}
	a.mu.Lock()
	live, fails := a.mandates[client.ObjectKeyFromObject(object)], a.fails
	a.mu.Unlock()
	switch {
	case fails != nil:
		return fails
	case live == nil:
		return notFound(object.GetName())
	case wanted.ResourceVersion != "" && wanted.ResourceVersion != live.ResourceVersion:
		return apierrors.NewConflict(schema.GroupResource{Resource: "mandates"}, live.Name, nil)
	}
	document, err := json.Marshal(live)
	if err == nil {
		document, err = jsonpatch.MergePatch(document, data)
	}
	patched := &v1alpha1.Mandate{}
	if err == nil {
		err = json.Unmarshal(document, patched)
	}
	if err != nil {
		return err
	}
	a.mu.Lock()
	a.patches++
	a.mu.Unlock()
	a.store(patched)
	return nil
}

// serviceStatus is the status subresource of services.
type serviceStatus struct {
	client.SubResourceWriter
	*apiServer
}

// Patch sets when a delivery was received.
func (s serviceStatus) Patch(
	_ context.Context, object client.Object, patch client.Patch, _ ...client.SubResourcePatchOption,
) error {
	data, err := patch.Data(object)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.statuses++
	key := connection.Key{Kind: v1alpha1.ServiceKind(object.GetObjectKind().GroupVersionKind().Kind)}
	key.Namespace, key.Name = object.GetNamespace(), object.GetName()
	updated := &v1alpha1.IdentityService{}
	if err := json.Unmarshal(data, updated); err != nil {
		return err
	}
	s.services[key].ServiceStatus().Notifications = updated.Status.Notifications
	return nil
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
