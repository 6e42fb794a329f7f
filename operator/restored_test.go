package operator_test

import (
	"fmt"
	"testing"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

// restoreRecord makes a record anew from a backup, as a tool does.
func (w *world) restoreRecord(backup *v1alpha1.ApplicationRecord) *v1alpha1.ApplicationRecord {
	w.Helper()
	record := backup.DeepCopy()
	record.ResourceVersion, record.UID = "", ""
	w.check(w.Create(w.Context(), record))
	return record
}

// sayComplete has a person say that a restored record lacks nothing.
func (w *world) sayComplete(record *v1alpha1.ApplicationRecord) {
	w.Helper()
	w.kubectl("annotate", "mandate/"+record.Name, v1alpha1.RecordCompleteAnnotation+"="+string(record.UID))
}

// A record that is older than the create says that nothing was created. The service may not know the reference any
// more, as after eight weeks, or because somebody has deleted the application.
func TestRestoredRecordIsOlderThanTheCreate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{Dialect: dialect.Dialect{CreateRefusal: "402"}})
	w.connect()
	w.start()
	w.mandate("acme", "{}")
	w.stalled("acme", v1alpha1.ReasonRefusedForNow)
	backup := w.record("acme")
	w.check(w.sandbox.ResetDialects(t.Context()))
	w.requestRead("acme")
	id := *w.ready("acme").Status.ApplicationID

	w.kill() // and the cluster is lost
	w.kubectl("delete", "mandate/acme", "applicationrecord/acme")
	_, err := w.client(w.url).DeleteApplication(t.Context(), id)
	w.check(err)
	restored := w.restoreRecord(backup)
	w.mandate("acme", "{}")
	w.start()
	w.stalled("acme", v1alpha1.ReasonRecordRestored)
	w.emails(1)
	w.sayComplete(restored)
	w.ready("acme")
	w.emails(2)
}

// What the record knows needs nobody: the application is bound, and what the service shows is done is not done again.
func TestRestoredRecordHasTheApplication(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{}")
	id := *w.ready("acme").Status.ApplicationID
	backup := w.record("acme")
	w.mandate("acme", "{archived: true}")
	w.until("acme", "archived", func(m *v1alpha1.Mandate) bool { return m.Status.Archived })
	archivings := w.sentCalls()

	w.kill()
	w.kubectl("delete", "mandate/acme", "applicationrecord/acme")
	w.restoreRecord(backup)
	w.mandate("acme", "{archived: true}")
	w.start()
	m := w.until("acme", "archived", func(m *v1alpha1.Mandate) bool { return m.Status.Archived })
	if *m.Status.ApplicationID != id || w.sentCalls() != archivings {
		t.Errorf("the Mandate has application %d after %d calls, want %d after %d", *m.Status.ApplicationID,
			w.sentCalls(), id, archivings)
	}
	w.emails(1)
}

// An adopted application has no call, so the record is written once more: its backup tells that it is one.
func TestRestoredRecordOfAnAdoption(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", fmt.Sprintf("{reference: team-ref, adopt: {applicationID: %d}}", w.foreign("team-ref")))
	w.ready("acme")
	if record := w.record("acme"); record.Spec.RecordUID != record.UID {
		t.Errorf("the record %s has the uid %q", record.UID, record.Spec.RecordUID)
	}
}
