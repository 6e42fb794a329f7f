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

// batchSize is how many namespaces share an operator. A namespace is cheap, the start of an operator is not.
const batchSize = 6

// defaultDuration limits a run without CHAOS_TIME, which has single faults only.
const defaultDuration = 4 * time.Minute

// settings come from the environment, where the Makefile puts them.
type settings struct {
	time       time.Duration // no scenario starts after it
	seed       uint64
	multiFault bool   // continue with several faults for each Mandate
	plan       string // run this plan only
	batch      int    // run this random batch only; -1 for all
}

func readSettings(t *testing.T) settings {
	t.Helper()
	s := settings{time: defaultDuration, seed: 1, batch: -1, plan: os.Getenv("CHAOS_PLAN")}
	var errs [3]error
	if text := os.Getenv("CHAOS_TIME"); text != "" {
		s.multiFault, s.seed = true, rand.Uint64N(1_000_000)
		s.time, errs[0] = time.ParseDuration(text)
	}
	if text := os.Getenv("CHAOS_SEED"); text != "" {
		s.seed, errs[1] = strconv.ParseUint(text, 10, 64)
	}
	if text := os.Getenv("CHAOS_BATCH"); text != "" {
		s.batch, errs[2] = strconv.Atoi(text)
	}
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// campaign runs plans and counts their results.
type campaign struct {
	*testing.T
	settings settings
	deadline time.Time

	mu    sync.Mutex
	count counts
}

// counts are the results so far. A run is one Mandate with its actions, unless a comment says otherwise.
type counts struct {
	single, multiple int            // runs with one injected fault, and with more
	everyMandate     int            // namespaces with a fault that affects all Mandates
	faults           int            // injected
	missed           int            // plans whose effect did not occur
	kills            int            // of operators
	interruptions    int            // unfinished runs whose operator was killed
	duplicates       int            // e-mails
	lost             int            // applications
	unrequested      map[string]int // requests that act on people, by what is wrong with them
	acting           map[string]int // requests that act on people
	failed           int            // namespaces that violate an invariant
}

func (n *counts) runs() int { return n.single + n.multiple + n.everyMandate }

// batch is the plans that one operator runs through.
type batch struct {
	namespaces [][]plan
	reproduce  string // the command
}

// run runs batches until there are none left or the time is up, and returns the number of their plans.
func (c *campaign) run(batches func(i int) (batch, bool)) (plans int) {
	var (
		running sync.WaitGroup
		mu      sync.Mutex
		started int
	)
	next := func() (batch, bool) {
		mu.Lock()
		defer mu.Unlock()
		if time.Now().After(c.deadline) || c.Failed() {
			return batch{}, false
		}
		b, ok := batches(started)
		started++
		for _, p := range b.namespaces {
			plans += len(p)
		}
		return b, ok
	}
	done := make(chan struct{})
	defer close(done)
	go c.logProgress(done)
	for range 2 * runtime.NumCPU() {
		running.Go(func() {
			for b, ok := next(); ok; b, ok = next() {
				c.runBatch(b)
			}
		})
	}
	running.Wait()
	return plans
}

// logProgress logs the counts every minute.
func (c *campaign) logProgress(done <-chan struct{}) {
	ticker := time.NewTicker(time.Minute)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return
		case <-ticker.C:
			c.mu.Lock()
			c.Logf("%d runs so far, %d kills, %d failed", c.count.runs(), c.count.kills, c.count.failed)
			c.mu.Unlock()
		}
	}
}

func (c *campaign) runBatch(b batch) {
	fleet, err := newFleet(c.Context(), b.namespaces)
	if err != nil {
		c.Errorf("%v", err)
		return
	}
	defer fleet.close()
	if err := fleet.run(); err != nil {
		c.Errorf("%v\nTo reproduce: %s", err, b.reproduce)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count.kills += fleet.current()
	c.count.interruptions += fleet.interrupted() * len(mandates)
	for _, s := range fleet.scenarios {
		c.record(s, b.reproduce)
	}
}

// record counts a scenario. The caller holds mu.
func (c *campaign) record(s *scenario, reproduce string) {
	s.countActing(c.count.acting)
	for _, p := range s.plans {
		injected := s.injected(p)
		c.count.faults += injected
		switch {
		case injected == 0:
			c.count.missed++
		case p.owner() == everyMandate:
			c.count.everyMandate++
		case injected == 1:
			c.count.single++
		default:
			c.count.multiple++
		}
	}
	if len(s.problems) == 0 {
		return
	}
	text := strings.Join(s.problems, "\n")
	c.count.failed++
	c.count.duplicates += strings.Count(text, duplicateEmail)
	c.count.lost += strings.Count(text, silentlyLost)
	for _, problem := range unrequestedProblems {
		c.count.unrequested[problem] += strings.Count(text, problem)
	}
	c.Errorf("%s\n\nPlans of this namespace, seed %d:\n%v\nNamespaces of its operator: %d\nTo reproduce: %s\nTrace:\n%s",
		text, c.settings.seed, s.plans, len(s.fleet.scenarios), reproduce, s.trace())
}

// Every effect of the operator meets every fault, one fault for each Mandate. With CHAOS_TIME, random plans of two and
// three faults follow.
func TestChaos(t *testing.T) {
	t.Parallel()
	requireFaultFree(t)
	c := &campaign{T: t, settings: readSettings(t)}
	c.count.acting, c.count.unrequested = map[string]int{}, map[string]int{}
	started := time.Now()
	c.deadline = started.Add(c.settings.time)
	if c.settings.plan != "" {
		c.runPlan(c.settings.plan)
		return
	}
	all, done := singleFaultPlans(), 0
	if c.settings.batch < 0 {
		done = c.run(fromList(c.singleFaultBatches(all)))
	}
	if c.settings.multiFault {
		c.run(c.randomBatch)
	}
	t.Logf("\nchaos: %d of %d single-fault plans, seed %d\n%s",
		done, len(all), c.settings.seed, c.summary(time.Since(started)))
}

// runPlan runs one plan, which has to inject its faults.
func (c *campaign) runPlan(text string) {
	c.Helper()
	p, err := parsePlan(text)
	if err != nil {
		c.Fatal(err)
	}
	c.run(fromList([]batch{batchOf(p)}))
	if c.count.missed > 0 {
		c.Errorf("the effect of %s did not occur", p)
	}
}

// summary is the counts, in lines for a person.
func (c *campaign) summary(took time.Duration) string {
	n := c.count
	lines := []string{
		fmt.Sprintf("%d runs in %s, %.0f a minute", n.runs(), took.Round(time.Second), float64(n.runs())/took.Minutes()),
		fmt.Sprintf("%d Mandates with one fault, %d with two or three, %d namespaces with faults for all Mandates",
			n.single, n.multiple, n.everyMandate),
		fmt.Sprintf("%d faults injected; %d plans whose effect did not occur", n.faults, n.missed),
		fmt.Sprintf("%d kills of an operator with up to %d Mandates: %d Mandates interrupted",
			n.kills, len(mandates)*batchSize, n.interruptions),
		actingWords(n.acting),
		fmt.Sprintf("%d decisions on unseen evidence, %d for another individual, %d against the live spec, "+
			"%d actions repeated",
			n.unrequested[unseenEvidence], n.unrequested[anotherIndividual], n.unrequested[againstLiveSpec],
			n.unrequested[repeatedAction]),
		fmt.Sprintf("%d calls without an entry in the log, %d entries that the service does not explain",
			n.unrequested[unloggedCall], n.unrequested[unexplainedEntry]),
		fmt.Sprintf("%d duplicate e-mails, %d silently lost applications, %d failed namespaces",
			n.duplicates, n.lost, n.failed),
	}
	return "chaos: " + strings.Join(lines, "\nchaos: ") + "\n"
}

func fromList(batches []batch) func(int) (batch, bool) {
	return func(i int) (batch, bool) {
		if i >= len(batches) {
			return batch{}, false
		}
		return batches[i], true
	}
}

func batchOf(p plan) batch { return batch{[][]plan{{p}}, fmt.Sprintf("make chaos PLAN=%q", p)} }

// singleFaultBatches shuffles plans of one fault by the seed. A plan that kills the operator has a batch of its own.
// The others share operators, because they do not affect each other.
func (c *campaign) singleFaultBatches(plans []plan) (batches []batch) {
	random := rand.New(rand.NewPCG(c.settings.seed, 0))
	random.Shuffle(len(plans), func(i, j int) { plans[i], plans[j] = plans[j], plans[i] })
	for _, p := range plans {
		if p.kills() {
			batches = append(batches, batchOf(p))
		}
	}
	for namespaces := range slices.Chunk(packNamespaces(slices.DeleteFunc(plans, plan.kills)), batchSize) {
		batches = append(batches, batch{namespaces, "make chaos PLAN='...' with one of the plans"})
	}
	random.Shuffle(len(batches), func(i, j int) { batches[i], batches[j] = batches[j], batches[i] })
	return batches
}

// randomBatch is the i-th batch of the seed. Its plans have several faults, and a kill interrupts the whole batch.
func (c *campaign) randomBatch(i int) (batch, bool) {
	if only := c.settings.batch; only >= 0 {
		if i > 0 {
			return batch{}, false
		}
		i = only
	}
	random := rand.New(rand.NewPCG(c.settings.seed, uint64(i)+1))
	b := batch{reproduce: fmt.Sprintf("make chaos SEED=%d BATCH=%d", c.settings.seed, i)}
	for range batchSize {
		b.namespaces = append(b.namespaces, drawPlans(random))
	}
	return b, true
}
