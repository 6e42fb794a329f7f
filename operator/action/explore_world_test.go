package action

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/test/explore"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/ledger"
)

// The explorer runs the real decide, the real steps of a reconciliation and the real ledger against a world in memory,
// and tries everything that two operators, their environment and their users can do, in every sequence.

// world is what the operators share: the API server's objects, by kind and name, and what the service did.
type world struct {
	now      time.Time
	objects  map[string]client.Object
	revision int
	uids     int
	requests []request
	// credentials are those in the Secret of the connection, and proofs the status.sameAccounts of the service.
	credentials [32]byte
	proofs      []v1alpha1.SameAccount
	silent      bool // away from home, no references and no addresses are shown
	renumbered  bool // at home, jane is shown with another id
	// begun is when the last call was begun.
	begun time.Time
	// backup is the record of an older backup: of the beginning, if nobody has made another one.
	backup *v1alpha1.ApplicationRecord
}

// request is one that the service carried out: an individual was e-mailed.
type request struct {
	Action string
	UID    types.UID
}

const (
	namespace     = "team"
	mandateName   = "acme"
	mandateKey    = "Mandate/" + mandateName
	recordKey     = "ApplicationRecord/" + mandateName
	applicationID = 4711
	janeID        = 71
	johnID        = 72
)

func newWorld() *world {
	w := &world{now: now, objects: map[string]client.Object{}}
	w.addServices()
	w.addSecrets(false)
	w.addRecord()
	w.backup = w.record()
	w.addMandate(services[0])
	w.bind()
	return w
}

// addRecord adds the record as it is before any action.
func (w *world) addRecord() {
	record := &v1alpha1.ApplicationRecord{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: mandateName},
		Spec: v1alpha1.ApplicationRecordSpec{
			Reference: mandateName, ApplicationID: new(int64(applicationID)),
			ServiceURL: firstURL, Account: string(accountOf(firstURL, [32]byte{})),
			Individuals: []v1alpha1.RecordedIndividual{{Name: "jane", ID: janeID}, {Name: "john", ID: johnID}},
		},
	}
	w.add(record)
	record.Spec.RecordUID = record.UID // as of the write that bound the application
}

func (w *world) addMandate(service string) {
	details := func(name string) v1alpha1.Individual {
		return v1alpha1.Individual{Name: name, DetailsSecretRef: &v1alpha1.SecretReference{Name: name}}
	}
	w.add(&v1alpha1.Mandate{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: mandateName},
		Spec: v1alpha1.MandateSpec{
			ServiceRef:  v1alpha1.IdentityServiceReference{Name: service},
			Individuals: []v1alpha1.Individual{details("jane"), details("john")},
		},
	})
}

// bind writes the status of the Mandate, as its controller does.
func (w *world) bind() {
	w.editMandate(func(m *v1alpha1.Mandate) {
		m.Status.ApplicationID, m.Status.Reference = new(int64(applicationID)), mandateName
		m.Status.Individuals = []v1alpha1.IndividualStatus{{Name: "jane", ID: janeID}, {Name: "john", ID: johnID}}
	})
}

func (w *world) mandate() *v1alpha1.Mandate {
	m, _ := w.objects[mandateKey].(*v1alpha1.Mandate)
	return m
}

func (w *world) record() *v1alpha1.ApplicationRecord {
	r, _ := w.objects[recordKey].(*v1alpha1.ApplicationRecord)
	return r
}

func (w *world) action(name string) *v1alpha1.MandateAction {
	a, _ := w.objects["MandateAction/"+name].(*v1alpha1.MandateAction)
	return a
}

func (w *world) editMandate(change func(*v1alpha1.Mandate)) {
	m := w.mandate().DeepCopy()
	spec := m.Spec.DeepCopy()
	change(m)
	if spec.Suspend != m.Spec.Suspend {
		m.Generation++
	}
	w.put(m)
}

// decide begins a call that the Mandate orders, and ends it when it is under way, as the controller of Mandates does.
func (w *world) decide() {
	r := w.record().DeepCopy()
	if open := ledger.Open(r); open != nil {
		open.Result = v1alpha1.CallDone
	} else {
		call := ledger.New(v1alpha1.CallComplete, w.now)
		call.Seq = int32(len(r.Spec.Calls)) + 1
		r.Spec.Calls = append(r.Spec.Calls, call)
	}
	w.put(r)
}

// mayDecide reports whether a call of the Mandate can begin, or end.
func (w *world) mayDecide() (begin, end bool) {
	if w.record() == nil {
		return false, false
	}
	open := ledger.Open(w.record())
	return open == nil, open != nil && open.Kind == v1alpha1.CallComplete
}

// restore makes the record of the backup anew, as another object.
func (w *world) restore() {
	w.add(w.backup.DeepCopy())
}

// isRestored reports whether the record may lack what was sent.
func (w *world) isRestored() bool {
	r := w.record()
	return r != nil && r.Spec.RecordUID != r.UID
}

func (w *world) clone() *world {
	c := *w
	c.objects = maps.Clone(w.objects)
	c.requests = slices.Clone(w.requests)
	return &c
}

// operator is one process: what its caches show, what it remembers, and the reconciliation that it is in.
type operator struct {
	cache      map[string]client.Object
	localState map[string]remembered // by the name of the action
	current    *reconciliation       // nil: between two reconciliations
	looked     map[string]client.Object
	lookedAt   time.Time
	// decided is when it decided what it does next, if time has passed since, and answered when the answer to its last
	// request comes, if that is slow.
	decided, answered time.Time
	// connections are those to the services, by their names, and site is where the client of current leads.
	connections map[string]connection.Connection
	site        site
}

type remembered struct {
	UID   types.UID
	Value localState
}

func started(w *world) *operator {
	o := &operator{cache: w.objects, localState: map[string]remembered{}}
	return o.connect(w)
}

// sees is an operator whose cache of one kind has caught up.
func (o *operator) sees(w *world, kind string) *operator {
	c := *o
	c.cache = maps.Clone(o.cache)
	ofKind := func(key string, _ client.Object) bool { return strings.HasPrefix(key, kind+"/") }
	maps.DeleteFunc(c.cache, ofKind)
	for key, object := range w.objects {
		if ofKind(key, object) {
			c.cache[key] = object
		}
	}
	return &c
}

// isBehind reports whether the cache of a kind is stale.
func (o *operator) isBehind(w *world, kind string) bool {
	return !maps.Equal(o.sees(w, kind).cache, o.cache)
}

// state is one point of an exploration.
type state struct {
	world  *world
	ops    [2]*operator
	budget movesLeft
	via    *explore.Trace
}

func (s *state) then(what string) state {
	next := *s
	next.via = s.via.Then(what)
	return next
}

// wrongIn holds a state to what must be so in every state; "" if it is. What a request must find is checked where it
// would happen: in fakeService.
func wrongIn(s *state) string {
	sent := map[string]int{}
	for _, r := range s.world.requests {
		sent[r.Action]++
		if sent[r.Action] > 1 {
			return "A1: an individual was e-mailed twice for the action " + r.Action
		}
		if s.world.record() != nil && !s.world.isRestored() && !s.world.remembers(r.Action) {
			return "A1: the log does not say that the action " + r.Action + " may have been carried out"
		}
	}
	for _, name := range names {
		if a := s.world.action(name); a != nil {
			if wrong := untrueOf(a, s.world.wasSent(a)); wrong != "" {
				return "A3: the action " + name + " " + wrong
			}
		}
	}
	return ""
}

// remembers reports whether the log says that the request of an action may have been carried out.
func (w *world) remembers(name string) bool {
	return ledger.Find(w.record(), func(c *v1alpha1.Call) bool { return c.Name == name && !didNothing(c) }) != nil
}

// didNothing reports whether the log says that no request of a call was carried out.
func didNothing(c *v1alpha1.Call) bool {
	return slices.Contains([]v1alpha1.CallResult{
		v1alpha1.CallNotSent, v1alpha1.CallRefused, v1alpha1.CallForbidden,
	}, c.Result)
}

// wasSent reports whether an object has e-mailed its individual.
func (w *world) wasSent(a *v1alpha1.MandateAction) bool {
	return slices.ContainsFunc(w.requests, func(r request) bool { return r.UID == a.UID })
}

// untrueOf says what a status says that is not so.
func untrueOf(a *v1alpha1.MandateAction, sent bool) string {
	complete := meta.FindStatusCondition(a.Status.Conditions, v1alpha1.ConditionComplete)
	failed := meta.FindStatusCondition(a.Status.Conditions, v1alpha1.ConditionFailed)
	waits := meta.FindStatusCondition(a.Status.Conditions, v1alpha1.ConditionReconciling)
	email := a.Spec.Type != v1alpha1.MandateActionDownloadReport
	switch ended := a.Status.CompletedTime != nil; {
	case complete != nil && failed != nil, ended != (complete != nil || failed != nil), ended && waits != nil:
		return fmt.Sprintf("has not exactly one end: %+v", a.Status.Conditions)
	case failed != nil && failed.Reason != v1alpha1.ReasonOutcomeUnknown && sent:
		return "says " + failed.Reason + ", but the individual was e-mailed"
	case complete != nil && complete.Reason == v1alpha1.ReasonCarriedOut && email && !sent:
		return "says that it was carried out, but nobody was e-mailed"
	case complete != nil && complete.Reason == v1alpha1.ReasonAlreadyDone && sent:
		return "says that another one was carried out, but it was itself"
	}
	return ""
}
