package mandate

import (
	"flag"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// scenario says where an exploration begins and what may happen in it.
type scenario struct {
	why      string
	mandates []string
	// manifest changes the usual one.
	manifest func(*v1alpha1.Mandate)
	allow    map[move]uint8
	// racy: the service looks a reference up and inserts it later, so that two creates at the same time both succeed.
	racy      bool
	calmEvery int64 // how many states, before one is brought to rest; 0: the usual number
}

func (s scenario) start() state {
	w := calm()
	for _, name := range s.mandates {
		w.apply(name, s.manifest)
	}
	begin := state{world: w, ops: [2]*operator{started(w), started(w)}, via: &trace{what: "the Mandate is applied"}}
	for m, n := range s.allow {
		begin.budget[m] = n
	}
	return begin
}

var one = []string{"acme"}

func scenarios() map[string]scenario {
	return map[string]scenario{
		"crashes and lost answers": {
			mandates: one, allow: map[move]uint8{crash: 2, lose: 2, fail: 1, half: 4},
		},
	}
}

var exploreFor = flag.Duration("explore", 10*time.Second, "how long to explore each scenario")

func exploreTime(*testing.T) time.Duration { return *exploreFor }

func exploreLimit(*testing.T) int64 { return 100_000_000 }

var _ = metav1.Now
