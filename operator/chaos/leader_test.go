package chaos_test

import (
	"fmt"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/test/testenv"
	"github.com/mandate-io/idv/operator/ledger"
)

// A leader is stopped during a create, and continues after another leader has taken over its attempt.
func TestStoppedLeader(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		pauseAt effect
		after   bool // the server has executed the request, and the leader has no answer
		check   func(*fixture)
		posts   int
	}{
		"between the claim and the request": {
			reason:  "the attempt is too old to be sent, and the record has another one",
			pauseAt: effect{"POST applicationrecords", plain, 1},
			after:   true,
			check:   func(f *fixture) { f.ready() },
			posts:   1,
		},
		"before the request reaches the service": {
			reason:  "the successor's request creates, and the service rejects the late one",
			pauseAt: effect{createRequest, plain, 1},
			check:   func(f *fixture) { f.ready() },
			posts:   2,
		},
		"before the answer reaches the leader": {
			reason:  "the service rejects the successor's reference as taken; the leader may receive the id, or time out before",
			pauseAt: effect{createRequest, plain, 1},
			after:   true,
			check:   (*fixture).checkKnownOrUnknown,
			posts:   2,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, cluster.operator)
			leader, successor, first := f.startLeaderAndSuccessor()
			paused := f.pauseAt(c.pauseAt, c.after)
			f.applyPlain("")
			f.waitPaused(paused)
			f.signal(leader, syscall.SIGSTOP)
			f.waitSuccessor(first)
			paused.resume()
			f.signal(leader, syscall.SIGCONT)
			f.waitExit(leader)
			c.check(f)
			f.emails(map[string]int{"plain": 1})
			if got := f.count(createRequest); got != c.posts {
				t.Errorf("%d requests to create, want %d: %s", got, c.posts, c.reason)
			}
			f.check(successor.Stop())
		})
	}
}

// A leader is stopped during an action, and continues after another leader has ended it. People are e-mailed once.
func TestStoppedLeaderOfAction(t *testing.T) {
	t.Parallel()
	const manifest = `{"kind": "MandateAction", "metadata": {"name": "resend"},
		"spec": {"mandateRef": {"name": "plain"}, "individual": "jane", "type": %q}}`
	requests := map[v1alpha1.MandateActionType]string{
		v1alpha1.MandateActionResendInvite: resendInvite, v1alpha1.MandateActionResetIndividual: resetIndividual,
	}
	for kind, request := range requests {
		for name, pauseAt := range map[string]effect{
			"between the start and the request":      beginOf[resend],
			"before the request reaches the service": {request, plain, 1},
		} {
			t.Run(fmt.Sprintf("%s, %s", kind, name), func(t *testing.T) {
				t.Parallel()
				f := newFixture(t, cluster.operator)
				leader, successor, first := f.startLeaderAndSuccessor()
				f.applyPlain("")
				f.ready()
				paused := f.pauseAt(f.next(pauseAt), pauseAt == beginOf[resend])
				f.check(f.apply(t.Context(), fmt.Sprintf(manifest, kind)))
				f.waitPaused(paused)
				f.signal(leader, syscall.SIGSTOP)
				f.wait("another leader", func() string { return f.sameLeader(first) })
				f.check(f.waitEnded(t.Context(), resend))
				paused.resume()
				f.signal(leader, syscall.SIGCONT)
				f.waitExit(leader)
				if got := f.count(request); got > 1 {
					t.Errorf("%d requests, want one at most", got)
				}
				f.check(successor.Stop())
			})
		}
	}
}

// startLeaderAndSuccessor starts two operators, and returns them when the first one leads, with its name.
func (f *fixture) startLeaderAndSuccessor() (leader, successor *testenv.Process, name string) {
	f.Helper()
	election, err := env.GrantLeaderElection(f.Context(), f.namespace)
	f.check(err)
	leader = f.startOperator(f.fleet.kubeconfig, election...)
	f.wait("the connection", func() string { return f.notConnected(f.Context()) })
	name = f.leaseHolder()
	return leader, f.startOperator(f.fleet.kubeconfig, election...), name
}

func (f *fixture) sameLeader(first string) string {
	f.Helper()
	if now := f.leaseHolder(); now == "" || now == first {
		return "the lease holder is " + now
	}
	return ""
}

// waitSuccessor waits until another operator than the first leads, and has finished with plain.
func (f *fixture) waitSuccessor(first string) {
	f.Helper()
	f.wait("another leader", func() string { return f.sameLeader(first) })
	f.wait("the successor to finish", func() string {
		m := f.get()
		if m.Status.ApplicationID != nil || isOutcomeUnknown(m.Status.Conditions) {
			return ""
		}
		return "the conditions are " + conditionsText(m.Status.Conditions)
	})
}

// checkKnownOrUnknown checks that plain shows the ledger's id or, if it has none, an unknown outcome.
func (f *fixture) checkKnownOrUnknown() {
	f.Helper()
	record := f.liveRecord(f.reference(plain))
	if ledger.CreateOf(record) == nil {
		f.Fatalf("the record is %+v", record)
	}
	if record.Spec.ApplicationID != nil {
		f.patchPlain(`{"spec":{"deletionPolicy":"Archive"}}`)
		f.ready()
		return
	}
	status := f.get().Status
	if status.ApplicationID != nil || ledger.CreateOf(record).Answer != v1alpha1.AnswerDuplicate ||
		!hasCondition(status.Conditions, v1alpha1.ConditionCreated, metav1.ConditionUnknown, v1alpha1.ReasonOutcomeUnknown) {
		f.Errorf("without an id, plain is %s, the record %+v", conditionsText(status.Conditions), record.Spec)
	}
}

// count is how many effects of a kind occurred.
func (f *fixture) count(what string) (n int) {
	for _, o := range f.occurrences() {
		if o.effect.what == what {
			n++
		}
	}
	return n
}

// waitExit waits until an operator exits because it has lost its lease.
func (f *fixture) waitExit(operator *testenv.Process) {
	f.Helper()
	f.wait("the operator without a lease to exit", func() string {
		select {
		case <-operator.Exited():
			return ""
		default:
			return "it is still running"
		}
	})
}

func (f *fixture) leaseHolder() string {
	f.Helper()
	clientset, err := kubernetes.NewForConfig(env.Config)
	f.check(err)
	leases, err := clientset.CoordinationV1().Leases(f.namespace).List(f.Context(), metav1.ListOptions{})
	f.check(err)
	for i := range leases.Items {
		if holder := leases.Items[i].Spec.HolderIdentity; holder != nil {
			return *holder
		}
	}
	return ""
}
