package control

// FaultKind is what goes wrong.
type FaultKind string

// The kinds of faults.
const (
	// Slow only waits: the work is done after the delay even when the caller has
	// gone by then (a late commit), or, with AfterWork, before it.
	Slow FaultKind = "slow"
	// Answer answers Status with a problem body and RetryAfter.
	Answer FaultKind = "answer"
	// Garbage answers Status (default 200) with a body that is not JSON.
	Garbage FaultKind = "garbage"
	// Close ends the connection without an answer.
	Close FaultKind = "close"
	// ResetConnection ends the connection with a TCP reset.
	ResetConnection FaultKind = "reset"
	// Truncate sends half of the body and closes the connection.
	Truncate FaultKind = "truncate"
	// SlowBody sends the body byte by byte, DelayMillis apart (default 50).
	SlowBody FaultKind = "slow_body"
	// LengthOver announces a Content-Length that is longer than the body.
	LengthOver FaultKind = "length_over"
	// LengthUnder announces a Content-Length that is shorter than the body. Where
	// connections are shared (HTTP/2) that cannot be: the stream is reset.
	LengthUnder FaultKind = "length_under"
	// Informational sends a hundred answers 103 (Early Hints) first. The work is
	// done in any case.
	Informational FaultKind = "informational"
)

// FaultKinds lists every kind.
func FaultKinds() []FaultKind {
	return []FaultKind{
		Slow, Answer, Garbage, Close, ResetConnection, Truncate, SlowBody, LengthOver, LengthUnder, Informational,
	}
}

// Always, as Fault.Times, keeps a fault until it is cleared.
const Always = -1

// Fault makes requests of one operation go wrong.
type Fault struct {
	Operation Operation `json:"operation"`
	Kind      FaultKind `json:"kind"`
	// AfterWork does the work first and spoils only its answer. Without it the
	// fault takes the place of the work, and what Truncate, SlowBody, LengthOver
	// and LengthUnder spoil is an answer Status (default 200) with an object that
	// tells nothing.
	AfterWork bool `json:"after_work,omitempty"`
	// Times is how many requests it strikes; 0 means one, Always every one.
	Times int `json:"times,omitempty"`
	// DelayMillis waits so long before the fault strikes; see SlowBody.
	DelayMillis int64 `json:"delay_ms,omitempty"`
	// Status is the status code of Answer (default 500), and of Garbage and the
	// answers in place of the work (default 200).
	Status int `json:"status,omitempty"`
	// RetryAfter is sent as the Retry-After header of Answer as it stands.
	RetryAfter string `json:"retry_after,omitempty"`
}
