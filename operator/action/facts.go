package action

import (
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/engine"
	"github.com/mandate-io/idv/operator/ledger"
)

// facts is all that decide knows. Each step changes the facts, and decide is asked again.
type facts struct {
	now time.Time

	// From the action, as the cache has it. All writes are conditional on that being the latest.
	emails   bool // it e-mails the individual; otherwise it downloads the report
	deleting bool
	ended    bool
	created  time.Time // by the clock of this process
	expires  time.Time // when an action that has ended is deleted; zero: never

	call     callFacts
	handover time.Duration // that another process has to write down what became of its call
	record   recordFacts
	mandate  mandateFacts
	service  serviceFacts
	subject  subjectFacts
	secret   secretFacts
	storing  storingFacts
	report   reportFacts

	// budgetWait is how long spec.creation of the service allows no e-mail, as far as this process knows.
	budgetWait time.Duration

	// failureReason ends this reconciliation: a reason, and how long to wait if somebody said.
	failureReason string
	retryAfter    time.Duration
	// problems are what the last request came to, without a reason. Nothing is decided by them.
	problems []v1alpha1.Problem
}

// otherAccount: nothing is sent, because the service may see somebody else than when the application was created.
func (f *facts) otherAccount() bool {
	return f.record.otherAccount && !f.subject.sameAccount
}

// phase is how far this reconciliation has come with a call of its own.
type phase int

const (
	notBegun phase = iota
	begun          // the record has the entry
	verified       // and then the action, its Mandate, the record and the service were still as they had been read
	over           // the request was sent, or will not be: the result is known nowhere but here
	recorded       // the record has the result
)

// callFacts is the call of this reconciliation: the request that e-mails.
type callFacts struct {
	phase    phase
	started  time.Time           // before the record had it
	looked   time.Time           // when the last look began
	looks    int                 // how many there were
	result   v1alpha1.CallResult // once it is over
	notFound bool                // the service refused it because it has no such individual
	end      endFacts
}

// endFacts is what became of recording the result of a call.
type endFacts int

const (
	endOpen    endFacts = iota
	endRefused          // the API server refuses it
	endShown            // and the status says so
)

// recordFacts is what the ledger knows.
type recordFacts struct {
	read        bool  // past any cache, in this reconciliation
	application int64 // of the record
	// otherAccount: it is another account's than that of the connection, and nobody knows that both are the same.
	otherAccount bool
	restored     bool // it is from a backup, and may lack an action that was carried out since
	full         bool // it cannot hold another call
	name         ledger.NameUse
	// result of the call that was begun under the name. It is Done if there is only a digest of the call, and "" while
	// the call may be under way.
	result v1alpha1.CallResult
	open   openCall
	// seen is when this process first saw the open call. No two clocks are compared.
	seen time.Time
}

// openCall is what kind of call may be under way, if it is not one of this reconciliation.
type openCall int

const (
	noCall       openCall = iota
	unsentCall            // one of this process: the answer to its Begin was lost, so nothing was sent
	emailingCall          // one that this action orders, or another one
	otherCall             // one that the Mandate orders. Its controller ends it.
)

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

// secretFacts is what is known of the Secret for the report.
type secretFacts struct {
	checked      bool // this process has looked, maybe in an earlier reconciliation
	exists, mine bool
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
	verified       bool // the action, its Mandate and the service were still as they had been read
	downloaded     bool
	refused        bool
	forbidden      bool
	tooLarge       bool
	isURL          bool
}
