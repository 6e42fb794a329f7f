package action

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// memory is what this process remembers of an order. Losing it costs a few requests and nothing else.
type memory struct {
	mu    sync.Mutex
	notes map[types.NamespacedName]note
}

type note struct {
	uid      types.UID // of the order that had the name then
	failures int       // in a row
	attempt  string    // that is waited for
	observed time.Time // when it was seen first
	refused  string    // the situation in which the service had no report
}

func (m *memory) forget(name types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.notes, name)
}

func (m *memory) update(order *v1alpha1.MandateAction, change func(*note)) note {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.notes == nil {
		m.notes = map[types.NamespacedName]note{}
	}
	name := client.ObjectKeyFromObject(order)
	n := m.notes[name]
	if n.uid != order.UID {
		n = note{uid: order.UID}
	}
	change(&n)
	m.notes[name] = n
	return n
}

// observe tells when this process first saw the attempt in the order's status.
func (m *memory) observe(order *v1alpha1.MandateAction) time.Time {
	return m.update(order, func(n *note) {
		if n.attempt != order.Status.Attempt {
			n.attempt, n.observed = order.Status.Attempt, time.Now()
		}
	}).observed
}

// backoff counts one more failure and says how long to wait after it.
func (m *memory) backoff(order *v1alpha1.MandateAction) time.Duration {
	n := m.update(order, func(n *note) { n.failures++ })
	return min(time.Second<<min(n.failures-1, 10), maxBackoff)
}

func (m *memory) succeeded(order *v1alpha1.MandateAction) {
	m.update(order, func(n *note) { n.failures = 0 })
}
