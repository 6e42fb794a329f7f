package notification

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"maps"
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

// Index finds the Mandates of a connection by what deliveries name, and remembers the ids that no Mandate has. It is a
// handler of the events of Mandates. The indexes of their cache would take a set for each of the ids.
type Index struct {
	// changed is called, with the lock, with the Mandate whose application was named before the Mandate had it, and with
	// the connections whose ids may be those that a Mandate waits for from now on.
	changed func(hint)

	seed     maphash.Seed
	mu       sync.Mutex
	mandates map[uint64]*types.NamespacedName // by the hashes of their ids and references: an equal one costs a read
	waiting  map[types.NamespacedName]entry   // those whose create had no answer so far
	unknown  map[connection.Key][]*unknownID
}

// entry is what is known of a Mandate.
type entry struct {
	hint
	hashes      []uint64
	application int64     // 0: none
	waits       bool      // for an id
	reference   uint64    // its hash
	since       time.Time // when it began to wait
}

// anyConnection is that of the hashes of references that Mandates wait with: those of an account may have several.
var anyConnection connection.Key

// NewIndex makes an empty Index.
func NewIndex() *Index {
	return &Index{
		changed: func(hint) {}, seed: maphash.MakeSeed(), mandates: map[uint64]*types.NamespacedName{},
		waiting: map[types.NamespacedName]entry{}, unknown: map[connection.Key][]*unknownID{},
	}
}

// hash of what a delivery for a connection may name, an id or a text: an id of one service says nothing about another
// one. Applications and individuals may have the same ids. Services change the letter case of references.
func (x *Index) hash(key connection.Key, by place, named any) uint64 {
	return maphash.Comparable(x.seed, struct {
		key  connection.Key
		by   place
		text string
	}{key, by, strings.ToLower(fmt.Sprint(named))})
}

// entryOf a Mandate; none of anything else.
func (x *Index) entryOf(object any) (e entry) {
	m, ok := object.(*v1alpha1.Mandate)
	if !ok {
		return e
	}
	e.hint = hint{connection.KeyOf(m), client.ObjectKeyFromObject(m)}
	if m.Status.ApplicationID != nil {
		e.application = *m.Status.ApplicationID
		e.hashes = append(e.hashes, x.hash(e.service, placeApplication, e.application),
			x.hash(e.service, placeReference, m.Status.Reference))
	}
	for i := range m.Status.Individuals {
		if id := m.Status.Individuals[i].ID; id != 0 {
			e.hashes = append(e.hashes, x.hash(e.service, placeIndividual, id))
		}
	}
	// It does not wait if the application is gone, or is under another reference or at another service.
	created := meta.FindStatusCondition(m.Status.Conditions, v1alpha1.ConditionCreated)
	e.waits = m.Status.ApplicationID == nil && m.Status.Outcome == "" && created != nil &&
		created.Status == metav1.ConditionUnknown && created.Reason == v1alpha1.ReasonOutcomeUnknown &&
		!m.Spec.Suspend && m.Spec.Adopt == nil && m.DeletionTimestamp.IsZero()
	if e.waits {
		e.reference, e.since = x.hash(anyConnection, placeReference, m.Status.Reference), created.LastTransitionTime.Time
	}
	return e
}

// OnAdd implements the handler of events.
func (x *Index) OnAdd(object any, _ bool) { x.OnUpdate(nil, object) }

// OnDelete implements the handler of events.
func (x *Index) OnDelete(object any) {
	if unseen, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
		object = unseen.Obj
	}
	x.OnUpdate(object, nil)
}

// OnUpdate implements the handler of events.
func (x *Index) OnUpdate(before, after any) {
	was, is := x.entryOf(before), x.entryOf(after)
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, hash := range was.hashes {
		if found := x.mandates[hash]; found != nil && *found == was.mandate { // and not another one that has the same
			delete(x.mandates, hash)
		}
	}
	name := is.mandate
	for _, hash := range is.hashes {
		x.mandates[hash] = &name
	}
	delete(x.waiting, was.mandate)
	if is.waits {
		x.waiting[is.mandate] = is
	}
	if is.application != was.application && x.remembers(is.service, is.application) {
		x.changed(is.hint)
	}
	if is.waits && !was.waits {
		for key := range x.unknown {
			x.changed(hint{service: key})
		}
	}
}

// match finds the Mandates whose applications are to be read because of the candidates of a delivery, and remembers the
// ids that may be those of others. Deliveries have all kinds of other numbers, such as the id of the event. Where one
// is certainly the id of an application by its names, no other one counts, and where something else is known, the id of
// the delivery does not.
func (x *Index) match(key connection.Key, candidates []Candidate) (mandates []types.NamespacedName, unknown []int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	find := func(by place, text string) *types.NamespacedName { return x.mandates[x.hash(key, by, text)] }
	last := placeID // of the ids that count
	var references []uint64
	for _, c := range candidates {
		application, individual := find(placeApplication, c.Text), find(placeIndividual, c.Text)
		reference := find(placeReference, c.Text)
		for _, name := range []*types.NamespacedName{application, individual, reference} {
			if name != nil && !slices.Contains(mandates, *name) {
				mandates = append(mandates, *name)
			}
		}
		switch {
		case c.Number != 0 && c.place == placeApplication, reference != nil,
			individual != nil && c.place == placeIndividual:
			last = placeApplication
		case application != nil:
			last = min(last, c.place)
		}
		references = append(references, x.hash(anyConnection, placeReference, c.Text))
	}
	for _, c := range candidates {
		if c.Number != 0 && c.place <= last && find(placeApplication, c.Text) == nil {
			unknown = append(unknown, c.Number)
		}
	}
	x.remember(key, unknown, references)
	return mandates, unknown
}

// A delivery may come before the status of the Mandate has the id: the service notifies before its answer to the create
// has arrived. Or that answer is lost, and the Mandate does not say so yet.

const (
	// maxUnknown is how many ids of a connection are remembered, and unknownTTL for how long. With fifty a second, these
	// are those of twenty seconds: a create fails after twelve. All connections share less than ten megabytes.
	maxUnknown, unknownTTL = 1024, 10 * time.Minute
	maxUnknownInAll        = 16 * maxUnknown
)

// unknownID is an id that a delivery named and no Mandate had.
type unknownID struct {
	id         int64
	at         time.Time
	references []uint64 // the hashes of all texts that came with it
	written    bool     // onto the service
}

// remember keeps the ids of a delivery. The more connections have some, the fewer each may have. It is called with the
// lock, as recent and remembers are.
func (x *Index) remember(key connection.Key, ids []int64, references []uint64) {
	if len(ids) == 0 {
		return
	}
	all := x.recent(key)
	if len(all) == 0 {
		maps.DeleteFunc(x.unknown, func(key connection.Key, _ []*unknownID) bool { return len(x.recent(key)) == 0 })
	}
	for _, id := range ids {
		if !slices.ContainsFunc(all, func(u *unknownID) bool { return u.id == id && !u.written }) {
			all = append(all, &unknownID{id: id, at: time.Now(), references: references})
		}
	}
	share := min(maxUnknown, max(maxUnknownInAll/(len(x.unknown)+1), 1))
	x.unknown[key] = all[max(len(all)-share, 0):]
}

// recent gives the ids of a connection that are remembered, the latest ones last.
func (x *Index) recent(key connection.Key) []*unknownID {
	all := x.unknown[key]
	for len(all) > 0 && time.Since(all[0].at) >= unknownTTL {
		all = all[1:]
	}
	return all
}

// remembers reports whether a delivery named an application lately.
func (x *Index) remembers(key connection.Key, id int64) bool {
	return slices.ContainsFunc(x.recent(key), func(u *unknownID) bool { return u.id == id })
}

// toWrite gives the ids of a connection that are to be written onto its service, beside those that it has, if a Mandate
// of its account waits for one. Those that came with the reference of such a Mandate are first. Then come those that
// came at about the time of the first answer that was lost lately, because more may come than can be read.
func (x *Index) toWrite(key connection.Key, account peers, has []int64) (ids []*unknownID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	around, references := time.Now(), map[uint64]bool{}
	for _, e := range x.waiting {
		if account[e.service] != nil {
			references[e.reference] = true
			if time.Since(e.since) < unknownTTL && e.since.Before(around) {
				around = e.since
			}
		}
	}
	if len(references) == 0 {
		return nil
	}
	for _, u := range x.recent(key) {
		u.written = u.written || slices.Contains(has, u.id)
		for key := range account {
			u.written = u.written || x.mandates[x.hash(key, placeApplication, u.id)] != nil
		}
		if !u.written {
			ids = append(ids, u)
		}
	}
	distance := func(u *unknownID) time.Duration {
		if slices.ContainsFunc(u.references, func(hash uint64) bool { return references[hash] }) {
			return -1
		}
		return u.at.Sub(around).Abs()
	}
	slices.SortStableFunc(ids, func(a, b *unknownID) int { return cmp.Compare(distance(a), distance(b)) })
	return ids
}

// wrote says whether the service has some ids now. Those that the API server has not taken are kept until it does.
func (x *Index) wrote(ids []*unknownID, accepted bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, u := range ids {
		u.written = accepted
		if !accepted {
			u.at = time.Now()
		}
	}
}
