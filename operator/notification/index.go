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
	// changed is called, without a lock, with what a Mandate was not found by before; with nothing if it is gone.
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
	waiting map[types.NamespacedName]search
}

// search is how a Mandate looks for its application.
type search struct {
	since time.Time
	// blocked: it cannot read any now, because its namespace or its reference is not allowed.
	blocked bool
}

// terms are what a Mandate is found by.
type terms struct {
	application int64 // 0: none
	individuals []int64
	reference   uint64 // 0: none
	awaitsID    bool
	search      search // if awaitsID
}

// NewIndex makes an empty Index.
func NewIndex() *Index {
	return &Index{
		changed: func(connection.Key, types.NamespacedName, terms) {},
		seed:    maphash.MakeSeed(), connections: map[connection.Key]*connectionIndex{},
	}
}

// termsOf a Mandate.
func (x *Index) termsOf(m *v1alpha1.Mandate) terms {
	t := terms{reference: x.hash(m.Status.Reference), awaitsID: awaitsID(m)}
	if t.awaitsID {
		t.search = searchOf(m)
	}
	if m.Status.ApplicationID != nil {
		t.application = *m.Status.ApplicationID
	}
	for i := range m.Status.Individuals {
		if id := m.Status.Individuals[i].ID; id != 0 {
			t.individuals = append(t.individuals, id)
		}
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

// awaitsID reports whether a Mandate may have an application whose id is lost, and looks for it. It does not if the
// application is gone, or is under another reference or at another service.
func awaitsID(m *v1alpha1.Mandate) bool {
	created := meta.FindStatusCondition(m.Status.Conditions, v1alpha1.ConditionCreated)
	lost := m.Status.ApplicationID == nil && m.Status.Outcome == "" && created != nil &&
		created.Status == metav1.ConditionUnknown && created.Reason == v1alpha1.ReasonOutcomeUnknown
	return lost && !m.Spec.Suspend && m.Spec.Adopt == nil && m.DeletionTimestamp.IsZero()
}

func searchOf(m *v1alpha1.Mandate) search {
	var s search
	if created := meta.FindStatusCondition(m.Status.Conditions, v1alpha1.ConditionCreated); created != nil {
		s.since = created.LastTransitionTime.Time
	}
	if ready := meta.FindStatusCondition(m.Status.Conditions, v1alpha1.ConditionReady); ready != nil {
		blocking := []string{v1alpha1.ReasonIdentityServiceNotAllowed, v1alpha1.ReasonReferenceNotAllowed}
		s.blocked = slices.Contains(blocking, ready.Reason)
	}
	return s
}

func (t terms) equal(other terms) bool {
	return t.application == other.application && t.reference == other.reference && t.awaitsID == other.awaitsID &&
		t.search == other.search && slices.Equal(t.individuals, other.individuals)
}

// OnAdd implements the handler of events.
func (x *Index) OnAdd(object any, _ bool) {
	if mandate, ok := object.(*v1alpha1.Mandate); ok {
		x.replace(nil, mandate)
	}
}

// OnUpdate implements the handler of events.
func (x *Index) OnUpdate(before, after any) {
	old, ok := before.(*v1alpha1.Mandate)
	mandate, okay := after.(*v1alpha1.Mandate)
	if ok && okay {
		x.replace(old, mandate)
	}
}

// OnDelete implements the handler of events.
func (x *Index) OnDelete(object any) {
	if unseen, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
		object = unseen.Obj
	}
	if mandate, ok := object.(*v1alpha1.Mandate); ok {
		x.replace(mandate, nil)
	}
}

// replace takes a Mandate in place of what it was; nil is none.
func (x *Index) replace(before, after *v1alpha1.Mandate) {
	var was, is terms
	if before != nil {
		was = x.termsOf(before)
	}
	if after != nil {
		is = x.termsOf(after)
	}
	if before != nil && after != nil && was.equal(is) && connection.KeyOf(before) == connection.KeyOf(after) {
		return
	}
	x.mu.Lock()
	if before != nil {
		x.remove(connection.KeyOf(before), client.ObjectKeyFromObject(before), was)
	}
	if after != nil {
		x.add(connection.KeyOf(after), client.ObjectKeyFromObject(after), is)
	}
	x.mu.Unlock()
	if before != nil && (after == nil || connection.KeyOf(before) != connection.KeyOf(after)) {
		x.changed(connection.KeyOf(before), client.ObjectKeyFromObject(before), terms{})
	}
	if after != nil {
		x.changed(connection.KeyOf(after), client.ObjectKeyFromObject(after), is)
	}
}

func (x *Index) add(key connection.Key, name types.NamespacedName, t terms) {
	of := x.connections[key]
	if of == nil {
		of = &connectionIndex{
			applications: map[int64]*types.NamespacedName{}, individuals: map[int64]*types.NamespacedName{},
			references: map[uint64]*types.NamespacedName{}, waiting: map[types.NamespacedName]search{},
		}
		x.connections[key] = of
	}
	if t.application != 0 {
		of.applications[t.application] = &name
	}
	for _, id := range t.individuals {
		of.individuals[id] = &name
	}
	// The reference alone finds nobody: a delivery that comes while the create is under way is remembered for the time
	// when its answer is lost.
	if t.reference != 0 && (t.application != 0 || t.awaitsID) {
		of.references[t.reference] = &name
	}
	if t.awaitsID {
		of.waiting[name] = t.search
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
