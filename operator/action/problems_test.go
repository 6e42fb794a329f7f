package action

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/test/explore"
	"github.com/mandate-io/idv/operator/apierror"
	"github.com/mandate-io/idv/operator/budget"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
	"github.com/mandate-io/idv/operator/ledger"
)

// troubled is the API server of the explorer, in which requests fail or are slow.
type troubled struct {
	apiServer
	slow time.Duration
	fail func(request string) error // such as "get Mandate"
}

func (a troubled) before(verb string, object client.Object) error {
	<-time.After(a.slow)
	kind := reflect.TypeOf(object).Elem().Name()
	if metadata, ok := object.(*metav1.PartialObjectMetadata); ok {
		kind = "metadata of " + metadata.Kind
	}
	return a.fail(verb + " " + kind)
}

// Get reads an object.
func (a troubled) Get(ctx context.Context, n client.ObjectKey, into client.Object, o ...client.GetOption) error {
	return errors.Join(a.before("get", into), a.apiServer.Get(ctx, n, into, o...))
}

// Patch patches a record.
func (a troubled) Patch(ctx context.Context, object client.Object, p client.Patch, o ...client.PatchOption) error {
	if err := a.before("patch", object); err != nil {
		return err
	}
	return a.apiServer.Patch(ctx, object, p, o...)
}

// troubledServices is the status subresource of services.
type troubledServices struct {
	client.SubResourceWriter
	troubled
}

// Patch always fails.
func (a troubledServices) Patch(context.Context, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
	return a.fail("patch status")
}

// under is an action of the explorer's world that an operator reconciles at such an API server.
type under struct {
	world *world
	api   troubled
	clock clock.Clock
	now   engine.ServerClock
}

// cached is the cache of the operator.
type cached struct{ *under }

// Get reads from the cache.
func (c cached) Get(ctx context.Context, name client.ObjectKey, into client.Object, o ...client.GetOption) error {
	err := c.api.fail("cached " + reflect.TypeOf(into).Elem().Name())
	return errors.Join(err, cacheReader{started(c.world)}.Get(ctx, name, into, o...))
}

// List is not asked for.
func (cached) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }

func newUnder(kind v1alpha1.MandateActionType) *under {
	w := newWorld()
	s := scenario{manifest: func(spec *v1alpha1.MandateActionSpec) {
		report(spec)
		if kind != v1alpha1.MandateActionDownloadReport {
			spec.Type, spec.ReportSecretRef = kind, nil
		}
	}}
	s.apply(w, names[0], nil)
	environment := &environment{world: w, site: home, looked: map[string]client.Object{}}
	return &under{
		world: w, clock: clock.RealClock{},
		api: troubled{apiServer: apiServer{environment: environment}, fail: func(string) error { return nil }},
	}
}

// reconcile takes all steps of one reconciliation.
func (u *under) reconcile(t *testing.T) error {
	t.Helper()
	p, err := u.start(t)
	if err == nil {
		_, err = engine.Run(t.Context(), p, engine.MaxSteps)
	}
	return err
}

func (u *under) start(t *testing.T) (*reconciliation, error) {
	t.Helper()
	r := started(u.world).reconciler(u.world, &u.api.apiServer)
	r.clock, r.config.ServerClock = u.clock, u.now
	r.config.StandIn = func(connection.Key) ServiceClient { return fakeService{environment: u.api.environment} }
	r.config.Cache, r.config.Live = cached{u}, u.api
	r.config.Ledger = ledger.Ledger{Reader: u.api, Writer: u.api}
	r.liveServices = connection.NewLiveReader(connection.ServiceReader{Reader: u.api})
	r.config.Budgets = budget.New(budget.Config{
		Cache: cached{u}, Live: u.api, Status: troubledServices{troubled: u.api}, Ledger: r.config.Ledger,
		Connections: r.config.Services.Connections, Now: time.Now, Hour: time.Hour, SettleDelay: time.Minute,
	})
	p, err := r.newReconciliation(t.Context(), u.action().DeepCopy())
	u.api.current = p
	return p, err
}

func (u *under) action() *v1alpha1.MandateAction { return u.world.action(names[0]) }

// waits checks the reason for which the action waits, and what is wrong.
func (u *under) waits(t *testing.T, reason, field, message string) {
	t.Helper()
	status := u.action().Status
	want := v1alpha1.Problem{Field: field, Reason: reason, Message: message}
	if got := engine.ReasonOf(status.Conditions, v1alpha1.ConditionReconciling); got != reason ||
		len(status.Problems) != 1 || status.Problems[0] != want {
		t.Errorf("it waits with reason %q and %+v, want %+v", got, status.Problems, want)
	}
}

// What the API server refuses for long is in the status, and nothing is sent.
func TestRefusals(t *testing.T) {
	t.Parallel()
	const resend, download = v1alpha1.MandateActionResendInvite, v1alpha1.MandateActionDownloadReport
	const answered = ": the API server answered 403 Forbidden."
	forbidden := apierrors.NewForbidden(schema.GroupResource{}, "", errors.New("a policy"))
	unreadable := &apierror.UnreadableError{}
	for request, c := range map[string]struct {
		action         v1alpha1.MandateActionType
		err            error
		field, message string
	}{
		"get ApplicationRecord": {
			resend, unreadable, "ApplicationRecord",
			"The operator cannot read the ApplicationRecord: it has fields that cannot be decoded.",
		},
		"cached Mandate": {
			resend, unreadable, "spec.mandateRef",
			"The operator cannot read the Mandate: it has fields that cannot be decoded.",
		},
		"get Mandate": {resend, forbidden, "spec.mandateRef", "The operator cannot read the Mandate" + answered},
		"get Secret": {
			resend, forbidden, "spec.mandateRef", "The operator cannot read the Secrets of the Mandate" + answered,
		},
		"get metadata of Secret": {
			download, forbidden, "spec.reportSecretRef", "The operator cannot look for the Secret" + answered,
		},
		"get metadata of MandateAction": {
			download, forbidden, "spec.mandateRef", "The operator cannot read the Mandate and its service again" + answered,
		},
		"get metadata of Mandate": {
			resend, forbidden, "spec.mandateRef", "The operator cannot read the Mandate and its service again" + answered,
		},
		"patch status": {
			resend, forbidden, "IdentityService", "The operator cannot reserve a request in status.creation" + answered,
		},
		"patch ApplicationRecord": {
			resend, forbidden, "ApplicationRecord", "The operator cannot write the ApplicationRecord" + answered,
		},
	} {
		t.Run(request, func(t *testing.T) {
			t.Parallel()
			u := newUnder(c.action)
			u.api.fail = func(made string) error {
				if made == request {
					return c.err
				}
				return nil
			}
			if err := u.reconcile(t); err != nil {
				t.Errorf("the status does not say that it is tried again: %v", err)
			}
			u.waits(t, v1alpha1.ReasonRetrying, c.field, c.message)
			if len(u.world.requests) > 0 {
				t.Errorf("it sent %+v", u.world.requests)
			}
		})
	}
}

// A policy refuses what became of a call. The status says so, once, and the end follows when the policy is gone.
func TestUnrecordedEnd(t *testing.T) {
	t.Parallel()
	u, refused := newUnder(v1alpha1.MandateActionResendInvite), apierrors.NewForbidden(schema.GroupResource{}, "", nil)
	allowed := false
	u.api.fail = func(request string) error {
		if request == "patch ApplicationRecord" && len(u.world.requests) > 0 && !allowed {
			return refused
		}
		return nil
	}
	p, err := u.start(t)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err = engine.Run(t.Context(), p, engine.MaxSteps); !errors.Is(err, refused) {
			t.Fatalf("the end is recorded: %v", err)
		}
		u.waits(t, v1alpha1.ReasonRecordPending, "ApplicationRecord",
			"The operator cannot write the ApplicationRecord: the API server answered 403 Forbidden.")
	}
	before := u.world.revision
	_, _ = engine.Run(t.Context(), p, engine.MaxSteps)
	if u.world.revision != before {
		t.Error("the status is written again and again")
	}
	allowed = true
	if _, err = engine.Run(t.Context(), p, engine.MaxSteps); err != nil {
		t.Fatal(err)
	}
	u.ends(t, v1alpha1.ConditionComplete, v1alpha1.ReasonCarriedOut)
	if len(u.world.requests) != 1 {
		t.Errorf("it sent %+v", u.world.requests)
	}
}

func (u *under) ends(t *testing.T, condition, reason string) {
	t.Helper()
	status := u.action().Status
	if got := engine.ReasonOf(status.Conditions, condition); got != reason || len(status.Problems) > 0 {
		t.Errorf("it ends as %+v, want %s with reason %s", status, condition, reason)
	}
}

// Each request to the API server takes long. What is read at the same time is new enough, up to a second.
func TestSlowAPIServer(t *testing.T) {
	for slow, sent := range map[time.Duration]int{400 * time.Millisecond: 1, 1100 * time.Millisecond: 0} {
		t.Run(slow.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := newUnder(v1alpha1.MandateActionResendInvite)
				u.api.slow = slow
				if err := u.reconcile(t); err != nil {
					t.Fatal(err)
				}
				if got := len(u.world.requests); got != sent {
					t.Errorf("%d requests were sent, want %d", got, sent)
				}
				if sent == 0 {
					u.waits(t, v1alpha1.ReasonRetrying, "spec.type", tooSlow)
				} else {
					u.ends(t, v1alpha1.ConditionComplete, v1alpha1.ReasonCarriedOut)
				}
			})
		})
	}
}

// The clock of this machine and that of the API server, which says when an action was created, may differ.
func TestClockThatIsWrong(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		wrong, age time.Duration
		want       string
	}{
		"fast":               {24 * time.Hour, time.Minute, v1alpha1.ReasonMandateNotFound},
		"slow":               {-24 * time.Hour, time.Minute, v1alpha1.ReasonMandateNotFound},
		"fast, and too late": {24 * time.Hour, missingAllowance, v1alpha1.ReasonMandateGone},
		"slow, and too late": {-24 * time.Hour, missingAllowance, v1alpha1.ReasonMandateGone},
	} {
		u := newUnder(v1alpha1.MandateActionResendInvite)
		u.world.remove(mandateKey)
		server := u.world.now.Add(c.age)
		u.now, u.clock = func() time.Time { return server }, explore.Clock{Time: server.Add(c.wrong)}
		p, err := u.start(t)
		if err != nil {
			t.Fatal(err)
		}
		p.facts.record.read = true
		if got := p.Decide(); got.Reason != c.want {
			t.Errorf("%s: %+v, want reason %s", name, got, c.want)
		}
	}
}
