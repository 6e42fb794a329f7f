package plugin_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
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
	service := &v1alpha1.IdentityService{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "default"}}
	for _, creation := range []string{`{"maxPerHour":7}`, `{"suspend":false}`} { // which is a change after the first one
		managed := strings.Contains(creation, "suspend")
		patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"creation":`+creation+`}}`))
		w.check(w.Patch(w.Context(), service, patch, client.FieldOwner("argocd-controller")))
		out := w.run("", 0, "suspend", "idsvc/default")
		if warned := strings.Contains(out, "Argo CD has set spec.creation.suspend"); warned != managed {
			t.Errorf("Git has %s, and the command warns: %t\n%s", creation, warned, out)
		}
	}
	w.contains(w.run("", 1, "suspend", "default"), "identityservice/NAME")
	w.contains(w.run("", 1, "suspend", "secret/idv"), "identityservice/NAME")
	w.contains(w.run("", 1, "suspend", "idsvc/absent"), "not found")
}
