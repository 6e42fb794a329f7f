package mandate

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/connection"
)

// readerAt is a reconciliation of a Mandate of an IdentityService.
func readerAt(of *Reconciler, service string) *reconciliation {
	r := &reconciliation{Reconciler: of, mandate: lostMandate(), reference: "acme"}
	r.session.Key = connection.Key{Kind: v1alpha1.ServiceKindIdentityService, Namespace: namespace, Name: service}
	return r
}

// A service may show references of any length, and users that may annotate Mandates choose how many are read. The test
// does not run in parallel, because it measures the heap.
func TestLongReferencesAreNotKept(t *testing.T) {
	const applications, length = 128, 512 << 10
	const most = 8 << 20
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	r := readerAt(NewReconciler(Config{}), "default")
	before := heap()
	for id := range int64(applications) {
		r.rememberCandidate(id+1, fmt.Sprint(id)+strings.Repeat("x", length))
	}
	if kept := int64(heap()) - int64(before); kept > most {
		t.Errorf("%d MiB are kept of %d references, want %d at most", kept>>20, applications, most>>20)
	}
	for id := range int64(applications) {
		if !r.belongsToOther(id + 1) {
			t.Errorf("the application %d would be read again", id+1)
		}
	}
}

// However many applications one connection is told of, the others remember theirs.
func TestConnectionsForgetOnlyTheirOwnReferences(t *testing.T) {
	t.Parallel()
	const few, many = 20, 50_000
	shared := NewReconciler(Config{})
	quiet, flooded := readerAt(shared, "quiet"), readerAt(shared, "flooded")
	for id := range int64(few) {
		quiet.rememberCandidate(id+1, "of another")
	}
	quiet.rememberCandidate(few+1, "acme")
	remembered := 0
	for id := range int64(many) {
		flooded.rememberCandidate(id+1, fmt.Sprint("other-", id))
	}
	for id := range int64(many) {
		if flooded.belongsToOther(id + 1) {
			remembered++
		}
	}
	if remembered != 10_000 {
		t.Errorf("the connection that is flooded remembers %d, want 10000", remembered)
	}
	for id := range int64(few) {
		if !quiet.belongsToOther(id + 1) {
			t.Errorf("the other connection has forgotten %d", id+1)
		}
	}
	if got := quiet.candidateReferences.id(quiet.candidateReference()); got != few+1 {
		t.Errorf("the other connection takes %d for the Mandate's, want %d", got, few+1)
	}
}

// What a connection has shown is remembered while a Mandate uses the connection, and not for ever afterwards.
func TestReferencesOfUnusedConnectionsAreForgotten(t *testing.T) {
	t.Parallel()
	shared := NewReconciler(Config{})
	used, unused := readerAt(shared, "used"), readerAt(shared, "unused")
	references := &shared.candidateReferences
	references.use(used.session.Key, now)
	used.rememberCandidate(1, "of another")
	unused.rememberCandidate(1, "of another")
	for after := time.Duration(0); after < 5*day; after += time.Hour {
		references.use(used.session.Key, now.Add(after))
		if after < 2*day && !unused.belongsToOther(1) {
			t.Fatalf("after %s, it is forgotten, although Mandates with notifications are reconciled daily", after)
		}
	}
	if !used.belongsToOther(1) {
		t.Error("what a connection has shown that is used is forgotten")
	}
	if unused.belongsToOther(1) || len(references.shown) != 1 {
		t.Errorf("%d connections are remembered", len(references.shown))
	}
}

// After an edit of the IdentityService or its credentials, an id may be of another application.
func TestReferencesOfFormerConnectionsAreForgotten(t *testing.T) {
	t.Parallel()
	r := readerAt(NewReconciler(Config{}), "default")
	r.rememberCandidate(1, "of another")
	r.session.Connection.Generation++
	if r.belongsToOther(1) {
		t.Error("what the connection has shown before counts")
	}
	r.rememberCandidate(2, "of another")
	if got := len(r.candidateReferences.all()); got != 1 {
		t.Errorf("%d references are remembered, want 1", got)
	}
}
