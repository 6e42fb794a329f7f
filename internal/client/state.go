package client

import (
	"slices"
	"strings"

	"github.com/mandate-io/idv/internal/client/wire"
)

// State of an application, an individual or a check (interface: States and transitions). The interface names few
// states, so Name is what the service writes.
type State struct {
	ID   int64  // 0 if the service gave none
	Name string // "" if the service gave none
}

// parseState reads {id, status}, a name or an id. The last two are not documented: our reading. An id without a name is
// the name as well, so that a user can list it in StateNames.
func parseState(value wire.Value) State {
	if value.IsObject() {
		o := value.Object()
		return State{ID: o.ID("id"), Name: o.Text("status", "name", "state", "code")}
	}
	if name, ok := value.AsString(); ok {
		return State{Name: name}
	}
	id, _ := value.ID()
	return State{ID: id, Name: value.Text()}
}

// Is reports whether the state has one of the names, compared in their folded form (wire.FoldName).
func (s State) Is(names ...string) bool {
	return s.Name != "" && slices.ContainsFunc(names, func(name string) bool {
		return wire.FoldName(s.Name) == wire.FoldName(name)
	})
}

// Stage is the part of its lifecycle that an application is in (interface: States and transitions).
type Stage int

// The stages.
const (
	StageOpen      Stage = iota // before the review, by one of openNames; or no state is shown
	StageInReview               // "in review": it can be completed or rejected
	StageCompleted              // "completed": final
	StageRejected               // "rejected": final
	StageClosed                 // over without a decision, such as withdrawn; by configuration only
	StageUnknown                // a name that nobody has explained
)

// stageWords are the stages as people read them.
var stageWords = [...]string{"Open", "InReview", "Completed", "Rejected", "Closed", "Unknown"}

// String is the word for a stage.
func (s Stage) String() string { return stageWords[s] }

// openNames are names of states before the review, folded (not documented: our reading).
var openNames = []string{"created", "pending", "draft", "awaitingindividuals", "inprogress"}

// endWords begin the names of states that sound as if the application was over, folded (not documented: our reading).
// Only StateNames say whether it is.
var endWords = []string{"abandon", "cancel", "close", "delete", "expire", "revoke", "terminate", "withdr"}

// SoundsOver reports whether the name of a state is likely to mean that the application is over.
func (s State) SoundsOver() bool {
	folded := wire.FoldName(s.Name)
	return slices.ContainsFunc(endWords, func(word string) bool { return strings.HasPrefix(folded, word) })
}

// StateNames are a service's own names for the stages and the results of checks, in addition to those that the client
// knows.
type StateNames struct{ InReview, Completed, Rejected, Closed, CheckPassed, CheckFailed []string }

// Stage returns the stage of a state. The client knows "in review", "completed", every name that begins with "reject"
// or "declin" (not documented beyond "rejected": our reading), and some names of states before the review.
//
// A known name keeps its meaning, whatever is configured: who may configure names must not make outcomes. Only a
// rejection that is not said to be over, such as "rejection proposed", can be configured as a name of the review. A
// name of several stages is the one in which nobody has decided.
func (n StateNames) Stage(s State) Stage {
	folded := wire.FoldName(s.Name)
	switch {
	case folded == "inreview":
		return StageInReview
	case folded == "completed":
		return StageCompleted
	case strings.HasPrefix(folded, "rejected"), strings.HasPrefix(folded, "declined"):
		return StageRejected
	case s.Is(n.InReview...):
		return StageInReview
	case s.Is(n.Rejected...), strings.HasPrefix(folded, "reject"), strings.HasPrefix(folded, "declin"):
		return StageRejected
	case s.Is(n.Completed...):
		return StageCompleted
	case s.Is(n.Closed...):
		return StageClosed
	case folded == "", slices.Contains(openNames, folded):
		return StageOpen
	default:
		return StageUnknown
	}
}

// Passed reports whether the state of a check says that it has passed (interface: Check). The client knows
// "manually_accepted" and "manually_rejected", and the same without "manually", "passed" and "failed" (not documented:
// our reading). A known name keeps its meaning, whatever is configured. A name that is configured twice means failed.
func (n StateNames) Passed(s State) bool {
	return s.Is("manually_accepted", "accepted", "passed") || s.Is(n.CheckPassed...) && !n.Failed(s)
}

// Failed reports whether the state of a check says that it has failed, or that somebody rejected it.
func (n StateNames) Failed(s State) bool {
	return s.Is("manually_rejected", "rejected", "failed") || s.Is(n.CheckFailed...)
}
