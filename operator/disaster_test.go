package operator_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/testenv"
	"github.com/mandate-io/idv/operator"
)

// What happens to a control plane, to one that no other test uses: nobody is e-mailed twice, and nothing is lost without a
// word.
func TestDisasters(t *testing.T) {
	t.Parallel()
	plane := ownControlPlane(t)
	// The first ones need it empty.
	t.Run("manifests restored with the ledger", func(t *testing.T) { restoreManifests(t, plane, "mandates,applicationrecords") })
	t.Run("manifests restored without the ledger", func(t *testing.T) { restoreManifests(t, plane, "mandates") })
	t.Run("API server killed in the middle of creates", func(t *testing.T) { killAPIServer(t, plane) })
	t.Run("etcd compacted", func(t *testing.T) { compactEtcd(t, plane) })
	t.Run("etcd restored from a backup", func(t *testing.T) { restoreEtcd(t, plane) })
}

func ownControlPlane(t *testing.T) *testenv.Environment {
	t.Helper()
	plane, err := testenv.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, start := range []func() error{plane.StartControlPlane, plane.InstallCRDs, func() error { return plane.GrantOperatorRole(t.Context()) }} {
		if err := start(); err != nil {
			t.Fatal(err)
		}
	}
	return plane
}

// restoreManifests applies what kubectl printed of one cluster to another one, which is empty.
func restoreManifests(t *testing.T, plane *testenv.Environment, kinds string) {
	t.Helper()
	lost := running(t)
	lost.mandate("acme", "{}")
	id := *lost.ready("acme").Status.ApplicationID
	backup := lost.kubectl("get", kinds, "--output=yaml")
	lost.kill() // with its cluster

	w := newWorldIn(t, plane, sandbox.Options{})
	w.url, w.sandbox, w.namespace = lost.url, lost.sandbox, lost.namespace
	w.check(w.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}))
	manifests := filepath.Join(t.TempDir(), "backup.yaml")
	// kubectl refuses to create an object that has one.
	w.check(os.WriteFile(manifests, regexp.MustCompile(`(?m)^ *resourceVersion:.*\n`).ReplaceAll([]byte(backup), nil), 0o600))
	w.kubectl("apply", "--filename", manifests)
	w.connect()
	w.start()
	if kinds == "mandates" { // all that can be known is that the reference is taken
		w.stalled("acme", v1alpha1.ReasonReferenceConflict)
		w.mandate("acme", fmt.Sprintf("{adopt: {applicationID: %d}}", id)) // a person knows more
	}
	if got := *w.ready("acme").Status.ApplicationID; got != id {
		t.Errorf("the Mandate has application %d, want %d", got, id)
	}
	w.emails(1)
	if applications, err := w.sandbox.Applications(t.Context()); err != nil || len(applications) != 1 {
		t.Errorf("%d applications, want 1 (%v)", len(applications), err)
	}
}

// killAPIServer kills it while creates are under way. The service carries them out, and their ids wait for it to come back.
func killAPIServer(t *testing.T, plane *testenv.Environment) {
	t.Helper()
	const mandates = 4
	w := newWorldIn(t, plane, sandbox.Options{})
	w.connect()
	w.start()
	w.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)
	w.fault(control.Fault{Operation: control.CreateApplication, Kind: control.Slow, DelayMillis: slow.Milliseconds(), Times: mandates})
	for i := range mandates {
		w.mandate(fmt.Sprintf("acme-%d", i), "{}")
	}
	w.eventually(func() (bool, string) {
		return w.requests(control.CreateApplication) == mandates, "not all creates are under way"
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
	w.creates(mandates)
}

// compactEtcd takes the past away that an operator wants to go on from: it has to look at everything again.
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
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGCONT) }) // or it could not be ended
	w.mandate("acme", "{archived: true}")
	w.removes("mandate", "leaves")
	w.mandate("comes", "{}")
	w.check(plane.CompactEtcd(t.Context(), w.get("comes").ResourceVersion))
	w.check(plane.Crash(testenv.APIServer)) // which remembers some of it, too
	w.check(plane.Restart(t.Context(), testenv.APIServer))
	w.tooOld(seen)
	w.check(syscall.Kill(pid, syscall.SIGCONT))
	w.ready("comes")
	w.until("acme", "archived", func(m *v1alpha1.Mandate) bool { return m.Status.Archived })
	w.gone("leaves")
	w.emails(3)
	w.creates(3)
}

// tooOld checks that Mandates cannot be watched from a resource version any more.
func (w *world) tooOld(resourceVersion string) {
	w.Helper()
	watcher, err := client.NewWithWatch(w.env.Config, client.Options{Scheme: operator.Scheme()})
	w.check(err)
	events, err := watcher.Watch(w.Context(), &v1alpha1.MandateList{}, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: resourceVersion}})
	if err == nil {
		defer events.Stop()
		select {
		case event := <-events.ResultChan():
			if event.Type == watch.Error {
				err = apierrors.FromObject(event.Object)
			}
		case <-time.After(patience):
		}
	}
	if !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
		w.Fatalf("a watch from resource version %s: %v, want an error that says that it is too old", resourceVersion, err)
	}
}

// restoreEtcd puts the cluster back to a moment at which Mandates were at different points of their creation.
func restoreEtcd(t *testing.T, plane *testenv.Environment) {
	t.Helper()
	w := newWorldIn(t, plane, sandbox.Options{})
	w.connect()
	h := w.byHand()
	var backup string
	for _, moment := range []struct{ mandate, before string }{
		{"bound", ""}, {"deposited", "patch status of Mandate"}, {"claimed", "patch ApplicationRecord"}, {"later", ""},
	} {
		w.mandate(moment.mandate, "{}")
		switch moment.mandate {
		case "deposited": // the operator ends before the status tells of it
			h.once(moment.before, crash)
		case "claimed": // the service has created it by then
			h.once(moment.before, func() {
				var err error
				backup, err = plane.Backup()
				w.check(err)
			})
		}
		h.passes(moment.mandate)
	}
	w.emails(4)
	w.start()
	ids := map[string]int64{}
	for _, name := range []string{"bound", "deposited", "claimed", "later"} {
		ids[name] = *w.ready(name).Status.ApplicationID
	}

	w.check(plane.Restore(t.Context(), backup))
	w.mandate("later", "{}") // as GitOps does
	// An operator that went on would wait for events that are numbered as none will be for long. Every controller has to be
	// started again after a restore.
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
	if applications, err := w.sandbox.Applications(t.Context()); err != nil || len(applications) != 4 {
		t.Errorf("%d applications, want 4 (%v)", len(applications), err)
	}
}

// GitOps tools replace by force what they cannot patch: another Mandate of the name, and the same application.
func TestReplacedByForce(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{deletionPolicy: Retain}")
	before := w.ready("acme")
	manifest := filepath.Join(t.TempDir(), "acme.yaml")
	w.check(os.WriteFile(manifest, []byte("apiVersion: "+v1alpha1.SchemeGroupVersion.String()+"\n"+mandateManifest("acme", "{archived: true}")), 0o600))
	w.kubectl("replace", "--force", "--filename", manifest)
	after := w.until("acme", "archived", func(m *v1alpha1.Mandate) bool { return m.Status.Archived })
	if after.UID == before.UID || *after.Status.ApplicationID != *before.Status.ApplicationID {
		t.Errorf("the Mandate %s has application %d, after %s had %d", after.UID, *after.Status.ApplicationID, before.UID, *before.Status.ApplicationID)
	}
	w.emails(1)
	w.creates(1)
}
