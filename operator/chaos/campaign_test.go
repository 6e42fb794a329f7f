package chaos_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// crewSize is how many lives share an operator. Each costs little; what costs is to start an operator.
const crewSize = 8

// settings come from the environment, where the Makefile puts them.
type settings struct {
	time   time.Duration // for all; lives that have begun are brought to their end
	seed   uint64
	beyond bool   // go on with several faults a life when all single ones are through
	plan   string // this one, and nothing else
	crew   int    // this one of the random ones, and nothing else; -1: all
	report string // a file for the result
}

func readSettings(t *testing.T) settings {
	t.Helper()
	s := settings{time: 150 * time.Second, seed: 1, crew: -1, plan: os.Getenv("CHAOS_PLAN"), report: os.Getenv("CHAOS_REPORT")}
	var errs [3]error
	if text := os.Getenv("CHAOS_TIME"); text != "" {
		s.beyond, s.seed = true, rand.Uint64N(1_000_000) //nolint:gosec // no secret depends on it
		s.time, errs[0] = time.ParseDuration(text)
	}
	if text := os.Getenv("CHAOS_SEED"); text != "" {
		s.seed, errs[1] = strconv.ParseUint(text, 10, 64)
	}
	if text := os.Getenv("CHAOS_CREW"); text != "" {
		s.crew, errs[2] = strconv.Atoi(text)
	}
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// campaign runs plans and counts.
type campaign struct {
	*testing.T
	settings settings
	deadline time.Time

	mu    sync.Mutex
	count counts
}

type counts struct {
	singles, several int // lives with one fault of their own, and with more
	still            int // lives whose faults found no effect
	faults           int // that found their effect
	kills            int // of operators
	hits             int // lives that went on when a kill hit their operator
	duplicates, lost int
	failed           int
}

// squad is what one operator is to go through.
type squad struct {
	plans []plan
	again string // how to repeat it
}

// run takes squads until there are none or the time is up, and tells how many it took.
func (c *campaign) run(squads func(i int) (squad, bool)) (taken int) {
	var (
		running sync.WaitGroup
		mu      sync.Mutex
	)
	next := func() (squad, bool) {
		mu.Lock()
		defer mu.Unlock()
		if time.Now().After(c.deadline) || c.Failed() {
			return squad{}, false
		}
		s, ok := squads(taken)
		if ok {
			taken++
		}
		return s, ok
	}
	for range 4 * runtime.NumCPU() {
		running.Go(func() {
			for s, ok := next(); ok; s, ok = next() {
				c.goThrough(s)
			}
		})
	}
	running.Wait()
	return taken
}

func (c *campaign) goThrough(s squad) {
	crew, err := muster(c.Context(), s.plans)
	if err != nil {
		c.Errorf("%v", err)
		return
	}
	defer crew.disband()
	kills, err := crew.live()
	if err != nil {
		c.Errorf("%v\nTo repeat: %s", err, s.again)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count.kills += kills
	c.count.hits += kills * len(crew.lives)
	for _, l := range crew.lives {
		c.take(l, s.again)
	}
}

// take counts a life. The caller holds mu.
func (c *campaign) take(l *life, again string) {
	struck := l.struck()
	c.count.faults += struck
	switch {
	case struck == 0 && l.crew.current() == 0:
		c.count.still++
	case len(l.plan) == 1:
		c.count.singles++
	default:
		c.count.several++
	}
	if len(l.problems) == 0 {
		return
	}
	text := strings.Join(l.problems, "\n")
	c.count.failed++
	c.count.duplicates += strings.Count(text, "DUPLICATE E-MAIL")
	c.count.lost += strings.Count(text, "SILENTLY LOST")
	c.Errorf("%s\n\nThe plan was %s, seed %d, with %d lives of one operator.\nTo repeat: %s\nWhat happened:\n%s",
		text, l.plan, c.settings.seed, len(l.crew.lives), again, l.trace())
}

// Every effect of the operator meets every fault, one a life; with CHAOS_TIME, lives with two and three faults follow.
func TestChaos(t *testing.T) {
	effects := referenceRun(t)
	c := &campaign{T: t, settings: readSettings(t)}
	began := time.Now()
	c.deadline = began.Add(c.settings.time)
	if c.settings.plan != "" {
		p, err := parsePlan(c.settings.plan, effects)
		if err != nil {
			t.Fatal(err)
		}
		c.run(listed([]squad{{[]plan{p}, p.again()}}))
		return
	}
	all := singles(effects)
	share := 0
	if c.settings.crew < 0 && os.Getenv("CHAOS_STORM") == "" {
		squads := c.pack(all)
		for _, s := range squads[:c.run(listed(squads))] {
			share += len(s.plans)
		}
	}
	lines := []string{fmt.Sprintf("chaos: %d of %d single plans, seed %d", share, len(all), c.settings.seed)}
	if c.settings.beyond {
		c.run(func(i int) (squad, bool) { return c.drawn(effects, i) })
	}
	n, took := c.count, time.Since(began)
	lives := n.singles + n.several
	lines = append(lines,
		fmt.Sprintf("chaos: %d perturbed lives of four Mandates and two orders in %s, %.0f a minute: %d with one fault, %d with several or with those of others; %d faults, %d of %d lives met none",
			lives, took.Round(time.Second), float64(lives)/took.Minutes(), n.singles, n.several, n.faults, n.still, lives+n.still),
		fmt.Sprintf("chaos: %d kills of an operator, which hit %d lives", n.kills, n.hits),
		fmt.Sprintf("chaos: duplicate e-mails %d, silently lost applications %d, lives that went wrong %d", n.duplicates, n.lost, n.failed))
	c.publish(strings.Join(lines, "\n"))
}

func (c *campaign) publish(text string) {
	c.Log("\n" + text)
	if c.settings.report == "" {
		return
	}
	if err := os.WriteFile(c.settings.report, []byte(text+"\n"), 0o600); err != nil {
		c.Error(err)
	}
}

func listed(squads []squad) func(int) (squad, bool) {
	return func(i int) (squad, bool) {
		if i >= len(squads) {
			return squad{}, false
		}
		return squads[i], true
	}
}

// pack shuffles plans by the seed. One that kills gets an operator of its own; the others do not touch each other.
func (c *campaign) pack(plans []plan) (squads []squad) {
	random := rand.New(rand.NewPCG(c.settings.seed, 0)) //nolint:gosec // it has to be repeatable
	plans = slices.Clone(plans)
	random.Shuffle(len(plans), func(i, j int) { plans[i], plans[j] = plans[j], plans[i] })
	together := slices.DeleteFunc(slices.Clone(plans), plan.kills)
	for _, p := range plans {
		if p.kills() {
			squads = append(squads, squad{[]plan{p}, p.again()})
		}
	}
	for chunk := range slices.Chunk(together, crewSize) {
		squads = append(squads, squad{chunk, "by the plan, alone: " + chunk[0].again() + " and so on"})
	}
	random.Shuffle(len(squads), func(i, j int) { squads[i], squads[j] = squads[j], squads[i] })
	return squads
}

// drawn is the i-th squad of the seed: lives of several faults, whose kills hit all of them.
func (c *campaign) drawn(effects []effect, i int) (squad, bool) {
	if c.settings.crew >= 0 && i > 0 {
		return squad{}, false
	}
	number := cmp.Or(max(c.settings.crew, 0), i)
	random := rand.New(rand.NewPCG(c.settings.seed, uint64(number)+1)) //nolint:gosec // it has to be repeatable
	s := squad{again: fmt.Sprintf("make chaos SEED=%d CREW=%d", c.settings.seed, number)}
	for range crewSize {
		s.plans = append(s.plans, several(random, effects))
	}
	return s, true
}

var _ = context.Background
