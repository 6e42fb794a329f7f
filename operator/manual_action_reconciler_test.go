package operator_test

import (
	"context"
	"reflect"
	"runtime"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator"
	"github.com/mandate-io/idv/operator/action"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
	"github.com/mandate-io/idv/operator/ledger"
)

// manualActionReconciler is an operator that reconciles MandateActions when the test says so.
type manualActionReconciler struct {
	*action.Reconciler
	action.Config
	world *world
	// interceptor runs in place of each request to the API server, such as "patch status of MandateAction". It may make
	// the request with do. If it calls crash, the reconciliation stops there.
	interceptor func(request string, do func() error) error
	// cached, if set, is the stale MandateAction that the cache returns.
	cached *v1alpha1.MandateAction
}

const (
	statusPatch  = "patch status of MandateAction"
	recordPatch  = "patch ApplicationRecord"
	secretCreate = "create Secret"
	accessReview = "create SelfSubjectAccessReview"
)

// crash stops the reconciliation that calls it, as the end of its process would. Deferred functions run, and write
// nothing.
func crash() { runtime.Goexit() }

// crashBefore and crashAfter replace a request.
func crashBefore(func() error) error {
	crash()
	return nil
}

func crashAfter(do func() error) error {
	_ = do()
	crash()
	return nil
}

// newActionReconciler returns an operator for MandateActions with the connections of a manualReconciler.
func (r *manualReconciler) newActionReconciler() *manualActionReconciler {
	w := r.world
	w.Helper()
	a := &manualActionReconciler{world: w, interceptor: func(_ string, do func() error) error { return do() }}
	direct, err := client.NewWithWatch(w.env.Config, client.Options{Scheme: operator.Scheme()})
	w.check(err)
	watched := interceptor.NewClient(direct, a.requests())
	strict := client.WithFieldValidation(watched, metav1.FieldValidationStrict)
	cache := interceptor.NewClient(direct, interceptor.Funcs{
		Get: func(
			ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption,
		) error {
			if cached, ok := object.(*v1alpha1.MandateAction); ok && a.cached != nil {
				a.cached.DeepCopyInto(cached)
				return nil
			}
			return c.Get(ctx, key, object, options...)
		},
	})
	a.Config = action.Config{
		Services: engine.Services{
			ServiceReader: connection.ServiceReader{Reader: cache}, Connections: r.Services.Connections,
		},
		Cache: cache, Live: watched, Writer: strict, Status: strict.Status(),
		Ledger: ledger.Ledger{Reader: watched, Writer: strict}, Events: events.NewFakeRecorder(100),
	}
	a.setSettleDelay(time.Hour)
	return a
}

// setSettleDelay makes a new Reconciler, without the local state of the one before.
func (r *manualActionReconciler) setSettleDelay(d time.Duration) {
	r.SettleDelay = d
	r.Reconciler = action.NewReconciler(r.Config)
}

// takeOver reconciles an action as after the handover of its call. Without a settle delay, it is too late to send one.
func (r *manualActionReconciler) takeOver(name string) {
	handover := r.SettleDelay
	r.setSettleDelay(0)
	r.reconcile(name)
	r.setSettleDelay(handover)
}

func (r *manualActionReconciler) requests() interceptor.Funcs {
	intercept := func(verb string, object client.Object, do func() error) error {
		return r.interceptor(verb+" "+reflect.TypeOf(object).Elem().Name(), do)
	}
	return interceptor.Funcs{
		Get: func(
			ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption,
		) error {
			return intercept("get", object, func() error { return c.Get(ctx, key, object, options...) })
		},
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			return intercept("create", object, func() error { return c.Create(ctx, object, options...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			return intercept("delete", object, func() error { return c.Delete(ctx, object, options...) })
		},
		Patch: func(
			ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption,
		) error {
			return intercept("patch", object, func() error { return c.Patch(ctx, object, patch, options...) })
		},
		SubResourcePatch: func(
			ctx context.Context, c client.Client, resource string, object client.Object, patch client.Patch,
			options ...client.SubResourcePatchOption,
		) error {
			return intercept("patch "+resource+" of", object, func() error {
				return c.SubResource(resource).Patch(ctx, object, patch, options...)
			})
		},
	}
}

// reconcile reconciles a MandateAction once, which must finish.
func (r *manualActionReconciler) reconcile(name string) reconcile.Result {
	r.world.Helper()
	return r.world.reconcile(r, "MandateAction", name)
}

// intercept replaces the nth request of a kind, counted from 1, which has to be made before the test ends.
func (r *manualActionReconciler) intercept(request string, nth int, instead func(do func() error) error) {
	r.world.mustOccur(&nth, "request number "+strconv.Itoa(nth)+": "+request)
	r.interceptor = func(made string, do func() error) error {
		if made == request {
			nth--
		}
		if made != request || nth != 0 {
			return do()
		}
		return instead(do)
	}
}
