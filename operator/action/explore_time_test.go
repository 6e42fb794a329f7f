package action

import (
	"time"

	"k8s.io/utils/clock"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/ledger"
)

// maxLook is how old a last look may be when its request goes out.
const maxLook = time.Second

// aWhile is how long an operator is stopped, and how long a slow answer takes: shorter than half of the handover.
const aWhile = 14 * time.Second

// stepClock is the clock of one step, in which time may pass: before its first request arrives, if the operator hangs,
// and until the answer comes, if that is slow.
type stepClock struct {
	clock.Clock
	*environment
}

// Now is when the operator decided until its first request, and then the present or, after a slow answer, later.
func (c stepClock) Now() time.Time { return c.at }

// arrive is when a request arrives.
func (s *environment) arrive() {
	if s.at.Before(s.world.now) {
		s.at = s.world.now
	}
}

// answer is when the answer to it comes.
func (s *environment) answer() {
	if s.fault == faultSlow && !s.hit {
		s.hit = true
		s.at = s.at.Add(aWhile)
	}
}

// sendsNext reports whether an operator sends a request next that acts on people. The client bounds how long that
// takes.
func (o *operator) sendsNext() bool {
	return o.current != nil && o.current.facts.call.phase == verified
}

// hangs reports whether an operator waits for an answer.
func (o *operator) hangs(w *world) bool { return o.answered.After(w.now) }

func (w *world) after(by time.Duration) *world {
	c := w.clone()
	c.now = w.now.Add(by)
	return c
}

// timeMoves are the passing of time: between two reconciliations, two steps of one, and within a step.
func timeMoves(s *state, spend func(move, string, func(*world)), found func(state, string)) {
	if s.ops[0].hangs(s.world) || s.ops[1].hangs(s.world) {
		after := s.then("the answer comes")
		after.world = s.world.after(aWhile)
		found(after, "")
		return
	}
	spend(pause, "a minute passes", func(w *world) { w.now = w.now.Add(time.Minute) })
	for i, o := range s.ops {
		if s.budget[hang] == 0 || o.current == nil || !o.decided.IsZero() || o.sendsNext() {
			continue
		}
		after := s.then("operator " + string(rune('A'+i)) + " has decided, and is stopped for a while")
		after.budget[hang]--
		stopped := *o
		stopped.decided = s.world.now
		after.world, after.ops[i] = s.world.after(aWhile), &stopped
		found(after, "")
	}
}

// noteBegin notes when the open call of a record was begun.
func (w *world) noteBegin(before, after *v1alpha1.ApplicationRecord) {
	switch last, open := ledger.Open(before), ledger.Open(after); {
	case open == nil:
		w.begun = time.Time{}
	case last == nil || last.Nonce != open.Nonce:
		w.begun = w.now
	}
}

// tooLate says what is wrong with when a request is sent (A7).
func (s *environment) tooLate() string {
	begun := ledger.Open(s.world.record())
	switch {
	case s.world.now.Sub(s.lookedAt) > maxLook:
		return "A7: a request is sent long after the last look"
	case begun != nil && begun.Nonce == s.current.call.Nonce && s.world.now.Sub(s.world.begun) > maxHandover/2:
		return "A7: a request is sent when another operator may soon end its call"
	}
	return ""
}
