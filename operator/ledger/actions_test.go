package ledger_test

import (
	"errors"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/ledger"
)

func resend(name string) v1alpha1.RecordedAction {
	return v1alpha1.RecordedAction{
		Name: name, Type: v1alpha1.MandateActionResendInvite, Individual: "jane",
		StartedTime: metav1.Now(), UID: types.UID("uid-of-" + name),
	}
}

// start records an action, which must succeed.
func (f *fixture) start(record *v1alpha1.ApplicationRecord, name string) *v1alpha1.ApplicationRecord {
	f.Helper()
	started, err := f.StartAction(f.Context(), record, resend(name), account)
	f.check(err)
	return started
}

func (f *fixture) checkUse(record *v1alpha1.ApplicationRecord, action v1alpha1.RecordedAction, want ledger.NameUse) {
	f.Helper()
	if got := ledger.UseOf(record, &action); got != want {
		f.Errorf("the use of %s %s by %s is %d, want %d", action.Name, action.Type, action.UID, got, want)
	}
}

func TestActionsOfOneName(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	record := f.claimed()
	again, other := resend("first"), resend("first")
	again.UID, other.UID = "another", "another"
	other.Individual = "john"
	f.checkUse(record, again, ledger.Unused)
	started := f.start(record, "first")
	f.checkUse(started, resend("first"), ledger.UsedByThisObject)
	f.checkUse(started, again, ledger.UsedForSameAction)
	f.checkUse(started, other, ledger.UsedForOtherAction)
	if _, err := f.StartAction(t.Context(), record, again, account); !errors.Is(err, ledger.ErrLost) {
		t.Errorf("a start by another object, on the record as it was: %v, want ErrLost", err)
	}
	if _, err := f.CancelAction(t.Context(), record, resend("first")); !errors.Is(err, ledger.ErrLost) {
		t.Errorf("the end of a start, on the record as it was: %v, want ErrLost", err)
	}
	canceled, err := f.CancelAction(t.Context(), f.start(started, "second"), resend("first"))
	f.check(err)
	f.checkUse(canceled, again, ledger.Unused)
	f.checkUse(canceled, resend("second"), ledger.UsedByThisObject)
}

// The names of actions are kept when their details are not.
func TestManyActions(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	record := f.claimed()
	full := record.DeepCopy()
	for i := range 100 {
		full.Spec.Actions = append(full.Spec.Actions, resend(fmt.Sprint("action-", i)))
	}
	f.check(f.client.Update(t.Context(), full))
	record = f.start(f.start(full, "action-100"), "action-101")
	if got := len(record.Spec.Actions); got != 100 {
		t.Errorf("%d actions are recorded in detail, want 100", got)
	}
	another := resend("action-1")
	another.Type = v1alpha1.MandateActionResetIndividual
	f.checkUse(record, resend("action-0"), ledger.UsedForSameAction)
	f.checkUse(record, another, ledger.UsedForOtherAction)
	f.checkUse(record, resend("action-2"), ledger.UsedByThisObject)
	f.checkUse(record, resend("action-102"), ledger.Unused)
	for i := len(record.Spec.EarlierActions); i < 1000; i++ {
		if ledger.IsFull(record) {
			t.Fatalf("a record is full with %d earlier actions", i)
		}
		record.Spec.EarlierActions = append(record.Spec.EarlierActions, fmt.Sprintf("%032x", i))
	}
	f.check(f.client.Update(t.Context(), record))
	if !ledger.IsFull(record) {
		t.Error("a record with 1,000 earlier actions is not full")
	}
}
