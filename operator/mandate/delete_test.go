package mandate

import (
	"testing"

	"k8s.io/client-go/tools/events"

	"github.com/mandate-io/idv/api/v1alpha1"
)

const completed = v1alpha1.OutcomeCompleted

// What was not done is said, whatever the outcome of the application is.
func TestReportOfDeletion(t *testing.T) {
	t.Parallel()
	unread := applicationFacts{}
	shown := func(f *facts) { f.deletion.policy, f.application.archived = v1alpha1.DeletionPolicyArchive, true }
	for name, c := range map[string]struct {
		change  func(*facts)
		givenUp bool
	}{
		"the service does not answer":  {func(f *facts) { f.application = unread }, true},
		"nor after an outcome":         {func(f *facts) { f.application, f.outcome = unread, completed }, true},
		"nor after Deleted":            {func(f *facts) { f.application, f.outcome = unread, outcomeDeleted }, true},
		"it refuses, after an outcome": {func(f *facts) { f.outcome = v1alpha1.OutcomeRejected }, true},
		"the application is not found": {func(f *facts) { f.application.lookup = applicationMissing }, false},
		"the application has expired":  {func(f *facts) { f.application, f.observe.vanished = unread, true }, false},
		"there is no application":      {func(f *facts) { f.id = 0 }, false},
		"its id is not known":          {func(f *facts) { f.id, f.create.unknown = 0, true }, true},
		"it is archived":               {shown, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			recorder := events.NewFakeRecorder(1)
			r := &deleter{scope: &scope{mandate: goingMandate()}, events: recorder}
			r.report(t.Context(), bound(func(f *facts) {
				f.deletion = deletion()
				c.change(f)
			}))
			if given := len(recorder.Events) == 1; given != c.givenUp {
				t.Errorf("said that it is given up: %t, want %t", given, c.givenUp)
			}
		})
	}
}
