package chaos_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// fault is what goes wrong at one effect.
type fault string

const (
	killBefore fault = "kill before"  // the operator is killed, and the request does not reach the server
	killAfter  fault = "kill after"   // the server executes the request, and the operator is killed before the answer
	drop       fault = "drop"         // the server executes the request, and the connection is reset before the answer
	refuse     fault = "error before" // rejected: 503 of the service, 500 of the API server
	late       fault = "late"         // the request reaches the server after the settle delay
	conflict   fault = "conflict"     // rejected: 409 of the API server
	busy       fault = "busy"         // rejected: 429, retry after a second
	twice      fault = "twice"        // the server receives the request twice
)

var faults = []fault{killBefore, killAfter, drop, refuse, late, conflict, busy, twice}

func (f fault) kills() bool { return f == killBefore || f == killAfter }

// appliesTo reports whether a fault makes sense for an effect.
func (f fault) appliesTo(e effect) bool {
	method, atService := strings.CutPrefix(e.what, "service: ")
	switch f {
	case conflict: // for a create, it would claim that the object exists
		return !atService && strings.HasPrefix(e.what, http.MethodPatch)
	case twice:
		return atService && strings.HasPrefix(method, http.MethodGet)
	}
	return true
}

// injection is a fault at an effect.
type injection struct {
	effect effect
	fault  fault
}

func (s injection) String() string { return fmt.Sprintf("%s: %s", s.fault, s.effect) }

// plan is the faults for one Mandate, or for all Mandates of a namespace.
type plan []injection

func (p plan) kills() bool {
	return slices.ContainsFunc(p, func(s injection) bool { return s.fault.kills() })
}

// owner is the Mandate that the plan is for.
func (p plan) owner() string { return p[0].effect.owner() }

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
	for part := range strings.SplitSeq(text, ";") {
		what, where, _ := strings.Cut(strings.TrimSpace(part), ": ")
		name, nth, _ := strings.Cut(where, " #")
		n, err := strconv.Atoi(nth)
		i := slices.IndexFunc(effects, func(e effect) bool { return strings.HasPrefix(e.String(), name+" #") })
		if err != nil || i < 0 || !slices.Contains(faults, fault(what)) {
			return nil, fmt.Errorf("invalid plan %q: want FAULT: EFFECT #NTH, or several of these separated by semicolons; "+
				"the faults are %q, the effects %v", part, faults, effects)
		}
		s := injection{effects[i], fault(what)}
		s.effect.nth = n
		p = append(p, s)
	}
	return p, nil
}

// singleFaultPlans are all plans of one fault.
func singleFaultPlans() []plan {
	var plans []plan
	for _, e := range effects {
		for _, f := range faults {
			if f.appliesTo(e) {
				plans = append(plans, plan{{e, f}})
			}
		}
	}
	return plans
}

// drawPlan draws a plan of two or three faults for one Mandate. Every third of the later faults is at an effect that
// the first one may make the operator repeat.
func drawPlan(random *rand.Rand, owner string) plan {
	all := slices.DeleteFunc(singleFaultPlans(), func(p plan) bool { return p.owner() != owner })
	p := slices.Clone(all[random.IntN(len(all))])
	for want := 2 + random.IntN(2); len(p) < want; {
		next := all[random.IntN(len(all))][0]
		if random.IntN(3) == 0 {
			next.effect = p[0].effect
			next.effect.nth += len(p)
		}
		planned := slices.ContainsFunc(p, func(i injection) bool { return i.effect == next.effect })
		if next.fault.appliesTo(next.effect) && !planned {
			p = append(p, next)
		}
	}
	return p
}

// drawPlans draws the plans for one namespace: one for each of its Mandates or, one time in eight, one for all of them.
func drawPlans(random *rand.Rand) (plans []plan) {
	if random.IntN(8) == 0 {
		return []plan{drawPlan(random, everyMandate)}
	}
	for _, owner := range mandates {
		plans = append(plans, drawPlan(random, owner))
	}
	return plans
}

// packNamespaces puts plans of different Mandates into one namespace, where they do not affect each other.
func packNamespaces(plans []plan) (namespaces [][]plan) {
	next := map[string]int{} // by owner, the first namespace without a plan of it
	for _, p := range plans {
		owner := p.owner()
		i := next[owner]
		for i < len(namespaces) && owner != everyMandate && namespaces[i][0].owner() == everyMandate {
			i++
		}
		if i >= len(namespaces) || owner == everyMandate {
			i = len(namespaces)
			namespaces = append(namespaces, nil)
		}
		namespaces[i] = append(namespaces[i], p)
		next[owner] = i + 1
	}
	return namespaces
}

// A printed plan is a valid PLAN.
func TestPlansAreReproducible(t *testing.T) {
	t.Parallel()
	plans := singleFaultPlans()
	for seed := range uint64(50) {
		plans = append(plans, drawPlans(rand.New(rand.NewPCG(seed, 1)))...)
	}
	for _, p := range plans {
		if got, err := parsePlan(p.String()); err != nil || !reflect.DeepEqual(got, p) {
			t.Errorf("%s was read as %s (%v)", p, got, err)
		}
	}
	invalid := []string{
		"", "kill before", "kill: POST events #1", "kill before: POST events", "kill before: POST nothing #1",
	}
	for _, text := range invalid {
		if p, err := parsePlan(text); err == nil {
			t.Errorf("%q was read as %s", text, p)
		}
	}
	first, second := drawPlans(rand.New(rand.NewPCG(7, 1))), drawPlans(rand.New(rand.NewPCG(7, 1)))
	if !reflect.DeepEqual(first, second) {
		t.Errorf("the same seed gives %v and %v", first, second)
	}
}

// Plans in one namespace have different owners, and every plan has a namespace.
func TestPackNamespaces(t *testing.T) {
	t.Parallel()
	plans := singleFaultPlans()
	placed := 0
	for i, namespace := range packNamespaces(plans) {
		placed += len(namespace)
		seen := map[string]bool{}
		for _, p := range namespace {
			if seen[p.owner()] || p.owner() == everyMandate && len(namespace) > 1 {
				t.Errorf("namespace %d has %v", i, namespace)
			}
			seen[p.owner()] = true
		}
	}
	if placed != len(plans) {
		t.Errorf("%d of %d plans have a namespace", placed, len(plans))
	}
}
