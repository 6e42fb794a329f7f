package control

import (
	"fmt"
	"slices"
)

// MaxDelayMillis is the longest delay of a fault and of autoplay: an hour.
const MaxDelayMillis = 60 * 60 * 1000

// FaultKind is the kind of a fault.
type FaultKind string

// The kinds of faults.
const (
	// Slow delays the response. The sandbox carries out the request after the delay,
	// even if the client is gone (a late commit); with AfterWork, before it.
	Slow FaultKind = "slow"
	// Answer responds with Status, a problem body and RetryAfter.
	Answer FaultKind = "answer"
	// Garbage responds with Status (default 200) and a body that is not JSON.
	Garbage FaultKind = "garbage"
	// Close closes the connection without a response.
	Close FaultKind = "close"
	// ResetConnection closes the connection with a TCP reset.
	ResetConnection FaultKind = "reset"
	// Truncate sends half of the body and closes the connection.
	Truncate FaultKind = "truncate"
	// SlowBody sends the body byte by byte, DelayMillis apart (default 50).
	SlowBody FaultKind = "slow_body"
	// Drip sends the correct response in twenty pieces, DelayMillis in all. The sandbox
	// always carries out the request.
	Drip FaultKind = "drip"
	// LengthOver announces a Content-Length that is longer than the body.
	LengthOver FaultKind = "length_over"
	// LengthUnder announces a Content-Length that is shorter than the body. HTTP/2
	// does not allow that: the sandbox resets the stream.
	LengthUnder FaultKind = "length_under"
	// Informational sends a hundred responses 103 (Early Hints) first. The sandbox
	// always carries out the request.
	Informational FaultKind = "informational"
)

// FaultKinds lists every kind.
func FaultKinds() []FaultKind {
	return []FaultKind{
		Slow, Answer, Garbage, Close, ResetConnection, Truncate, SlowBody, Drip, LengthOver, LengthUnder,
		Informational,
	}
}

// Always, as Fault.Times, keeps a fault until it is cleared.
const Always = -1

// Fault is a fault to inject into requests of one operation.
type Fault struct {
	Operation Operation `json:"operation"`
	Kind      FaultKind `json:"kind"`
	// AfterWork carries out the request first, and the fault changes only the
	// response. Without it, the sandbox does not carry out the request: Truncate,
	// SlowBody, LengthOver and LengthUnder then change a response with Status
	// (default 200) and a generic object.
	AfterWork bool `json:"after_work,omitempty"`
	// Times is the number of requests it applies to; 0 means one, Always means all.
	Times int `json:"times,omitempty"`
	// DelayMillis is the delay before the fault; see SlowBody and Drip.
	DelayMillis int64 `json:"delay_ms,omitempty"`
	// Status is the status code of Answer (default 500), of Garbage and of generic
	// responses (default 200).
	Status int `json:"status,omitempty"`
	// Body is the body of Answer, as a value of the switch errorBody; "" is the dialect's. A proxy answers "html",
	// "message" or "empty".
	Body string `json:"body,omitempty"`
	// RetryAfter is the value of the Retry-After header of Answer.
	RetryAfter string `json:"retry_after,omitempty"`
}

// FaultBodies lists the values of Fault.Body.
func FaultBodies() []string { return []string{"problem", "json", "message", "html", "text", "empty"} }

// Check returns an error that names the first field that is wrong.
func (f Fault) Check() error {
	switch {
	case f.Operation != AnyOperation && !slices.Contains(Operations(), f.Operation):
		return fmt.Errorf("operation: must be * or one of %v", Operations())
	case !slices.Contains(FaultKinds(), f.Kind):
		return fmt.Errorf("kind: must be one of %v", FaultKinds())
	case f.Times < Always:
		return fmt.Errorf("times: must be 1 or more, or %d for every request", Always)
	case f.DelayMillis < 0 || f.DelayMillis > MaxDelayMillis:
		return fmt.Errorf("delay_ms: must be 0 to %d", MaxDelayMillis)
	case f.Status != 0 && (f.Status < 200 || f.Status > 599):
		return fmt.Errorf("status: must be 200 to 599")
	case f.Body != "" && !slices.Contains(FaultBodies(), f.Body):
		return fmt.Errorf("body: must be one of %v", FaultBodies())
	default:
		return nil
	}
}
