package operator_test

import (
	"context"
	"strings"
	"testing"

	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/testenv"
)

// Only the leader counts Mandates. Otherwise, a sum over replicas would count each one several times.
func TestReplicasCountOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{})
	election, err := env.GrantLeaderElection(t.Context(), w.namespace)
	w.check(err)
	first, second := testenv.FreeAddress(t), testenv.FreeAddress(t)
	counted := `idv_mandates{outcome="",ready="True",reason="Accepted"} 1` + "\n"
	w.connect()
	w.start(append(election, "--metrics-bind-address="+first)...)
	w.mandate("acme", "{}")
	w.ready("acme")
	leader := w.operator
	w.start(append(election, "--metrics-bind-address="+second)...)
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	w.check(w.operator.WaitForURL(ctx, "http://"+second+"/metrics"))
	if text := w.scrape(first); !strings.Contains(text, counted) {
		t.Errorf("the leader does not count the Mandate:\n%s", text)
	}
	if text := w.scrape(second); strings.Contains(text, "\nidv_mandates{") {
		t.Errorf("a replica that is not the leader counts Mandates:\n%s", text)
	}
	w.check(leader.Stop())
	w.eventually(func() (bool, string) {
		return strings.Contains(w.scrape(second), counted), "the next leader does not count the Mandate"
	})
}

// Two operators in one namespace that watch different namespaces do not wait for each other.
func TestTwoOperatorsInOneNamespace(t *testing.T) {
	t.Parallel()
	w, other := newWorld(t, sandbox.Options{}), newWorld(t, sandbox.Options{})
	election, err := env.GrantLeaderElection(t.Context(), w.namespace)
	w.check(err)
	for _, world := range []*world{w, other} {
		world.connect()
		world.mandate("acme", "{}")
	}
	w.start(election...)
	w.ready("acme")
	other.start(append(election, "--leader-election-id=other")...)
	other.ready("acme")
}
