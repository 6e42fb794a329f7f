package ledger_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/ledger"
)

// resend is a call that a MandateAction of a name orders.
func resend(name string) v1alpha1.Call {
	call := ledger.New(v1alpha1.CallResendInvite, time.Now())
	call.Name, call.UID = name, types.UID("uid-of-"+name)
	call.Individual = "jane"
	return call
}

func named(name string) func(*v1alpha1.Call) bool {
	return func(c *v1alpha1.Call) bool { return c.Name == name }
}

func (f *fixture) checkUse(record *v1alpha1.ApplicationRecord, call v1alpha1.Call, want ledger.NameUse, entry bool) {
	f.Helper()
	got, found := ledger.UseOf(record, &call)
	if got != want || (found != nil) != entry || found != nil && found.Name != call.Name {
		f.Errorf("the use of %s %s by %s is %d, entry %+v; want %d", call.Name, call.Kind, call.UID, got, found, want)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	record := f.notCreated()
	again := resend("first")
	again.UID = "another"
	other, reset := again, again
	other.Individual, reset.Kind = "john", v1alpha1.CallResetIndividual
	f.checkUse(record, again, ledger.Unused, false)
	begun, call := f.begin(record, resend("first"))
	f.checkUse(begun, resend("first"), ledger.UsedByThisObject, true)
	f.checkUse(begun, again, ledger.UsedForSameAction, true)
	f.checkUse(begun, other, ledger.UsedForOtherAction, true)
	f.checkUse(begun, reset, ledger.UsedForOtherAction, true)
	f.checkUse(begun, resend("second"), ledger.Unused, false)
	if _, err := f.Begin(t.Context(), record, again, nil); !errors.Is(err, ledger.ErrLost) {
		t.Errorf("a call of another object, on the record as it was: %v, want ErrLost", err)
	}
	ended := f.end(begun, call, v1alpha1.CallNotSent, 0)
	f.checkUse(ended, again, ledger.UsedForSameAction, true)
	f.checkUse(ended, reset, ledger.UsedForOtherAction, true)
}

// filled is a record with a create and 99 calls that are over, but for the first of them.
func (f *fixture) filled() *v1alpha1.ApplicationRecord {
	f.Helper()
	record := f.notCreated()
	for i := range 99 {
		call := resend(fmt.Sprint("action-", i))
		call.Seq = int32(i) + 2
		if i > 0 {
			call = ledger.Ended(call, v1alpha1.CallDone, time.Now())
		}
		record.Spec.Calls = append(record.Spec.Calls, call)
	}
	f.check(f.client.Update(f.Context(), record))
	return record
}

// The names of actions are kept when their details are not. The create is kept, and so is what may be under way.
func TestManyCalls(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	record := f.filled()
	record, _ = f.begin(record, resend("action-99"))
	record, last := f.begin(record, resend("action-100"))
	if got := len(record.Spec.Calls); got != 100 || last.Seq != 102 || ledger.CreateOf(record) == nil {
		t.Errorf("%d calls are recorded, and the last one is number %d", got, last.Seq)
	}
	another := resend("action-1")
	another.Kind = v1alpha1.CallResetIndividual
	f.checkUse(record, resend("action-0"), ledger.UsedByThisObject, true)
	f.checkUse(record, resend("action-1"), ledger.UsedForSameAction, false)
	f.checkUse(record, another, ledger.UsedForOtherAction, false)
	f.checkUse(record, resend("action-2"), ledger.UsedForSameAction, false)
	f.checkUse(record, resend("action-3"), ledger.UsedByThisObject, true)
	f.checkUse(record, resend("action-101"), ledger.Unused, false)
	gone, kept := resend("action-2"), resend("action-3")
	if !ledger.WasMade(record, &gone) || ledger.WasMade(record, &kept) {
		t.Errorf("the digests are %q", record.Spec.Earlier)
	}
}

// A decision has no name: what it is, and about what evidence, tells it apart.
func TestDigestOfADecision(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	record := f.notCreated()
	decision := ledger.New(v1alpha1.CallComplete, time.Now())
	decision.Seq, decision.Evidence = 2, "7d9f2c41"
	record.Spec.Calls = append(record.Spec.Calls, ledger.Ended(decision, v1alpha1.CallDone, time.Now()))
	for i := range 98 {
		call := ledger.Ended(resend(fmt.Sprint("action-", i)), v1alpha1.CallDone, time.Now())
		call.Seq = int32(i) + 3
		record.Spec.Calls = append(record.Spec.Calls, call)
	}
	f.check(f.client.Update(t.Context(), record))
	record, _ = f.begin(record, resend("last"))
	other := decision
	other.Evidence = "41aa90c2"
	if !ledger.WasMade(record, &decision) || ledger.WasMade(record, &other) {
		t.Errorf("the digests are %q", record.Spec.Earlier)
	}
}

// A record that is full holds no other call, and lets those that it has end and be sent again.
func TestFull(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	record := f.filled()
	for i := range 1000 {
		if ledger.IsFull(record) {
			t.Fatalf("a record is full with %d earlier calls", i)
		}
		record.Spec.Earlier = append(record.Spec.Earlier, fmt.Sprintf("%032x", i))
	}
	f.check(f.client.Update(t.Context(), record))
	if !ledger.IsFull(record) {
		t.Error("a record with 1,000 earlier calls is not full")
	}
	if _, err := f.Begin(t.Context(), record, resend("late"), nil); !errors.Is(err, ledger.ErrFull) {
		t.Errorf("another call: %v, want ErrFull", err)
	}
	record = f.end(record, ledger.Find(record, named("action-0")), v1alpha1.CallNotSent, 0)
	f.begin(record, ledger.Again(ledger.Find(record, named("action-0")), time.Now()))
}
