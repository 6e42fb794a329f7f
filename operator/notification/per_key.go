package notification

import "k8s.io/utils/lru"

// maxKept is how many keys have a value.
const maxKept = 10_000

// perKey has a value for each key, such as a limiter for each connection. It forgets those that were not used for
// longest.
type perKey[K comparable, V any] struct {
	cache *lru.Cache
	make  func() V
}

func newPerKey[K comparable, V any](make func() V) perKey[K, V] {
	return perKey[K, V]{lru.New(maxKept), make}
}

func (p perKey[K, V]) of(key K) V {
	known, _ := p.cache.Get(key)
	value, ok := known.(V)
	if !ok {
		value = p.make()
		p.cache.Add(key, value)
	}
	return value
}
