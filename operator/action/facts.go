package action

import (
	"time"

	"github.com/mandate-io/idv/internal/client"
)

// facts is all that decide knows. Whoever acts changes the facts, and decide is asked again.
type facts struct {
	now time.Time

	// From the order, as the cache has it. All writes are conditional on that being the latest.
	emails   bool // it e-mails the individual; otherwise it downloads the report
	deleting bool
	started  bool
	ended    bool
	created  time.Time
	expires  time.Time // when an order that has ended is deleted; zero: never

	attempt  attemptFacts
	handover time.Duration // that another operator has to write down what became of an open attempt
	mandate  mandateFacts
	service  serviceFacts
	subject  subjectFacts
	secret   secretFacts
	report   reportFacts

	// trouble ends this pass: a reason, and how long to wait if somebody said.
	trouble    string
	retryAfter time.Duration
}

// attemptFacts is the request that e-mails.
type attemptFacts struct {
	// open: the status tells of an attempt that is not this pass's own. Its operator is at it, or ended in the middle.
	open bool
	// observed is when this process first saw the open attempt. No two clocks are compared.
	observed time.Time
	mine     bool // this pass has recorded its own
	sent     bool // and has made the call, with this result
	success  bool
	outcome  client.Outcome
	kind     client.Kind
	refusal  bool // of the order: not of who asked, or how often
}

// mandateFacts is what the Mandate says.
type mandateFacts struct {
	exists, seen bool // seen: it was there before
	live         bool // read past the cache in this pass
	deleting     bool
	suspended    bool
	stalled      bool
	applied      bool // its application is known
	final        bool // completed or rejected: nothing will change any more
	gone         bool // the service no longer has the application
	named        bool // its spec has an individual of the name
	individual   int64
}

type serviceFacts struct {
	exists bool // there is an IdentityService
	denied bool // it is not for this namespace
	known  bool // it was looked at as it is now
	ready  bool
}

// subjectFacts is what the service says about whom the order is on.
type subjectFacts struct {
	read, missing bool
	sameReference bool // it is the application of the Mandate
	member        bool // and the individual is in it
}

type secretFacts struct {
	looked, exists, mine bool
}

type reportFacts struct {
	held       bool // the service had none when everything was as it is now
	downloaded bool
	refused    bool
	tooLarge   bool
	isURL      bool
}
