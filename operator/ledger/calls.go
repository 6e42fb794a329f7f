package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// The one protocol for everything that acts on people or cannot be undone:
//
// Begin writes the entry: the lock, the intent and the owner's nonce. It fails if anybody has written the record since
// it was read, so of two operators, and of two objects of one name, one begins. What orders the call is then read
// live, and the request is sent. End writes the result.
//
// A process can end between any two of these. An entry without a result therefore means: at most one request more than
// its owner knows of, by its owner. Nobody else sends before the settle delay is over. What comes then is the remedy of
// the kind (kinds.go).
//
// An entry counts a request from the moment at which it is written until its answer proves that nothing was done. So
// what an entry says is never less than what happened.

// ErrFull means that a record cannot hold another call.
var ErrFull = errors.New("writing an ApplicationRecord: it holds as many calls as it can")

// New returns a call that begins now.
func New(kind v1alpha1.CallKind, now time.Time) v1alpha1.Call {
	started := MicroTime(now)
	return v1alpha1.Call{
		Kind: kind, Nonce: string(uuid.NewUUID()), FirstStartedTime: started, StartedTime: started, Sends: 1,
	}
}

// Again returns a call that is sent once more. Its entry is the one before.
func Again(before *v1alpha1.Call, now time.Time) v1alpha1.Call {
	again := New(before.Kind, now)
	again.Seq, again.Sends = before.Seq, before.Sends+1
	again.Name, again.UID = before.Name, before.UID
	again.Individual, again.Check = before.Individual, before.Check
	again.Evidence = before.Evidence
	again.Generation = before.Generation
	again.Inputs, again.Edited = before.Inputs, before.Edited
	if before.Sends > 0 || before.Kind != v1alpha1.CallCreate {
		again.FirstStartedTime = before.FirstStartedTime
	}
	return again
}

// Begin records a call before it is sent: in a new entry, or in the one of its number. With about, it also changes what
// the record is about. It fails with ErrLost if the record has changed since it was read, and with ErrFull if it is
// full.
func (l *Ledger) Begin(
	ctx context.Context, record *v1alpha1.ApplicationRecord, call v1alpha1.Call, about *v1alpha1.ApplicationRecordSpec,
) (*v1alpha1.ApplicationRecord, error) {
	calls, earlier, err := with(record, &call)
	if err != nil {
		return nil, err
	}
	operations := []patchOperation{unchanged(record), {"add", "/spec/calls", calls}}
	if len(earlier) > 0 {
		operations = append(operations, patchOperation{"add", "/spec/earlier", earlier})
	}
	if about != nil {
		operations = append(operations,
			patchOperation{"add", "/spec/account", about.Account},
			patchOperation{"add", "/spec/serviceURL", about.ServiceURL},
			patchOperation{"add", "/spec/reference", about.Reference},
			patchOperation{"add", "/spec/serviceRef", about.ServiceRef},
			patchOperation{"add", "/spec/mandateRef", about.MandateRef})
		if about.Individuals != nil {
			operations = append(operations, patchOperation{"add", "/spec/individuals", about.Individuals})
		}
	}
	before, err := l.Revisions.before()
	if err != nil {
		return nil, err
	}
	begun, err := l.patch(ctx, record, operations...)
	if err != nil {
		return nil, err
	}
	err = errors.Join(checkCall(begun, &call), l.Revisions.written(begun.ResourceVersion, before))
	return begun, err
}

// maxEnds is how often End tries if others keep writing the record.
const maxEnds = 3

var errBusy = errors.New("others keep writing the ApplicationRecord")

// End records what became of a call: its result, and how many of its requests may have been carried out. What was sent
// is known nowhere else, so it looks why the API server does not take it. If the record is gone, End makes it again. It
// fails with ErrLost if the call has ended otherwise, or has been sent once more since. Every other error is one of the
// API server or a policy, and may pass.
func (l *Ledger) End(
	ctx context.Context, record *v1alpha1.ApplicationRecord, call v1alpha1.Call,
) (*v1alpha1.ApplicationRecord, error) {
	if record == nil {
		return nil, ErrLost
	}
	for range maxEnds {
		ended, err := l.end(ctx, record, call)
		refused := apierrors.IsInvalid(err)
		if !refused && !errors.Is(err, ErrLost) {
			return ended, err
		}
		current, unread := l.Get(ctx, client.ObjectKeyFromObject(record))
		entry := Find(current, isOf(&call))
		switch {
		case unread != nil:
			return nil, unread
		case current == nil && call.Sends > 0:
			return l.claimAgain(ctx, record, call)
		case entry == nil, refused && entry.Result != "":
			return nil, ErrLost
		case refused:
			return nil, err
		}
		record = current
	}
	return nil, errBusy
}

// isOf finds the entry of a call that was begun.
func isOf(begun *v1alpha1.Call) func(*v1alpha1.Call) bool {
	return func(c *v1alpha1.Call) bool { return c.Nonce == begun.Nonce }
}

// claimAgain makes a record again that somebody has deleted while a call was under way, with what became of it.
func (l *Ledger) claimAgain(
	ctx context.Context, record *v1alpha1.ApplicationRecord, call v1alpha1.Call,
) (*v1alpha1.ApplicationRecord, error) {
	again := record.DeepCopy()
	again.Spec.RecordUID = ""
	if entry := Find(again, isOf(&call)); entry != nil {
		*entry = call
	}
	return l.Claim(ctx, client.ObjectKeyFromObject(record), again.Spec)
}

// EndOther records what became of a call of another process, as End does. It fails with ErrLost if the record has
// changed since it was read: the other process may have recorded the result.
func (l *Ledger) EndOther(
	ctx context.Context, record *v1alpha1.ApplicationRecord, call v1alpha1.Call,
) (*v1alpha1.ApplicationRecord, error) {
	return l.end(ctx, record, call, unchanged(record))
}

// Deposit ends a create with what it created: the id and creation time of the application, the Mandate that it was
// created for, because another one of the name may have taken the record over, and digests of its spec. The result is
// Done, or Accepted if the service may create it later. If the record is gone, Deposit makes it again. It fails with
// ErrLost if the create has been sent once more.
func (l *Ledger) Deposit(
	ctx context.Context, record *v1alpha1.ApplicationRecord, created v1alpha1.ApplicationRecordSpec,
	result v1alpha1.CallResult,
) (*v1alpha1.ApplicationRecord, error) {
	create := CreateOf(record)
	if create == nil {
		return nil, ErrLost
	}
	call := ended(*create, result)
	deposited, err := l.end(ctx, record, call, append(setDigests(record, created),
		patchOperation{"add", "/spec/mandateRef/uid", created.MandateRef.UID},
		patchOperation{"add", "/spec/applicationID", created.ApplicationID},
		patchOperation{"add", "/spec/createdTime", created.CreatedTime})...)
	if errors.Is(err, ErrLost) {
		if current, unread := l.Get(ctx, client.ObjectKeyFromObject(record)); current != nil || unread != nil {
			return nil, cmp.Or(unread, err)
		}
		again := record.DeepCopy()
		again.Spec.MandateRef.UID, again.Spec.ApplicationID = created.MandateRef.UID, created.ApplicationID
		again.Spec.CreatedTime = created.CreatedTime
		again.Spec.SpecDigests = cmp.Or(record.Spec.SpecDigests, created.SpecDigests)
		return l.claimAgain(ctx, again, call)
	}
	if err != nil {
		return nil, err
	}
	return deposited, checkID(deposited, created.ApplicationID)
}

// end does not test the resourceVersion: whatever else has changed, the answer belongs to the request of this nonce.
func (l *Ledger) end(
	ctx context.Context, record *v1alpha1.ApplicationRecord, call v1alpha1.Call, more ...patchOperation,
) (*v1alpha1.ApplicationRecord, error) {
	i := indexOf(record, func(c *v1alpha1.Call) bool { return c.Seq == call.Seq && c.Nonce == call.Nonce })
	if i < 0 {
		return nil, ErrLost
	}
	return l.patch(ctx, record, append([]patchOperation{
		testOperation(fmt.Sprintf("/spec/calls/%d/nonce", i), call.Nonce),
		testOperation("/metadata/uid", string(record.UID)),
		setCall(i, call),
	}, more...)...)
}

func setCall(i int, call v1alpha1.Call) patchOperation {
	return patchOperation{"replace", fmt.Sprintf("/spec/calls/%d", i), call}
}

// Ended is a call with its result, as of now.
func Ended(call v1alpha1.Call, result v1alpha1.CallResult, now time.Time) v1alpha1.Call {
	call = ended(call, result)
	call.EndedTime = &metav1.Time{Time: now.Truncate(time.Second)}
	return call
}

func ended(call v1alpha1.Call, result v1alpha1.CallResult) v1alpha1.Call {
	call.Result, call.Answer = result, ""
	return call
}

// EndOf names the end of a call, as the annotation idv.mandate.io/not-created does; "" if it is open. Nobody can name
// it before the call has ended. Two calls can end in one second.
func EndOf(call *v1alpha1.Call) string {
	if call.EndedTime == nil {
		return ""
	}
	return call.EndedTime.UTC().Format(time.RFC3339) + "/" + call.Nonce
}

// Find returns the last call of a record that is like this one; nil if there is none.
func Find(record *v1alpha1.ApplicationRecord, like func(*v1alpha1.Call) bool) *v1alpha1.Call {
	if i := indexOf(record, like); i >= 0 {
		return &record.Spec.Calls[i]
	}
	return nil
}

func indexOf(record *v1alpha1.ApplicationRecord, like func(*v1alpha1.Call) bool) int {
	if record == nil {
		return -1
	}
	for i := len(record.Spec.Calls) - 1; i >= 0; i-- {
		if like(&record.Spec.Calls[i]) {
			return i
		}
	}
	return -1
}

// CreateOf returns the create of a record; nil if its application was adopted. There is one at most.
func CreateOf(record *v1alpha1.ApplicationRecord) *v1alpha1.Call { return Find(record, isCreate) }

func isCreate(c *v1alpha1.Call) bool { return c.Kind == v1alpha1.CallCreate }

// Open returns the call that may be under way; nil if there is none.
func Open(record *v1alpha1.ApplicationRecord) *v1alpha1.Call {
	return Find(record, func(c *v1alpha1.Call) bool { return c.Result == "" })
}

// with is the calls of a record with one that begins, and what it remembers of earlier ones. The call gets its number.
func with(
	record *v1alpha1.ApplicationRecord, call *v1alpha1.Call,
) (calls []v1alpha1.Call, earlier []string, err error) {
	calls, earlier = slices.Clone(record.Spec.Calls), slices.Clone(record.Spec.Earlier)
	if i := indexOf(record, func(c *v1alpha1.Call) bool { return c.Seq == call.Seq }); i >= 0 {
		calls[i] = *call
		return calls, earlier, nil
	}
	if len(calls) >= maxCalls {
		oldest := oldestOf(calls)
		if oldest < 0 || len(earlier) >= maxEarlier {
			return nil, nil, ErrFull
		}
		earlier = append(earlier, digestOf(&calls[oldest]))
		calls = slices.Delete(calls, oldest, oldest+1)
	}
	call.Seq = 1
	if len(calls) > 0 {
		newest := slices.MaxFunc(calls, func(a, b v1alpha1.Call) int { return cmp.Compare(a.Seq, b.Seq) })
		call.Seq = newest.Seq + 1
	}
	return append(calls, *call), earlier, nil
}

// oldestOf is the index of the oldest call of which a digest is enough; -1 if there is none. One that was not sent goes
// last: its digest says no more that it can be sent.
func oldestOf(calls []v1alpha1.Call) int {
	dropped := func(c v1alpha1.Call) bool { return c.Result != "" && !isCreate(&c) }
	sent := func(c v1alpha1.Call) bool { return dropped(c) && c.Result != v1alpha1.CallNotSent }
	if i := slices.IndexFunc(calls, sent); i >= 0 {
		return i
	}
	return slices.IndexFunc(calls, dropped)
}

// checkCall checks that the API server kept what was recorded. An older CRD drops unknown fields.
func checkCall(record *v1alpha1.ApplicationRecord, want *v1alpha1.Call) error {
	got := Find(record, func(c *v1alpha1.Call) bool { return c.Nonce == want.Nonce })
	if got == nil || !equality.Semantic.DeepEqual(got, want) {
		return ErrIncomplete
	}
	return nil
}

// subject is what a call that no MandateAction has ordered is about.
func subject(c *v1alpha1.Call) string {
	return string(c.Kind) + "/" + c.Individual + "/" + strconv.FormatInt(c.Check, 10) + "/" + c.Evidence
}
