package mandate

import "github.com/mandate-io/idv/operator/engine"

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
