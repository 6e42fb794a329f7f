package operator_test

import (
	"context"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/ledger"
	"github.com/mandate-io/idv/operator/mandate"
)

// hand is an operator whose passes a test takes one by one, on the real API server and a sandbox. Two of them in one world
// are an operator that was stopped, or has lost its lease without noticing, and its successor.
type hand struct {
	*mandate.Reconciler
	world *world
	// before is called before each request to the API server, such as "patch ApplicationRecord": it lets something happen
	// just then, which another operator does, or a person.
	before func(request string)
	// cached, if set, is what the cache has of every Mandate: it lags.
	cached    *v1alpha1.Mandate
	suspected int
}

// byHand makes an operator that has looked at the IdentityService "default".
func (w *world) byHand() *hand {
	w.Helper()
	h := &hand{world: w, before: func(string) {}}
	direct, err := client.NewWithWatch(w.env.Config, client.Options{Scheme: operator.Scheme()})
	w.check(err)
	watched := interceptor.NewClient(direct, h.requests())
	strict := client.WithFieldValidation(watched, metav1.FieldValidationStrict)
	h.Reconciler = &mandate.Reconciler{
		Cache: h.cache(direct), Live: watched, Status: strict.Status(), Ledger: ledger.Ledger{Reader: watched, Writer: strict},
		Connections: connection.NewRegistry(), Suspect: func(connection.Key) { h.suspected++ }, SettleDelay: 90 * time.Second,
		Events: events.NewFakeRecorder(100), Metadata: strict, GiveUpAfter: time.Hour, Clock: clock.RealClock{},
	}
	h.look()
	return h
}

func (h *hand) requests() interceptor.Funcs {
	tell := func(verb string, object any) {
		kind := reflect.TypeOf(object).Elem().Name()
		if metadata, ok := object.(*metav1.PartialObjectMetadata); ok {
			kind = metadata.Kind
		}
		h.before(verb + " " + kind)
	}
	return interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, o ...client.GetOption) error {
			tell("get", object)
			return c.Get(ctx, key, object, o...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, o ...client.ListOption) error {
			tell("list", list)
			return c.List(ctx, list, o...)
		},
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, o ...client.CreateOption) error {
			tell("create", object)
			return c.Create(ctx, object, o...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, o ...client.DeleteOption) error {
			tell("delete", object)
			return c.Delete(ctx, object, o...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, o ...client.PatchOption) error {
			tell("patch", object)
			return c.Patch(ctx, object, patch, o...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, resource string, object client.Object, patch client.Patch, o ...client.SubResourcePatchOption) error {
			tell("patch "+resource+" of", object)
			return c.SubResource(resource).Patch(ctx, object, patch, o...)
		},
	}
}

// cache reads past the hooks, and lags if it is told to.
func (h *hand) cache(direct client.WithWatch) client.Reader {
	return interceptor.NewClient(direct, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, o ...client.GetOption) error {
			if m, ok := object.(*v1alpha1.Mandate); ok && h.cached != nil {
				h.cached.DeepCopyInto(m)
				return nil
			}
			return c.Get(ctx, key, object, o...)
		},
	})
}

// look takes the IdentityService over as it is now, as the controller of IdentityServices would.
func (h *hand) look() {
	w := h.world
	w.Helper()
	service := &v1alpha1.IdentityService{}
	w.check(w.Get(w.Context(), client.ObjectKey{Namespace: w.namespace, Name: "default"}, service))
	c := w.client(service.Spec.BaseURL)
	references, err := c.RetrieveReferences(w.Context())
	w.check(err)
	nobodyListens, cancel := context.WithCancel(w.Context())
	cancel()
	h.Connections.Put(nobodyListens, connection.KeyOfService(service), connection.Connection{
		Client: c, URL: ledger.NormalURL(service.Spec.BaseURL), ReferencePrefix: service.Spec.ReferencePrefix,
		UID: service.UID, Created: service.CreationTimestamp, Generation: service.Generation,
		MinPoll: time.Second, MaxPoll: 2 * time.Second, References: references, Ready: true,
	})
}

// passes makes one pass over a Mandate. It must come to an end; an error of the API server is none of the operator.
func (h *hand) passes(name string) (result reconcile.Result) {
	w := h.world
	w.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		result, _ = h.Reconcile(w.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Namespace: w.namespace, Name: name}})
	}()
	select {
	case <-done:
	case <-time.After(patience / 2):
		w.Fatalf("a pass over the Mandate %s does not come to an end", name)
	}
	return result
}

// once does something before the first request of a kind, and never again.
func (h *hand) once(request string, do func()) {
	h.before = func(r string) {
		if r == request {
			h.before = func(string) {}
			do()
		}
	}
}
