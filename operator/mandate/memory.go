package mandate

import (
	"math/rand/v2"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/connection"
)

// memory is what this process remembers of a Mandate. Losing it costs a few requests and nothing else: whatever must not
// be forgotten is in the ledger.
type memory struct {
	mu    sync.Mutex
	notes map[types.NamespacedName]note
}

type note struct {
	uid      types.UID // of the Mandate that had the name then
	changed  time.Time // when the application was last seen to change
	failures int       // in a row
	attempt  string    // nonce of the attempt that is waited for
	observed time.Time // when it was seen first
}

func (m *memory) forget(name types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.notes, name)
}

func (m *memory) update(mandate *v1alpha1.Mandate, change func(*note)) note {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.notes == nil {
		m.notes = map[types.NamespacedName]note{}
	}
	name := client.ObjectKeyFromObject(mandate)
	n := m.notes[name]
	if n.uid != mandate.UID {
		n = note{uid: mandate.UID}
	}
	change(&n)
	m.notes[name] = n
	return n
}

// failed counts passes in a row that failed. One that was held back neither failed nor went well.
func (m *memory) failed(mandate *v1alpha1.Mandate, failed, heldBack bool) int {
	return m.update(mandate, func(n *note) {
		switch {
		case failed:
			n.failures++
		case !heldBack:
			n.failures = 0
		}
	}).failures
}

// observe tells when this process first saw an attempt. No two clocks are compared: one that is ahead would make an attempt
// look lost that another operator is still at.
func (m *memory) observe(mandate *v1alpha1.Mandate, nonce string, now time.Time) time.Time {
	return m.update(mandate, func(n *note) {
		if n.attempt != nonce {
			n.attempt, n.observed = nonce, now
		}
	}).observed
}

// pollInterval grows with the time since something last changed: people who are at it are watched closely, those who are
// not for days are not.
func pollInterval(quiet time.Duration, c connection.Connection) time.Duration {
	d := max(min(quiet/4, c.MaxPoll), c.MinPoll)
	return between(max(d-d/10, c.MinPoll), max(min(d+d/10, c.MaxPoll), d))
}

const maxBackoff = 5 * time.Minute

func backoff(failures int) time.Duration {
	return jitter(min(time.Second<<min(max(failures-1, 0), 10), maxBackoff))
}

// jitter spreads d by a tenth to either side, so that what was created together is not read together for ever.
func jitter(d time.Duration) time.Duration { return between(d-d/10, d+d/10) }

func between(shortest, longest time.Duration) time.Duration {
	return shortest + rand.N(longest-shortest+1) //nolint:gosec // no secret depends on it
}
