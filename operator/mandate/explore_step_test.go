package mandate

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/ledger"
)

// fault is what goes wrong in a step. It strikes once, except faultErrors.
type fault string

const (
	faultNone    fault = ""
	faultError   fault = "not done, error"
	faultLost    fault = "done, answer lost"
	faultErrors  fault = "every request fails"
	faultLate    fault = "given up, may still be carried out"
	faultRefused fault = "refused"
	faultMissing fault = "the new application does not show yet"
)

// surroundings is what one step of one operator sees.
type surroundings struct {
	world     *world
	fault     fault
	pass      *pass
	hit       bool // the fault had something to strike
	dirty     bool // the world was changed
	gets      int  // of applications
	violation string
}

func (s *surroundings) read() error {
	if s.fault == faultErrors || s.fault == faultError && !s.hit {
		s.hit = true
		return apierrors.NewServiceUnavailable("it is away")
	}
	return nil
}

func (s *surroundings) write(do func() error) error {
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
	after     time.Duration // when the operator wants to look again, if the pass ended; 0: never
	ended     bool
}

// take has an operator take its next step, beginning a pass over the named Mandate if it is in none. It is the real code
// but for what surrounds it.
func take(w *world, o *operator, name string, f fault) outcome {
	s := &surroundings{world: w.clone(), fault: f}
	r := reconciler(s, o)
	ctx := log.IntoContext(context.Background(), logr.Discard())
	p, what, err := resume(ctx, r, s, o, name)
	if p == nil || err != nil {
		return outcome{world: w, operator: o.with(nil, r), what: what, ended: true}
	}
	p.facts.now = now
	decided := decide(p.facts)
	what += string(decided.step)
	if decided.step == stepRest {
		what += " (" + decided.reason + ")"
	}
	after, ended, err := advance(ctx, p)
	if !ended && err == nil && p.facts.attempt.posted && decided.step == stepPost {
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
	made := outcome{world: w, operator: o.with(p, r), what: what, hit: s.hit, violation: s.violation, gets: s.gets, after: after, ended: p == nil}
	if err != nil {
		made.after = time.Second // the workqueue's back-off
	}
	if s.dirty {
		made.world = s.world
		rename(made.world, made.operator)
	}
	return made
}

// waiting is what the clock says to a step that wants to wait: the step is cut there, and goes on from its beginning when
// the operator has its next turn. The steps that wait do the same again after it.
type waiting struct{}

// advance takes the step. A step that waits is as it was before, but for what it did outside.
func advance(ctx context.Context, p *pass) (after time.Duration, ended bool, err error) {
	before := *p
	defer func() {
		switch cut := recover(); cut.(type) {
		case nil:
		case waiting:
			*p = before
		default:
			panic(cut)
		}
	}()
	result, ended, err := p.advance(ctx)
	return result.RequeueAfter, ended, err
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

// resume gives the pass that the operator is in, or begins one; nil if there is nothing to do one over.
func resume(ctx context.Context, r *Reconciler, s *surroundings, o *operator, name string) (*pass, string, error) {
	p, what := &pass{}, ""
	if o.pass == nil {
		mandate := o.mandates[name]
		if mandate == nil {
			r.memory.forget(types.NamespacedName{Namespace: namespace, Name: name})
			return nil, "forgets " + name, nil
		}
		begun, err := r.begin(ctx, mandate)
		if err != nil {
			return nil, "begins: " + err.Error(), nil //nolint:nilerr // the pass is over
		}
		p, what = begun, "begins with "+name+": "
	} else {
		*p = *o.pass
		p.reviewed, p.reviews = maps.Clone(p.reviewed), slices.Clone(p.reviews)
	}
	s.pass = p
	p.Reconciler, p.service = r, servant{surroundings: s}
	return p, what, nil
}

// with is the operator after a step that has left it in a pass, or in none.
func (o *operator) with(p *pass, r *Reconciler) *operator {
	c := *o
	c.notes, c.pass = r.memory.notes, p
	if p != nil {
		p.Reconciler, p.service, p.visit = nil, nil, connection.Visit{} // the line bounds workers, of which there is one here
	}
	return &c
}

// reconciler is the operator's, set up for one step.
func reconciler(s *surroundings, o *operator) *Reconciler {
	api := apiServer{surroundings: s}
	r := &Reconciler{
		Cache: cacheReader{o}, Live: api, Status: statusWriter{api: api}, Metadata: api, Ledger: ledger.Ledger{Reader: api, Writer: api},
		Events: silent{}, Suspect: func(connection.Key) {}, Clock: stopped{patient: s.fault == faultErrors},
		SettleDelay: settle, GiveUpAfter: 24 * time.Hour, Connections: connection.NewRegistry(),
	}
	r.memory.notes = maps.Clone(o.notes)
	told, tell := context.WithCancel(context.Background())
	tell() // nobody listens to what changed
	r.Connections.Put(told, connection.Key{Kind: v1alpha1.ServiceKindIdentityService, Namespace: namespace, Name: "default"}, o.connection)
	return r
}

type silent struct{ events.EventRecorder }

func (silent) Eventf(runtime.Object, runtime.Object, string, string, string, string, ...any) {}

// stopped is a clock that stands still. Who waits for it is cut there, unless it is patient.
type stopped struct {
	clock.Clock
	patient bool
}

func (stopped) Now() time.Time { return now }

func (c stopped) NewTimer(time.Duration) clock.Timer {
	if !c.patient {
		panic(waiting{})
	}
	return rung{}
}

type rung struct{ clock.Timer }

func (rung) C() <-chan time.Time {
	c := make(chan time.Time)
	close(c)
	return c
}

func (rung) Stop() bool { return false }
