package operator

import (
	"fmt"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

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
			State: connection.Closed, Mandates: connection.SlotUsage{Used: 1, Waiting: 2},
		})
	}
	usage[many-1].State, usage[many-1].Failing = connection.Open, connection.Read
	number, sums := map[*prometheus.Desc]int{}, map[*prometheus.Desc]float64{}
	failing := false
	for s, value := range connectionMetrics(connections(usage), 10).sum() {
		number[s.metric]++
		sums[s.metric] += value
		failing = failing || s.labels == [3]string{"IdentityService/team-999/default", "open", "reads"} && value == 1
	}
	if listed := maxListedConnections + 1; number[circuitBreakers] != listed || number[slotsUsed] != 2*listed {
		t.Errorf("%d connections have %d series of circuit breakers, and %d of slots",
			many, number[circuitBreakers], number[slotsUsed])
	}
	if !failing {
		t.Error("the connection that fails has no series of its own")
	}
	if sums[circuitBreakers] != many || sums[slotsUsed] != many || sums[waiting] != 2*many || sums[slots] != 10 {
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
