package engine

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// LocalState is what this process remembers of objects between reconciliations. A restart loses it, which may cost a
// few requests and nothing else: what must not be forgotten is stored at the API server. The zero value is empty.
type LocalState[T any] struct {
	mu      sync.Mutex
	entries map[types.NamespacedName]entry[T]
}

// entry is what is remembered of one object.
type entry[T any] struct {
	uid   types.UID // of the object that had the name then
	value T
}

// Update changes what is remembered of an object, and returns it. An object of the same name with another UID starts
// with a zero value.
func (s *LocalState[T]) Update(object client.Object, change func(*T)) T {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entry(object)
	change(&e.value)
	if s.entries == nil {
		s.entries = map[types.NamespacedName]entry[T]{}
	}
	s.entries[client.ObjectKeyFromObject(object)] = e
	return e.value
}

func (s *LocalState[T]) entry(object client.Object) entry[T] {
	if e := s.entries[client.ObjectKeyFromObject(object)]; e.uid == object.GetUID() {
		return e
	}
	return entry[T]{uid: object.GetUID()}
}

// UpdateNamed changes what is remembered of the object that has a name. It reports whether there is anything.
func (s *LocalState[T]) UpdateNamed(name types.NamespacedName, change func(*T)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, known := s.entries[name]
	if known {
		change(&e.value)
		s.entries[name] = e
	}
	return known
}

// Get returns what is remembered of an object.
func (s *LocalState[T]) Get(object client.Object) T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.entry(object).value
}

// Forget drops what is remembered of an object that is gone.
func (s *LocalState[T]) Forget(name types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.entries, name)
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
