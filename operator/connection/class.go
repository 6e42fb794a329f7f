package connection

import (
	"errors"
	"time"

	"github.com/mandate-io/idv/internal/client"
)

// Class is the kind of a call, by what it needs of the service.
type Class int

// The classes. A reconciliation is for Read, Write or Recovery.
const (
	None Class = iota
	Login
	References
	Read
	Write
	// Recovery is for the reads that find the application of a create whose answer was lost. Such answers are what opens
	// the circuit, so Recovery is admitted while nothing but writes fails.
	Recovery
	// Subscription is for webhook subscriptions. Without them, applications are polled. So their failures open no circuit,
	// and they wait whenever anything else fails.
	Subscription

	classes = iota
)

// reads reports whether a reconciliation of the class begins with reads.
func (c Class) reads() bool { return c == Read || c == Recovery }

// String is for metrics and logs.
func (c Class) String() string {
	return [classes]string{"", "login", "reference data", "reads", "writes", "recovery", "subscriptions"}[c]
}

const (
	// slowRequest is how long a request may take. A slower one counts as a failure, even if it succeeds.
	slowRequest = 10 * time.Second
	// slowReport is that of the download of a report.
	slowReport = time.Minute
)

// outcome is what a call shows about the service.
type outcome int

const (
	unknown outcome = iota // nothing
	succeeded
	forbidden // it works, and does not let this user do what was asked
	doubtful  // somebody answers what nobody can read: about this one object, or about all
	failed
)

// classify says what class a call was of, and what it has shown. Anybody can name an id that the service fails to read.
// So that shows nothing, unless the service could not even be reached: if it fails, other calls show it.
func classify(result client.OperationResult) (Class, outcome) {
	class, shown := classifyKnown(result)
	if result.UntrustedID && (shown == failed && class != Login && client.KindOf(result.Err) != client.KindUnreachable ||
		shown == forbidden || shown == doubtful) {
		return class, unknown
	}
	return class, shown
}

// classifyKnown is for calls with ids that are known. What the client takes for a fault of the service is one. A
// failure that is about this one call alone, such as a refusal, counts as a success.
func classifyKnown(result client.OperationResult) (Class, outcome) {
	class := classOf(result)
	slow := slowRequest
	if result.Operation == client.OpIndividualReport {
		slow = slowReport
	}
	switch kind := client.KindOf(result.Err); {
	case kind == client.KindUnreadable && result.Operation == client.OpIndividualReport: // about this report
		return class, unknown
	case kind == client.KindUnreadable && class >= Read:
		return class, doubtful
	case client.IsServiceFault(result.Err):
		return class, failed
	case kind == client.KindCanceled, kind == client.KindRateLimited, kind == client.KindUnproven:
		return class, unknown
	case client.IsForbidden(result.Err):
		return class, forbidden
	}
	switch {
	case result.Slowest > slow:
		return class, failed
	case result.Slowest == 0: // no request was sent
		return class, unknown
	default:
		return class, succeeded
	}
}

func classOf(result client.OperationResult) Class {
	if e, ok := errors.AsType[*client.Error](result.Err); ok && e.Login {
		return Login
	}
	switch result.Operation {
	case client.OpRetrieveReferences:
		return References
	case client.OpRetrieveApplication, client.OpRetrieveIndividual, client.OpIndividualReport:
		return Read
	case client.OpSubscribeWebhook, client.OpRetrieveWebhook:
		return Subscription
	default:
		return Write
	}
}
