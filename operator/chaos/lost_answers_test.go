package chaos_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// The numbers of lost answers after which the test ends, without CHAOS_TIME and with it.
const (
	fewLostAnswers  = 40
	manyLostAnswers = 1000
)

// lostAnswers counts what became of creates whose answers were lost.
type lostAnswers struct {
	*testing.T
	seed uint64
	want int

	mu      sync.Mutex
	started int
	count   lostCounts
}

type lostCounts struct {
	mandates                   int
	lost, found                int // creates without an answer, and those of them whose Mandate has its application
	neverSent                  int // Mandates for which three operators began a create, and were killed before its request
	unbound, wrong, duplicates int // Mandates without their application, those with another one, and further e-mails
	deliveries, forged, kills  int
}

func (n *lostCounts) add(other lostCounts) {
	n.mandates += other.mandates
	n.lost += other.lost
	n.found += other.found
	n.neverSent += other.neverSent
	n.unbound += other.unbound
	n.wrong += other.wrong
	n.duplicates += other.duplicates
	n.deliveries += other.deliveries
	n.forged += other.forged
}

// With notifications that arrive, every application whose create lost its answer is found again: without a person,
// without a second e-mail, and whatever else somebody delivers.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	settings := readSettings(t)
	if settings.plan != "" || settings.batch >= 0 {
		return // another test reproduces these
	}
	l := &lostAnswers{T: t, seed: settings.seed, want: fewLostAnswers}
	if settings.multiFault {
		l.want = manyLostAnswers
	}
	began := time.Now()
	var running sync.WaitGroup
	for range 4 {
		running.Go(func() {
			for seed, ok := l.next(); ok; seed, ok = l.next() {
				l.run(seed)
			}
		})
	}
	running.Wait()
	t.Logf("\n%s", l.summary(time.Since(began)))
	if l.count.lost < l.want && !t.Failed() {
		t.Errorf("%d answers were lost, want %d", l.count.lost, l.want)
	}
}

// next returns the number of the next fleet, until enough answers were lost.
func (l *lostAnswers) next() (number int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.count.lost >= l.want || l.Failed() {
		return 0, false
	}
	l.started++
	return l.started, true
}

func (l *lostAnswers) summary(took time.Duration) string {
	n := l.count
	return fmt.Sprintf("chaos: %d of %d creates lost their answers in %s, seed %d: %d found again by notifications\n"+
		"chaos: %d deliveries of the service, %d forged, %d kills of an operator, %d Mandates killed before each request\n"+
		"chaos: %d need a person, %d bound to another application, %d duplicate e-mails\n",
		n.lost, n.mandates, took.Round(time.Second), l.seed, n.found,
		n.deliveries, n.forged, n.kills, n.neverSent, n.unbound, n.wrong, n.duplicates)
}

// run runs one operator with its receiver, for the Mandates of several services.
func (l *lostAnswers) run(number int) {
	random := rand.New(rand.NewPCG(l.seed, uint64(number)))
	var plans [][]plan
	for range batchSize {
		plans = append(plans, drawLosses(random))
	}
	fleet, err := newFleet(l.Context(), plans)
	if err != nil {
		l.Error(err)
		return
	}
	defer fleet.close()
	fleet.notifications = cluster.metricsPorts.next()
	fleet.mu.Lock()
	err = fleet.start()
	fleet.mu.Unlock()
	if err != nil {
		l.Error(err)
		return
	}
	var running sync.WaitGroup
	for _, s := range fleet.scenarios {
		n := &notifiedScenario{scenario: s, random: rand.New(rand.NewPCG(random.Uint64(), 0))}
		running.Go(func() {
			err := n.run(fleet.ctx)
			l.record(n, err)
		})
	}
	running.Wait()
	if err := fleet.finish("Found the application again"); err != nil {
		l.Errorf("operator %d of seed %d: %v", number, l.seed, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count.kills += fleet.current()
}

// record counts the result of a scenario.
func (l *lostAnswers) record(n *notifiedScenario, err error) {
	l.Helper()
	ctx := context.WithoutCancel(l.Context())
	found := n.result(ctx)
	if leaks := n.mandateLeaks(ctx); leaks != "" {
		l.Errorf("an object contains personal data: %s", leaks)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count.add(found)
	if err != nil || found.unbound+found.wrong+found.duplicates > 0 {
		l.Errorf("%v; operator %d of seed %d, %s, plans %v: %+v\nTrace:\n%s",
			err, l.started, l.seed, n.dialect, n.plans, found, n.trace())
	}
}

// lossyMandates are the names of the Mandates of one service.
var lossyMandates = []string{"a", "b", "c", "d"}

// drawLosses draws the faults of one service: most creates lose their answers, some to a killed operator, and some of
// the reads and records that follow fail, too.
func drawLosses(random *rand.Rand) (plans []plan) {
	for _, mandate := range lossyMandates {
		first := drop
		switch random.IntN(24) {
		case 0:
			first = killAfter
		case 1, 2:
			continue // the answer arrives
		}
		p := plan{{effect{createRequest, mandate, 1}, first}}
		switch random.IntN(6) {
		case 0:
			p = append(p, injection{effect{poll, mandate, 1}, drop})
		case 1:
			p = append(p, injection{effect{poll, mandate, 1}, refuse})
		case 2:
			p = append(p, injection{effect{"PATCH applicationrecords", mandate, 1 + random.IntN(2)}, refuse})
		}
		switch random.IntN(6) { // where the operator subscribes each application
		case 0:
			p = append(p, injection{effect{subscribe, mandate, 1}, drop})
		case 1:
			p = append(p, injection{effect{subscribe, mandate, 1}, refuse})
		case 2:
			p = append(p, injection{effect{subscribe, mandate, 1}, killBefore})
		}
		plans = append(plans, p)
	}
	return plans
}
