package connection

import (
	"sync"

	"golang.org/x/sync/singleflight"
	"k8s.io/utils/keymutex"
)

// SharedReads makes one read for everybody who asks the same question at the same time. One read answers everybody who
// asked before it began. Who asks during a read waits for the next one, because the answer to the current one may be
// older than the question. The zero value is ready.
type SharedReads[T any] struct {
	flights singleflight.Group
	once    sync.Once
	reading keymutex.KeyMutex
}

// Do answers a question. The answer was true at some time after Do was called. It is shared, and must not be changed.
func (s *SharedReads[T]) Do(question string, read func() (T, error)) (T, error) {
	s.once.Do(func() { s.reading = keymutex.NewHashed(0) })
	answer, err, _ := s.flights.Do(question, func() (any, error) {
		s.reading.LockKey(question)
		defer func() { _ = s.reading.UnlockKey(question) }()
		s.flights.Forget(question) // a question from here on starts another read
		return read()
	})
	return answer.(T), err //nolint:forcetypeassert // the function above returns no other type
}
