package engine

import (
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// LocalState is what this process remembers of objects between reconciliations. A restart loses it, which may cost a
// few requests and nothing else: what must not be forgotten is stored at the API server. The zero value is empty.
type LocalState[T any] struct {
	mu      sync.Mutex
	entries map[types.NamespacedName]Entry[T]
}

// Entry is what is remembered of one object.
type Entry[T any] struct {
	UID   types.UID // of the object that had the name then
	Value T
}

// Update changes what is remembered of an object, and returns it. An object of the same name with another UID starts
// with a zero value.
func (s *LocalState[T]) Update(object client.Object, change func(*T)) T {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := client.ObjectKeyFromObject(object)
	entry := s.entries[name]
	if entry.UID != object.GetUID() {
		entry = Entry[T]{UID: object.GetUID()}
	}
	change(&entry.Value)
	if s.entries == nil {
		s.entries = map[types.NamespacedName]Entry[T]{}
	}
	s.entries[name] = entry
	return entry.Value
}

// Get returns what is remembered of an object.
func (s *LocalState[T]) Get(object client.Object) T {
	s.mu.Lock()
	defer s.mu.Unlock()
	entry := s.entries[client.ObjectKeyFromObject(object)]
	if entry.UID != object.GetUID() {
		return Entry[T]{}.Value
	}
	return entry.Value
}

// Forget drops what is remembered of an object that is gone.
func (s *LocalState[T]) Forget(name types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.entries, name)
}

// Snapshot copies everything. With Restore it lets a test run one step at a time, of many processes.
func (s *LocalState[T]) Snapshot() map[types.NamespacedName]Entry[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.entries)
}

// Restore replaces everything by a copy of a snapshot.
func (s *LocalState[T]) Restore(snapshot map[types.NamespacedName]Entry[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entries = maps.Clone(snapshot)
}

// FirstSeen is when this process first saw an attempt of another one. No two clocks are compared: with a clock that is
// fast, an attempt that is still under way would look as if it were lost.
type FirstSeen struct {
	Attempt string
	Time    time.Time
}

// See records that an attempt is seen now. Only the last attempt is remembered.
func (f *FirstSeen) See(attempt string, now time.Time) {
	if f.Attempt != attempt {
		*f = FirstSeen{attempt, now}
	}
}
