package action

import (
	"testing"
	"time"

	"github.com/mandate-io/idv/operator/ledger"
)

// What lasts is shown once: a call of the Mandate that stays open, and a result that the API server does not record.
func TestDecidePending(t *testing.T) {
	for name, c := range map[string]decideCase{
		"a call of the Mandate": {
			why:   "most end within seconds, and a status costs a write",
			facts: waiting(ledger.Unused, otherCall, 30*time.Second-1),
			want:  waitFor(reasonAwaiting, openInterval),
		},
		"a result that is refused": {
			facts: own(callFacts{phase: over, end: endRefused}),
			want:  decision{Step: stepShowPending},
		},
		"a result that is refused, as the status says": {
			facts: own(callFacts{phase: over, end: endShown}),
			want:  decision{Step: stepEnd},
		},
	} {
		if got := decide(c.facts); got != c.want {
			t.Errorf("%s: %+v, want %+v\n%s", name, got, c.want, c.why)
		}
	}
}
