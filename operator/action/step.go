package action

import "github.com/mandate-io/idv/operator/engine"

// step is one thing to do. It has at most one effect outside this process, so that every crash is a crash between
// steps.
type step string

const (
	stepWait            step = engine.Wait       // nothing to do now
	stepReadMandate     step = "ReadMandate"     // past the cache
	stepReadApplication step = "ReadApplication" // on which individual is it?
	stepStart           step = "Start"           // record the start
	stepSend            step = "Send"            // resend or reset: the one request that e-mails
	stepLookForSecret   step = "LookForSecret"   // was the report stored, by us or by somebody else?
	stepDownload        step = "Download"
	stepStore           step = "Store" // create the Secret
	stepDelete          step = "Delete"
)

type decision = engine.Decision[step]

var (
	wait    = engine.NoStep[step]
	waitFor = engine.WaitFor[step]
)
