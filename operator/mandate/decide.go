package mandate

import (
	"slices"
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/lifecycle"
	"github.com/mandate-io/idv/operator/engine"
	"github.com/mandate-io/idv/operator/ledger"
)

const (
	// retention after which the service deletes applications (interface: eight weeks).
	retention = 56 * 24 * time.Hour
	// createWindow is how long a create whose outcome is unknown is sent again. Later, somebody may have deleted the
	// application at the service, or the service may have forgotten the reference with it, and would create again.
	createWindow = time.Hour
	// lagAllowance is how long a new application that was never read is taken for one that is not visible yet, and
	// lagRequeue how soon it is looked for again.
	lagAllowance = 30 * time.Second
	lagRequeue   = 2 * time.Second
	// nextCallDelay is how soon a reconciliation follows one that left something to do, because it had acted on people:
	// when the cache has what that one wrote.
	nextCallDelay = 100 * time.Millisecond
	// acceptedPeriod is how long the operator looks for what the service has accepted, and does not show: an application,
	// or what a call changes.
	acceptedPeriod = 24 * time.Hour
	// missingGracePeriod is how long a 404 is not believed that is not the service's own word.
	missingGracePeriod = 24 * time.Hour
)

// decide is the whole protocol, and the only place that decides. It is pure: the same facts give the same step.
//
// What it promises, whatever the facts: stepSend only for a call that this process has just begun and verified; no call
// while another one may be under way; no create after one whose outcome cannot be known any more; a missing application
// never leads to a create. What acts on people comes directly after a live read of the Mandate, and is all of that kind
// that a reconciliation does.
func decide(f facts) decision {
	next := decideCall(f)
	if next.Step == stepWait {
		if s := f.subscription.decide(f, next.Reason); s != "" {
			return decision{Step: s}
		}
		if f.erasure.decide(f, next.Reason) {
			return decision{Step: stepErase}
		}
	}
	return next
}

func decideCall(f facts) decision {
	next := decideNext(f)
	switch {
	case readRemains(f):
		return waitFor(reasonWhileCallsRemain(f), engine.MaxRequeue) // a slot wakes it up
	case actsRemain(f):
		return waitFor(reasonWhileCallsRemain(f), nextCallDelay)
	default:
		return next
	}
}

// callsRemain reports whether the next reconciliation has a call on people to make, because this one has made one, or
// the read that follows such a call.
func callsRemain(f facts) bool { return actsRemain(f) || readRemains(f) }

func actsRemain(f facts) bool {
	return f.act.phase != actNone && slices.Contains(begins, decideNext(f).Step)
}

func readRemains(f facts) bool { return f.act.phase == actReadWaits && decideNext(f).Step == stepRead }

// reasonWhileCallsRemain is what the status says while something is left to do.
func reasonWhileCallsRemain(f facts) string {
	switch {
	case f.deletion.requested:
		return v1alpha1.ReasonDeletionWaiting
	case f.id != 0:
		return unblockedReason(f) // that one call was refused must not keep the others from being sent
	default:
		return v1alpha1.ReasonRetrying
	}
}

// decideNext asks the sub-reconcilers, one after the other. One that has nothing to do, and nothing to wait for, gives
// no step. A call is concluded before all else, even if the Mandate is being deleted.
func decideNext(f facts) decision {
	for _, decide := range []func(facts) decision{
		f.attempt.decide, f.deletion.decide, decideStopped, f.create.decide, f.observe.decide,
	} {
		if next := decide(f); next.Step != "" {
			return next
		}
	}
	return f.act.decide(f)
}

// decideStopped is for a Mandate for which nothing more is done, for now or for ever.
func decideStopped(f facts) decision {
	switch {
	case f.failureReason != "":
		return waitFor(f.failureReason, f.retryAfter)
	case f.suspended:
		return wait(v1alpha1.ReasonSuspended)
	case f.observe.vanished:
		return wait(reasonVanished)
	default:
		return decision{}
	}
}

// step is one thing to do. It has at most one effect outside this process, so that every crash is a crash between
// steps.
type step string

const (
	stepWait          step = engine.Wait     // nothing to do now
	stepReadRecord    step = "ReadRecord"    // look into the ledger
	stepResolve       step = "Resolve"       // find what the application is to be made from
	stepClaim         step = "Claim"         // create the record, with the create in it
	stepBegin         step = "Begin"         // write a call into the record
	stepVerify        step = "Verify"        // read live what orders it
	stepSend          step = "Send"          // send its request, once
	stepDeposit       step = "Deposit"       // write the id of the application into the record
	stepConclude      step = "Conclude"      // write into the record what became of the call
	stepResolveLost   step = "ResolveLost"   // write what became of a call of a process that has ended
	stepShowPending   step = "ShowPending"   // write into the status that the record is refused
	stepRead          step = "Read"          // retrieve the application
	stepProbe         step = "Probe"         // see whether the service is healthy otherwise
	stepAdopt         step = "Adopt"         // write the id of spec.adopt into the record
	stepReadCandidate step = "ReadCandidate" // retrieve an application that may be the Mandate's
	stepBind          step = "Bind"          // write its id into the record, because it is this Mandate's
	stepFinalizer     step = "Finalizer"     // put the finalizer on the Mandate, or take it off
	stepSettle        step = "Settle"        // write into the record that a create is unclear, or what a person says of it
	stepErase         step = "Erase"         // remove inline personal data from the spec

	stepAcquireSlot         step = "AcquireSlot"         // take a slot for requests about it, if there is one
	stepBeginSubscription   step = "BeginSubscription"   // write into the record that it is sent
	stepFindSubscription    step = "FindSubscription"    // see whether the service has it
	stepResolveSubscription step = "ResolveSubscription" // write what that showed
)

// subscribes are the steps with which a reconciliation begins something for the subscription of the application.
var subscribes = []step{stepReadRecord, stepBeginSubscription, stepFindSubscription}

// needsNoSlot are the steps that send nothing to the service, and that a reconciliation may begin with.
var needsNoSlot = []step{
	stepFinalizer, stepErase, stepDeposit, stepConclude, stepShowPending, stepResolveLost, stepSettle,
	stepAcquireSlot,
}

// recovers are the steps that find an application again.
var recovers = []step{stepReadCandidate, stepBind}

// begins are the steps that begin a call. A reconciliation that has sent one begins no other.
var begins = []step{stepClaim, stepBegin}

// decision is what decide returns: a step or, for stepWait, why there is none and when to reconcile again (0: by the
// reason).
type decision = engine.Decision[step]

var (
	wait    = engine.NoStep[step]
	waitFor = engine.WaitFor[step]
)

// facts is all that decide knows, and all that the status is made from. Each step changes the facts, and decide is
// asked again.
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

	subscription subscriptionFacts
	erasure      erasureFacts
	problems     problemFacts
}

type serviceFacts = engine.ServiceFacts

// createFacts is what is known before there is an application.
type createFacts struct {
	adopt int64 // the application to bind instead of creating one; 0: none
	// adoptedByOther: another Mandate has the application of adopt.
	adoptedByOther bool
	// referenceNotAllowed: the ClusterIdentityService does not allow the reference in this namespace.
	referenceNotAllowed bool
	// erased: what the application would be made from was erased.
	erased bool
	// neverReconciled: nothing was ever done for the Mandate, as far as the cache and this reconciliation know.
	neverReconciled bool
	unknown         bool // an attempt may have created an application, whatever the ledger says now
	createBefore    time.Time
	inputs          inputsFacts
	// budgetWait is how long spec.creation of the service allows no request, as far as this process knows. awaitsBudget:
	// the status says already that the Mandate waits for that, and for nothing else.
	budgetWait   time.Duration
	awaitsBudget bool
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
	started      time.Time // when the last request was
	retryAt      time.Time // when one that may succeed later is sent again
	candidate    int64     // an id that the answer showed without the reference
	notCreated   bool      // its outcome is unknown, and a person says that it created nothing
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
	if f.service.AccountSought() {
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

// isAwaited: the service has accepted the create not long ago.
func (r *recordFacts) isAwaited(now time.Time) bool {
	return r.accepted() && ledger.Within(acceptedPeriod, r.firstStarted, now)
}

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

// referenceShown is what an application shows of its reference.
type referenceShown int

const (
	referenceOther   referenceShown = iota // than the Mandate's
	referenceHidden                        // none, or one that says nothing
	referenceMatched                       // the Mandate's: so it is the Mandate's, wherever the service is now
)

// applicationFacts is what the service said of the application in this reconciliation.
type applicationFacts struct {
	lookup applicationLookup
	// sameAccount: what it shows proves that the account is the record's, by another name.
	sameAccount bool
	reference   referenceShown
	// differs: it was created for another Mandate of the name, and shows something else than the spec of this one.
	differs     bool
	individuals individualsMatch
	stage       lifecycle.Stage
	archived    bool
	evidence    evidenceFacts
	// reviews are the calls for those of spec.checkReviews that are not done.
	reviews        []v1alpha1.Call
	reviewOutdated bool // one of them is about evidence that its check does not have any more
	reviewShown    bool // the open call is a review, and its check shows that it was carried out
	// resetSent is when a reset was sent that may still be carried out; zero: none.
	resetSent time.Time
	// decidedChecks are the kinds of reviews that checks show, by the ids of the checks.
	decidedChecks map[int64]v1alpha1.CallKind
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
	outcome := map[lifecycle.Stage]v1alpha1.Outcome{
		lifecycle.Completed: v1alpha1.OutcomeCompleted, lifecycle.Rejected: v1alpha1.OutcomeRejected,
	}[f.application.stage]
	return f.decided() && f.application.read() && f.application.reference != referenceOther && outcome != f.outcome
}

// final reports that nothing will change any more at the service.
func (f *facts) final() bool {
	a := &f.application
	return f.outcome != "" || a.read() && (a.stage == lifecycle.Completed || a.stage == lifecycle.Rejected)
}

// decide brings a call of this process to its end.
func (a attemptFacts) decide(f facts) decision {
	create := a.kind == v1alpha1.CallCreate
	switch {
	case a.phase == attemptNone:
		return decision{}
	case a.end == endRefused && create:
		return decision{Step: stepShowPending}
	case a.phase == attemptAnswered && a.id != 0:
		return decision{Step: stepDeposit}
	case a.phase == attemptAnswered && a.outcome == client.Unknown && a.answer == "":
		// The record says so already: it was written before the request went out.
		return waitFor(v1alpha1.ReasonSettling, f.settleDelay)
	case a.phase == attemptAnswered, a.phase == attemptWithdrawn, a.phase == attemptUnsent, create && deadlinePassed(f),
		engine.Elapsed(a.started, f.now) > f.settleDelay/2:
		// Too late is when another operator may soon take this call for a lost one.
		return decision{Step: stepConclude}
	case a.phase == attemptVerified && engine.Elapsed(a.looked, f.now) <= engine.MaxLookAge:
		return decision{Step: stepSend}
	case a.looks >= engine.MaxLooks:
		return decision{Step: stepConclude}
	default:
		return decision{Step: stepVerify}
	}
}
