package mandate

import (
	"slices"
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/engine"
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

	stepAcquireSlot         step = "AcquireSlot"         // take a slot for requests about it, if there is one
	stepBeginSubscription   step = "BeginSubscription"   // write into the record that it is sent
	stepFindSubscription    step = "FindSubscription"    // see whether the service has it
	stepResolveSubscription step = "ResolveSubscription" // write what that showed
)

// subscribes are the steps with which a reconciliation begins something for the subscription of the application.
var subscribes = []step{stepReadRecord, stepBeginSubscription, stepFindSubscription}

// needsNoSlot are the steps that send nothing to the service, and that a reconciliation may begin with.
var needsNoSlot = []step{
	stepFinalizer, stepDeposit, stepConclude, stepShowPending, stepResolveLost, stepAcquireSlot,
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

// decide is the whole protocol, and the only place that decides. It is pure: the same facts give the same step.
//
// What it promises, whatever the facts: stepSend only for a call that this process has just begun and verified; no call
// while another one may be under way; no create after one whose outcome cannot be known any more; a missing application
// never leads to a create. What acts on people comes directly after a live read of the Mandate, and is all of that kind
// that a reconciliation does.
func decide(f facts, subscription subscriptionFacts) decision {
	next := decideCall(f)
	if next.Step == stepWait {
		if s := subscription.decide(f, next.Reason); s != "" {
			return decision{Step: s}
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
	case a.phase == attemptAnswered && a.outcome == client.Unknown:
		// The record says so already: it was written before the request went out.
		return waitFor(v1alpha1.ReasonSettling, f.settleDelay)
	case a.phase == attemptAnswered, a.phase == attemptWithdrawn, a.phase == attemptUnsent, create && deadlinePassed(f),
		f.now.Sub(a.started) > f.settleDelay/2:
		// Too late is when another operator may soon take this call for a lost one.
		return decision{Step: stepConclude}
	case a.phase == attemptVerified && f.now.Sub(a.looked) <= engine.MaxLookAge:
		return decision{Step: stepSend}
	case a.looks >= engine.MaxLooks:
		return decision{Step: stepConclude}
	default:
		return decision{Step: stepVerify}
	}
}
