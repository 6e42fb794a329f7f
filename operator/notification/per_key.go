package notification

import "k8s.io/utils/lru"

// maxKept is how many keys have a value.
const maxKept = 10_000

// perKey has a value for each key, such as a limiter for each connection. It forgets those that were not used for
// longest.
type perKey[K comparable, V any] struct {
	cache  *lru.Cache
	create func() V
}

func newPerKey[K comparable, V any](create func() V) perKey[K, V] {
	return perKey[K, V]{lru.New(maxKept), create}
}

func (p perKey[K, V]) of(key K) V {
	known, _ := p.cache.Get(key)
	value, ok := known.(V)
	if !ok {
		value = p.create()
		p.cache.Add(key, value)
	}
	return value
}
