package operator_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/test/await"
	"github.com/mandate-io/idv/internal/test/testenv"
)

// An action was carried out after the backup, and Git applies it again. The leader has ended with its Lease, and its
// next process knows nothing. The other replica has seen what was before the restore, and says so to all.
func restoreUnderReplicas(t *testing.T, plane *testenv.Environment) {
	t.Helper()
	w := newWorldIn(t, plane, sandbox.Options{})
	election, err := plane.GrantLeaderElection(t.Context(), w.namespace)
	w.check(err)
	w.connect()
	w.start(election...)
	leader := w.operator
	w.mandate("acme", "{}")
	w.ready("acme")
	w.start(election...)
	standby := w.operator
	backup, err := plane.Backup()
	w.check(err)
	w.action("resend", resend)
	w.actionCompletes("resend")
	w.emails(2)
	w.awaitLooks()

	w.check(leader.Kill())
	w.check(plane.Restore(t.Context(), backup))
	w.start(election...)
	w.action("resend", resend)
	leases, err := kubernetes.NewForConfig(plane.Config)
	w.check(err)
	var lease *coordinationv1.Lease
	w.eventually(func() (bool, string) {
		found, err := leases.CoordinationV1().Leases(w.namespace).List(t.Context(), metav1.ListOptions{})
		w.check(err)
		lease = &found.Items[0]
		_, marked := lease.Annotations[v1alpha1.RestoredAnnotation]
		return marked, "the Lease does not say it"
	})
	// The other replica leads, which does not know what was before. The caches of the one that does may wait for a
	// resourceVersion that is still to come.
	w.check(standby.Stop())
	refused := regexp.MustCompile(`"controller":"mandateaction".*went backwards`)
	w.eventually(func() (bool, string) {
		return refused.MatchString(logTail(w.operator.Log)), "nobody leads"
	})
	w.emails(2)

	w.kubectl("delete", "mandateaction", "resend")
	unmark := fmt.Sprintf(`{"metadata":{"annotations":{%q:null}}}`, v1alpha1.RestoredAnnotation)
	_, err = leases.CoordinationV1().Leases(w.namespace).Patch(
		t.Context(), lease.Name, types.MergePatchType, []byte(unmark), metav1.PatchOptions{})
	w.check(err)
	await.Receive(t, w.operator.Exited(), "a replica whose caches are from before goes on")
	w.start(election...)
	w.mandate("globex", "{}")
	w.ready("globex")
	w.emails(3)
}

// awaitLooks waits until each of two replicas, which write one log, has compared the resourceVersion again.
func (w *world) awaitLooks() {
	w.Helper()
	looks := func() int {
		log, err := os.ReadFile(w.operator.Log)
		w.check(err)
		return strings.Count(string(log), "Compared the resourceVersion")
	}
	before := looks()
	w.eventually(func() (bool, string) { return looks() >= before+6, "they do not look" })
}
