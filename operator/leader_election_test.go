package operator_test

import (
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/test/await"
	"github.com/mandate-io/idv/internal/test/testenv"
)

// Only the leader counts Mandates. Otherwise, a sum over replicas would count each one several times.
func TestReplicasCountOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{})
	election, err := env.GrantLeaderElection(t.Context(), w.namespace)
	w.check(err)
	first, second := testenv.FreeAddress(t), testenv.FreeAddress(t)
	counted := `idv_mandates{mandate_namespace="` + w.namespace + `",outcome="",ready="True",reason="Accepted"} 1` + "\n"
	w.connect()
	w.start(append(election, "--metrics-bind-address="+first)...)
	w.mandate("acme", "{}")
	w.ready("acme")
	leader := w.operator
	w.start(append(election, "--metrics-bind-address="+second)...)
	w.check(w.operator.WaitForURL(await.Context(t), "http://"+second+"/metrics"))
	w.eventually(func() (bool, string) {
		text := w.scrape(first)
		return strings.Contains(text, counted), "the leader does not count the Mandate:\n" + text
	})
	if text := w.scrape(second); strings.Contains(text, "\nidv_mandates{") {
		t.Errorf("a replica that is not the leader counts Mandates:\n%s", text)
	}
	w.check(leader.Stop())
	w.eventually(func() (bool, string) {
		return strings.Contains(w.scrape(second), counted), "the next leader does not count the Mandate"
	})
}

// A replica takes over soon: the Lease of a leader that is killed ends in time for it to look twice, and one that ends
// on request leaves none.
func TestLease(t *testing.T) {
	t.Parallel()
	const killed, looks = 20 * time.Second, 2 * 2200 * time.Millisecond // each look comes up to 2.2 periods after another
	w := newWorld(t, sandbox.Options{})
	election, err := env.GrantLeaderElection(t.Context(), w.namespace)
	w.check(err)
	clientset, err := kubernetes.NewForConfig(env.Config)
	w.check(err)
	lease := func() *coordinationv1.LeaseSpec {
		leases, err := clientset.CoordinationV1().Leases(w.namespace).List(t.Context(), metav1.ListOptions{})
		w.check(err)
		if len(leases.Items) != 1 {
			return &coordinationv1.LeaseSpec{HolderIdentity: new("")}
		}
		return &leases.Items[0].Spec
	}
	w.start(election...)
	w.eventually(func() (bool, string) { return *lease().HolderIdentity != "", "nobody leads" })
	if lasts := time.Duration(*lease().LeaseDurationSeconds) * time.Second; lasts+looks > killed-time.Second {
		t.Errorf("the Lease of a killed leader lasts %s; with %s until it is seen, that is too long", lasts, looks)
	}
	w.check(w.operator.Stop())
	if holder := *lease().HolderIdentity; holder != "" {
		t.Errorf("after the end of the leader, the Lease belongs to %s", holder)
	}
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
