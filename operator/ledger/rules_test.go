package ledger_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/ledger"
)

// Calls of the record in TestTheLogOnlyGrows, by their place.
const (
	theCreate = iota
	done
	accepted
	unknown
	notSent
	open
)

// log is a record with calls of every result, and digests of two earlier ones.
func (f *fixture) log() *v1alpha1.ApplicationRecord {
	f.Helper()
	record := f.notCreated()
	for i, result := range []v1alpha1.CallResult{
		v1alpha1.CallDone, v1alpha1.CallAccepted, v1alpha1.CallUnknown, v1alpha1.CallNotSent, "",
	} {
		call := resend(fmt.Sprint("action-", i))
		if call.Seq = int32(i) + 2; result != "" {
			call = ledger.Ended(call, result, time.Now())
		}
		if call.Sends = 2; result == v1alpha1.CallNotSent {
			call.Sends = 0
		}
		record.Spec.Calls = append(record.Spec.Calls, call)
	}
	record.Spec.Earlier = []string{"digest-1", "digest-2"}
	f.check(f.client.Update(f.Context(), record))
	return record
}

// drop makes a record forget calls.
func drop(s *v1alpha1.ApplicationRecordSpec, dropped ...int) {
	var kept []v1alpha1.Call
	for i := range s.Calls {
		if i != dropped[0] && i != dropped[len(dropped)-1] {
			kept = append(kept, s.Calls[i])
		}
	}
	s.Calls = kept
}

// The API server holds the log to what it is for, also if it is not the operator who writes it: what was sent once is
// not sent again.
func TestTheLogOnlyGrows(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		change  func(*v1alpha1.ApplicationRecordSpec)
		refused string // the field that the API server names; "" if it allows the change
	}{
		"a call vanishes":         {func(s *v1alpha1.ApplicationRecordSpec) { drop(s, done) }, "spec.calls"},
		"a call that did nothing": {func(s *v1alpha1.ApplicationRecordSpec) { drop(s, notSent) }, "spec.calls"},
		"all calls vanish":        {func(s *v1alpha1.ApplicationRecordSpec) { s.Calls = nil }, "spec.calls"},
		"a call becomes a digest": {func(s *v1alpha1.ApplicationRecordSpec) {
			drop(s, done)
			s.Earlier = append(s.Earlier, "digest-3")
		}, ""},
		"an open call becomes a digest": {func(s *v1alpha1.ApplicationRecordSpec) {
			drop(s, open)
			s.Earlier = append(s.Earlier, "digest-3")
		}, "spec.calls"},
		"the create becomes a digest": {func(s *v1alpha1.ApplicationRecordSpec) {
			drop(s, theCreate)
			s.Earlier = append(s.Earlier, "digest-3")
		}, "spec.calls"},
		"two calls become one digest": {func(s *v1alpha1.ApplicationRecordSpec) {
			drop(s, done, notSent)
			s.Earlier = append(s.Earlier, "digest-3")
		}, "spec.calls"},
		"a result goes away": {
			func(s *v1alpha1.ApplicationRecordSpec) { s.Calls[unknown].Result = "" }, "spec.calls[3].result",
		},
		"what is done is unknown": {
			func(s *v1alpha1.ApplicationRecordSpec) { s.Calls[done].Result = v1alpha1.CallUnknown }, "spec.calls[1].result",
		},
		"what is done is sent again": {
			func(s *v1alpha1.ApplicationRecordSpec) { again(&s.Calls[done], 3) }, "spec.calls[1].result",
		},
		"what is accepted is refused": {
			func(s *v1alpha1.ApplicationRecordSpec) { s.Calls[accepted].Result = v1alpha1.CallRefused }, "spec.calls[2].result",
		},
		"what is accepted is sent again": {
			func(s *v1alpha1.ApplicationRecordSpec) { again(&s.Calls[accepted], 3) }, "spec.calls[2].result",
		},
		"what is accepted is done": {
			func(s *v1alpha1.ApplicationRecordSpec) { s.Calls[accepted].Result = v1alpha1.CallDone }, "",
		},
		"what is unknown is done": {
			func(s *v1alpha1.ApplicationRecordSpec) { s.Calls[unknown].Result = v1alpha1.CallDone }, "",
		},
		"what was not sent is sent": {func(s *v1alpha1.ApplicationRecordSpec) { again(&s.Calls[notSent], 1) }, ""},
		"a request is not counted": {
			func(s *v1alpha1.ApplicationRecordSpec) { again(&s.Calls[unknown], 2) }, "spec.calls[3].nonce",
		},
		"a request has its result before it is sent": {func(s *v1alpha1.ApplicationRecordSpec) {
			again(&s.Calls[unknown], 3)
			s.Calls[unknown].Result = v1alpha1.CallRefused
		}, "spec.calls[3].nonce"},
		"the last request did nothing": {func(s *v1alpha1.ApplicationRecordSpec) {
			s.Calls[open].Sends, s.Calls[open].Result = 1, v1alpha1.CallUnknown
		}, ""},
		"two requests did nothing": {func(s *v1alpha1.ApplicationRecordSpec) {
			s.Calls[open].Sends, s.Calls[open].Result = 0, v1alpha1.CallNotSent
		}, "spec.calls[5].sends"},
		"another kind": {func(s *v1alpha1.ApplicationRecordSpec) {
			s.Calls[notSent].Kind = v1alpha1.CallResetIndividual
		}, "spec.calls[4].kind"},
		"another name":   {func(s *v1alpha1.ApplicationRecordSpec) { s.Calls[done].Name = "other" }, "spec.calls[1].name"},
		"no name":        {func(s *v1alpha1.ApplicationRecordSpec) { s.Calls[done].Name = "" }, "spec.calls[1].name"},
		"a name":         {func(s *v1alpha1.ApplicationRecordSpec) { s.Calls[theCreate].Name = "x" }, "spec.calls[0].name"},
		"earlier shrink": {func(s *v1alpha1.ApplicationRecordSpec) { s.Earlier = s.Earlier[:1] }, "spec.earlier"},
		"earlier vanish": {func(s *v1alpha1.ApplicationRecordSpec) { s.Earlier = nil }, "spec.earlier"},
		"earlier change": {func(s *v1alpha1.ApplicationRecordSpec) {
			s.Earlier = []string{"digest-0", "digest-2", "digest-3"}
		}, "spec.earlier"},
		"earlier become longer": {func(s *v1alpha1.ApplicationRecordSpec) {
			s.Earlier = []string{"digest-1", "digest-22"}
		}, "spec.earlier"},
		"earlier grow": {func(s *v1alpha1.ApplicationRecordSpec) { s.Earlier = append(s.Earlier, "digest-3") }, ""},
		"an old record is restored": {func(s *v1alpha1.ApplicationRecordSpec) {
			s.Calls, s.Earlier = s.Calls[:3], s.Earlier[:1]
		}, "spec.calls"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			record := f.log()
			c.change(&record.Spec)
			err := f.client.Update(t.Context(), record)
			if c.refused == "" {
				f.check(err)
				return
			}
			var status apierrors.APIStatus
			if !apierrors.IsInvalid(err) || !errors.As(err, &status) {
				t.Fatalf("got %v, want Invalid", err)
			}
			for _, cause := range status.Status().Details.Causes {
				if cause.Field == c.refused {
					return
				}
			}
			t.Errorf("the API server refuses %+v, want %s", status.Status().Details.Causes, c.refused)
		})
	}
}

// again makes a call one that is sent once more, as a faulty operator might write it.
func again(call *v1alpha1.Call, sends int32) {
	call.Nonce, call.Sends = "another", sends
	call.Result, call.EndedTime = "", nil
}
