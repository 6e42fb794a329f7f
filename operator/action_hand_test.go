package operator_test

import (
	"context"
	"reflect"
	"runtime"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator"
	"github.com/mandate-io/idv/operator/action"
	"github.com/mandate-io/idv/operator/connection"
)

// orderHand is an operator whose passes over orders a test takes one by one, as a hand is for Mandates.
type orderHand struct {
	*action.Reconciler
	world *world
	// around is called with each request to the API server, such as "patch status of MandateAction": it makes it or not,
	// once or more, and gives the error. A pass in which it calls crash ends there.
	around func(request string, do func() error) error
	// cached, if set, is what the cache has of every order: it lags.
	cached *v1alpha1.MandateAction
}

const (
	statusPatch  = "patch status of MandateAction"
	secretCreate = "create Secret"
)

// crash ends the pass that calls it, as the end of its process would. What is deferred runs, and writes nothing.
func crash() { runtime.Goexit() }

// orders makes an operator for orders, with the connections of a hand.
func (h *hand) orders() *orderHand {
	w := h.world
	w.Helper()
	o := &orderHand{world: w, around: func(_ string, do func() error) error { return do() }}
	direct, err := client.NewWithWatch(w.env.Config, client.Options{Scheme: operator.Scheme()})
	w.check(err)
	watched := interceptor.NewClient(direct, o.requests())
	strict := client.WithFieldValidation(watched, metav1.FieldValidationStrict)
	cache := interceptor.NewClient(direct, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if order, ok := object.(*v1alpha1.MandateAction); ok && o.cached != nil {
				o.cached.DeepCopyInto(order)
				return nil
			}
			return c.Get(ctx, key, object, options...)
		},
	})
	o.Reconciler = &action.Reconciler{
		Cache: cache, Live: watched, Writer: strict, Status: strict.Status(),
		Connections: h.Connections, Suspect: func(connection.Key) {}, SettleDelay: time.Hour,
	}
	return o
}

func (o *orderHand) requests() interceptor.Funcs {
	around := func(verb string, object client.Object, do func() error) error {
		return o.around(verb+" "+reflect.TypeOf(object).Elem().Name(), do)
	}
	return interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			return around("get", object, func() error { return c.Get(ctx, key, object, options...) })
		},
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			return around("create", object, func() error { return c.Create(ctx, object, options...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			return around("delete", object, func() error { return c.Delete(ctx, object, options...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, resource string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
			return around("patch "+resource+" of", object, func() error { return c.SubResource(resource).Patch(ctx, object, patch, options...) })
		},
	}
}

// passes makes one pass over an order, which must come to an end.
func (o *orderHand) passes(name string) (result reconcile.Result) {
	w := o.world
	w.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		result, _ = o.Reconcile(w.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Namespace: w.namespace, Name: name}})
	}()
	select {
	case <-done:
	case <-time.After(patience / 2):
		w.Fatalf("a pass over the order %s does not come to an end", name)
	}
	return result
}

// at does something in place of the nth request of a kind, counted from 1.
func (o *orderHand) at(request string, nth int, instead func(do func() error) error) {
	o.around = func(r string, do func() error) error {
		if r == request {
			nth--
		}
		if r != request || nth != 0 {
			return do()
		}
		return instead(do)
	}
}
