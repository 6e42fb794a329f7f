package ledger

import (
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// Remedy is what is done about a call whose answer is lost or unclear. That is all in which the kinds of calls differ.
type Remedy int

const (
	// SendAgain sends the same reference again, after the settle delay: the service creates the application only if no
	// earlier request did.
	SendAgain Remedy = iota + 1
	// ReadFirst reads the application after the settle delay. If it does not show the change, and nothing else has
	// changed, the call is sent again.
	ReadFirst
	// AskPerson leaves it to a person: nothing shows whether an e-mail was sent.
	AskPerson
	// LookUp looks once whether the service shows it.
	LookUp
)

// kinds is the table of the kinds of calls: what is done about a lost answer, how many requests may be carried out, and
// whether spec.creation of the service limits them, because they e-mail individuals.
var kinds = map[v1alpha1.CallKind]struct {
	remedy  Remedy
	sends   int32
	limited bool
}{
	v1alpha1.CallCreate:          {SendAgain, 3, true},
	v1alpha1.CallComplete:        {ReadFirst, 2, false},
	v1alpha1.CallReject:          {ReadFirst, 2, false},
	v1alpha1.CallArchive:         {ReadFirst, 2, false},
	v1alpha1.CallDelete:          {ReadFirst, 4, false},
	v1alpha1.CallAcceptCheck:     {ReadFirst, 2, false},
	v1alpha1.CallRejectCheck:     {ReadFirst, 2, false},
	v1alpha1.CallResendInvite:    {AskPerson, 1, true},
	v1alpha1.CallResetIndividual: {AskPerson, 1, true},
	v1alpha1.CallSubscribe:       {LookUp, 1, false},
}

// RemedyOf says what is done about a call of a kind whose answer is lost.
func RemedyOf(kind v1alpha1.CallKind) Remedy { return kinds[kind].remedy }

// MaxSends is how many requests of a call may be carried out. A request that certainly did nothing does not count.
func MaxSends(kind v1alpha1.CallKind) int32 { return kinds[kind].sends }

// IsLimited reports whether spec.creation of the service limits the requests of a kind of calls.
func IsLimited(kind v1alpha1.CallKind) bool { return kinds[kind].limited }

const minRetryInterval, maxRetryInterval = 5 * time.Minute, time.Hour

// minDeletionInterval is instead of minRetryInterval for deletions: somebody waits at a terminal.
const minDeletionInterval = 5 * time.Second

// RetryTime is when a call that the service refused for a reason that may pass is sent again, though nothing was
// changed: after as long as it was refused before, within bounds. The zero time if it cannot be told from when that is.
func RetryTime(record *v1alpha1.ApplicationRecord, call *v1alpha1.Call, now time.Time) time.Time {
	if !IsBelieved(call.StartedTime.Time, now) {
		return time.Time{}
	}
	since, least := call.FirstStartedTime.Time, minRetryInterval
	switch call.Kind {
	case v1alpha1.CallCreate: // whose first request may have been another one, for which it was not counted
		since = record.CreationTimestamp.Time
	case v1alpha1.CallDelete:
		least = minDeletionInterval
	}
	started := call.StartedTime.Time
	return started.Add(min(max(started.Sub(since), least), maxRetryInterval))
}
