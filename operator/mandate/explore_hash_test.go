package mandate

import (
	"encoding/binary"
	"hash/maphash"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/explore"
)

// Two states are the same if they differ only in details that have no effect: the names of nonces, and the
// resourceVersions and uids of records beyond whether a copy is still the live one. The hash has 64 bits: among ten
// million states, the chance that two share one is one in a hundred thousand.

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

// encoder writes values in one way only.
type encoder struct {
	bytes  []byte
	nonces []string
	copies []versioned
}

func (e *encoder) part() part {
	return part{maphash.Bytes(seed, e.bytes), e.nonces, e.copies}
}

func (e *encoder) number(n int64) {
	e.bytes = binary.LittleEndian.AppendUint64(e.bytes, uint64(n))
}
func (e *encoder) text(s string) {
	e.number(int64(len(s)))
	e.bytes = append(e.bytes, s...)
}
func (e *encoder) truth(b bool) {
	if b {
		e.bytes = append(e.bytes, 1)
	} else {
		e.bytes = append(e.bytes, 0)
	}
}
func (e *encoder) moment(t time.Time) { e.number(int64(age(t))) }

// age is how long ago something was; what never was is older than everything.
func age(t time.Time) time.Duration {
	if t.IsZero() {
		return 1<<63 - 1
	}
	return now.Sub(t)
}

// notEncoded are fields that have no effect, or that are encoded in another way.
var notEncoded = []string{"ResourceVersion", "ManagedFields", "Nonce", "now", "TypeMeta"}

// any writes a value with everything in it, unexported fields as well.
func (e *encoder) any(v reflect.Value) {
	encoding := explore.Encoding{Now: now, Skip: notEncoded, Bytes: e.bytes}
	encoding.Any(v)
	e.bytes = encoding.Bytes
}

func (e *encoder) mandate(m *v1alpha1.Mandate) {
	e.text(m.Name)
	e.text(string(m.UID))
	e.number(m.Generation)
	e.moment(m.CreationTimestamp.Time)
	e.truth(m.DeletionTimestamp != nil)
	if m.DeletionTimestamp != nil {
		e.moment(m.DeletionTimestamp.Time)
	}
	e.any(reflect.ValueOf(m.Finalizers))
	e.any(reflect.ValueOf(m.Annotations))
	e.any(reflect.ValueOf(&m.Spec))
	e.any(reflect.ValueOf(&m.Status))
}

func (e *encoder) record(r *v1alpha1.ApplicationRecord) {
	e.any(reflect.ValueOf(&r.Spec))
	e.truth(r.Spec.Attempt != nil)
	if r.Spec.Attempt != nil {
		e.nonces = append(e.nonces, r.Spec.Attempt.Nonce)
	}
}

// connection writes what differs between the connections of one IdentityService.
func (e *encoder) connection(c *connection.Connection) {
	e.number(c.Generation)
	e.text(c.URL)
	e.text(c.ReferencePrefix)
	e.number(int64(c.Credentials[0]))
}

func (w *world) part() part {
	e := &encoder{bytes: make([]byte, 0, 4096)}
	for _, name := range sorted(w.mandates) {
		e.mandate(w.mandates[name])
	}
	for _, records := range []map[string]*v1alpha1.ApplicationRecord{w.records, w.backup} {
		e.number(int64(len(records)))
		for _, name := range sorted(records) {
			e.record(records[name])
		}
	}
	e.truth(w.backup == nil)
	e.truth(w.forgotten)
	e.truth(w.secretGone)
	e.any(reflect.ValueOf(w.reviews))
	e.number(int64(w.credentials[0]))
	e.moment(w.exchangedTime)
	e.any(reflect.ValueOf(w.outdated))
	e.number(w.service.Generation)
	e.moment(w.service.CreationTimestamp.Time)
	e.any(reflect.ValueOf(&w.service.Spec))
	for _, url := range sorted(w.sites) {
		here := w.sites[url]
		e.any(reflect.ValueOf(&here))
	}
	return e.part()
}

func (o *operator) part() part {
	e := &encoder{bytes: make([]byte, 0, 4096)}
	for _, name := range sorted(o.mandates) {
		e.mandate(o.mandates[name])
		e.copy("mandate", name, o.mandates[name].ResourceVersion, "")
	}
	e.number(o.service.Generation)
	e.any(reflect.ValueOf(&o.service.Spec))
	e.connection(&o.connection)
	for _, name := range sortedNames(o.localState) {
		entry := o.localState[name]
		e.text(name.Name)
		e.text(string(entry.UID))
		e.moment(entry.Value.changed)
		e.number(int64(entry.Value.identities))
		e.moment(entry.Value.attempt.Time)
		e.truth(entry.Value.read.IsZero())
		missing, found := o.missing[name]
		e.truth(found)
		e.account(missing.account)
		e.moment(missing.lastKnown)
		e.truth(missing.otherRead)
		e.number(int64(min(entry.Value.failures, failureThreshold)))
		e.any(reflect.ValueOf(entry.Value.sent))
		e.nonces = append(e.nonces, entry.Value.attempt.Attempt)
		e.named(entry.Value.candidateReads)
		e.subscription(entry.Value.subscription)
	}
	e.reads(o.reads)
	e.shown(o.shown)
	e.subscribed(o.subscribed)
	e.any(reflect.ValueOf(o.live))
	e.number(int64(o.calls))
	e.truth(o.current == nil)
	if o.current != nil {
		e.reconciliation(o.current)
	}
	return e.part()
}

func (e *encoder) reads(reads map[types.NamespacedName]applicationRead) {
	for _, name := range sortedNames(reads) {
		e.text(name.Name)
		e.number(reads[name].id)
		e.account(reads[name].by.Value())
	}
}

func (e *encoder) account(a account) {
	e.text(a.url)
	e.number(int64(a.credentials[0]))
}

func sortedNames[V any](entries map[types.NamespacedName]V) []types.NamespacedName {
	compare := func(a, b types.NamespacedName) int { return strings.Compare(a.Name, b.Name) }
	return slices.SortedFunc(maps.Keys(entries), compare)
}

func (e *encoder) copy(kind, name, version string, uid types.UID) {
	e.copies = append(e.copies, versioned{kind, name, version, uid})
}

func (e *encoder) reconciliation(p *reconciliation) {
	e.mandate(p.mandate)
	e.copy("mandate", p.mandate.Name, p.mandate.ResourceVersion, "")
	e.connection(&p.session.Connection)
	e.text(p.reference)
	e.any(reflect.ValueOf(&p.facts))
	e.truth(p.record == nil)
	if p.record != nil {
		e.record(p.record)
		e.copy("record", p.record.Name, p.record.ResourceVersion, p.record.UID)
	}
	e.text(p.request.Reference)
	e.number(int64(len(p.request.Individuals)))
	e.truth(p.application == nil)
	if a := p.application; a != nil { // all that this service returns
		e.number(a.ID)
		e.text(a.Reference)
		e.truth(a.Archived)
		for _, individual := range a.Individuals {
			e.number(individual.ID)
			e.text(individual.Reference.Reveal())
			e.text(individual.Email.Reveal())
			for _, check := range individual.Checks {
				e.number(check.ID)
				e.text(check.State.Name)
			}
		}
	}
	for _, found := range p.matching.Individuals {
		e.truth(found != nil)
		if found != nil {
			e.number(found.ID)
		}
	}
	e.any(reflect.ValueOf(p.reviews))
	e.any(reflect.ValueOf(&p.reviewed))
	e.number(int64(p.nextReview))
	e.truth(p.attempting)
	e.number(p.shownCandidate)
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
		if r == nil || r.Spec.Attempt == nil || names[r.Spec.Attempt.Nonce] == "" {
			return r
		}
		r = r.DeepCopy()
		r.Spec.Attempt.Nonce = names[r.Spec.Attempt.Nonce]
		return r
	}
	for _, name := range sorted(w.records) {
		if a := w.records[name].Spec.Attempt; a != nil && len(a.Nonce) == len("01234567-89ab-cdef-0123-456789abcdef") {
			w.nonces++
			names[a.Nonce] = "nonce-" + strconv.Itoa(w.nonces)
			w.records[name] = renamed(w.records[name])
		}
	}
	for name, entry := range o.localState {
		if to := names[entry.Value.attempt.Attempt]; to != "" {
			entry.Value.attempt.Attempt = to
			o.localState[name] = entry
		}
	}
	if o.current != nil {
		o.current.record = renamed(o.current.record)
	}
}
