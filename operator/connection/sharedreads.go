package connection

import (
	"sync"

	"golang.org/x/sync/singleflight"
	"k8s.io/utils/keymutex"
)

// SharedReads shares one read between concurrent callers with the same key. A caller that comes during a read waits for
// the next one, because the result of the current one may be older than the call. The zero value is ready.
type SharedReads[T any] struct {
	flights singleflight.Group
	once    sync.Once
	reading keymutex.KeyMutex
}

// Do returns what read returns, called for this caller or for others with the same key. The result was true at some
// time after Do was called. It is shared, and must not be changed.
func (s *SharedReads[T]) Do(key string, read func() (T, error)) (T, error) {
	s.once.Do(func() { s.reading = keymutex.NewHashed(0) })
	result, err, _ := s.flights.Do(key, func() (any, error) {
		s.reading.LockKey(key)
		defer func() { _ = s.reading.UnlockKey(key) }()
		s.flights.Forget(key) // a caller from here on starts another read
		return read()
	})
	return result.(T), err //nolint:forcetypeassert // the function above returns no other type
}
