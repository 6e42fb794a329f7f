package ledger_test

import (
	"errors"
	"testing"
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/ledger"
)

// A call has one entry, however often it is sent. It counts every request that may have been carried out.
func TestSendAgain(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	record := f.claimed()
	begun, resend := f.begin(record, resend("first"))
	if resend.Seq != 2 || resend.Sends != 1 || resend.Result != "" {
		t.Fatalf("the call began as %+v", resend)
	}
	record = f.end(begun, resend, v1alpha1.CallNotSent, 0)
	again := ledger.Again(ledger.Find(record, named("first")), time.Now().Add(time.Minute))
	again.UID = "another"
	record, resend = f.begin(record, again)
	switch {
	case len(record.Spec.Calls) != 2, resend.Seq != 2, resend.Sends != 1, resend.Result != "", resend.EndedTime != nil:
		t.Errorf("the call began again as %+v", record.Spec.Calls)
	case resend.Kind != v1alpha1.CallResendInvite, resend.Individual != "jane", resend.UID != "another":
		t.Errorf("another call began: %+v", resend)
	case !resend.FirstStartedTime.Before(&resend.StartedTime):
		t.Errorf("it first began at %s, and now at %s", resend.FirstStartedTime, resend.StartedTime)
	}
	create := ledger.CreateOf(record)
	record = f.end(record, create, v1alpha1.CallUnknown, 1)
	record, create = f.begin(record, ledger.Again(create, time.Now()))
	if create.Seq != 1 || create.Sends != 2 || create.Inputs != "inputs" {
		t.Errorf("the create began again as %+v", create)
	}
	if open := ledger.Open(record); open == nil || open.Seq != 2 {
		t.Errorf("the last call that is open is %+v", open)
	}
}

// What certainly created nothing did not begin the time after which the service forgets the reference.
func TestFirstStart(t *testing.T) {
	t.Parallel()
	before := ledger.New(v1alpha1.CallCreate, time.Now().Add(-time.Hour))
	if again := ledger.Again(&before, time.Now()); !again.FirstStartedTime.Equal(&before.FirstStartedTime) {
		t.Errorf("a create that may have made an application first began at %s", again.FirstStartedTime)
	}
	before.Sends = 0
	if again := ledger.Again(&before, time.Now()); !again.FirstStartedTime.Equal(&again.StartedTime) {
		t.Errorf("a create that made no application first began at %s", again.FirstStartedTime)
	}
}

// The end of a call keeps what others have recorded meanwhile.
func TestEndKeepsTheRest(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	first, resend := f.begin(f.claimed(), resend("first"))
	f.end(f.deposit(first, 7), resend, v1alpha1.CallUnknown, 1)
	call := ledger.Ended(*resend, v1alpha1.CallDone, time.Now())
	record, err := f.End(t.Context(), first, call) // its operator was late, and knows more
	f.check(err)
	create, resend := ledger.CreateOf(record), ledger.Find(record, named("first"))
	if create.Result != v1alpha1.CallDone || resend.Result != v1alpha1.CallDone || resend.EndedTime == nil ||
		record.Spec.ApplicationID == nil || *record.Spec.ApplicationID != 7 {
		t.Errorf("the record has %+v", record.Spec)
	}
	if open := ledger.Open(record); open != nil {
		t.Errorf("a call is open: %+v", open)
	}
}

// An application that is adopted may be the one of a create, which is Done then: its reference is unique.
func TestAdopt(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]v1alpha1.CallResult{
		"may have been created": v1alpha1.CallDone, "was not created": v1alpha1.CallNotSent,
	} {
		f := newFixture(t)
		spec, record := specFor("ACME-2"), f.claimed()
		spec.ApplicationID = new(int64(7))
		if want == v1alpha1.CallNotSent {
			record = f.end(record, ledger.CreateOf(record), v1alpha1.CallNotSent, 0)
		}
		adopted, err := f.Adopt(t.Context(), f.key("acme"), record, spec)
		f.check(err)
		moved := adopted.Spec.Reference == "ACME-2"
		if got := ledger.CreateOf(adopted).Result; got != want || moved != (want == v1alpha1.CallNotSent) {
			t.Errorf("%s: the create is %s, and the reference %s", name, got, adopted.Spec.Reference)
		}
	}
}

// The account that an application may have been created with stays on record. Adopting says whose the application is.
func TestAccount(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const other = "ffeeddccbbaa99887766554433221100"
	record := f.claimed()
	refused := func(to, when string) {
		t.Helper()
		about := record.Spec
		about.Account = to
		if _, err := f.Begin(t.Context(), record, resend("first"), &about); err == nil {
			t.Error("the account changed " + when)
		}
	}
	refused(other, "while an application may have been created with it")
	spec := record.Spec
	spec.Account, spec.ApplicationID = other, new(int64(7))
	record, err := f.Adopt(t.Context(), f.key("acme"), record, spec)
	f.check(err)
	if record.Spec.Account != other {
		t.Errorf("the account is %s", record.Spec.Account)
	}
	refused(account, "of a known application")
	spec.Account = account
	record, err = f.Adopt(t.Context(), f.key("acme"), record, spec)
	f.check(err)
	if record.Spec.Account != other {
		t.Errorf("the account is %s after the application was adopted again", record.Spec.Account)
	}
}

// A record that is gone has no calls.
func TestNoRecord(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	record := f.notCreated()
	if ledger.Find(nil, named("first")) != nil || ledger.Open(nil) != nil || ledger.CreateOf(nil) != nil {
		t.Error("no record has calls")
	}
	for name, end := range map[string]func() error{
		"of no record": func() error {
			_, err := f.End(t.Context(), nil, resend("first"))
			return err
		},
		"of another record": func() error {
			_, err := f.End(t.Context(), record, resend("first"))
			return err
		},
	} {
		if err := end(); !errors.Is(err, ledger.ErrLost) {
			t.Errorf("the end of a call %s: %v, want ErrLost", name, err)
		}
	}
	if ledger.MayExist(record) {
		t.Error("a create that was not sent may have made an application")
	}
}
