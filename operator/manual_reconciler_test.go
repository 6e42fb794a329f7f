package operator_test

import (
	"cmp"
	"context"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/test/await"
	"github.com/mandate-io/idv/operator"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
	"github.com/mandate-io/idv/operator/ledger"
	"github.com/mandate-io/idv/operator/mandate"
)

// manualReconciler is an operator that reconciles when the test says so, on a real API server and a sandbox. Two of
// them in one world are an operator that was stopped, or has lost its lease without noticing, and its successor.
type manualReconciler struct {
	*mandate.Reconciler
	mandate.Config
	world *world
	// before runs before each request to the API server, such as "patch ApplicationRecord". It may act as another operator
	// or as a user.
	before func(request string)
	// failing is the kind of request to the API server that fails, such as "get Mandate", and failure how; nil: the API
	// server is not available.
	failing string
	failure error
	// losing is the kind of request that the API server carries out without an answer, such as "create ApplicationRecord".
	losing string
	// cached, if set, is the stale Mandate that the cache returns.
	cached *v1alpha1.Mandate
	// minPoll and maxPoll are those of the connection.
	minPoll, maxPoll time.Duration
}

// newManualReconciler returns an operator that is connected to the IdentityService "default".
func (w *world) newManualReconciler() *manualReconciler {
	w.Helper()
	r := &manualReconciler{world: w, before: func(string) {}, minPoll: time.Second, maxPoll: 2 * time.Second}
	direct, err := client.NewWithWatch(w.env.Config, client.Options{Scheme: operator.Scheme()})
	w.check(err)
	watched := interceptor.NewClient(direct, r.requests())
	strict := client.WithFieldValidation(watched, metav1.FieldValidationStrict)
	cache := r.cache(direct)
	r.Config = mandate.Config{
		Services: engine.Services{
			ServiceReader: connection.ServiceReader{Reader: cache}, Connections: connection.NewRegistry(0),
		},
		Cache: cache, Live: watched, Status: strict.Status(), Metadata: strict,
		Ledger: ledger.Ledger{Reader: watched, Writer: strict}, Events: events.NewFakeRecorder(100),
		DeletionGiveUpAfter: time.Hour, RuleDelay: 10 * time.Minute,
	}
	r.setSettleDelay(90 * time.Second)
	r.connect()
	return r
}

// setSettleDelay makes a new Reconciler. It has the connections of the one before, and none of its local state.
func (r *manualReconciler) setSettleDelay(d time.Duration) {
	r.SettleDelay = d
	r.Reconciler = mandate.NewReconciler(r.Config)
}

func (r *manualReconciler) requests() interceptor.Funcs {
	before := func(verb string, object any) error {
		kind := reflect.TypeOf(object).Elem().Name()
		if metadata, ok := object.(*metav1.PartialObjectMetadata); ok {
			kind = metadata.Kind
		}
		r.before(verb + " " + kind)
		if r.failing == verb+" "+kind {
			return cmp.Or(r.failure, errUnavailable)
		}
		return nil
	}
	return interceptor.Funcs{
		Get: func(
			ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, o ...client.GetOption,
		) error {
			if err := before("get", object); err != nil {
				return err
			}
			return c.Get(ctx, key, object, o...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, o ...client.ListOption) error {
			if err := before("list", list); err != nil {
				return err
			}
			return c.List(ctx, list, o...)
		},
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, o ...client.CreateOption) error {
			if err := before("create", object); err != nil {
				return err
			}
			err := c.Create(ctx, object, o...)
			if err == nil && r.losing == "create "+reflect.TypeOf(object).Elem().Name() {
				return errUnavailable
			}
			return err
		},
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, o ...client.DeleteOption) error {
			if err := before("delete", object); err != nil {
				return err
			}
			return c.Delete(ctx, object, o...)
		},
		Patch: func(
			ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, o ...client.PatchOption,
		) error {
			if err := before("patch", object); err != nil {
				return err
			}
			return c.Patch(ctx, object, patch, o...)
		},
		SubResourcePatch: func(
			ctx context.Context, c client.Client, resource string, object client.Object, patch client.Patch,
			o ...client.SubResourcePatchOption,
		) error {
			if err := before("patch "+resource+" of", object); err != nil {
				return err
			}
			return c.SubResource(resource).Patch(ctx, object, patch, o...)
		},
	}
}

// cache reads without running before, and returns the cached Mandate if there is one.
func (r *manualReconciler) cache(direct client.WithWatch) client.Reader {
	return interceptor.NewClient(direct, interceptor.Funcs{
		Get: func(
			ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, o ...client.GetOption,
		) error {
			if m, ok := object.(*v1alpha1.Mandate); ok && r.cached != nil {
				r.cached.DeepCopyInto(m)
				return nil
			}
			return c.Get(ctx, key, object, o...)
		},
	})
}

// connect registers a connection to the current IdentityService, as the controller of IdentityServices would.
func (r *manualReconciler) connect() {
	r.world.Helper()
	r.connectAs(nil)
}

// testAccount is that of a manualReconciler's connection.
var testAccount = connection.NewAccount("", v1alpha1.GrantTypePassword, sandbox.DefaultUsername, "")

// connectAs registers the connection that change makes of it.
func (r *manualReconciler) connectAs(change func(*connection.Connection)) {
	w := r.world
	w.Helper()
	service := &v1alpha1.IdentityService{}
	w.check(w.Get(w.Context(), client.ObjectKey{Namespace: w.namespace, Name: "default"}, service))
	c := w.client(service.Spec.BaseURL)
	references, err := c.RetrieveReferences(w.Context())
	w.check(err)
	ctx, cancel := context.WithCancel(w.Context()) // no controller receives wakeups
	cancel()
	made := connection.Connection{
		Client: c, URL: idv.NormalBaseURL(service.Spec.BaseURL), ReferencePrefix: service.Spec.ReferencePrefix,
		Account: testAccount, UID: service.UID, Generation: service.Generation,
		MinPoll: r.minPoll, MaxPoll: r.maxPoll, References: references, Ready: true,
	}
	if change != nil {
		change(&made)
	}
	r.Services.Connections.Put(ctx, connection.KeyOfService(service), made)
}

// reconcile reconciles a Mandate once, which must finish. It ignores the errors of the API server.
func (r *manualReconciler) reconcile(name string) reconcile.Result {
	r.world.Helper()
	return r.world.reconcile(r, "Mandate", name)
}

// reconcileUntilCreated reconciles a Mandate until its status shows an application. A busy machine may be too slow for
// the first attempts, which then are not sent.
func (r *manualReconciler) reconcileUntilCreated(name string) {
	r.world.Helper()
	r.world.eventually(func() (bool, string) {
		r.reconcile(name)
		return r.world.get(name).Status.ApplicationID != nil, "there is no application"
	})
}

// reconcile makes a reconciler reconcile an object once, which must finish.
func (w *world) reconcile(r reconcile.Reconciler, kind, name string) (result reconcile.Result) {
	w.Helper()
	done := make(chan struct{})
	request := reconcile.Request{NamespacedName: client.ObjectKey{Namespace: w.namespace, Name: name}}
	go func() {
		defer close(done)
		result, _ = r.Reconcile(w.Context(), request)
	}()
	await.Receive(w.T, done, "reconciling the "+kind+" "+name+" does not finish")
	return result
}

// beforeFirst runs do before the first request of a kind, which has to be made before the test ends.
func (r *manualReconciler) beforeFirst(request string, do func()) {
	left := 1
	r.world.mustOccur(&left, request)
	r.before = func(made string) {
		if made == request {
			r.before = func(string) {}
			left--
			do()
		}
	}
}

// mustOccur fails the test at its end if what it waited for is still to come: it would show nothing.
func (w *world) mustOccur(left *int, what string) {
	w.Cleanup(func() {
		if *left > 0 && !w.Failed() {
			w.Errorf("it was never made: %s", what)
		}
	})
}
