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

var faults = []fault{killBefore, killAfter, drop, refuse, late, conflict, busy, twice}

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
}

func (s strike) String() string { return fmt.Sprintf("%s: %s", s.fault, s.effect) }

// A plan is what goes wrong in the life of one Mandate, or for all Mandates of a namespace.
type plan []strike

func (p plan) kills() bool {
	return slices.ContainsFunc(p, func(s strike) bool { return s.fault.kills() })
}

// lane is whose life the plan is for.
func (p plan) lane() string { return p[0].effect.lane() }

func (p plan) String() string {
	words := make([]string, len(p))
	for i, s := range p {
		words[i] = s.String()
	}
	return strings.Join(words, "; ")
}

// parsePlan reads what String writes.
func parsePlan(text string) (plan, error) {
	var p plan
	for word := range strings.SplitSeq(text, ";") {
		what, where, _ := strings.Cut(strings.TrimSpace(word), ": ")
		name, nth, _ := strings.Cut(where, " #")
		n, err := strconv.Atoi(nth)
		i := slices.IndexFunc(effects, func(e effect) bool { return strings.HasPrefix(e.String(), name+" #") })
		if err != nil || i < 0 || !slices.Contains(faults, fault(what)) {
			return nil, fmt.Errorf("a plan is FAULT: EFFECT #NTH, or several with semicolons between; faults are %q, and effects %v: %q", faults, effects, word)
		}
		s := strike{effects[i], fault(what)}
		s.effect.nth = n
		p = append(p, s)
	}
	return p, nil
}

// singles are all plans of one fault.
func singles() []plan {
	var plans []plan
	for _, e := range effects {
		for _, f := range faults {
			if f.befalls(e) {
				plans = append(plans, plan{{e, f}})
			}
		}
	}
	return plans
}

// several draws a plan of two or three faults in one Mandate's life. Every third of the later ones strikes what the first
// one may make the operator do again.
func several(random *rand.Rand, lane string) plan {
	all := slices.DeleteFunc(singles(), func(p plan) bool { return p.lane() != lane })
	p := slices.Clone(all[random.IntN(len(all))])
	for want := 2 + random.IntN(2); len(p) < want; {
		next := all[random.IntN(len(all))][0]
		if random.IntN(3) == 0 {
			next.effect = p[0].effect
			next.effect.nth += len(p)
		}
		if next.fault.befalls(next.effect) && !slices.ContainsFunc(p, func(s strike) bool { return s.effect == next.effect }) {
			p = append(p, next)
		}
	}
	return p
}

// drawn are plans for one namespace: one for each of its Mandates or, now and then, one for all.
func drawn(random *rand.Rand) (plans []plan) {
	if random.IntN(8) == 0 {
		return []plan{several(random, everybody)}
	}
	for _, lane := range mandates {
		plans = append(plans, several(random, lane))
	}
	return plans
}

// sideBySide puts plans of different Mandates into one namespace, where they do not touch each other.
func sideBySide(plans []plan) (namespaces [][]plan) {
	next := map[string]int{} // by lane, the namespace that has none of it yet
	for _, p := range plans {
		lane := p.lane()
		i := next[lane]
		for i < len(namespaces) && lane != everybody && namespaces[i][0].lane() == everybody {
			i++
		}
		if i >= len(namespaces) || lane == everybody {
			i = len(namespaces)
			namespaces = append(namespaces, nil)
		}
		namespaces[i] = append(namespaces[i], p)
		next[lane] = i + 1
	}
	return namespaces
}
