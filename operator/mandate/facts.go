package mandate

import (
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
)

// facts is all that decide knows but for the subscription, and all that the status is made from. Each step changes the
// facts, and decide is asked again.
type facts struct {
	now         time.Time
	settleDelay time.Duration
	suspended   bool
	requested   bool // a person asks for a reconciliation
	// From the status.
	id          int64 // of the application; 0: not known; the record's, once that is read
	bound       bool  // id is in status: it was verified, or came from our own create
	outcome     v1alpha1.Outcome
	createdTime time.Time

	service serviceFacts
	record  recordFacts
	attempt attemptFacts
	// failureReason ends this reconciliation. retryAfter is how long to wait, if the service said so.
	failureReason string
	retryAfter    time.Duration

	// What the sub-reconcilers know.
	deletion    deletionFacts
	create      createFacts
	observe     observeFacts
	application applicationFacts
	act         actFacts
}

type serviceFacts = engine.ServiceFacts

// createFacts is what is known before there is an application.
type createFacts struct {
	adopt int64 // the application to bind instead of creating one; 0: none
	// adoptedByOther: another Mandate has the application of adopt.
	adoptedByOther bool
	// referenceNotAllowed: the ClusterIdentityService does not allow the reference in this namespace.
	referenceNotAllowed bool
	// neverReconciled: nothing was ever done for the Mandate, as far as the cache and this reconciliation know.
	neverReconciled bool
	unknown         bool // an attempt may have created an application, whatever the ledger says now
	createBefore    time.Time
	inputs          inputsFacts
	// tooManyUnrecorded: the results of too many attempts by way of this connection are not recorded yet.
	tooManyUnrecorded bool
	// candidates are the applications that may be this Mandate's: those that are left to read. found is the one that is,
	// or 0.
	candidates []int64
	found      int64
	// candidatePending: a candidate could not be read, and is read again soon.
	candidatePending bool
}

// observeFacts is what is known of an application before it is read.
type observeFacts struct {
	vanished     bool      // for this generation: the service does not have the application any more
	unmatched    bool      // the status says that the individuals are
	seen         bool      // the application was read before
	missingSince time.Time // zero: it was there when last read
	// readAt is when the application is to be read; zero: at once.
	readAt       time.Time
	confirmDelay time.Duration // from the first 404 to the one that is believed
	ownAccount   bool          // this process knows that the connection's account is the record's
	openCall     bool          // this process knows that the record has a call whose result is open
}

// actFacts is what the spec asks for of an application that exists, but for its reviews.
type actFacts struct {
	decision  v1alpha1.Decision // the zero value is none
	archive   bool
	phase     actPhase
	ruleDelay time.Duration // for how long the rule of a decision has to hold
}

// actPhase is whether this reconciliation has sent a request that acts on people.
type actPhase int

const (
	actNone actPhase = iota
	actSent
	actReadWaits // it has, and the read that follows waits for others: the service is slow
)

// recordLookup is what a look into the ledger came to.
type recordLookup int

const (
	recordUnread recordLookup = iota
	recordMissing
	recordFound
)

// recordAccount is the account that a record is about, beside that of the connection.
type recordAccount int

const (
	accountSame    recordAccount = iota
	accountRenamed               // it has another name, and somebody knows that both are the same
	accountOther                 // it has another name, and nobody knows that
)

// recordFacts is what the ledger says of the Mandates of this name.
type recordFacts struct {
	lookup recordLookup
	// otherReference: the record has another one than the Mandate, which was edited or applied again since.
	otherReference bool
	// otherURL: the record is about another service than the one that the spec names now.
	otherURL bool
	account  recordAccount
	// restored: it is from a backup, and may lack what was sent since. Nothing is created.
	restored bool
	id       int64
	// calls are all that it has, and earlier the digests of those before. They are not changed.
	calls   []v1alpha1.Call
	earlier []string
	// full: it cannot hold another one.
	full bool
	// Of the create.
	sends        int32 // how many requests may have been carried out
	result       v1alpha1.CallResult
	answer       v1alpha1.CallAnswer
	inputs       string
	firstStarted time.Time
	retryAt      time.Time // when one that may succeed later is sent again
	candidate    int64     // an id that the answer showed without the reference
	// observed is when this process first saw the call whose result is open. What is recorded is by the clock of another
	// process, and must not be compared with the clock here to tell whether the call is under way.
	observed time.Time
}

// otherAccount: nothing that acts on people may be sent for the record, and no 404 is believed. That can end by itself:
// the service shows the application, or the credentials are corrected.
func (f *facts) otherAccount() bool {
	return f.record.account == accountOther && !f.application.sameAccount
}

// accountReason is why nothing is sent while the account may be another one than that of the application. Somebody
// looks for a proof that it is not, or nobody does any more.
func (f *facts) accountReason() string {
	if f.service.Account == connection.AccountSought {
		return v1alpha1.ReasonAccountChanged
	}
	return reasonOtherAccount
}

func (r *recordFacts) read() bool { return r.lookup != recordUnread }

func (r *recordFacts) exists() bool { return r.lookup == recordFound }

// sent: a create may have been carried out.
func (r *recordFacts) sent() bool { return r.sends > 0 }

// accepted: the service creates later, or its answer showed an id that may not be the application's.
func (r *recordFacts) accepted() bool { return r.result == v1alpha1.CallAccepted }

// isOpen: a create may be under way, or nobody knows what became of it.
func (r *recordFacts) isOpen() bool { return r.sent() && r.answer == "" && !r.accepted() }

// mayExist: there is an application, or an attempt that may have created one. A Mandate of this name gets no other.
func (r *recordFacts) mayExist() bool { return r.sent() || r.id != 0 }

// inputsFacts is what the application is to be made from.
type inputsFacts struct {
	problem string // reason; "" if all is there
	digest  string
}

func (i inputsFacts) resolved() bool { return i != inputsFacts{} }

// attemptPhase is how far this reconciliation has come with a call.
type attemptPhase int

const (
	attemptNone      attemptPhase = iota
	attemptBegun                  // the entry is written
	attemptVerified               // the live Mandate and IdentityService still order it
	attemptWithdrawn              // they do not, or it is too late: it is not sent
	attemptUnsent                 // an earlier reconciliation began it, without an answer of the API server
	attemptAnswered               // it was sent, and the answer is known, or will never be
)

// endState is whether the API server takes the end of a call.
type endState int

const (
	endOpen    endState = iota // as far as is known
	endRefused                 // it did not
	endShown                   // it did not, and the status says so
)

// attemptFacts is the call that this reconciliation makes.
type attemptFacts struct {
	kind    v1alpha1.CallKind
	phase   attemptPhase
	started time.Time // before the record had it, by the monotonic clock
	looked  time.Time // when the last look began
	looks   int       // how many there were
	why     string    // reason why it was withdrawn; "" if the cache was stale
	outcome client.Outcome
	answer  v1alpha1.CallAnswer // what the answer proves; "" if it was carried out, or may have been
	// duplicate: the refusal is about a reference, the application's or an individual's.
	duplicate bool
	id        int64     // the application that was created
	candidate int64     // an id that the answer shows without the reference
	answered  time.Time // when the answer came
	end       endState
}

// applicationLookup is what a read of the application came to.
type applicationLookup int

const (
	applicationUnread applicationLookup = iota
	applicationFound
	applicationMissing      // by the service's own word
	applicationUnproven     // it is missing by the word of what may be a proxy
	applicationMissingAlone // likewise, and applications of others are read meanwhile
	applicationGone         // it is missing, and the service has answered something else since
)

// individualsMatch is whether it is known which individual of the spec each individual of the application is.
type individualsMatch int

const (
	individualsMatched individualsMatch = iota
	individualsFewer                    // it is not: the application has fewer
	individualsUnmatched
)

// applicationFacts is what the service said of the application in this reconciliation.
type applicationFacts struct {
	lookup applicationLookup
	// sameAccount: what it shows proves that the account is the record's, by another name.
	sameAccount   bool
	sameReference bool // it shows no other reference than the Mandate's
	// referenceMatched: it shows the Mandate's reference, so it is the Mandate's, wherever the service is now.
	referenceMatched bool
	// differs: it was created for another Mandate of the name, and shows something else than the spec of this one.
	differs     bool
	individuals individualsMatch
	stage       client.Stage
	archived    bool
	evidence    evidenceFacts
	// reviews are the calls for those of spec.checkReviews that are not done.
	reviews        []v1alpha1.Call
	reviewOutdated bool // one of them is about evidence that its check does not have any more
	reviewShown    bool // the open call is a review, and its check shows that it was carried out
}

func (a *applicationFacts) read() bool { return a.lookup == applicationFound }

func (a *applicationFacts) missing() bool { return a.lookup > applicationFound }

// unproven: that it is missing is not the service's own word.
func (a *applicationFacts) unproven() bool {
	return a.lookup == applicationUnproven || a.lookup == applicationMissingAlone
}

func (a *applicationFacts) unmatched() bool { return a.individuals != individualsMatched }

// decided reports that the application was completed or rejected.
func (f *facts) decided() bool {
	return f.outcome == v1alpha1.OutcomeCompleted || f.outcome == v1alpha1.OutcomeRejected
}

// contradicts reports whether the application shows that the outcome is not so any more.
func (f *facts) contradicts() bool {
	outcome := map[client.Stage]v1alpha1.Outcome{
		client.StageCompleted: v1alpha1.OutcomeCompleted, client.StageRejected: v1alpha1.OutcomeRejected,
	}[f.application.stage]
	return f.decided() && f.application.read() && f.application.sameReference && outcome != f.outcome
}

// final reports that nothing will change any more at the service.
func (f *facts) final() bool {
	a := &f.application
	return f.outcome != "" || a.read() && (a.stage == client.StageCompleted || a.stage == client.StageRejected)
}
