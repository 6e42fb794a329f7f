package chaos_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/testenv"
	"github.com/mandate-io/idv/internal/testenv/faultproxy"
)

// stage is a namespace with a service, a proxy on either side of its operators, and a script of the test's own around one
// Mandate, plain.
type stage struct {
	*testing.T
	*life
}

// newStage connects the proxy to one of the cluster's API servers. No operator runs yet.
func newStage(t *testing.T, server *rest.Config) *stage {
	t.Helper()
	c, err := musterAt(t.Context(), server, [][]plan{nil})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.disband)
	s := &stage{t, slices.Collect(maps.Values(c.lives))[0]}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("what happened:\n%s", s.trace())
		}
	})
	s.check(s.apply(t.Context(), connection))
	return s
}

func (s *stage) check(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// begins starts the stage's own operator.
func (s *stage) begins() {
	s.Helper()
	s.crew.mu.Lock()
	err := s.crew.start()
	s.crew.mu.Unlock()
	s.check(err)
	s.wait("the connection", func() string { return s.connected(s.Context()) })
}

// another starts one more operator for the namespace.
func (s *stage) another(kubeconfig string, flags ...string) *testenv.Process {
	s.Helper()
	operator, err := startOperator(s.crew.ctx, kubeconfig, []string{s.namespace}, flags...)
	s.check(err)
	s.Cleanup(func() { _ = operator.Kill() })
	return operator
}

func (s *stage) wait(what string, missing func() string) {
	s.Helper()
	if err := s.until(s.Context(), missing); err != nil {
		s.Fatalf("waiting for %s: %v", what, err)
	}
}

// applies applies plain; spec is added to it.
func (s *stage) applies(spec string) {
	s.Helper()
	s.check(s.apply(s.Context(), fmt.Sprintf(`
kind: Mandate
metadata: {name: plain}
spec: {mandateType: {code: address}, individuals: [{name: jane, email: canary-jane@example.com}], %s}
`, spec)))
}

func (s *stage) deletes() {
	s.Helper()
	s.check(world.Delete(s.Context(), s.mandate(plain)))
}

func (s *stage) edits(patch string) {
	s.Helper()
	s.check(world.Patch(s.Context(), s.mandate(plain), client.RawPatch("application/merge-patch+json", []byte(patch))))
}

// get asks the API server that is never frozen.
func (s *stage) get() *v1alpha1.Mandate {
	s.Helper()
	m := s.mandate(plain)
	s.check(world.Get(s.Context(), client.ObjectKeyFromObject(m), m))
	return m
}

// ready waits until plain has its application, and checks that it is the one that the ledger has.
func (s *stage) ready() (id int64) {
	s.Helper()
	s.wait("plain to be Ready", func() string {
		m := s.get()
		if m.Status.ApplicationID != nil && m.Status.ObservedGeneration == m.Generation && holds(m.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAccepted) {
			id = *m.Status.ApplicationID
			return ""
		}
		return "it is: " + conditionsText(m.Status.Conditions)
	})
	if record := s.liveRecord(s.get().Status.Reference); record == nil || record.Spec.ApplicationID == nil || *record.Spec.ApplicationID != id {
		s.Errorf("plain has application %d, and the ledger %+v", id, record)
	}
	return id
}

func (s *stage) liveRecord(reference string) *v1alpha1.ApplicationRecord {
	s.Helper()
	var records v1alpha1.ApplicationRecordList
	s.check(world.List(s.Context(), &records, client.InNamespace(s.namespace)))
	for i := range records.Items {
		if records.Items[i].Spec.Reference == reference {
			return &records.Items[i]
		}
	}
	return nil
}

// emails checks how many e-mails were sent under each reference.
func (s *stage) emails(want map[string]int) {
	s.Helper()
	emails, err := s.sandbox.Outbox(s.Context())
	s.check(err)
	got := map[string]int{}
	for i := range emails {
		got[strings.TrimPrefix(emails[i].Reference, s.namespace+".")]++
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		s.Errorf("e-mails by reference are %v, want %v", got, want)
	}
}

// hold keeps an effect from going on, before it is done or after.
type hold struct {
	after             bool
	arrived, released chan struct{}
}

// hold makes the nth effect of a kind wait until it is released.
func (l *life) hold(e effect, after bool) *hold {
	h := &hold{after: after, arrived: make(chan struct{}), released: make(chan struct{})}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.holds[e] = h
	return h
}

func (h *hold) course(ctx context.Context, course faultproxy.Fault) faultproxy.Fault {
	wait := func() {
		close(h.arrived)
		select {
		case <-h.released:
		case <-ctx.Done():
		}
	}
	if !h.after {
		course.OnRequest = wait
		return course
	}
	answered := course.OnResponse
	course.OnResponse = func(answer faultproxy.Response) { answered(answer); wait() }
	return course
}

func (h *hold) release() { close(h.released) }

// reached waits until an effect is held.
func (s *stage) reached(h *hold) {
	s.Helper()
	s.wait("an effect that is to be held", func() string {
		select {
		case <-h.arrived:
			return ""
		default:
			return "it did not come"
		}
	})
}

// signal sends a signal to an operator.
func (s *stage) signal(operator *testenv.Process, signal syscall.Signal) {
	s.Helper()
	s.check(syscall.Kill(operator.PID(), signal))
}
