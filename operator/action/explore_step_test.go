package action

import (
	"cmp"
	"context"
	"maps"
	"sync"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/test/explore"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
	"github.com/mandate-io/idv/operator/ledger"
)

// fault is what goes wrong in a step, once.
type fault string

const (
	faultNone      fault = ""
	faultError     fault = "not done, error"
	faultLost      fault = "done, answer lost"
	faultRefused   fault = "refused"
	faultThrottled fault = "too many requests"
	faultForbidden fault = "forbidden"
	faultAccepted  fault = "accepted, and done"
	faultDeferred  fault = "accepted, and never done"
	faultSlow      fault = "slow"
)

// environment is what one step of one operator sees.
type environment struct {
	reads     sync.Mutex // a last look reads several objects at a time
	world     *world
	fault     fault
	current   *reconciliation
	looked    map[string]client.Object // the live objects that a last look saw
	lookedAt  time.Time
	at        time.Time // of the operator's clock
	site      site      // where the client of the reconciliation leads
	emailed   bool      // a request that e-mails somebody was made
	hit       bool
	violation string
}

func (s *environment) read() error {
	s.arrive()
	s.answer()
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
	ended     bool
}

// take has an operator take its next step, beginning to reconcile the named action if it is in none. It is the real
// code but for what surrounds it.
func take(w *world, o *operator, name string, f fault) outcome {
	s := &environment{world: w.clone(), fault: f, looked: maps.Clone(o.looked), lookedAt: o.lookedAt, at: w.now}
	if !o.decided.IsZero() {
		s.at = o.decided
	}
	api := &apiServer{environment: s}
	r := o.reconciler(w, api)
	var messages explore.LogCounter
	ctx := log.IntoContext(context.Background(), logr.New(&messages))
	p, what := &reconciliation{}, ""
	if o.current == nil {
		action, ok := o.cache["MandateAction/"+name].(*v1alpha1.MandateAction)
		if !ok {
			return outcome{world: w, operator: o, what: "has no " + name, ended: true}
		}
		p, _ = r.newReconciliation(ctx, action.DeepCopy())
		p.deadline = engine.NewDeadline(explore.Clock{Time: w.now}) // which nothing reaches here
		what = "starts with " + name + ": "
		s.looked = map[string]client.Object{}
	} else {
		*p = *o.current
		// The limiter of this step: at the same time, other workers of the explorer go on with the same reconciliation.
		own, _ := r.config.Services.Connections.Get(p.session.Key)
		p.session.Connection.Actions = own.Actions
	}
	s.current = p
	p.Reconciler, p.client = r, fakeService{environment: s}
	s.site = o.siteIn(p)
	decided := p.Decide()
	what += string(decided.Step) + " " + decided.Reason
	_, ended, parked, err := explore.Step(ctx, p)
	if s.emailed && messages.Messages < 2 && s.violation == "" {
		s.violation = "A4: a request that e-mails somebody is not in the log before and after it"
	}
	s.prove(&r.config.Services)
	if err != nil {
		what += " -> " + err.Error()
	}
	if s.hit {
		what += " [" + string(f) + "]"
	}
	made := outcome{world: s.world, what: what, hit: s.hit, violation: s.violation}
	made.ended = !parked && (ended || err != nil)
	if made.ended {
		p = nil
	}
	made.operator = o.with(p, r, s)
	return made
}

// reconciler is the operator's, set up for one step.
func (o *operator) reconciler(w *world, api *apiServer) *Reconciler {
	services := engine.Services{
		ServiceReader: connection.ServiceReader{Reader: cacheReader{o}},
		Connections:   o.registry(),
	}
	r := NewReconciler(Config{
		Services: services, Cache: cacheReader{o}, Live: api, Writer: api, Status: statusWriter{api: *api},
		Ledger: ledger.Ledger{Reader: api, Writer: api}, Events: silent{}, SettleDelay: time.Hour,
	})
	r.clock = stepClock{environment: api.environment}
	for name, entry := range o.localState {
		r.localState.Update(named(name, entry.UID), func(s *localState) { *s = entry.Value })
	}
	return r
}

func named(name string, uid types.UID) *v1alpha1.MandateAction {
	return &v1alpha1.MandateAction{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: uid}}
}

// with is the operator after a step that has left it in a reconciliation, or in none.
func (o *operator) with(p *reconciliation, r *Reconciler, s *environment) *operator {
	c := *o
	c.current, c.looked = p, nil
	c.lookedAt = time.Time{}
	c.decided, c.answered = time.Time{}, time.Time{}
	if s.at.After(s.world.now) {
		c.answered = s.at
	}
	c.site = ""
	c.localState = map[string]remembered{}
	for _, name := range names {
		uids := []types.UID{o.localState[name].UID}
		if cached := o.cache["MandateAction/"+name]; cached != nil {
			uids = append(uids, cached.GetUID())
		}
		for _, uid := range append(uids, s.current.action.UID) {
			if value := r.localState.Get(named(name, uid)); value != (localState{}) {
				value.failures = 0 // it is about time only
				c.localState[name] = remembered{uid, value}
			}
		}
	}
	if p != nil {
		p.Reconciler, p.client = nil, nil
		c.looked, c.lookedAt = s.looked, s.lookedAt
		if s.hit && s.fault == faultError { // what else was read at the same time depends on the scheduler
			c.looked = map[string]client.Object{}
		}
		c.site = o.siteIn(p)
		p.session.Slot = connection.Slot{} // the limiter bounds workers, of which there is one here
	}
	return &c
}

// siteIn is where the client of a reconciliation leads. It stays when the connection is gone.
func (o *operator) siteIn(p *reconciliation) site {
	if used := &p.session.Connection; used.URL != "" {
		return siteOf(used.URL, used.Credentials)
	}
	return o.site
}

// fakeService is the service behind the connection of a reconciliation. Its errors are what the real client makes of
// what the real service may do: internal/client has the tests of that.
type fakeService struct{ *environment }

func failure(outcome idv.Outcome, kind idv.Kind) error {
	return &idv.Error{Outcome: outcome, Kind: kind}
}

// forbidden is the service's own word.
func forbidden() error {
	return &idv.Error{Outcome: idv.Forbidden, Kind: idv.KindForbidden, Problem: &idv.Problem{}}
}

// Prepare waits for nothing.
func (fakeService) Prepare(context.Context, idv.Operation) (*idv.Permit, error) { return nil, nil }

// RetrieveApplication shows the application.
func (s fakeService) RetrieveApplication(context.Context, int64) (*idv.Application, error) {
	switch {
	case s.read() != nil:
		return nil, failure(idv.Unknown, idv.KindServer)
	case s.fault == faultForbidden:
		s.hit = true
		return nil, forbidden()
	}
	return s.world.applicationAt(s.site), nil
}

// ResendInvites e-mails an individual.
func (s fakeService) ResendInvites(_ context.Context, individual int64) (*idv.Change, error) {
	s.arrive()
	s.violation, s.emailed = cmp.Or(s.wrongPerson(individual), s.wrongRequest(), s.tooLate()), true
	switch s.fault {
	case faultError:
		s.hit = true
		return nil, failure(idv.NotSent, idv.KindUnreachable)
	case faultThrottled:
		s.hit = true
		return nil, failure(idv.Refused, idv.KindRateLimited)
	case faultRefused:
		s.hit = true
		return nil, failure(idv.Refused, idv.KindInvalid)
	case faultForbidden:
		s.hit = true
		return nil, failure(idv.Forbidden, idv.KindForbidden)
	case faultDeferred:
		s.hit = true
		return &idv.Change{Accepted: true}, nil
	}
	s.world.requests = append(s.world.requests, request{s.current.action.Name, s.current.action.UID})
	s.hit = s.hit || s.fault == faultLost || s.fault == faultAccepted
	if s.fault == faultLost {
		return nil, failure(idv.Unknown, idv.KindTimeout)
	}
	return &idv.Change{Accepted: s.fault == faultAccepted}, nil
}

// ResetIndividual e-mails an individual, too.
func (s fakeService) ResetIndividual(ctx context.Context, individual int64) (*idv.Change, error) {
	return s.ResendInvites(ctx, individual)
}

// IndividualReport is a report.
func (s fakeService) IndividualReport(_ context.Context, individual, _ int64) (*idv.Report, error) {
	s.violation = cmp.Or(s.wrongPerson(individual), s.wrongService())
	switch {
	case s.read() != nil:
		return nil, failure(idv.Unknown, idv.KindServer)
	case s.fault == faultRefused:
		s.hit = true
		return nil, failure(idv.Refused, idv.KindInvalid)
	case s.fault == faultForbidden:
		s.hit = true
		return nil, forbidden()
	}
	return &idv.Report{ContentType: "application/pdf", Content: []byte("%PDF-")}, nil
}

// wrongRequest says what is wrong with a request that is about to be carried out (A2), by what a last look saw.
func (s fakeService) wrongRequest() string {
	mandate, _ := s.looked["Mandate"].(*v1alpha1.Mandate)
	action, _ := s.looked["MandateAction"].(*v1alpha1.MandateAction)
	record, _ := s.looked["ApplicationRecord"].(*v1alpha1.ApplicationRecord)
	sent, call := s.current.action, ledger.Open(record)
	switch {
	case mandate == nil || action == nil:
		return "A2: a request is sent without a last look at the Mandate and the action"
	case mandate.Spec.Suspend:
		return "A2: a request is sent for a suspended Mandate"
	case action.UID != sent.UID || action.Status.CompletedTime != nil:
		return "A2: a request is sent for an action that was replaced or has ended"
	case call == nil || call.Nonce != s.current.call.Nonce || call.Name != action.Name || call.UID != action.UID ||
		string(call.Kind) != string(action.Spec.Type) || call.Individual != action.Spec.Individual:
		return "A2: a request is sent that is not the open call of the record"
	}
	return s.wrongService()
}

// wrongService says what is wrong with the service that a request goes to, by what a last look saw.
func (s fakeService) wrongService() string {
	service, _ := s.looked["IdentityService"].(*v1alpha1.IdentityService)
	switch {
	case service == nil:
		return "A2: a request is sent without a last look at the service"
	case service.Generation != s.current.session.Connection.Generation:
		return "A2: a request is sent to a service that leads to another place"
	}
	return ""
}

// silent takes events that nobody looks at.
type silent struct{}

func (silent) Eventf(runtime.Object, runtime.Object, string, string, string, string, ...any) {}
