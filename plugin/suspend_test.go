package plugin_test

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/test/testenv"
)

// The brake stops what e-mails people, and nothing more is sent before somebody confirms.
func TestSuspend(t *testing.T) {
	testenv.SkipIfShort(t)
	w := newWorld(t, sandbox.Options{})
	w.connect()
	w.start()
	w.run("", 0, "refresh", "--identityservice", "default")
	w.contains(w.run("", 0, "suspend", "identityservice/default"),
		"Set spec.creation.suspend of identityservice/default to true.")
	w.mandate("acme")
	w.contains(w.run("", 4, "wait", "acme", "--timeout=5s"), "CreationSuspended")
	w.contains(w.run("", 0, "status", "acme"), "kubectl mandate resume", "CreationSuspended")
	w.contains(w.run("", 5, "resume", "idsvc/default"), "without a terminal it cannot ask")
	w.emails(0)
	w.run("", 0, "suspend", "mandate/acme")
	w.run("", 0, "resume", "idsvc/default", "--yes")
	m := &v1alpha1.Mandate{}
	w.check(w.Get(w.Context(), client.ObjectKey{Namespace: w.namespace, Name: "acme"}, m))
	if !m.Spec.Suspend {
		t.Error("the Mandate is not suspended")
	}
	w.emails(0)
	w.run("", 0, "resume", "mdt/acme", "--yes")
	w.run("", 0, "wait", "acme")
	w.emails(1)
	w.contains(w.run("", 1, "suspend", "default"), "identityservice/NAME")
	w.contains(w.run("", 1, "suspend", "secret/idv"), "identityservice/NAME")
	w.contains(w.run("", 1, "suspend", "idsvc/absent"), "not found")
}
