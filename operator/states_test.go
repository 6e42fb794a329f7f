package operator_test

import (
	"fmt"
	"regexp"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
	"github.com/mandate-io/idv/internal/test/testenv"
)

// A service renames its states under a hundred Mandates, and some get a decision. That is said, and goes when a person
// explains the names.
func TestStatesThatChange(t *testing.T) {
	t.Parallel()
	const mandates, decisions = 100, 5
	w := newWorld(t, sandbox.Options{})
	address := testenv.FreeAddress(t)
	w.credentials()
	w.newService("default",
		fmt.Sprintf("baseURL: %q, requestsPerSecond: 100, polling: {minIntervalSeconds: 5, maxIntervalSeconds: 5}", w.url))
	w.start("--metrics-bind-address=" + address)
	w.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)
	written := w.statusWrites()
	for i := range mandates {
		w.mandate(fmt.Sprintf("acme-%d", i), "{}")
	}
	for i := range mandates {
		w.play(w.ready(fmt.Sprintf("acme-%d", i)), control.ResultReview)
	}
	w.stateNames("default", "created Open", "in review InReview")
	w.understands("default", true)

	w.check(w.sandbox.SetDialect(t.Context(), "stateNames", dialect.StateNamesOther))
	w.understands("default", false)
	w.stateNames("default", "created Open", "in review InReview", "under review Unknown")
	w.eventsOf("IdentityService", "default", v1alpha1.ReasonStateUnknown)
	for i := range decisions {
		name := fmt.Sprintf("acme-%d", i)
		seen := w.until(name, "under review", func(m *v1alpha1.Mandate) bool { return m.Status.State == "under review" })
		w.mandate(name, "{"+decision(seen, v1alpha1.DecisionReject)+"}")
		w.stalled(name, v1alpha1.ReasonStateUnknown)
	}
	metric := regexp.MustCompile(`idv_connection_states_unknown\{connection="IdentityService/` + w.namespace +
		`/default"\} [1-9]`)
	w.eventually(func() (bool, string) { return metric.MatchString(w.scrape(address)), "the metric is 0" })

	w.kill()
	w.start()
	w.patchService("{states: {inReview: [Under_Review], rejected: [refused]}}")
	w.understands("default", true)
	for i := range decisions {
		rejected := string(v1alpha1.OutcomeRejected)
		w.condition(fmt.Sprintf("acme-%d", i), v1alpha1.ConditionCompleted, metav1.ConditionTrue, rejected)
	}
	w.stateNames("default", "created Open", "in review InReview", "refused Rejected", "under review InReview")
	if got := w.acts(); got != "[reject_application: 5]" {
		t.Errorf("the operator sent %s", got)
	}
	if n := written(); n > 10 {
		t.Errorf("the status of the service was written %d times", n)
	}
}

// statusWrites counts the writes of the status of the service from now on.
func (w *world) statusWrites() (written func() int) {
	w.Helper()
	watching, err := client.NewWithWatch(w.env.Config, client.Options{Scheme: scheme()})
	w.check(err)
	events, err := watching.Watch(w.Context(), &v1alpha1.IdentityServiceList{}, client.InNamespace(w.namespace))
	w.check(err)
	w.Cleanup(events.Stop)
	return func() (n int) {
		var last v1alpha1.IdentityServiceStatus
		for {
			select {
			case event := <-events.ResultChan():
				service, ok := event.Object.(*v1alpha1.IdentityService)
				if !ok {
					w.Fatalf("the watch of the service ended: %+v", event)
				}
				if !equality.Semantic.DeepEqual(last, service.Status) {
					last = service.Status
					n++
				}
			default:
				return n
			}
		}
	}
}

// stateNames waits until the status of a service shows these names of states with their stages.
func (w *world) stateNames(service string, want ...string) {
	w.Helper()
	w.eventually(func() (bool, string) {
		var got []string
		for _, s := range w.service(service).Status.States {
			got = append(got, s.Name+" "+string(s.Stage))
			if s.LastSeenTime.IsZero() {
				w.Fatalf("%s was never seen", s.Name)
			}
		}
		return slices.Equal(got, want), fmt.Sprintf("the states of %s are %q, want %q", service, got, want)
	})
}

// understands waits until a service understands all states that Mandates wait in, or does not.
func (w *world) understands(service string, want bool) {
	w.Helper()
	w.eventually(func() (bool, string) {
		conditions := w.service(service).Status.Conditions
		c := meta.FindStatusCondition(conditions, v1alpha1.ConditionStatesUnderstood)
		if c != nil && (c.Status != metav1.ConditionFalse || c.Reason != v1alpha1.ReasonStateUnknown) {
			w.Fatalf("the condition is %+v", c)
		}
		return (c == nil) == want, fmt.Sprintf("%s has %+v", service, conditions)
	})
}

// The operator uses services in all dialects that name states, with and without spec.states, at the same time. It says
// that it does not understand those that rename "in review", and says it of no other one.
func TestStatesOfDialects(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{})
	w.credentials()
	cases := stateCases()
	for i := range cases {
		cases[i].apply(w, fmt.Sprintf("acme-%d", i))
	}
	w.start()
	for i := range cases {
		cases[i].control.finish(w, w.ready(fmt.Sprintf("acme-%d", i)))
	}
	for i, c := range cases {
		w.until(fmt.Sprintf("acme-%d", i), c.shown, func(m *v1alpha1.Mandate) bool { return m.Status.State == c.shown })
	}
	for _, understood := range []bool{false, true} { // those that are said first
		for i, c := range cases {
			if c.understood == understood {
				w.understands(fmt.Sprintf("acme-%d", i), understood)
			}
		}
	}
}

// stateCase is a service in a dialect.
type stateCase struct {
	name, value, states string // states is its spec.states
	shown               string // the name of the state in review
	understood          bool
	control             player
}

// player plays the individuals of one sandbox.
type player struct{ *control.Client }

func (p player) finish(w *world, m *v1alpha1.Mandate) {
	w.Helper()
	_, err := p.Play(w.Context(), control.Play{ApplicationID: *m.Status.ApplicationID, Result: control.ResultReview})
	w.check(err)
}

func stateCases() []stateCase {
	cases := []stateCase{
		{name: "stateNames", value: "documented", shown: "in review", understood: true},
		{name: "stateNames", value: dialect.StateNamesDeclined, shown: "in review", understood: true},
		{name: "firstState", value: dialect.FirstStatePending, shown: "in review", understood: true},
		{name: "firstState", value: dialect.FirstStateDraft, shown: "in review", understood: true},
		{name: "firstState", value: dialect.FirstStateAwaiting, shown: "in review", understood: true},
		{name: "firstState", value: dialect.FirstStateInReview, shown: "in review", understood: true},
		{name: "statusCase", value: dialect.StatusSnake, shown: "in_review", understood: true},
		{name: "statusCase", value: dialect.StatusKebab, shown: "in-review", understood: true},
		{name: "statusCase", value: dialect.StatusUpper, shown: "IN REVIEW", understood: true},
		{name: "statusShape", value: dialect.StatusString, shown: "in review", understood: true},
		{name: "checkStateNames", value: dialect.CheckStateNamesClear, shown: "in review", understood: true},
		{name: "checks", value: dialect.ChecksIndividualOnly, shown: "in review", understood: true},
	}
	for _, c := range []stateCase{
		{name: "stateNames", value: dialect.StateNamesOther, shown: "under review"},
		{name: "stateNames", value: dialect.StateNamesApproved, shown: "awaiting decision"},
		{name: "stateNames", value: dialect.StateNamesGerman, shown: "in Prüfung"},
		{name: "stateNames", value: dialect.StateNamesCodes, shown: "S21"},
		{name: "statusShape", value: dialect.StatusInteger, shown: "21"},
	} {
		explained := c
		explained.states, explained.understood = fmt.Sprintf("{inReview: [%q]}", c.shown), true
		cases = append(cases, c, explained)
	}
	return cases
}

// apply starts a sandbox, and applies a service and a Mandate for it.
func (c *stateCase) apply(w *world, name string) {
	w.Helper()
	var options sandbox.Options
	w.check(options.Dialect.Set(c.name, c.value))
	var url string
	url, c.control.Client = testenv.Sandbox(w.T, options)
	states := ""
	if c.states != "" {
		states = ", states: " + c.states
	}
	w.newService(name, fmt.Sprintf("baseURL: %q, polling: {minIntervalSeconds: 1, maxIntervalSeconds: 1}%s", url, states))
	w.mandate(name, "{serviceRef: {name: "+name+"}}")
}
