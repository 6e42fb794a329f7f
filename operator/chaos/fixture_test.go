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
	"github.com/mandate-io/idv/internal/test/testenv"
	"github.com/mandate-io/idv/internal/test/testenv/faultproxy"
)

// fixture is a scenario without steps. The test itself acts on its one Mandate, plain.
type fixture struct {
	*testing.T
	*scenario
}

// newFixture connects the operators' proxy to one of the cluster's API servers. No operator runs yet.
func newFixture(t *testing.T, server *rest.Config) *fixture {
	t.Helper()
	fleet, err := newFleetOn(t.Context(), server, [][]plan{nil})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(fleet.close)
	f := &fixture{t, slices.Collect(maps.Values(fleet.scenarios))[0]}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("trace:\n%s", f.trace())
		}
	})
	f.check(f.apply(t.Context(), connectionManifest))
	return f
}

func (f *fixture) check(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// start starts the fleet's operator.
func (f *fixture) start() {
	f.Helper()
	f.fleet.mu.Lock()
	err := f.fleet.start()
	f.fleet.mu.Unlock()
	f.check(err)
	f.wait("the connection", func() string { return f.notConnected(f.Context()) })
}

// startOperator starts another operator for the namespace.
func (f *fixture) startOperator(kubeconfig string, flags ...string) *testenv.Process {
	f.Helper()
	operator, err := startOperator(f.fleet.ctx, kubeconfig, []string{f.namespace}, flags...)
	f.check(err)
	f.Cleanup(func() { _ = operator.Kill() })
	return operator
}

func (f *fixture) wait(what string, missing func() string) {
	f.Helper()
	if err := f.until(f.Context(), missing); err != nil {
		f.Fatalf("waiting for %s: %v", what, err)
	}
}

// applyPlain creates plain, with further fields of its spec.
func (f *fixture) applyPlain(spec string) {
	f.Helper()
	f.check(f.apply(f.Context(), fmt.Sprintf(`
kind: Mandate
metadata: {name: plain}
spec: {mandateType: {code: address}, individuals: [{name: jane, email: canary-jane@example.com}], %s}
`, spec)))
}

func (f *fixture) deletePlain() {
	f.Helper()
	f.check(cluster.Delete(f.Context(), f.mandate(plain)))
}

func (f *fixture) patchPlain(patch string) {
	f.Helper()
	f.check(cluster.Patch(f.Context(), f.mandate(plain), client.RawPatch("application/merge-patch+json", []byte(patch))))
}

// get reads from the API server that does not lag.
func (f *fixture) get() *v1alpha1.Mandate {
	f.Helper()
	m := f.mandate(plain)
	f.check(cluster.Get(f.Context(), client.ObjectKeyFromObject(m), m))
	return m
}

// ready waits until plain is Ready, and checks that the ledger has the same application.
func (f *fixture) ready() (id int64) {
	f.Helper()
	f.wait("plain to be Ready", func() string {
		m := f.get()
		conditions := m.Status.Conditions
		if m.Status.ApplicationID != nil && m.Status.ObservedGeneration == m.Generation &&
			hasCondition(conditions, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAccepted) {
			id = *m.Status.ApplicationID
			return ""
		}
		return "its conditions are " + conditionsText(conditions)
	})
	record := f.liveRecord(f.get().Status.Reference)
	if record == nil || record.Spec.ApplicationID == nil || *record.Spec.ApplicationID != id {
		f.Errorf("plain has application %d, and the ledger %+v", id, record)
	}
	return id
}

// readyWith is ready, and checks the application's id.
func (f *fixture) readyWith(id int64) {
	f.Helper()
	if got := f.ready(); got != id {
		f.Errorf("the application is %d, want %d", got, id)
	}
}

// waitApplicationExists waits until plain says that its name has an application under another reference.
func (f *fixture) waitApplicationExists() {
	f.Helper()
	f.wait("plain to say ApplicationExists", func() string {
		conditions := f.get().Status.Conditions
		reason := v1alpha1.ReasonApplicationExists
		if hasCondition(conditions, v1alpha1.ConditionStalled, metav1.ConditionTrue, reason) {
			return ""
		}
		return "its conditions are " + conditionsText(conditions)
	})
}

func (f *fixture) liveRecord(reference string) *v1alpha1.ApplicationRecord {
	f.Helper()
	var records v1alpha1.ApplicationRecordList
	f.check(cluster.List(f.Context(), &records, client.InNamespace(f.namespace)))
	for i := range records.Items {
		if records.Items[i].Spec.Reference == reference {
			return &records.Items[i]
		}
	}
	return nil
}

// emails checks how many e-mails were sent under each reference.
func (f *fixture) emails(want map[string]int) {
	f.Helper()
	emails, err := f.sandbox.Outbox(f.Context())
	f.check(err)
	got := map[string]int{}
	for i := range emails {
		got[strings.TrimPrefix(emails[i].Reference, f.namespace+".")]++
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		f.Errorf("e-mails by reference are %v, want %v", got, want)
	}
}

// pausePoint pauses an effect, before the server executes it or after.
type pausePoint struct {
	after            bool
	arrived, resumed chan struct{}
}

// next is the effect of that kind that comes next. On a busy machine, there were others before: a call whose look takes
// too long is withdrawn, and begun again.
func (s *scenario) next(e effect) effect {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.nth = 0
	e.nth = s.counted[e] + 1
	return e
}

// pauseAt pauses an effect until it is resumed.
func (s *scenario) pauseAt(e effect, after bool) *pausePoint {
	p := &pausePoint{after: after, arrived: make(chan struct{}), resumed: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pausePoints[e] = p
	return p
}

func (p *pausePoint) apply(ctx context.Context, f faultproxy.Fault) faultproxy.Fault {
	wait := func() {
		close(p.arrived)
		select {
		case <-p.resumed:
		case <-ctx.Done():
		}
	}
	if !p.after {
		f.OnRequest = wait
		return f
	}
	after := f.OnResponse
	f.OnResponse = func(response faultproxy.Response) {
		after(response)
		wait()
	}
	return f
}

func (p *pausePoint) resume() { close(p.resumed) }

// waitPaused waits until an effect is paused.
func (f *fixture) waitPaused(p *pausePoint) {
	f.Helper()
	f.wait("an effect to be paused", func() string {
		select {
		case <-p.arrived:
			return ""
		default:
			return "it has not occurred"
		}
	})
}

// signal sends a signal to an operator.
func (f *fixture) signal(operator *testenv.Process, signal syscall.Signal) {
	f.Helper()
	f.check(syscall.Kill(operator.PID(), signal))
}
