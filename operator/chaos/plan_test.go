package chaos_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// A fault is what befalls one effect.
type fault string

const (
	killBefore fault = "kill before"  // the operator is killed; the request does not arrive
	killAfter  fault = "kill after"   // it is done, and the operator killed before it hears so
	drop       fault = "drop"         // it is done, and the connection reset before the answer
	refuse     fault = "error before" // it is not done: 503 of the service, 500 of the API server
	late       fault = "late"         // it is done later than the settle delay
	conflict   fault = "conflict"     // it is not done: 409 of the API server
	busy       fault = "busy"         // it is not done: 429, come back in a second
	twice      fault = "twice"        // it is done twice
)

func (f fault) kills() bool { return f == killBefore || f == killAfter }

// befalls tells whether a fault makes sense for an effect.
func (f fault) befalls(e effect) bool {
	method, atService := strings.CutPrefix(e.what, "service: ")
	switch f {
	case conflict: // for a create, it would claim that the object exists
		return !atService && strings.HasPrefix(e.what, http.MethodPatch)
	case twice:
		return atService && strings.HasPrefix(method, http.MethodGet)
	}
	return true
}

// A strike is a fault at an effect.
type strike struct {
	effect effect
	fault  fault
	number int // of the effect in the calm run
}

func (s strike) String() string { return fmt.Sprintf("%d:%s (%s)", s.number, s.fault, s.effect) }

// A plan is what goes wrong in one life.
type plan []strike

func (p plan) String() string {
	words := make([]string, len(p))
	for i, s := range p {
		words[i] = s.String()
	}
	return strings.Join(words, ", ")
}

func (p plan) kills() bool {
	return slices.ContainsFunc(p, func(s strike) bool { return s.fault.kills() })
}

// again is how to repeat a plan.
func (p plan) again() string {
	words := make([]string, len(p))
	for i, s := range p {
		words[i] = fmt.Sprintf("%d.%d:%s", s.number, s.effect.nth, s.fault)
	}
	return fmt.Sprintf("make chaos PLAN='%s'", strings.Join(words, ","))
}

// parsePlan reads what again writes; the .nth may be left out.
func parsePlan(text string, effects []effect) (plan, error) {
	var p plan
	for word := range strings.SplitSeq(text, ",") {
		where, what, _ := strings.Cut(strings.TrimSpace(word), ":")
		where, nth, more := strings.Cut(where, ".")
		number, err := strconv.Atoi(where)
		if err != nil || number < 1 || number > len(effects) || !slices.Contains(faults, fault(what)) {
			return nil, fmt.Errorf("PLAN is NUMBER:FAULT with a number from 1 to %d and a fault of %q, or several with commas between: %q", len(effects), faults, word)
		}
		s := strike{effects[number-1], fault(what), number}
		if more {
			if s.effect.nth, err = strconv.Atoi(nth); err != nil {
				return nil, err
			}
		}
		p = append(p, s)
	}
	return p, nil
}

var faults = []fault{killBefore, killAfter, drop, refuse, late, conflict, busy, twice}

// singles are all plans of one fault.
func singles(effects []effect) []plan {
	var plans []plan
	for i, e := range effects {
		for _, f := range faults {
			if f.befalls(e) {
				plans = append(plans, plan{{e, f, i + 1}})
			}
		}
	}
	return plans
}

// several draws a plan of two or three faults. Every third of the later ones strikes what the first one made the operator
// do again.
func several(random *rand.Rand, effects []effect) plan {
	all := singles(effects)
	p := slices.Clone(all[random.IntN(len(all))])
	for len(p) < 2 || len(p) < 3 && random.IntN(2) == 0 {
		next := all[random.IntN(len(all))][0]
		if random.IntN(3) == 0 {
			next.effect, next.number = p[0].effect, p[0].number
			next.effect.nth += len(p)
		}
		if next.fault.befalls(next.effect) && !slices.ContainsFunc(p, func(s strike) bool { return s.effect == next.effect }) {
			p = append(p, next)
		}
	}
	return p
}
