package operator_test

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// newSharedWorlds are two namespaces with one ClusterIdentityService, and their operator.
func newSharedWorlds(t *testing.T, spec string) (owner, other *world) {
	t.Helper()
	owner = newWorld(t, sandbox.Options{})
	other = owner.inNewNamespace()
	owner.newClusterService("shared", "namespaceSelector: {}\n  "+spec)
	owner.start("--watch-namespaces=" + owner.namespace + "," + other.namespace)
	return owner, other
}

// shared is the spec of a Mandate with the ClusterIdentityService, and further fields.
func shared(format string, arguments ...any) string {
	return "{" + sharedServiceRef + ", " + fmt.Sprintf(format, arguments...) + "}"
}

// lost creates an application whose id the owner never learns.
func (w *world) lost(name, spec string) (id int64) {
	w.Helper()
	w.fault(answerLost)
	w.mandate(name, spec)
	return w.applicationID(w.stalled(name, v1alpha1.ReasonOutcomeUnknown).Status.Reference)
}

// prune deletes a Mandate, and what the ledger knows of it.
func (w *world) prune(name string) {
	w.Helper()
	w.kubectl("delete", "mandate", name)
	w.check(w.Delete(w.Context(), w.record(name)))
}

func (w *world) patchClusterService(spec string) {
	w.Helper()
	patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":`+spec+`}`))
	w.check(w.Patch(w.Context(), clusterService("shared"), patch))
}

// A namespace neither adopts the application of another one, by its reference and an id that it guessed, nor takes a
// reference before the other namespace needs it.
func TestReferenceOfAnotherNamespace(t *testing.T) {
	owner, other := newSharedWorlds(t, "")
	ids := map[string]int64{}
	for _, name := range []string{"known", "deleted", "pruned"} {
		owner.mandate(name, shared(""))
		ids[name] = *owner.ready(name).Status.ApplicationID
	}
	owner.kubectl("delete", "mandate", "deleted")
	owner.prune("pruned")
	ids["unknown"] = owner.lost("unknown", shared(""))

	sent := owner.requests(control.CreateApplication)
	for name, id := range ids {
		other.mandate(name, shared("reference: %s.%s, adopt: {applicationID: %d}", owner.namespace, name, id))
		if m := other.stalled(name, v1alpha1.ReasonReferenceNotAllowed); m.Status.ApplicationID != nil {
			t.Errorf("%s: application %d is bound", name, *m.Status.ApplicationID)
		}
	}
	for name, reference := range map[string]string{
		"next": owner.namespace + ".next", "anything": "ACME-1", "longer": other.namespace + "-b.acme",
		"no-dot": other.namespace,
	} {
		other.mandate(name, shared("reference: %s", reference))
		other.stalled(name, v1alpha1.ReasonReferenceNotAllowed)
	}
	owner.checkCreates(sent)
	owner.mandate("next", shared(""))
	owner.ready("next")

	// In its own namespace, a Mandate chooses its reference, and adopts.
	other.mandate("next", shared("reference: %s.chosen", other.namespace))
	other.ready("next")
	id := owner.foreign(other.namespace + ".foreign")
	other.mandate("anything", shared("reference: %s.foreign, adopt: {applicationID: %d}", other.namespace, id))
	other.condition("anything", v1alpha1.ConditionCreated, metav1.ConditionTrue, v1alpha1.ReasonAdopted)
}

// With referencePolicy Any, a namespace can choose the reference of another one. Of the applications that the ledger of
// the other one knows of, or that it may have, it adopts none.
func TestAdoptionSpansNamespaces(t *testing.T) {
	owner, other := newSharedWorlds(t, "referencePolicy: Any")
	ids := map[string]int64{}
	for _, name := range []string{"known", "deleted"} {
		owner.mandate(name, shared("reference: %s", name))
		ids[name] = *owner.ready(name).Status.ApplicationID
	}
	owner.kubectl("delete", "mandate", "deleted")
	ids["unknown"] = owner.lost("unknown", shared("reference: unknown"))
	owner.mandate("recordless", shared("reference: recordless"))
	ids["recordless"] = *owner.ready("recordless").Status.ApplicationID
	owner.check(owner.Delete(t.Context(), owner.record("recordless")))
	for name, id := range ids {
		other.mandate(name, shared("reference: %s, adopt: {applicationID: %d}", name, id))
		if m := other.stalled(name, v1alpha1.ReasonAdoptionRefused); m.Status.ApplicationID != nil {
			t.Errorf("%s: application %d is bound", name, *m.Status.ApplicationID)
		}
	}
	owner.mandate("unknown", shared("reference: unknown, adopt: {applicationID: %d}", ids["unknown"]))
	owner.condition("unknown", v1alpha1.ConditionCreated, metav1.ConditionTrue, v1alpha1.ReasonAdopted)
	other.mandate("free", shared("reference: free, adopt: {applicationID: %d}", owner.foreign("free")))
	other.condition("free", v1alpha1.ConditionCreated, metav1.ConditionTrue, v1alpha1.ReasonAdopted)
}

// Somebody has a service of their own answer with an id and a reference that they chose. That keeps nobody from
// adopting the application that has them.
func TestHostileServiceBlocksNoAdoption(t *testing.T) {
	const seed = 7 // two sandboxes with one seed give the same ids
	cases := map[string]func(hostile *world, victim *world){
		"its IdentityService remains": func(*world, *world) {},
		"its IdentityService is gone": func(hostile, _ *world) {
			hostile.kubectl("delete", "identityservice", "default", "--wait=false")
			patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
			service := &v1alpha1.IdentityService{ObjectMeta: metav1.ObjectMeta{Namespace: hostile.namespace, Name: "default"}}
			hostile.check(client.IgnoreNotFound(hostile.Patch(t.Context(), service, patch)))
		},
		"its IdentityService leads to the service of the others": func(hostile, victim *world) {
			hostile.secret("idv", map[string]string{"username": "hostile", "password": "wrong"})
			hostile.patchService(fmt.Sprintf("{baseURL: %q}", victim.url))
		},
	}
	for name, then := range cases {
		t.Run(name, func(t *testing.T) {
			victim := newWorld(t, sandbox.Options{Seed: seed})
			victim.newClusterService("shared", "namespaceSelector: {}")
			victim.connect()
			hostile := newWorld(t, sandbox.Options{Seed: seed})
			hostile.connect()
			victim.start("--watch-namespaces=" + victim.namespace + "," + hostile.namespace)

			reference := victim.namespace + ".acme"
			hostile.mandate("acme", "{reference: "+reference+"}")
			id := *hostile.ready("acme").Status.ApplicationID
			if got := victim.foreign(reference); got != id {
				t.Fatalf("the services gave the ids %d and %d", got, id)
			}
			then(hostile, victim)
			victim.mandate("acme", fmt.Sprintf("{adopt: {applicationID: %d}}", id))
			victim.condition("acme", v1alpha1.ConditionCreated, metav1.ConditionTrue, v1alpha1.ReasonAdopted)
			victim.prune("acme")
			victim.mandate("acme", shared("adopt: {applicationID: %d}", id))
			victim.condition("acme", v1alpha1.ConditionCreated, metav1.ConditionTrue, v1alpha1.ReasonAdopted)
		})
	}
}

// A changed policy or prefix changes nothing for Mandates that have an application, also if they are applied again.
func TestReferencePolicyChanges(t *testing.T) {
	w, other := newSharedWorlds(t, "referencePolicy: Any")
	w.mandate("bound", shared("reference: ACME-1"))
	w.mandate("again", shared("reference: ACME-2"))
	w.mandate("default", shared(""))
	w.mandate("waits", shared("reference: ACME-3, suspend: true"))
	m, again := w.ready("bound"), w.ready("again")
	w.ready("default")
	w.patchClusterService(`{"referencePolicy":"Namespaced","referencePrefix":"team-"}`)

	w.mandate("waits", shared("reference: ACME-3, suspend: false"))
	w.stalled("waits", v1alpha1.ReasonReferenceNotAllowed)
	w.mandate("bound", shared("reference: ACME-1, "+byRule))
	w.mandate("default", shared(byRule))
	w.ready("default")
	w.complete(m)
	w.condition("bound", v1alpha1.ConditionCompleted, metav1.ConditionTrue, string(v1alpha1.OutcomeCompleted))
	w.kubectl("delete", "mandate", "again")
	w.mandate("again", shared("reference: ACME-2"))
	if got := *w.ready("again").Status.ApplicationID; got != *again.Status.ApplicationID {
		t.Errorf("applied again, it has application %d, want %d", got, *again.Status.ApplicationID)
	}

	// References of the prefix that was belong to nobody any more, except to those who have them.
	id := *w.get("default").Status.ApplicationID
	for _, w := range []*world{w, other} {
		w.mandate("old", shared("reference: %s.old", w.namespace))
		w.stalled("old", v1alpha1.ReasonReferenceNotAllowed)
	}
	other.mandate("default", shared("reference: team-%s.default, adopt: {applicationID: %d}", other.namespace, id))
	other.stalled("default", v1alpha1.ReasonAdoptionRefused)
	w.mandate("new", shared("reference: team-%s.new", w.namespace))
	w.ready("new")
	w.patchClusterService(`{"referencePolicy":"Any"}`)
	for _, allowed := range []*world{w, other} {
		allowed.ready("old")
	}
	w.ready("waits")
	w.emails(7)
}
