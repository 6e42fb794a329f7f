package mandate

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
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
	r := readerAt(NewReconciler(Config{}), "default")
	heap := func() int64 {
		runtime.GC()
		runtime.GC() // a sync.Pool keeps what it holds over one collection
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return int64(stats.HeapAlloc)
	}
	before := heap()
	for id := range int64(applications) {
		r.rememberCandidate(id+1, fmt.Sprint(id)+strings.Repeat("x", length))
	}
	if kept := heap() - before; kept > most {
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

// noMandates is a cache of none.
type noMandates struct{ client.Reader }

func (noMandates) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }

// What a connection has shown is remembered as long as there is the connection.
func TestReferencesOfRemovedConnectionsAreForgotten(t *testing.T) {
	t.Parallel()
	registry := connection.NewRegistry(0)
	shared := NewReconciler(Config{Cache: noMandates{}, Services: engine.Services{Connections: registry}})
	changed, removed := readerAt(shared, "changed"), readerAt(shared, "removed")
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // nobody listens to the registry
	for _, r := range []*reconciliation{changed, removed} {
		registry.Put(ctx, r.session.Key, r.session.Connection)
		r.rememberCandidate(1, "of another")
	}
	registry.Remove(ctx, removed.session.Key)
	for _, r := range []*reconciliation{changed, removed} {
		shared.connectionChanged(ctx, event.TypedGenericEvent[connection.Key]{Object: r.session.Key}, nil)
	}
	if !changed.belongsToOther(1) {
		t.Error("what a connection has shown that has changed is forgotten")
	}
	if removed.belongsToOther(1) || len(shared.candidateReferences.shown) != 1 {
		t.Errorf("%d connections are remembered", len(shared.candidateReferences.shown))
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
