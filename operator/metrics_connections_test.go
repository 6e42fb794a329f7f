package operator

import (
	"fmt"
	"testing"

	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/connection"
)

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
	breakers, slots := summarize(usage)
	if len(breakers) != maxListedConnections+1 || len(slots) != 2*(maxListedConnections+1) {
		t.Errorf("%d connections have %d series of circuit breakers, and %d of slots", many, len(breakers), len(slots))
	}
	if n := breakers[[3]string{"IdentityService/team-999/default", "open", "reads"}]; n != 1 {
		t.Error("the connection that fails has no series of its own")
	}
	total, sum := 0, connection.SlotUsage{}
	for _, n := range breakers {
		total += n
	}
	for _, u := range slots {
		sum.Used, sum.Waiting = sum.Used+u.Used, sum.Waiting+u.Waiting
	}
	if want := (connection.SlotUsage{Used: many, Waiting: 2 * many}); total != many || sum != want {
		t.Errorf("the sums are %d circuit breakers and %+v, want %d and %+v", total, sum, many, want)
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
