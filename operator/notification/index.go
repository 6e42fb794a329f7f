package notification

import (
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/connection"
)

// Index finds the Mandates of a connection by what deliveries name. It follows the cache of Mandates, as a handler of
// its events. The indexes of the cache itself would take a set for each of the ids.
type Index struct {
	// changed is called, without a lock, with a Mandate that is found by something else than before.
	changed func(connection.Key, types.NamespacedName, terms)

	seed maphash.Seed
	mu   sync.RWMutex
	// connections that Mandates name. Ids of one service say nothing about another one.
	connections map[connection.Key]*connectionIndex
}

// connectionIndex has the Mandates of one connection.
type connectionIndex struct {
	// Applications and individuals may have the same ids.
	applications, individuals map[int64]*types.NamespacedName
	// references are by their hashes. That two have one costs a read.
	references map[uint64]*types.NamespacedName
	// waiting are those whose create had no answer so far.
	waiting map[types.NamespacedName]terms
}

// terms are what a Mandate is found by.
type terms struct {
	application int64 // 0: none
	individuals []int64
	reference   uint64 // 0: none
	waits       bool   // for an id
	since       time.Time
}

// NewIndex makes an empty Index.
func NewIndex() *Index {
	return &Index{
		changed: func(connection.Key, types.NamespacedName, terms) {},
		seed:    maphash.MakeSeed(), connections: map[connection.Key]*connectionIndex{},
	}
}

// termsOf a Mandate; none of a Mandate that is nil.
func (x *Index) termsOf(m *v1alpha1.Mandate) (t terms) {
	if m == nil {
		return t
	}
	t.reference = x.hash(m.Status.Reference)
	if m.Status.ApplicationID != nil {
		t.application = *m.Status.ApplicationID
	}
	for i := range m.Status.Individuals {
		if id := m.Status.Individuals[i].ID; id != 0 {
			t.individuals = append(t.individuals, id)
		}
	}
	// It does not wait if the application is gone, or is under another reference or at another service.
	created := meta.FindStatusCondition(m.Status.Conditions, v1alpha1.ConditionCreated)
	t.waits = m.Status.ApplicationID == nil && m.Status.Outcome == "" && created != nil &&
		created.Status == metav1.ConditionUnknown && created.Reason == v1alpha1.ReasonOutcomeUnknown &&
		!m.Spec.Suspend && m.Spec.Adopt == nil && m.DeletionTimestamp.IsZero()
	if t.waits {
		t.since = created.LastTransitionTime.Time
	}
	return t
}

// hash of a reference. Services change its letter case.
func (x *Index) hash(reference string) uint64 {
	if reference == "" {
		return 0
	}
	return max(maphash.String(x.seed, strings.ToLower(reference)), 1)
}

func (t terms) equal(other terms) bool {
	return t.application == other.application && t.reference == other.reference && t.waits == other.waits &&
		t.since.Equal(other.since) && slices.Equal(t.individuals, other.individuals)
}

// OnAdd implements the handler of events.
func (x *Index) OnAdd(object any, _ bool) { x.OnUpdate(nil, object) }

// OnUpdate implements the handler of events.
func (x *Index) OnUpdate(before, after any) {
	old, _ := before.(*v1alpha1.Mandate)
	mandate, _ := after.(*v1alpha1.Mandate)
	was, is := x.termsOf(old), x.termsOf(mandate)
	if old != nil && mandate != nil && was.equal(is) && connection.KeyOf(old) == connection.KeyOf(mandate) {
		return
	}
	x.mu.Lock()
	if old != nil {
		x.remove(connection.KeyOf(old), client.ObjectKeyFromObject(old), was)
	}
	if mandate != nil {
		x.add(connection.KeyOf(mandate), client.ObjectKeyFromObject(mandate), is)
	}
	x.mu.Unlock()
	if mandate != nil {
		x.changed(connection.KeyOf(mandate), client.ObjectKeyFromObject(mandate), is)
	}
}

// OnDelete implements the handler of events.
func (x *Index) OnDelete(object any) {
	if unseen, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
		object = unseen.Obj
	}
	x.OnUpdate(object, nil)
}

func (x *Index) add(key connection.Key, name types.NamespacedName, t terms) {
	of := x.connections[key]
	if of == nil {
		of = &connectionIndex{
			applications: map[int64]*types.NamespacedName{}, individuals: map[int64]*types.NamespacedName{},
			references: map[uint64]*types.NamespacedName{}, waiting: map[types.NamespacedName]terms{},
		}
		x.connections[key] = of
	}
	if t.application != 0 {
		of.applications[t.application] = &name
	}
	for _, id := range t.individuals {
		of.individuals[id] = &name
	}
	if t.reference != 0 && (t.application != 0 || t.waits) {
		of.references[t.reference] = &name
	}
	if t.waits {
		of.waiting[name] = t
	}
}

func (x *Index) remove(key connection.Key, name types.NamespacedName, t terms) {
	of := x.connections[key]
	if of == nil {
		return
	}
	removeOwn(of.applications, t.application, name)
	for _, id := range t.individuals {
		removeOwn(of.individuals, id, name)
	}
	removeOwn(of.references, t.reference, name)
	delete(of.waiting, name)
	if len(of.applications)+len(of.individuals)+len(of.references)+len(of.waiting) == 0 {
		delete(x.connections, key)
	}
}

// removeOwn removes what is about a Mandate, and not what is about another one that has the same.
func removeOwn[K comparable](from map[K]*types.NamespacedName, key K, name types.NamespacedName) {
	if found := from[key]; found != nil && *found == name {
		delete(from, key)
	}
}

// of gives the index of a connection, which is not changed.
func (x *Index) of(key connection.Key) connectionIndex {
	if of := x.connections[key]; of != nil {
		return *of
	}
	return connectionIndex{}
}

func (c *connectionIndex) waits(name types.NamespacedName) bool {
	_, waits := c.waiting[name]
	return waits
}

// match is what a delivery is about.
type match struct {
	// mandates whose applications are to be read.
	mandates []types.NamespacedName
	// unknown are ids that may be those of applications whose create had no answer.
	unknown []int64
	// references are the hashes of all texts.
	references []uint64
}

// match finds what the candidates of a delivery for a connection are about. Deliveries have all kinds of other numbers,
// such as the id of the event. Where one is certainly the id of an application by its names, no other one counts, and
// where something else is known, the id of the delivery does not. Applications and individuals may have the same ids,
// so only names tell that a number is an individual's.
func (x *Index) match(key connection.Key, candidates []Candidate) (m match) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	of := x.of(key)
	best, known := placeOther, placeOther // the places of the likeliest number, and of the likeliest that is known
	for _, c := range candidates {
		application, individual := of.applications[c.Number], of.individuals[c.Number]
		hash := x.hash(c.Text)
		named := of.references[hash]
		if named != nil && of.waits(*named) {
			named = nil // there is no id to read
		}
		for _, name := range []*types.NamespacedName{application, individual, named} {
			if name != nil && !slices.Contains(m.mandates, *name) {
				m.mandates = append(m.mandates, *name)
			}
		}
		m.references = append(m.references, hash)
		if c.Number != 0 {
			best = min(best, c.place)
		}
		switch {
		case named != nil, individual != nil && c.ofIndividual:
			known = placeApplication
		case application != nil:
			known = min(known, c.place)
		}
	}
	for _, c := range candidates {
		likely := c.place == placeApplication || best != placeApplication && c.place < placeReference && known >= c.place
		if c.Number != 0 && likely && of.applications[c.Number] == nil {
			m.unknown = append(m.unknown, c.Number)
		}
	}
	return m
}

// isKnown reports whether an id is that of an application that a Mandate of one of some connections has.
func (x *Index) isKnown(id int64, keys []connection.Key) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return slices.ContainsFunc(keys, func(key connection.Key) bool { return x.of(key).applications[id] != nil })
}

// waiters are the Mandates of some connections that wait for an id.
type waiters struct {
	any        bool
	since      time.Time // when the first of those began to wait that did so lately; 0 if none did
	references map[uint64]bool
}

// waiting gives those of some connections. Lately is after some time.
func (x *Index) waiting(keys []connection.Key, lately time.Time) waiters {
	x.mu.RLock()
	defer x.mu.RUnlock()
	w := waiters{references: map[uint64]bool{}}
	for _, key := range keys {
		for _, t := range x.of(key).waiting {
			w.any, w.references[t.reference] = true, true
			if t.since.After(lately) && (w.since.IsZero() || t.since.Before(w.since)) {
				w.since = t.since
			}
		}
	}
	return w
}
