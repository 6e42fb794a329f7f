package notification

import (
	"golang.org/x/time/rate"
	"k8s.io/utils/lru"

	"github.com/mandate-io/idv/operator/connection"
)

// maxCached is how many connections or namespaces have a limiter.
const maxCached = 10_000

// perKey has a value for each key. It forgets those that were not used for longest.
type perKey[K comparable, V any] struct {
	cache *lru.Cache
	make  func() V
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

// limiters has a rate limiter for each connection.
type limiters = perKey[connection.Key, *rate.Limiter]

func newLimiters(most rate.Limit, burst int) limiters {
	return limiters{lru.New(maxCached), func() *rate.Limiter { return rate.NewLimiter(most, burst) }}
}
