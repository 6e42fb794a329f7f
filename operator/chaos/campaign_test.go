package chaos_test

import (
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

// squadSize is how many namespaces share an operator. A namespace costs little; what costs is to start an operator.
const squadSize = 6

// usualTime is for single faults only, where no time is set.
const usualTime = 150 * time.Second

// settings come from the environment, where the Makefile puts them.
type settings struct {
	time   time.Duration // for all; lives that have begun are brought to their end
	seed   uint64
	beyond bool   // go on with several faults a life when all single ones are through
	plan   string // this one, and nothing else
	squad  int    // this one of the random ones, and nothing else; -1: all
}

func readSettings(t *testing.T) settings {
	t.Helper()
	s := settings{time: usualTime, seed: 1, squad: -1, plan: os.Getenv("CHAOS_PLAN")}
	var errs [3]error
	if text := os.Getenv("CHAOS_TIME"); text != "" {
		s.beyond, s.seed = true, rand.Uint64N(1_000_000)
		s.time, errs[0] = time.ParseDuration(text)
	}
	if text := os.Getenv("CHAOS_SEED"); text != "" {
		s.seed, errs[1] = strconv.ParseUint(text, 10, 64)
	}
	if text := os.Getenv("CHAOS_SQUAD"); text != "" {
		s.squad, errs[2] = strconv.Atoi(text)
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

// counts of lives are of the lives of single Mandates, with their orders, unless they say otherwise.
type counts struct {
	single, several int // lives in which one fault found its effect, or more
	everybody       int // namespaces with faults that all four Mandates meet
	faults          int // that found their effect
	missed          int // plans that found none, because it did not come to that
	kills           int // of operators
	hits            int // lives that went on when their operator was killed
	duplicates      int
	lost            int
	wrong           int // namespaces in which something was not as it ought to be
}

func (n *counts) runs() int { return n.single + n.several + n.everybody }

// squad is what one operator is to go through.
type squad struct {
	namespaces [][]plan
	again      string // how to repeat it
}

// run takes squads until there are none or the time is up, and tells how many plans they had.
func (c *campaign) run(squads func(i int) (squad, bool)) (plans int) {
	var (
		running sync.WaitGroup
		mu      sync.Mutex
		taken   int
	)
	next := func() (squad, bool) {
		mu.Lock()
		defer mu.Unlock()
		if time.Now().After(c.deadline) || c.Failed() {
			return squad{}, false
		}
		s, ok := squads(taken)
		taken++
		for _, p := range s.namespaces {
			plans += len(p)
		}
		return s, ok
	}
	done := make(chan struct{})
	defer close(done)
	go c.tell(done)
	for range 4 * runtime.NumCPU() {
		running.Go(func() {
			for s, ok := next(); ok; s, ok = next() {
				c.goThrough(s)
			}
		})
	}
	running.Wait()
	return plans
}

// tell says now and then how far it is.
func (c *campaign) tell(done <-chan struct{}) {
	ticker := time.NewTicker(time.Minute)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return
		case <-ticker.C:
			c.mu.Lock()
			c.Logf("%d runs so far, %d kills, %d wrong", c.count.runs(), c.count.kills, c.count.wrong)
			c.mu.Unlock()
		}
	}
}

func (c *campaign) goThrough(s squad) {
	crew, err := muster(c.Context(), s.namespaces)
	if err != nil {
		c.Errorf("%v", err)
		return
	}
	defer crew.disband()
	if err := crew.live(); err != nil {
		c.Errorf("%v\nTo repeat: %s", err, s.again)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count.kills += crew.current()
	c.count.hits += crew.hit() * len(mandates)
	for _, l := range crew.lives {
		c.take(l, s.again)
	}
}

// take counts a life. The caller holds mu.
func (c *campaign) take(l *life, again string) {
	for _, p := range l.plans {
		struck := l.struck(p)
		c.count.faults += struck
		switch {
		case struck == 0:
			c.count.missed++
		case p.lane() == everybody:
			c.count.everybody++
		case struck == 1:
			c.count.single++
		default:
			c.count.several++
		}
	}
	if len(l.problems) == 0 {
		return
	}
	text := strings.Join(l.problems, "\n")
	c.count.wrong++
	c.count.duplicates += strings.Count(text, duplicateEmail)
	c.count.lost += strings.Count(text, silentlyLost)
	c.Errorf("%s\n\nThe plans for this namespace were, seed %d:\n%v\nIts operator had %d namespaces.\nTo repeat: %s\nWhat happened:\n%s",
		text, c.settings.seed, l.plans, len(l.crew.lives), again, l.trace())
}

// Every effect of the operator meets every fault, one a life; with CHAOS_TIME, lives with two and three faults follow.
func TestChaos(t *testing.T) {
	t.Parallel()
	calmEnds(t)
	c := &campaign{T: t, settings: readSettings(t)}
	began := time.Now()
	c.deadline = began.Add(c.settings.time)
	if c.settings.plan != "" {
		p, err := parsePlan(c.settings.plan)
		if err != nil {
			t.Fatal(err)
		}
		c.run(listed([]squad{alone(p)}))
		if c.count.missed > 0 {
			t.Errorf("it did not come to what %s strikes", p)
		}
		return
	}
	all, share := singles(), 0
	if c.settings.squad < 0 {
		share = c.run(listed(c.squads(all)))
	}
	if c.settings.beyond {
		c.run(c.drawn)
	}
	n, took := c.count, time.Since(began)
	t.Logf(`
chaos: %d of %d single plans, seed %d
chaos: %d perturbed runs in %s, %.0f a minute: %d lives of a Mandate with one fault, %d with two or three, and %d namespaces of four Mandates with faults for all
chaos: %d faults struck; %d plans met nothing to strike
chaos: %d kills of an operator, each in the middle of the lives of up to %d Mandates: %d lives hit
chaos: duplicate e-mails %d, silently lost applications %d, namespaces that went wrong %d
`, share, len(all), c.settings.seed, n.runs(), took.Round(time.Second), float64(n.runs())/took.Minutes(), n.single, n.several, n.everybody,
		n.faults, n.missed, n.kills, len(mandates)*squadSize, n.hits, n.duplicates, n.lost, n.wrong)
}

func listed(squads []squad) func(int) (squad, bool) {
	return func(i int) (squad, bool) {
		if i >= len(squads) {
			return squad{}, false
		}
		return squads[i], true
	}
}

func alone(p plan) squad { return squad{[][]plan{{p}}, fmt.Sprintf("make chaos PLAN=%q", p)} }

// squads shuffles single plans by the seed. One that kills gets an operator of its own; the others do not touch each other.
func (c *campaign) squads(plans []plan) (squads []squad) {
	random := rand.New(rand.NewPCG(c.settings.seed, 0))
	random.Shuffle(len(plans), func(i, j int) { plans[i], plans[j] = plans[j], plans[i] })
	for _, p := range plans {
		if p.kills() {
			squads = append(squads, alone(p))
		}
	}
	for namespaces := range slices.Chunk(sideBySide(slices.DeleteFunc(plans, plan.kills)), squadSize) {
		squads = append(squads, squad{namespaces, "make chaos PLAN='...', with one of the plans"})
	}
	random.Shuffle(len(squads), func(i, j int) { squads[i], squads[j] = squads[j], squads[i] })
	return squads
}

// drawn is the i-th squad of the seed: lives of several faults, whose kills hit all others of the squad.
func (c *campaign) drawn(i int) (squad, bool) {
	if only := c.settings.squad; only >= 0 {
		if i > 0 {
			return squad{}, false
		}
		i = only
	}
	random := rand.New(rand.NewPCG(c.settings.seed, uint64(i)+1))
	s := squad{again: fmt.Sprintf("make chaos SEED=%d SQUAD=%d", c.settings.seed, i)}
	for range squadSize {
		s.namespaces = append(s.namespaces, drawn(random))
	}
	return s, true
}
