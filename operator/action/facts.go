package action

import (
	"time"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/engine"
)

// facts is all that decide knows. Each step changes the facts, and decide is asked again.
type facts struct {
	now time.Time

	// From the action, as the cache has it. All writes are conditional on that being the latest.
	emails   bool // it e-mails the individual; otherwise it downloads the report
	deleting bool
	started  bool
	ended    bool
	created  time.Time
	expires  time.Time // when an action that has ended is deleted; zero: never

	attempt  attemptFacts
	handover time.Duration // that another operator has to write down what became of an open attempt
	record   recordFacts
	mandate  mandateFacts
	service  serviceFacts
	vouched  bool // a person says that the account of the service is that of all records
	subject  subjectFacts
	secret   secretFacts
	storing  storingFacts
	report   reportFacts

	// failureReason ends this reconciliation: a reason, and how long to wait if somebody said.
	failureReason string
	retryAfter    time.Duration
}

// otherAccount: nothing is sent, because the service may see somebody else than when the application was created.
func (f *facts) otherAccount() bool {
	return f.record.otherAccount && !f.vouched && !f.subject.sameAccount
}

// attemptFacts is the request that e-mails. verified and canceled are also of the one that downloads.
type attemptFacts struct {
	// open: the status has an attempt that is not this reconciliation's own. Its operator still carries it out, or
	// ended before it finished.
	open bool
	// observed is when this process first saw the open attempt. No two clocks are compared.
	observed time.Time
	mine     bool // this reconciliation has recorded its own
	verified bool // and then the action, its Mandate and the service were still as they had been read
	canceled bool // or not, or that cannot be known: nothing is sent
	// startUnknown: the write that records it failed, so the status may have it.
	startUnknown bool
	sent         bool // the request was sent, with this result
	success      bool
	accepted     bool // the service carries it out later
	outcome      client.Outcome
	kind         client.Kind
	refusal      bool // of the action: not of who asked, or how often
}

// recordFacts is what the ledger knows of the action's name.
type recordFacts struct {
	read        bool  // past any cache, in this reconciliation
	free        bool  // this process has read before that the name is free
	application int64 // of the record
	// otherAccount: it is another account's than that of the credentials, as far as their user names tell.
	otherAccount bool
	used         bool // an action of this name was started
	mine         bool // it was this one
	alike        bool // or one with the same type and individual
	full         bool // no further action can be remembered
}

// mandateFacts is what the Mandate says.
type mandateFacts struct {
	exists, seen bool // seen: it was there before
	live         bool // read past the cache in this reconciliation
	deleting     bool
	suspended    bool
	stalled      bool
	unmatched    bool // its individuals cannot be told apart
	final        bool // completed or rejected: nothing will change any more
	gone         bool // the service no longer has the application
	named        bool // its spec has an individual of the name
	application  int64
	individual   int64
}

type serviceFacts = engine.ServiceFacts

// subjectFacts is what the service says about whom the action is on.
type subjectFacts struct {
	read, missing bool
	forbidden     bool // to read it
	sameReference bool // it is the application of the Mandate
	sameAccount   bool // it shows the reference, so the account is the Mandate's, by another name perhaps
	unmatched     bool // it is not known which individual of the spec each of its individuals is
	member        bool // the individual that the Mandate knows is in it
	other         bool // but is not the one that the action names
}

type secretFacts struct {
	checked, exists, mine bool
}

// storingFacts is whether the operator may create the Secret.
type storingFacts struct {
	checked bool // this process asked the API server, maybe in an earlier reconciliation
	denied  bool // RBAC does not allow it
	refused bool // the API server refused it in this reconciliation
}

type reportFacts struct {
	// alreadyRefused: the service had none when everything was as it is now.
	alreadyRefused bool
	downloaded     bool
	refused        bool
	forbidden      bool
	tooLarge       bool
	isURL          bool
}
