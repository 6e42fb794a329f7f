package plugin_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
	"github.com/mandate-io/idv/internal/test/testenv"
	"github.com/mandate-io/idv/plugin"
)

// planDialects are services that differ in what a plan could get wrong: what is e-mailed, refused, freed and shown.
var planDialects = []string{
	"", "createStatus=201", "createBody=location", "createBody=no_reference", "readLag=1", "applicationReference=hidden",
	"ids=string", "stateNames=declined", "completeMethod=POST rejectMethod=PUT", "suppress=invite",
	"deletedReferences=reserved", "archivedReferences=freed", "referenceCase=ignored", "individualReferences=application",
	"goneAnswer=410", "individualReference=hidden individualEmail=hidden", "archivedTransition=refused",
	"repeatedArchive=refused", "resetCheckIDs=new", "undecidedChecks=allow",
}

// agreementSettings are how many pairs to try, from which seed, and which one alone.
func agreementSettings(t *testing.T) (pairs int, seed uint64, only int) {
	t.Helper()
	number := func(name string, fallback int) int {
		n, err := strconv.Atoi(os.Getenv(name))
		if err != nil {
			return fallback
		}
		return n
	}
	return number("PLANPAIRS", 8), uint64(number("PLANSEED", 26)), number("PLANPAIR", -1)
}

// batchSize is how many pairs one operator serves at a time.
const batchSize = 30

// TestPlanAgrees plans random changes of random clusters, makes them, and compares the e-mails and calls that follow
// with the plan. PLANPAIRS is the number of pairs, PLANSEED the seed, and PLANPAIR repeats one pair.
func TestPlanAgrees(t *testing.T) {
	testenv.SkipIfShort(t)
	pairs, seed, only := agreementSettings(t)
	services := newPlanServices(t)
	outcomes := map[string]int{}
	sent, exhausted := 0, 0
	for first := 0; first < pairs; first += batchSize {
		var batch []*pair
		for n := first; n < min(first+batchSize, pairs); n++ {
			if only < 0 || only == n {
				batch = append(batch, newPair(t, services[n%len(services)], seed, n))
				batch[len(batch)-1].rules = pairs > batchSize
			}
		}
		if len(batch) == 0 {
			continue
		}
		operator := startFor(t, batch)
		runPairs(batch)
		if err := operator.Stop(); err != nil {
			t.Error(err)
		}
		for _, p := range batch {
			outcomes[p.outcome()]++
			if p.sent {
				sent++
			}
			if p.exhausted {
				exhausted++
			}
			if p.failure != nil {
				t.Errorf("pair %d (PLANSEED=%d PLANPAIR=%d PLANPAIRS=%d), dialect %q: %v\n%s",
					p.number, seed, p.number, pairs, p.service.dialect, p.failure, p.story.String())
			}
		}
	}
	t.Logf("plans and what followed: %d agree exactly, %d within what the plan calls unknown, %d do not; %d pairs sent "+
		"something, %d exhausted a budget", outcomes[agreed], outcomes[agreedWithin], outcomes[disagreed], sent, exhausted)
}

const (
	agreed       = "agreed"
	agreedWithin = "agreed within what is unknown"
	disagreed    = "disagreed"
)

// planService is a sandbox that many pairs share, each with references of its own.
type planService struct {
	dialect, url string
	sandbox      *control.Client
}

func newPlanServices(t *testing.T) (services []planService) {
	t.Helper()
	for _, switches := range planDialects {
		chosen := dialect.Dialect{}
		for one := range strings.FieldsSeq(switches) {
			if err := chosen.Parse(one); err != nil {
				t.Fatal(err)
			}
		}
		url, sandbox := testenv.Sandbox(t, sandbox.Options{Dialect: chosen})
		services = append(services, planService{switches, url, sandbox})
	}
	return services
}

// startFor starts an operator for the namespaces of pairs.
func startFor(t *testing.T, batch []*pair) *testenv.Process {
	t.Helper()
	namespaces := make([]string, len(batch))
	for i, p := range batch {
		namespaces[i] = p.namespace
	}
	return batch[0].startOperator(namespaces...)
}

func runPairs(batch []*pair) {
	var running sync.WaitGroup
	for _, p := range batch {
		running.Go(p.run)
	}
	running.Wait()
}

// pair is a cluster and a change. What fails panics, and run recovers.
type pair struct {
	*world
	service planService
	number  int
	random  *rand.Rand
	limit   time.Duration // of each wait

	manifests map[string]*manifest // by kind and name, as the repository has them
	people    int
	budget    int  // how many requests the service's budget allows; 0: many
	ruled     bool // a rule has to hold for a time
	rules     bool // decisions by rules are tried, which takes long
	within    bool // the plan calls something unknown, and that was otherwise
	sent      bool
	exhausted bool // the plan exhausts the budget
	failure   error
	story     strings.Builder
}

func newPair(t *testing.T, service planService, seed uint64, number int) *pair {
	t.Helper()
	w := newWorldOf(t, service.url, service.sandbox)
	w.connect()
	return &pair{
		world: w, service: service, number: number, manifests: map[string]*manifest{},
		random: rand.New(rand.NewPCG(seed, uint64(number))),
		limit:  20 * time.Minute, // of a test that hangs
	}
}

func (p *pair) outcome() string {
	switch {
	case p.failure != nil:
		return disagreed
	case p.within:
		return agreedWithin
	default:
		return agreed
	}
}

func (p *pair) run() {
	defer func() {
		if problem := recover(); problem != nil {
			p.failure = fmt.Errorf("%v", problem)
		}
	}()
	p.setUp()
	p.change()
	before := p.observe()
	predicted := p.predict()
	p.make(predicted)
	p.compare(before, predicted)
}

func (p *pair) must(err error) {
	if err != nil {
		panic(err)
	}
}

func (p *pair) describe(format string, arguments ...any) {
	fmt.Fprintf(&p.story, "  "+format+"\n", arguments...)
}

// one of n cases is so.
func (p *pair) oneIn(n int) bool { return p.random.IntN(n) == 0 }

// until waits, and panics with what is missing when that takes too long.
func (p *pair) until(missing func() string) {
	for end := time.Now().Add(p.limit); ; <-time.After(500 * time.Millisecond) {
		state := missing()
		if state == "" {
			return
		}
		if time.Now().After(end) {
			panic("waited for too long: " + state)
		}
	}
}

// prediction is the plan, as a program reads it.
type prediction struct {
	Items  []plannedItem
	Emails int
	Sends  bool
}

type plannedItem struct {
	Kind, Name, Reason string
	Actions, Unknown   []string
	Emails             int
	Calls              []struct{ Kind, Individual string }
}

// predict plans for the manifests. What they do not have is pruned.
func (p *pair) predict() *prediction {
	var input strings.Builder
	for _, key := range sortedNames(p.manifests) {
		encoded, err := json.Marshal(p.manifests[key].object(p.namespace))
		p.must(err)
		input.WriteString("---\n" + string(encoded) + "\n")
	}
	var out, errOut strings.Builder
	streams := plugin.Streams{In: strings.NewReader(input.String()), Out: &out, ErrOut: &errOut}
	code := plugin.Run(p.Context(), streams, "test", []string{
		"plan", "-f", "-", "--prune", "-o", "json", "--kubeconfig", p.kubeconfig, "--namespace", p.namespace,
	})
	made := &prediction{}
	if code != 0 && code != 2 {
		panic(fmt.Sprintf("the plan ends with %d: %s", code, errOut.String()))
	}
	p.must(json.Unmarshal([]byte(out.String()), made))
	if made.Sends != (code == 2) {
		panic(fmt.Sprintf("the exit code is %d, and the plan sends: %t", code, made.Sends))
	}
	if strings.Contains(out.String(), "@") {
		panic("the plan has personal data: " + out.String())
	}
	p.describe("plan: %s", out.String())
	return made
}

// make makes the change: it applies the manifests, and deletes what is not in them.
func (p *pair) make(predicted *prediction) {
	refused := map[string]bool{}
	for _, item := range predicted.Items {
		refused[item.Kind+"/"+item.Name] = item.Reason == "Invalid"
	}
	for _, key := range sortedNames(p.manifests) {
		err := p.apply(p.manifests[key])
		if (err != nil) != refused[key] {
			panic(fmt.Sprintf("%s: the API server says %v, and the plan that it refuses: %t", key, err, refused[key]))
		}
	}
	for _, object := range p.stored() {
		if p.manifests[kindName(object)] == nil {
			p.must(client.IgnoreNotFound(p.Delete(p.Context(), object)))
		}
	}
}

// compare waits until what happens is what was planned, and then sees that nothing else does.
func (p *pair) compare(before *observation, predicted *prediction) {
	expected := p.expectedCalls(predicted)
	p.sent = len(expected) > 0
	difference := func() string {
		return p.difference(p.observe().since(before), expected, predicted)
	}
	p.until(difference)
	grace := 3 * time.Second
	if p.ruled {
		grace = 22 * time.Second // a rule holds after twenty polls
	}
	<-time.After(grace) // that nothing happens cannot be waited for
	if late := difference(); late != "" {
		panic("after the planned effects, there are more: " + late)
	}
	happened := p.observe().since(before)
	if slices.Equal(happened.calls, expected) && happened.emails == predicted.Emails {
		p.within = false // what was unknown was as the plan took it
	}
}

// difference says how what happened differs from a plan. What is unknown to the plan may not happen.
func (p *pair) difference(happened *observation, expected []string, predicted *prediction) string {
	for _, item := range predicted.Items {
		p.within = p.within || len(item.Unknown) > 0
	}
	if !p.within && p.exhausts(predicted) {
		p.exhausted = true
		return p.differenceWithin(happened, expected, predicted)
	}
	if p.within {
		for _, call := range happened.calls {
			if !slices.Contains(expected, call) && !p.mayFollow(call, predicted) {
				return fmt.Sprintf("%s was called, planned are %q", call, expected)
			}
		}
		if happened.emails > predicted.Emails {
			return fmt.Sprintf("%d e-mails were sent, planned are %d at most", happened.emails, predicted.Emails)
		}
		return p.notSettled()
	}
	if happened.emails != predicted.Emails {
		return fmt.Sprintf("%d e-mails were sent, planned are %d; calls %q", happened.emails, predicted.Emails,
			happened.calls)
	}
	if !slices.Equal(happened.calls, expected) {
		return fmt.Sprintf("the calls are %q, planned are %q", happened.calls, expected)
	}
	return ""
}
