package chaos_test

import (
	"syscall"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/testenv"
)

// A leader is stopped in the middle of a create, and goes on when another one has taken its place and its attempt.
func TestStoppedLeader(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		held   effect
		after  bool // it is done, and the leader has not heard of it
		ends   func(*stage)
		posts  int
	}{
		"between the claim and the request": {
			reason: "it finds that its attempt is too old to be sent, and that the record is another's",
			held:   effect{"POST applicationrecords", plain, 1}, after: true,
			ends: func(s *stage) { s.ready() }, posts: 1,
		},
		"before the request reaches the service": {
			reason: "the successor's request creates, and the service refuses the late one",
			held:   effect{create, plain, 1},
			ends:   func(s *stage) { s.ready() }, posts: 2,
		},
		"before the answer reaches the leader": {
			reason: "the successor is told that the reference is taken; the leader may or may not hear of the id, later than it waits for answers",
			held:   effect{create, plain, 1}, after: true,
			ends: (*stage).unknownOrKnown, posts: 2,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, world.operator)
			s.mayElect()
			election := []string{"--leader-elect", "--leader-election-namespace=" + s.namespace}
			leader := s.another(s.crew.kubeconfig, election...)
			s.wait("the connection", func() string { return s.connected(t.Context()) })
			first := s.holder()
			successor := s.another(s.crew.kubeconfig, election...)
			held := s.hold(c.held, c.after)
			s.applies("")
			s.reached(held)
			s.signal(leader, syscall.SIGSTOP)
			s.wait("another leader", func() string {
				if now := s.holder(); now == "" || now == first {
					return "the lease is held by " + now
				}
				return ""
			})
			s.wait("the successor to be through", func() string {
				m := s.get()
				if m.Status.ApplicationID != nil || holds(m.Status.Conditions, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonOutcomeUnknown) {
					return ""
				}
				return "it is at: " + conditionsText(m.Status.Conditions)
			})
			held.release()
			s.signal(leader, syscall.SIGCONT)
			s.exits(leader)
			c.ends(s)
			s.emails(map[string]int{"plain": 1})
			if got := s.count(create); got != c.posts {
				t.Errorf("%d requests to create, want %d: %s", got, c.posts, c.reason)
			}
			s.check(successor.Stop())
		})
	}
}

// unknownOrKnown checks that plain shows what the ledger knows: the id, or that nobody knows it.
func (s *stage) unknownOrKnown() {
	s.Helper()
	record := s.liveRecord(s.reference(plain))
	if record == nil || record.Spec.Attempt == nil {
		s.Fatalf("the record is %+v", record)
	}
	if record.Spec.ApplicationID != nil {
		s.edits(`{"spec":{"deletionPolicy":"Archive"}}`)
		s.ready()
		return
	}
	m := s.get()
	if m.Status.ApplicationID != nil || !holds(m.Status.Conditions, v1alpha1.ConditionCreated, metav1.ConditionUnknown, v1alpha1.ReasonOutcomeUnknown) ||
		record.Spec.Attempt.Verdict != v1alpha1.VerdictTaken {
		s.Errorf("nobody knows the id, and plain is %s, the record %+v", conditionsText(m.Status.Conditions), record.Spec)
	}
}

// count tells how many effects of a kind there were.
func (s *stage) count(what string) (n int) {
	for _, h := range s.happened() {
		if h.effect.what == what {
			n++
		}
	}
	return n
}

// exits waits until an operator has ended by itself, as one does that has lost its lease.
func (s *stage) exits(operator *testenv.Process) {
	s.Helper()
	s.wait("an operator without its lease to end", func() string {
		select {
		case <-operator.Exited():
			return ""
		default:
			return "it runs"
		}
	})
}

// mayElect gives operators the lease of the stage's namespace.
func (s *stage) mayElect() {
	s.Helper()
	name := metav1.ObjectMeta{Namespace: s.namespace, Name: "leader"}
	s.check(world.Create(s.Context(), &rbacv1.Role{ObjectMeta: name, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{coordinationv1.GroupName}, Resources: []string{"leases"}, Verbs: []string{"create", "get", "update"}},
	}}))
	s.check(world.Create(s.Context(), &rbacv1.RoleBinding{
		ObjectMeta: name, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, Name: testenv.OperatorUser}},
	}))
}

// holder is who leads.
func (s *stage) holder() string {
	s.Helper()
	clientset, err := kubernetes.NewForConfig(env.Config)
	s.check(err)
	leases, err := clientset.CoordinationV1().Leases(s.namespace).List(s.Context(), metav1.ListOptions{})
	s.check(err)
	for i := range leases.Items {
		if holder := leases.Items[i].Spec.HolderIdentity; holder != nil {
			return *holder
		}
	}
	return ""
}
