package action

import "github.com/mandate-io/idv/operator/engine"

// step is one thing to do. It has at most one effect outside this process, so that every crash is a crash between
// steps.
type step string

const (
	stepWait            step = engine.Wait       // nothing to do now
	stepReadRecord      step = "ReadRecord"      // was an action of this name begun before?
	stepReadMandate     step = "ReadMandate"     // past the cache
	stepReadApplication step = "ReadApplication" // on which individual is it?
	stepBegin           step = "Begin"           // record the call: the lock and the intent
	stepVerify          step = "Verify"          // is everything still as it was read?
	stepSend            step = "Send"            // resend or reset: the one request that e-mails
	stepEnd             step = "End"             // record what became of it, or of one that nobody else will end
	stepShowPending     step = "ShowPending"     // say that the API server refuses to record that
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
	when    = engine.If[decision]
)
