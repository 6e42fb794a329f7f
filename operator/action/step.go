package action

import "github.com/mandate-io/idv/operator/engine"

// step is one thing to do. It has at most one effect outside this process, so that every crash is a crash between
// steps.
type step string

const (
	stepWait            step = engine.Wait       // nothing to do now
	stepReadRecord      step = "ReadRecord"      // was an action of this name started before?
	stepReadMandate     step = "ReadMandate"     // past the cache
	stepReadApplication step = "ReadApplication" // on which individual is it?
	stepStart           step = "Start"           // record the start in the status
	stepReadStart       step = "ReadStart"       // was that written? its write failed
	stepRecord          step = "Record"          // and the name in the ledger
	stepVerify          step = "Verify"          // is everything still as it was read?
	stepSend            step = "Send"            // resend or reset: the one request that e-mails
	stepCancel          step = "Cancel"          // the name is free again: nothing was done
	stepLookForSecret   step = "LookForSecret"   // was the report stored, by us or by somebody else?
	stepCheckAccess     step = "CheckAccess"     // may the operator create Secrets?
	stepDownload        step = "Download"
	stepStore           step = "Store" // create the Secret
	stepDelete          step = "Delete"
)

type decision = engine.Decision[step]

var (
	wait    = engine.NoStep[step]
	waitFor = engine.WaitFor[step]
)
