package mandate

import (
	"fmt"
	"time"

	"k8s.io/utils/clock"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/ledger"
)

// Time passes between two reconciliations and between two steps of one: these are timeMoves. It also passes within a
// step, before its request arrives and before the answer comes.

const (
	// aWhile is how long an operator is stopped, and how long a slow answer takes.
	aWhile = settle / 2
	// maxLook is how old a last look may be when its request goes out.
	maxLook = time.Second
)

// stepClock is the clock of one step.
type stepClock struct {
	clock.Clock
	*environment
}

// Now is when the operator decided until its first request, and then the present or, after a slow answer, later.
func (c stepClock) Now() time.Time { return c.at }

// arrive is when a request arrives, and its answer comes.
func (s *environment) arrive() {
	if s.at.Before(now) {
		s.at = now
	}
	if s.fault == faultSlow && !s.hit {
		s.hit = true
		s.at = now.Add(aWhile)
	}
}

// hangs reports whether an operator waits for an answer.
func (o *operator) hangs() bool { return o.answered.After(now) }

// sendsNext reports whether an operator sends a request next that acts on people. The client bounds how long that
// takes.
func (o *operator) sendsNext() bool {
	return o.current != nil && o.current.facts.attempt.phase == attemptVerified
}

// hangMoves are the passing of time within a step, but for slow answers.
func (x *explorer) hangMoves(s *state, spend spender, found func(state, string)) {
	for i, o := range s.ops {
		if o.current != nil && o.decided.IsZero() && !o.hangs() && !o.sendsNext() {
			spend(hang, "operator "+string(rune('A'+i))+" has decided, and is stopped for a while", func(after *state) {
				c := *o
				c.decided = now
				after.ops[i] = x.sameOperator(&c)
				x.aged(after, aWhile)
			})
		}
	}
	if s.ops[0].hangs() || s.ops[1].hangs() {
		after := s.then("the answer comes")
		x.aged(&after, aWhile)
		found(after, "")
	}
}

// tooLate says what is wrong with when a call is sent (I20).
func (s *environment) tooLate(op idv.Operation) string {
	begun := ledger.Find(s.world.records[s.current.mandate.Name], func(c *v1alpha1.Call) bool {
		return c.Nonce == s.current.nonce
	})
	switch {
	case begun != nil && now.Sub(begun.StartedTime.Time) > settle/2:
		return fmt.Sprintf("I20: %s is sent when another operator may soon take it for lost", op)
	case now.Sub(s.before.at) > maxLook:
		return fmt.Sprintf("I20: %s is sent long after the last look", op)
	}
	return ""
}
