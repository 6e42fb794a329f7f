package mandate

import (
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/test/explore"
	"github.com/mandate-io/idv/operator/ledger"
)

// Two states are the same if they differ only in details that have no effect, which states lists. The hash has 64 bits:
// among ten million states, the chance that two share one is one in a hundred thousand.

var seed = maphash.MakeSeed()

// part is the hash of a world or an operator by itself, and what ties it to the other parts.
type part struct {
	hash   uint64
	nonces []string
	copies []versioned // of an operator
}

// versioned is a copy of an object: is it still the live one?
type versioned struct {
	kind, name, version string
	uid                 types.UID
}

const (
	newInStep = "each step has a new one"
	onlyName  = "it is a name that was made up: whether a copy is the live one is in copies"
	forPeople = "it is for people, and nothing is decided by it"
	anyTime   = "any time can pass between two reconciliations"
)

// states is everything that a state consists of, but for these.
var states = explore.NewSchema(map[string]explore.Field{
	"v1.ObjectMeta.ResourceVersion":            explore.LeftOut(onlyName),
	"v1.ObjectMeta.ManagedFields":              explore.LeftOut("nobody writes it here"),
	"v1.ObjectMeta.Annotations":                {Why: "one of them is a nonce", Write: writeAnnotations},
	"v1alpha1.Call.Nonce":                      explore.Renamed("it is random"),
	"v1alpha1.Call.EndedTime":                  explore.LeftOut("it is for people"),
	"v1alpha1.Call.Generation":                 explore.LeftOut("it is for people"),
	"engine.FirstSeen.Attempt":                 explore.Renamed("it is a nonce"),
	"mandate.localState.unsent":                explore.Renamed("it is a nonce"),
	"mandate.reconciliation.nonce":             explore.Renamed("it is a nonce"),
	"v1alpha1.ApplicationRecord.ObjectMeta":    {Why: "its UID is a name that was made up", Write: writeNamed},
	"v1alpha1.ApplicationRecordSpec.RecordUID": explore.Renamed("it is a UID"),

	"mandate.world.revision": explore.LeftOut("it makes names up"),
	"mandate.world.uids":     explore.LeftOut("it makes names up"),
	"mandate.world.nonces":   explore.LeftOut("it makes names up"),

	"mandate.reconciliation.Reconciler":   explore.LeftOut("each step has a new one, made from the operator"),
	"mandate.reconciliation.client":       explore.LeftOut(newInStep),
	"mandate.reconciliation.permit":       explore.LeftOut("nothing is waited for here"),
	"mandate.reconciliation.deadline":     explore.LeftOut("no time passes within a reconciliation but by a move"),
	"mandate.subscriber.retryAfter":       explore.LeftOut(anyTime),
	"mandate.scope.sharedDependencies":    explore.LeftOut(newInStep),
	"mandate.reconciliation.deleter":      explore.LeftOut("it has no state"),
	"mandate.reconciliation.observer":     explore.LeftOut("it has no state between steps"),
	"mandate.creator.scope":               explore.LeftOut(newInStep),
	"mandate.creator.creatorDependencies": explore.LeftOut(newInStep),
	"mandate.actor.scope":                 explore.LeftOut(newInStep),
	"mandate.actor.client":                explore.LeftOut(newInStep),
	"mandate.subscriber.scope":            explore.LeftOut(newInStep),
	"mandate.subscriber.client":           explore.LeftOut(newInStep),
	"mandate.subscriber.live":             explore.LeftOut(newInStep),
	"mandate.facts.now":                   explore.LeftOut("it is always the present"),
	"mandate.facts.problems":              explore.LeftOut(forPeople),
	"mandate.localState.refused":          explore.LeftOut(forPeople),
	"mandate.localState.unstable":         explore.LeftOut(forPeople),
	"v1alpha1.MandateStatus.Problems":     explore.LeftOut(forPeople),

	"mandate.localState.readAt":          explore.LeftOut(anyTime + ": resume resets it"),
	"mandate.localState.due":             explore.LeftOut("only a metric reads it"),
	"mandate.localState.decidable":       explore.LeftOut("only a metric reads it"),
	"mandate.localState.failures":        {Why: "beyond the threshold, only pauses get longer", Write: writeFailures},
	"mandate.evidenceFacts.since":        {Why: "only whether a rule has held for long", Write: writeHeld},
	"mandate.knownSubscription.failures": explore.LeftOut(anyTime),

	"connection.Connection.Client":     explore.LeftOut(newInStep),
	"connection.Connection.Account":    explore.LeftOut("it is made from the credentials"),
	"connection.Connection.References": explore.LeftOut("they never change here"),
	"connection.Connection.Mandates":   explore.LeftOut(newInStep),
	"connection.Connection.Actions":    explore.LeftOut(newInStep),
	"engine.Session.Slot":              explore.LeftOut("no step ends with one"),
})

func writeNamed(e *explore.Encoding, v reflect.Value) {
	meta := v.Interface().(metav1.ObjectMeta)
	e.Name(string(meta.UID))
	meta.UID = ""
	e.Any(&meta)
}

func writeAnnotations(e *explore.Encoding, v reflect.Value) {
	annotations := v.Interface().(map[string]string)
	archiving, marked := annotations[v1alpha1.ArchivingAnnotation]
	if marked {
		annotations = maps.Clone(annotations)
		delete(annotations, v1alpha1.ArchivingAnnotation)
	}
	e.Name(archiving)
	e.Any(&annotations)
}

func writeFailures(e *explore.Encoding, v reflect.Value) { e.Number(min(v.Int(), failureThreshold)) }

func writeHeld(e *explore.Encoding, v reflect.Value) {
	e.Number(int64(min(now.Sub(v.Interface().(time.Time)), 10*time.Minute) / time.Minute))
}

func TestEveryFieldIsHashed(t *testing.T) {
	states.Check(t, reflect.TypeFor[world](), reflect.TypeFor[operator](), reflect.TypeFor[movesLeft]())
}

var buffers = sync.Pool{New: func() any { return new([]byte) }}

func hashOf(what any) part {
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	e := &explore.Encoding{Schema: states, Now: now, Bytes: (*buffer)[:0]}
	e.Any(what)
	*buffer = e.Bytes
	return part{hash: maphash.Bytes(seed, e.Bytes), nonces: e.Names}
}

func (w *world) part() part { return hashOf(w) }

func (o *operator) part() part {
	p := hashOf(o)
	for _, name := range sorted(o.mandates) {
		p.copies = append(p.copies, versioned{"mandate", name, o.mandates[name].ResourceVersion, ""})
	}
	if current := o.current; current != nil {
		p.copies = append(p.copies, versioned{"mandate", current.mandate.Name, current.mandate.ResourceVersion, ""})
		if r := current.record; r != nil {
			p.copies = append(p.copies, versioned{"record", r.Name, r.ResourceVersion, r.UID})
		}
	}
	return p
}

// still reports whether the object that a copy was made of is the live one, and whether it has changed since.
func (v versioned) still(w *world) byte {
	if v.kind == "mandate" {
		live := w.mandates[v.name]
		return map[bool]byte{true: 1}[live != nil && live.ResourceVersion == v.version]
	}
	live := w.records[v.name]
	switch {
	case live == nil || live.UID != v.uid:
		return 0
	case live.ResourceVersion != v.version:
		return 1
	default:
		return 2
	}
}

// join makes the hash of a state out of those of its parts.
func join(w *world, parts ...part) uint64 {
	var buffer [256]byte
	bytes := buffer[:0]
	var names []string
	for _, p := range parts {
		bytes = binary.LittleEndian.AppendUint64(bytes, p.hash)
		for _, nonce := range p.nonces {
			i := slices.Index(names, nonce)
			if i < 0 {
				i, names = len(names), append(names, nonce)
			}
			bytes = append(bytes, byte(i))
		}
		for _, c := range p.copies {
			bytes = append(bytes, c.still(w))
		}
	}
	return maphash.Bytes(seed, bytes)
}

// rename gives the nonces that a step has made up names in the order of creation, so that a run is like the one before.
func rename(w *world, o *operator) {
	names := map[string]string{}
	renamed := func(r *v1alpha1.ApplicationRecord) *v1alpha1.ApplicationRecord {
		isNew := func(c *v1alpha1.Call) bool { return names[c.Nonce] != "" }
		if ledger.Find(r, isNew) == nil {
			return r
		}
		r = r.DeepCopy()
		for i := range r.Spec.Calls {
			c := &r.Spec.Calls[i]
			c.Nonce = cmp.Or(names[c.Nonce], c.Nonce)
		}
		return r
	}
	remarked := func(m *v1alpha1.Mandate) *v1alpha1.Mandate {
		name := names[m.Annotations[v1alpha1.ArchivingAnnotation]]
		if name == "" {
			return m
		}
		m = m.DeepCopy()
		m.Annotations[v1alpha1.ArchivingAnnotation] = name
		return m
	}
	find := func(nonce string) {
		if len(nonce) == len("01234567-89ab-cdef-0123-456789abcdef") && names[nonce] == "" {
			w.nonces++
			names[nonce] = "nonce-" + strconv.Itoa(w.nonces)
		}
	}
	for _, name := range sorted(w.records) {
		for _, c := range w.records[name].Spec.Calls {
			find(c.Nonce)
		}
		w.records[name] = renamed(w.records[name])
	}
	for _, name := range sorted(w.mandates) {
		find(w.mandates[name].Annotations[v1alpha1.ArchivingAnnotation])
		w.mandates[name] = remarked(w.mandates[name])
	}
	for name, entry := range o.localState {
		entry.Value.attempt.Attempt = cmp.Or(names[entry.Value.attempt.Attempt], entry.Value.attempt.Attempt)
		for i, nonce := range entry.Value.unsent {
			entry.Value.unsent[i] = cmp.Or(names[nonce], nonce)
		}
		o.localState[name] = entry
	}
	if p := o.current; p != nil {
		p.nonce = cmp.Or(names[p.nonce], p.nonce)
		p.record, p.mandate = renamed(p.record), remarked(p.mandate)
		if p.record != nil && p.facts.record.exists() {
			p.facts.record.calls = p.record.Spec.Calls
		}
	}
}
