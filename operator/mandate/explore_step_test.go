package mandate

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/test/explore"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
	"github.com/mandate-io/idv/operator/ledger"
)

// fault is what goes wrong in a step. It occurs once.
type fault string

const (
	faultNone    fault = ""
	faultError   fault = "not done, error"
	faultLost    fault = "done, answer lost"
	faultLate    fault = "given up, may still be carried out"
	faultRefused fault = "refused"
	faultMissing fault = "the new application does not show yet"
	faultUnread  fault = "the API server does not answer"
	faultSlow    fault = "slow"

	faultForbidden fault = "forbidden"
	faultForNow    fault = "refused for now"
	faultAccepted  fault = "accepted, and done"
	faultDeferred  fault = "accepted, may be done later"
	faultCandidate fault = "done, the answer has the id alone"
	faultMisnamed  fault = "done, the answer has the id of another"
)

// passing prove that nothing was created, and that the same may be created later. creates have no proof.
var (
	passing = []fault{faultForbidden, faultForNow}
	creates = []fault{faultAccepted, faultDeferred, faultCandidate, faultMisnamed}
)

// environment is what one step of one operator sees.
type environment struct {
	world     *world
	fault     fault
	current   *reconciliation
	hit       bool // the fault occurred
	dirty     bool // the world was changed
	gets      int  // of applications
	violation string
	live      liveRead  // by this step
	before    liveRead  // by the step before
	calls     int       // that act on people, in this reconciliation
	at        time.Time // of the operator's clock
}

func (s *environment) read() error {
	s.arrive()
	if s.fault == faultError && !s.hit {
		s.hit = true
		return apierrors.NewServiceUnavailable("it is away")
	}
	return nil
}

func (s *environment) write(do func() error) error {
	if err := s.read(); err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	s.dirty = true
	if s.fault == faultLost && !s.hit {
		s.hit = true
		return apierrors.NewTimeoutError("the answer is lost", 1)
	}
	return nil
}

// outcome is what a step made of the world and an operator.
type outcome struct {
	world     *world
	operator  *operator
	what      string
	hit       bool
	violation string
	gets      int           // of applications
	after     time.Duration // when the operator wants to reconcile again, if the reconciliation ended; 0: never
	ended     bool
}

// take has an operator take its next step, beginning to reconcile the named Mandate if it is in none. It is the real
// code but for what surrounds it.
func take(w *world, o *operator, name string, f fault) outcome {
	s := &environment{world: w.clone(), fault: f, before: o.live, calls: o.calls, at: now}
	if !o.decided.IsZero() {
		s.at = o.decided
	}
	r := reconciler(s, o)
	var messages explore.LogCounter
	ctx := log.IntoContext(context.Background(), logr.New(&messages))
	p, what, err := resume(ctx, r, s, o, name)
	if p == nil || err != nil {
		return outcome{world: w, operator: o.with(nil, r), what: what, ended: true}
	}
	decided := p.Decide()
	what += string(decided.Step)
	if decided.Step == stepWait {
		what += " (" + decided.Reason + ")"
	}
	result, ended, _, err := explore.Step(ctx, p)
	if s.calls > o.calls && messages.Messages < 2 && s.violation == "" {
		s.violation = "I13: a call that acts on people is not in the log before and after it"
	}
	if !ended && err == nil && p.facts.attempt.phase == attemptAnswered && decided.Step == stepSend {
		what += " -> " + posted(p.facts.attempt)
	}
	if err != nil {
		what += " -> " + err.Error()
	}
	if s.hit {
		what += " [" + string(f) + "]"
	}
	if ended || err != nil {
		p = nil
	}
	s.prove(r)
	made := outcome{
		world:     w,
		operator:  o.with(p, r),
		what:      what,
		hit:       s.hit,
		violation: s.violation,
		gets:      s.gets,
		after:     result.RequeueAfter,
		ended:     p == nil,
	}
	if p != nil {
		made.operator.live, made.operator.calls = s.live, s.calls
	}
	if s.at.After(now) {
		made.operator.answered = s.at
	}
	if err != nil {
		made.after = time.Second // the workqueue's back-off
	}
	if s.dirty {
		made.world = s.world
		rename(made.world, made.operator)
	}
	return made
}

func posted(a attemptFacts) string {
	if a.id != 0 {
		return "created"
	}
	if a.duplicate {
		return "duplicate"
	}
	return a.outcome.String()
}

// resume returns the operator's reconciliation in progress, or starts one. It returns nil if there is nothing to
// reconcile.
func resume(
	ctx context.Context, r *Reconciler, s *environment, o *operator, name string,
) (*reconciliation, string, error) {
	p, what := &reconciliation{}, ""
	if o.current == nil {
		mandate := o.mandates[name]
		if mandate == nil {
			for _, of := range []string{namespace, otherNamespace} {
				r.localState.Forget(types.NamespacedName{Namespace: of, Name: name})
			}
			return nil, "forgets " + name, nil
		}
		started, err := r.newReconciliation(ctx, mandate)
		if err != nil {
			return nil, "starts: " + err.Error(), nil //nolint:nilerr // the reconciliation is over
		}
		p, what = started, "starts with "+name+": "
		p.deadline = engine.NewDeadline(explore.Clock{Time: now}) // which nothing reaches here
		// Any time can pass between two reconciliations: one that finds no read due has no effect.
		p.facts.observe.readAt = time.Time{}
	} else {
		*p = *o.current
		p.actor.reviewed = slices.Clone(p.actor.reviewed)
		// The limiter of this step: at the same time, other workers of the explorer go on with the same reconciliation.
		own, _ := r.config.Services.Connections.Get(p.session.Key)
		p.session.Connection.Mandates = own.Mandates
	}
	s.current = p
	p.Reconciler = r
	p.connect(fakeService{environment: s})
	return p, what, nil
}

// with is the operator after a step that has left it in a reconciliation, or in none.
func (o *operator) with(p *reconciliation, r *Reconciler) *operator {
	c := *o
	c.localState = o.remember(r)
	c.missing = r.missing.entries
	c.subscribed = r.subscribed.entries
	c.current = p
	c.live, c.calls = liveRead{}, 0
	c.decided, c.answered = time.Time{}, time.Time{}
	if p != nil {
		p.disconnect()
		p.session.Slot.Release() // the limiter bounds workers, of which there is one here
	}
	return &c
}

// disconnect drops what the next step has anew.
func (r *reconciliation) disconnect() {
	r.Reconciler, r.client = nil, nil
	r.sharedDependencies = sharedDependencies{}
	r.deleter, r.observer = deleter{}, observer{}
	r.creator.scope, r.creator.creatorDependencies = nil, creatorDependencies{}
	r.actor.scope, r.actor.client = nil, nil
	r.subscriber.scope = nil
	r.subscriber.client, r.subscriber.live = nil, nil
}

// remember asks for the local state of every Mandate that the operator may have remembered or seen.
func (o *operator) remember(r *Reconciler) remembered {
	all := remembered{}
	look := func(name types.NamespacedName, uid types.UID) {
		m := &v1alpha1.Mandate{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name, UID: uid}}
		if state := r.localState.Get(m); state != (localState{}) {
			entry := all[name]
			entry.UID, entry.Value = uid, state
			all[name] = entry
		}
	}
	for name, entry := range o.localState {
		look(name, entry.UID)
	}
	for _, m := range o.mandates {
		look(client.ObjectKeyFromObject(m), m.UID)
	}
	if o.current != nil {
		look(client.ObjectKeyFromObject(o.current.mandate), o.current.mandate.UID)
	}
	return all
}

// reconciler is the operator's, set up for one step.
func reconciler(s *environment, o *operator) *Reconciler {
	api := apiServer{environment: s}
	services := engine.Services{
		ServiceReader: connection.ServiceReader{Reader: cacheReader{o}, ClusterServices: true},
		Connections:   connection.NewRegistry(0),
	}
	r := NewReconciler(Config{
		Services: services, Cache: cacheReader{o}, Live: api, Status: statusWriter{api: api}, Metadata: api, Events: silent{},
		Ledger: ledger.Ledger{Reader: api, Writer: api}, SettleDelay: settle, RuleDelay: 10 * time.Minute,
		DeletionGiveUpAfter: 24 * time.Hour,
	})
	r.missing.entries = maps.Clone(o.missing)
	r.subscribed.entries = maps.Clone(o.subscribed)
	r.clock, r.newSalt = stepClock{environment: s}, func() string { return "salt" }
	for name, entry := range o.localState {
		m := &v1alpha1.Mandate{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name, UID: entry.UID}}
		r.localState.Update(m, func(s *localState) { *s = entry.Value })
	}
	nobodyListens, cancel := context.WithCancel(context.Background())
	cancel()
	for _, key := range connectionKeys() {
		services.Connections.Put(nobodyListens, key, o.connection)
	}
	return r
}

// connectionKeys are those of the one service, which both namespaces have, or share.
func connectionKeys() []connection.Key {
	return []connection.Key{
		{Kind: v1alpha1.ServiceKindIdentityService, Namespace: namespace, Name: "default"},
		{Kind: v1alpha1.ServiceKindIdentityService, Namespace: otherNamespace, Name: "default"},
		{Kind: v1alpha1.ServiceKindClusterIdentityService, Name: "default"},
	}
}

type silent struct{ events.EventRecorder }

func (silent) Eventf(runtime.Object, runtime.Object, string, string, string, string, ...any) {}
