package connection

import (
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
)

// SetBegun notes whether the record of a Mandate says that an application may exist, of which its status says nothing
// yet. Until the cache shows that, the Mandate needs its service all the same.
func (r *Registry) SetBegun(key Key, mandate types.NamespacedName, begun bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case !begun:
		r.begun[key].Delete(mandate)
	case r.begun[key] == nil:
		r.begun[key] = sets.New(mandate)
	default:
		r.begun[key].Insert(mandate)
	}
}

// Begun are the Mandates of which SetBegun has noted that.
func (r *Registry) Begun(key Key) sets.Set[types.NamespacedName] {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.begun[key].Clone()
}
