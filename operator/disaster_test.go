package operator_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/test/await"
	"github.com/mandate-io/idv/internal/test/testenv"
	"github.com/mandate-io/idv/operator"
)

// Whatever happens to the control plane, nobody is e-mailed twice, and nothing is lost silently. No other test uses
// this control plane.
func TestDisasters(t *testing.T) {
	t.Parallel()
	plane := ownControlPlane(t)
	// The first tests need an empty one.
	t.Run("manifests restored with the ledger", func(t *testing.T) {
		restoreManifests(t, plane, "mandates,applicationrecords")
	})
	t.Run("manifests restored without the ledger", func(t *testing.T) { restoreManifests(t, plane, "mandates") })
	t.Run("API server killed during creates", func(t *testing.T) { killAPIServer(t, plane) })
	t.Run("etcd compacted", func(t *testing.T) { compactEtcd(t, plane) })
	t.Run("etcd restored from a backup", func(t *testing.T) { restoreEtcd(t, plane) })
	t.Run("etcd restored under two replicas", func(t *testing.T) { restoreUnderReplicas(t, plane) })
}

func ownControlPlane(t *testing.T) *testenv.Environment {
	t.Helper()
	testenv.SkipIfShort(t)
	plane, err := testenv.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := plane.StartControlPlane(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(plane.InstallCRDs(), plane.GrantOperatorRole(t.Context())); err != nil {
		t.Fatal(err)
	}
	return plane
}

// restoreManifests applies the output of kubectl get in one cluster to another one, which is empty.
func restoreManifests(t *testing.T, plane *testenv.Environment, kinds string) {
	t.Helper()
	old := running(t)
	old.mandate("acme", "{}")
	id := *old.ready("acme").Status.ApplicationID
	backup := old.kubectl("get", kinds, "--output=yaml")
	old.kill() // with its cluster

	w := newWorldIn(t, plane, sandbox.Options{})
	w.namespace = old.namespace
	w.url, w.sandbox = old.url, old.sandbox
	w.check(w.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}))
	manifests := filepath.Join(t.TempDir(), "backup.yaml")
	// The API server rejects a new object that has one.
	stripped := regexp.MustCompile(`(?m)^ *resourceVersion:.*\n`).ReplaceAll([]byte(backup), nil)
	w.check(os.WriteFile(manifests, stripped, 0o600))
	w.kubectl("apply", "--filename", manifests)
	w.connect()
	w.start()
	if kinds == "mandates" { // without the ledger, the operator only learns that the reference is taken
		w.stalled("acme", v1alpha1.ReasonReferenceConflict)
		w.mandate("acme", fmt.Sprintf("{adopt: {applicationID: %d}}", id)) // a user looks up the id
	}
	if got := *w.ready("acme").Status.ApplicationID; got != id {
		t.Errorf("the Mandate has application %d, want %d", got, id)
	}
	w.emails(1)
	w.checkApplications(1)
}

// killAPIServer kills the API server during creates. The service executes them, and the operator records their ids when
// the API server is back.
func killAPIServer(t *testing.T, plane *testenv.Environment) {
	t.Helper()
	const mandates = 4
	w := newWorldIn(t, plane, sandbox.Options{})
	w.connect()
	w.start()
	w.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)
	slow := slowed(control.CreateApplication, slowAnswer)
	slow.Times = mandates
	w.fault(slow)
	for i := range mandates {
		w.mandate(fmt.Sprintf("acme-%d", i), "{}")
	}
	w.eventually(func() (bool, string) {
		return w.requests(control.CreateApplication) == mandates, "not all creates have started"
	})
	w.check(plane.Crash(testenv.APIServer))
	w.eventually(func() (bool, string) {
		applications, err := w.sandbox.Applications(t.Context())
		w.check(err)
		return len(applications) == mandates, fmt.Sprintf("the service has %d applications", len(applications))
	})
	w.check(plane.Restart(t.Context(), testenv.APIServer))
	for i := range mandates {
		w.ready(fmt.Sprintf("acme-%d", i))
	}
	w.emails(mandates)
	w.checkCreates(mandates)
}

// compactEtcd removes the revision from which the operator would resume its watches. It has to list everything again.
func compactEtcd(t *testing.T, plane *testenv.Environment) {
	t.Helper()
	w := newWorldIn(t, plane, sandbox.Options{})
	w.connect()
	w.start()
	w.mandate("acme", "{}")
	w.mandate("leaves", "{deletionPolicy: Archive}")
	w.ready("acme")
	seen := w.ready("leaves").ResourceVersion
	pid := w.operator.PID()
	w.check(syscall.Kill(pid, syscall.SIGSTOP))
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGCONT) }) // otherwise it cannot be stopped
	w.mandate("acme", "{archived: true}")
	w.deleteNoWait("mandate", "leaves")
	w.mandate("comes", "{}")
	w.check(plane.CompactEtcd(t.Context(), w.get("comes").ResourceVersion))
	w.check(plane.Crash(testenv.APIServer)) // which caches old revisions, too
	w.check(plane.Restart(t.Context(), testenv.APIServer))
	w.checkTooOld(seen)
	w.check(syscall.Kill(pid, syscall.SIGCONT))
	w.ready("comes")
	w.until("acme", "archived", func(m *v1alpha1.Mandate) bool { return m.Status.Archived })
	w.waitGone("leaves")
	w.emails(3)
	w.checkCreates(3)
}

// checkTooOld checks that Mandates can no longer be watched from a resource version.
func (w *world) checkTooOld(resourceVersion string) {
	w.Helper()
	watcher, err := client.NewWithWatch(w.env.Config, client.Options{Scheme: operator.Scheme()})
	w.check(err)
	from := &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: resourceVersion}}
	events, err := watcher.Watch(w.Context(), &v1alpha1.MandateList{}, from)
	if err == nil {
		defer events.Stop()
		if event := await.Receive(w.T, events.ResultChan(), "no event"); event.Type == watch.Error {
			err = apierrors.FromObject(event.Object)
		}
	}
	if !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
		w.Fatalf("a watch from resource version %s: %v, want an error because it is too old", resourceVersion, err)
	}
}

// restoreEtcd restores a backup that was taken when Mandates were at different steps of their creation.
func restoreEtcd(t *testing.T, plane *testenv.Environment) {
	t.Helper()
	w := newWorldIn(t, plane, sandbox.Options{})
	w.connect()
	r := w.newManualReconciler()
	var backup string
	for _, moment := range []struct{ mandate, before string }{
		{"bound", ""}, {"deposited", "patch status of Mandate"}, {"claimed", "patch ApplicationRecord"}, {"later", ""},
	} {
		w.mandate(moment.mandate, "{}")
		switch moment.mandate {
		case "deposited": // the operator crashes before it writes the status
			r.beforeFirst(moment.before, crash)
		case "claimed": // the service has created the application
			r.beforeFirst(moment.before, func() {
				var err error
				backup, err = plane.Backup()
				w.check(err)
			})
		}
		r.reconcile(moment.mandate)
	}
	w.emails(4)
	w.start()
	ids := map[string]int64{}
	for _, name := range []string{"bound", "deposited", "claimed", "later"} {
		ids[name] = *w.ready(name).Status.ApplicationID
	}

	w.check(plane.Restore(t.Context(), backup))
	w.mandate("later", "{}") // as GitOps would
	// Every controller has to restart after a restore: it would wait for resource versions that are far in the future.
	w.kill()
	w.start()
	for _, name := range []string{"bound", "deposited"} {
		if got := *w.ready(name).Status.ApplicationID; got != ids[name] {
			t.Errorf("%s has application %d, want %d", name, got, ids[name])
		}
	}
	w.stalled("claimed", v1alpha1.ReasonOutcomeUnknown)
	w.stalled("later", v1alpha1.ReasonReferenceConflict)
	for _, name := range []string{"claimed", "later"} {
		w.mandate(name, fmt.Sprintf("{adopt: {applicationID: %d}}", ids[name]))
		w.condition(name, v1alpha1.ConditionCreated, metav1.ConditionTrue, v1alpha1.ReasonAdopted)
	}
	w.emails(4)
	w.checkApplications(4)
}

// GitOps tools replace objects that they cannot patch. The new Mandate of the name has the same application.
func TestReplacedByForce(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{deletionPolicy: Retain}")
	before := w.ready("acme")
	manifest := "apiVersion: " + v1alpha1.SchemeGroupVersion.String() + "\n" + mandateManifest("acme", "{archived: true}")
	file := filepath.Join(t.TempDir(), "acme.yaml")
	w.check(os.WriteFile(file, []byte(manifest), 0o600))
	w.kubectl("replace", "--force", "--filename", file)
	after := w.until("acme", "archived", func(m *v1alpha1.Mandate) bool { return m.Status.Archived })
	if after.UID == before.UID || *after.Status.ApplicationID != *before.Status.ApplicationID {
		t.Errorf(
			"the Mandate %s has application %d, after %s had %d",
			after.UID,
			*after.Status.ApplicationID,
			before.UID,
			*before.Status.ApplicationID,
		)
	}
	w.emails(1)
	w.checkCreates(1)
}
