package mandate

import "github.com/mandate-io/idv/operator/engine"

// step is one thing to do. It has at most one effect outside this process, so that every crash is a crash between
// steps.
type step string

const (
	stepWait          step = engine.Wait     // nothing to do now
	stepReadRecord    step = "ReadRecord"    // look into the ledger
	stepResolve       step = "Resolve"       // find what the application is to be made from
	stepClaim         step = "Claim"         // create the record
	stepRetake        step = "Retake"        // make another attempt on the record
	stepVerify        step = "Verify"        // read the live Mandate, after the claim
	stepPost          step = "Post"          // create the application: the one request that e-mails
	stepDeposit       step = "Deposit"       // write the id into the record
	stepConclude      step = "Conclude"      // write into the record that the attempt created nothing, or may have
	stepShowPending   step = "ShowPending"   // write into the status that the record is refused
	stepRead          step = "Read"          // retrieve the application
	stepSetAccount    step = "SetAccount"    // write into the record that the account is the same by another name
	stepProbe         step = "Probe"         // see whether the service is healthy otherwise
	stepAdopt         step = "Adopt"         // write the id of spec.adopt into the record
	stepReadCandidate step = "ReadCandidate" // retrieve an application that a notification has named
	stepBind          step = "Bind"          // write its id into the record, because it is this Mandate's
	stepFinalizer     step = "Finalizer"     // put the finalizer on the Mandate, or take it off
	stepConfirm       step = "Confirm"       // read the live Mandate and service, before one of the following
	stepArchive       step = "Archive"
	stepDelete        step = "Delete"
	stepRecordReview  step = "RecordReview" // write into the status that a review is sent
	stepReview        step = "Review"       // accept or reject a check
	stepComplete      step = "Complete"
	stepReject        step = "Reject"

	stepReadSubscription   step = "ReadSubscription"   // look into the ledger for the subscription of the application
	stepStartSubscription  step = "StartSubscription"  // write into the record that it is sent
	stepCheckSubscription  step = "CheckSubscription"  // read the live Mandate, service and token
	stepSubscribe          step = "Subscribe"          // send it
	stepFindSubscription   step = "FindSubscription"   // see whether the service has it
	stepTestSubscription   step = "TestSubscription"   // see whether the service shows one that exists
	stepRefuseSubscription step = "RefuseSubscription" // write into the record that it was refused
)

// subscribes are the steps about the subscription of the application. None of them returns an error: it would keep the
// reconciliation from writing the status.
var subscribes = []step{
	stepReadSubscription, stepStartSubscription, stepCheckSubscription, stepSubscribe, stepFindSubscription,
	stepTestSubscription, stepRefuseSubscription,
}

// needsConfirm are the steps that send a request which changes an application. stepPost has a live read of its own.
var needsConfirm = []step{stepReview, stepComplete, stepReject, stepArchive, stepDelete}

// needsNoSlot are the steps that send nothing to the service, and that a reconciliation may begin with.
var needsNoSlot = []step{stepFinalizer, stepDeposit, stepConclude, stepShowPending}

// recovers are the steps that find an application again.
var recovers = []step{stepReadCandidate, stepBind}

// leadsToCall are those, and the steps that begin what leads to one. A reconciliation that has sent a request which
// acts on people takes none of them.
var leadsToCall = append([]step{stepClaim, stepRetake, stepRecordReview}, needsConfirm...)

// decision is what decide returns: a step or, for stepWait, why there is none and when to reconcile again (0: by the
// reason).
type decision = engine.Decision[step]

var (
	wait    = engine.NoStep[step]
	waitFor = engine.WaitFor[step]
)
