package operator

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/connection"
)

type connections []connection.Usage

func (c connections) Usage() []connection.Usage { return c }

// However many connections there are, the number of series is bounded, those that fail have their own, and nothing is
// left out of the sum.
func TestConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	const many = 1000
	var usage []connection.Usage
	for i := range many {
		usage = append(usage, connection.Usage{
			Key:   connection.Key{Kind: "IdentityService", Namespace: fmt.Sprintf("team-%03d", i), Name: "default"},
			State: connection.Closed, Mandates: connection.SlotUsage{Used: 1, Waiting: 2}, StatesUnknown: 3,
		})
	}
	usage[many-1].State, usage[many-1].Failing = connection.Open, connection.Read
	number, sums := map[*prometheus.Desc]int{}, map[*prometheus.Desc]float64{}
	failing := false
	for s, value := range connectionMetrics(connections(usage), 10).sum() {
		number[s.metric]++
		sums[s.metric] += value
		failing = failing || s.labels == [4]string{"IdentityService/team-999/default", "open", "reads"} && value == 1
	}
	if listed := maxListedConnections + 1; number[circuitBreakers] != listed || number[slotsUsed] != 2*listed {
		t.Errorf("%d connections have %d series of circuit breakers, and %d of slots",
			many, number[circuitBreakers], number[slotsUsed])
	}
	if !failing {
		t.Error("the connection that fails has no series of its own")
	}
	if sums[circuitBreakers] != many || sums[slotsUsed] != many || sums[waiting] != 2*many || sums[slots] != 10 ||
		sums[statesUnknown] != 3*many {
		t.Errorf("the sums are %v", sums)
	}
}

// A create that the service forbids was refused: nobody was e-mailed, and nobody has to look for an application.
func TestCreateOutcome(t *testing.T) {
	t.Parallel()
	for outcome, want := range map[idv.Outcome]string{
		idv.Done: outcomeCreated, idv.NotSent: outcomeNotSent, idv.Refused: outcomeRefused, idv.Forbidden: outcomeRefused,
		idv.Unknown: outcomeUnknown, idv.Accepted: outcomeUnknown, idv.Candidate: outcomeUnknown,
	} {
		if got := createOutcome(outcome); got != want {
			t.Errorf("%s counts as %q, want %q", outcome, got, want)
		}
	}
}

// An application counts as expiring from a week before the service deletes it, until it has an outcome.
func TestExpiring(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for name, c := range map[string]struct {
		in      time.Duration
		outcome v1alpha1.Outcome
		want    float64
	}{
		"eight days": {in: 8 * day}, "six days": {in: 6 * day, want: 1}, "overdue": {in: -day, want: 1},
		"six days, with an outcome": {in: 6 * day, outcome: v1alpha1.OutcomeCompleted},
	} {
		expiry := metav1.NewTime(time.Now().Add(c.in))
		m := v1alpha1.Mandate{Status: v1alpha1.MandateStatus{ExpiryTime: &expiry, Outcome: c.outcome}}
		var got float64
		addMandates(func(metric *prometheus.Desc, value float64, _ ...string) {
			if metric == expiringMandates {
				got += value
			}
		}, []v1alpha1.Mandate{m}, nil, func(*v1alpha1.Mandate) time.Duration { return 0 })
		if got != c.want {
			t.Errorf("%s: %v are expiring, want %v", name, got, c.want)
		}
	}
}

// However many namespaces there are, the number of series is bounded, those with a Mandate that is not Ready have their
// own, and nothing is left out of the sum.
func TestNamespacesAreBounded(t *testing.T) {
	t.Parallel()
	const many = 1000
	var all []v1alpha1.Mandate
	for i := range many {
		all = append(all, v1alpha1.Mandate{ObjectMeta: metav1.ObjectMeta{Namespace: fmt.Sprintf("team-%03d", i)}})
	}
	all[many-1].Status.Conditions = []metav1.Condition{
		{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonRefused},
	}
	actions := []v1alpha1.MandateAction{{ObjectMeta: metav1.ObjectMeta{Namespace: "actions-only"}}}
	listed := listedNamespaces(all, actions)
	counted := computed{nil, func(add add) {
		addMandates(add, all, listed, func(*v1alpha1.Mandate) time.Duration { return 0 })
		addActions(add, actions, listed)
	}}
	sums, namespaces := 0.0, map[string]float64{}
	for s, value := range counted.sum() {
		if s.metric == mandates {
			sums += value
			namespaces[s.labels[0]] += value
		}
	}
	// The namespace without Mandates has one of the places.
	if len(namespaces) != maxListedNamespaces || sums != many {
		t.Errorf("%d namespaces have series, and the sum is %v", len(namespaces), sums)
	}
	if namespaces["team-999"] != 1 || namespaces[otherNamespacesLabel] != many-maxListedNamespaces+1 {
		t.Errorf("the one that is not Ready has %v, and the others %v",
			namespaces["team-999"], namespaces[otherNamespacesLabel])
	}
	if !listed["actions-only"] {
		t.Error("a namespace that has only actions is not counted")
	}
}
