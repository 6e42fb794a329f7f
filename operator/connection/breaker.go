package connection

import (
	"github.com/mandate-io/idv/internal/client"
)

// failureThreshold is how many reconciliations in a row may fail on a connection until its circuit opens. Without the
// circuit breaker every object would try a connection that is broken, one after the other.
const failureThreshold = 3

// Result is what a reconciliation has learned about the connection.
type Result int

// The results, in the order of their weight. A reconciliation that sent no request to the service has learned nothing.
const (
	Unused Result = iota
	Succeeded
	Failed
)

// resultOf says what a request has shown about the connection. A failure that is about this one request alone, such as
// a refusal, counts as a success.
func resultOf(err error) Result {
	switch client.KindOf(err) {
	case client.KindCredentials, client.KindUnreachable, client.KindConnection, client.KindTimeout, client.KindServer,
		client.KindUnreadable:
		return Failed
	default:
		return Succeeded
	}
}

// CircuitBreaker counts the reconciliations in a row that failed on a connection. An open circuit keeps everybody from
// the connection: the Registry takes its Ready away, until the controller of services has probed it.
type CircuitBreaker struct {
	failures int
}

// record counts a result, and reports whether the circuit has to open.
func (b *CircuitBreaker) record(result Result) (open bool) {
	switch result {
	case Succeeded:
		b.failures = 0
	case Failed:
		b.failures++
		return b.failures >= failureThreshold
	}
	return false
}

// degraded reports whether there was a failure and no success since. Until then one reconciliation at a time may use
// the connection, whether the circuit is open or not.
func (b *CircuitBreaker) degraded() bool { return b.failures > 0 }
