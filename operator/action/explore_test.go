package action

import (
	"fmt"
	"hash/maphash"
	"reflect"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/test/explore"
	"github.com/mandate-io/idv/operator/engine"
)

// scenario is the first state of an exploration, and what may happen in it.
type scenario struct {
	actions  []string
	manifest func(*v1alpha1.MandateActionSpec)
	allow    map[move]uint8
	lone     bool // there is one operator
	silent   bool // away from home, the service shows no references and no addresses
}

func report(spec *v1alpha1.MandateActionSpec) {
	spec.Type, spec.ReportSecretRef = v1alpha1.MandateActionDownloadReport, &v1alpha1.SecretReference{Name: "report"}
}

// scenarios together allow everything that is known to happen; each allows what makes the others harder to bear.
func scenarios() map[string]scenario {
	one, two := names[:1], names
	expires := func(spec *v1alpha1.MandateActionSpec) { spec.TTLSecondsAfterFinished = new(int32(0)) }
	return map[string]scenario{
		"crashes and lost answers": {actions: one, allow: map[move]uint8{crash: 1, lose: 2, fail: 1, pause: 1}},
		"applied again":            {actions: one, allow: map[move]uint8{again: 2, crash: 1, lose: 1, pause: 1}},
		"a time to live": {
			actions: one, manifest: expires, allow: map[move]uint8{again: 3, crash: 1, lose: 1, pause: 2},
		},
		"another order under the name": {
			actions: one, allow: map[move]uint8{other: 1, again: 1, lose: 1, throttle: 1, pause: 1},
		},
		"requests that do nothing": {
			actions: one, allow: map[move]uint8{throttle: 2, fail: 1, again: 1, crash: 1, pause: 1},
		},
		"what is forbidden":         {actions: one, allow: map[move]uint8{deny: 2, again: 1, crash: 1, lose: 1, pause: 1}},
		"forbidden to one operator": {actions: one, allow: map[move]uint8{deny: 1}},
		"what is accepted":          {actions: one, allow: map[move]uint8{accept: 2, again: 1, crash: 1, lose: 1, pause: 1}},
		"a report that is forbidden": {
			actions: one, manifest: report, allow: map[move]uint8{deny: 2, again: 1, crash: 1},
		},
		"refusals":                     {actions: one, allow: map[move]uint8{refuse: 1, again: 1, lose: 1, pause: 1}},
		"edits of the Mandate":         {actions: one, allow: map[move]uint8{suspend: 2, poll: 1, lose: 1, pause: 1}},
		"another Mandate of the name":  {actions: one, allow: map[move]uint8{replace: 1, again: 1, remove: 1, pause: 1}},
		"labels":                       {actions: one, allow: map[move]uint8{label: 2, lose: 1, crash: 1, pause: 1}},
		"two actions":                  {actions: two, allow: map[move]uint8{lose: 1, throttle: 1}},
		"two actions, and a crash":     {actions: two, allow: map[move]uint8{crash: 1, pause: 1}},
		"a call of the Mandate":        {actions: one, allow: map[move]uint8{decides: 2, lose: 1, crash: 1, pause: 1}},
		"a record that is gone":        {actions: one, allow: map[move]uint8{purge: 1, restore: 1, again: 1, lose: 1}},
		"a record of a backup":         {actions: one, allow: map[move]uint8{backup: 1, restore: 1, lose: 1, pause: 1}},
		"time within a reconciliation": {actions: one, allow: map[move]uint8{hang: 2, pause: 2, suspend: 1}},
		"a report": {
			actions: one, manifest: report, allow: map[move]uint8{crash: 1, lose: 1, again: 1},
		},
		"another service":                {actions: one, allow: map[move]uint8{redirect: 2, lose: 1, pause: 1}},
		"a Mandate with another service": {actions: one, silent: true, allow: map[move]uint8{retarget: 2, again: 1, lose: 1}},
		"a report of another service": {
			actions: one, manifest: report, silent: true,
			allow: map[move]uint8{redirect: 2, exchange: 1, retarget: 1, crash: 1},
		},
		"exchanged credentials": {actions: one, allow: map[move]uint8{exchange: 2, alias: 1, lose: 1, pause: 1}},
		"exchanged credentials, and no references are shown": {
			actions: one, silent: true, allow: map[move]uint8{exchange: 2, redirect: 1, crash: 1},
		},
		"another name of the account": {actions: one, allow: map[move]uint8{alias: 2, again: 1, lose: 1, crash: 1}},
		"which individual is which": {
			actions: one, allow: map[move]uint8{mistake: 2, mislead: 2, renumber: 1, again: 1},
		},
		"whose report it is":         {actions: one, manifest: report, allow: map[move]uint8{mistake: 2, mislead: 2}},
		"a report that is not there": {actions: one, manifest: report, allow: map[move]uint8{refuse: 1, again: 1, poll: 1}},
		"alone: one thing after another": {
			actions: one, lone: true,
			allow: map[move]uint8{again: 2, other: 1, crash: 1, lose: 1, fail: 1, throttle: 1, suspend: 1, pause: 1},
		},
	}
}

// explorer walks all states of a scenario.
type explorer struct {
	explore.Search[state]

	scenario scenario
	parts    sync.Map // partAt -> part
	rested   sync.Map // hash of a state -> true: it comes to rest, and is as it must be
}

func newExplorer(of scenario) *explorer {
	x := &explorer{scenario: of}
	x.Moves, x.Hash = x.moves, x.hash
	x.Wrong, x.Rest = wrongIn, x.rest
	x.RestAll = 3000
	return x
}

func (s *scenario) start() state {
	w := newWorld()
	w.silent = s.silent
	for _, name := range s.actions {
		s.apply(w, name, nil)
	}
	first := state{world: w, ops: [2]*operator{started(w), started(w)}, via: explore.NewTrace("the action is applied")}
	for m, n := range s.allow {
		first.budget[m] = n
	}
	return first
}

var seed = maphash.MakeSeed()

const (
	madeUp    = "it is made up"
	newInStep = "each step has a new one"
	forPeople = "it is for people, and nothing is decided by it"
)

// states is everything that a state consists of, but for these.
var states = explore.NewSchema(map[string]explore.Field{
	"v1.ObjectMeta.ResourceVersion":            explore.Renamed(madeUp),
	"v1.ObjectMeta.UID":                        explore.Renamed(madeUp),
	"v1.OwnerReference.UID":                    explore.Renamed(madeUp),
	"v1.ObjectMeta.ManagedFields":              explore.LeftOut("nobody writes it here"),
	"v1alpha1.Call.Nonce":                      explore.Renamed(madeUp),
	"v1alpha1.Call.UID":                        explore.Renamed(madeUp),
	"v1alpha1.RecordedMandate.UID":             explore.Renamed(madeUp),
	"v1alpha1.ApplicationRecordSpec.RecordUID": explore.Renamed(madeUp),
	"engine.FirstSeen.Attempt":                 explore.Renamed(madeUp),
	"action.localState.unsent":                 explore.Renamed(madeUp),
	"action.request.UID":                       explore.Renamed(madeUp),
	"action.remembered.UID":                    explore.Renamed(madeUp),

	"action.world.now":                      explore.LeftOut("times count from it"),
	"action.world.revision":                 explore.LeftOut("it makes names up"),
	"action.world.uids":                     explore.LeftOut("it makes names up"),
	"action.facts.now":                      explore.LeftOut("it is always the present"),
	"action.facts.problems":                 explore.LeftOut(forPeople),
	"v1alpha1.MandateActionStatus.Problems": explore.LeftOut(forPeople),
	"action.reconciliation.notRecorded":     explore.LeftOut(forPeople),
	"action.reconciliation.Reconciler":      explore.LeftOut(newInStep),
	"action.reconciliation.client":          explore.LeftOut(newInStep),
	"action.reconciliation.permit":          explore.LeftOut("nothing is waited for here"),
	"action.reconciliation.deadline":        explore.LeftOut("no time passes within a reconciliation but by a move"),
	"action.reconciliation.downloaded":      explore.LeftOut("it is a share of a budget that nobody else takes from here"),
	"connection.Connection.Client":          explore.LeftOut(newInStep),
	"connection.Connection.References":      explore.LeftOut("they never change here"),
	"connection.Connection.Mandates":        explore.LeftOut(newInStep),
	"connection.Connection.Actions":         explore.LeftOut(newInStep),
	"engine.Session.Slot":                   explore.LeftOut("it bounds workers, of which there is one here"),
})

func TestEveryFieldIsHashed(t *testing.T) {
	states.Check(t, reflect.TypeFor[world](), reflect.TypeFor[operator](), reflect.TypeFor[movesLeft](),
		reflect.TypeFor[v1alpha1.Mandate](), reflect.TypeFor[v1alpha1.MandateAction](),
		reflect.TypeFor[v1alpha1.ApplicationRecord](), reflect.TypeFor[v1alpha1.IdentityService](),
		reflect.TypeFor[corev1.Secret]())
}

// part is a world or an operator at a time: its hash by itself, and the names that tie it to the other parts.
type part struct {
	hash  uint64
	names []string
}

type partAt struct {
	of any // *world or *operator, neither of which changes once it is part of a state
	at time.Time
}

// part of a state. Most of what happens changes one of three.
func (x *explorer) part(of any, at time.Time) part {
	key := partAt{of, at}
	if known, ok := x.parts.Load(key); ok {
		return known.(part)
	}
	e := &explore.Encoding{Schema: states, Now: at}
	e.Any(of)
	p := part{maphash.Bytes(seed, e.Bytes), e.Names}
	x.parts.Store(key, p)
	return p
}

// hash of a state. The operators are alike, so their order does not count.
func (x *explorer) hash(s *state) uint64 {
	at := s.world.now
	w := x.part(s.world, at)
	a, b := x.part(s.ops[0], at), x.part(s.ops[1], at)
	return min(join(&s.budget, w, a, b), join(&s.budget, w, b, a))
}

func join(left *movesLeft, parts ...part) uint64 {
	e := &explore.Encoding{Schema: states}
	e.Any(left)
	for _, p := range parts {
		e.Number(int64(p.hash))
		for _, name := range p.names {
			e.Name(name)
		}
	}
	return maphash.Bytes(seed, e.Bytes)
}

// rest lets the operators work on without any more faults, until nothing changes any more. Then every action has ended,
// or waits for what is in its way. Most states come to rest by way of those that others have come by: these are not
// looked at again.
func (x *explorer) rest(s state) (state, string) {
	s = s.then("no more faults")
	s.budget = movesLeft{}
	if _, end := s.world.mayDecide(); end {
		s.world = s.world.clone()
		s.world.decide()
	}
	if s.ops[0].hangs(s.world) || s.ops[1].hangs(s.world) {
		s.world = s.world.after(aWhile)
	}
	var way []uint64
	for range 12 {
		at := x.hash(&s)
		if _, known := x.rested.Load(at); known {
			break
		}
		way = append(way, at)
		for i := range s.ops {
			for _, name := range append([]string{""}, x.scenario.actions...) {
				if wrong := x.reconcile(&s, i, name); wrong != "" {
					return s, wrong
				}
			}
		}
		s = s.then("a minute passes")
		s.world = s.world.after(time.Minute)
	}
	if wrong := x.waits(&s); wrong != "" && len(way) == 12 {
		return s, wrong
	}
	for _, at := range way {
		x.rested.Store(at, true)
	}
	return s, ""
}

// waits says which action is at rest, and should not be.
func (x *explorer) waits(s *state) string {
	for _, name := range x.scenario.actions {
		if a := s.world.action(name); a != nil && a.Status.CompletedTime == nil && !x.mayWait(s.world, a) {
			return fmt.Sprintf("A4: at rest, the action %s waits: %+v", name, a.Status.Conditions)
		}
	}
	return ""
}

// reconcile takes steps to the end of a reconciliation: of the one that the operator is in, without a name.
func (x *explorer) reconcile(s *state, i int, name string) string {
	switch {
	case name != "":
		s.ops[i] = s.ops[i].sees(s.world, "Mandate").sees(s.world, "MandateAction").
			sees(s.world, "IdentityService").connect(s.world)
	case s.ops[i].current == nil:
		return ""
	default:
		name = s.ops[i].current.action.Name
	}
	for range engine.MaxSteps {
		made := take(s.world, s.ops[i], name, faultNone)
		*s = s.then(fmt.Sprintf("operator %c %s", 'A'+i, made.what))
		s.world, s.ops[i] = made.world, made.operator
		if made.violation != "" {
			return made.violation
		}
		if wrong := wrongIn(s); wrong != "" || made.ended {
			return wrong
		}
	}
	return "A4: a reconciliation does not come to an end"
}

// mayWait reports whether something is in the way of an action, and its status says so.
func (x *explorer) mayWait(w *world, a *v1alpha1.MandateAction) bool {
	waits := meta.FindStatusCondition(a.Status.Conditions, v1alpha1.ConditionReconciling)
	m, r := w.mandate(), w.record()
	if waits == nil || m == nil || r != nil && w.wasSent(a) && !w.isRestored() {
		return false
	}
	switch waits.Reason {
	case v1alpha1.ReasonSuspended:
		return m.Spec.Suspend
	case v1alpha1.ReasonMandateNotReady:
		return m.Status.ApplicationID == nil
	case v1alpha1.ReasonRecordNotFound:
		return r == nil
	case v1alpha1.ReasonRecordRestored:
		return w.isRestored()
	case v1alpha1.ReasonAccountChanged:
		return w.isAway()
	case v1alpha1.ReasonIndividualsUnmatched:
		return w.isConfused()
	case v1alpha1.ReasonReportNotReady:
		return a.Spec.Type == v1alpha1.MandateActionDownloadReport
	}
	return false
}

func TestExplore(t *testing.T) {
	explore.Scenarios(t, scenarios(), func(of scenario) (*explore.Search[state], state) {
		return &newExplorer(of).Search, of.start()
	}, func(v *explore.Violation[state]) string { return v.What + "\n" + v.State.via.String() })
}
