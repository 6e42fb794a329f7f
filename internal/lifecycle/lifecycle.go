// Package lifecycle says what the names of states mean: of applications, and of checks.
package lifecycle

import (
	"slices"
	"strings"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/client/wire"
)

// Stage is the part of its lifecycle that an application is in (interface: States and transitions).
type Stage int

// The stages.
const (
	Open      Stage = iota // before the review, by one of openNames; or no state is shown
	InReview               // "in review": it can be completed or rejected
	Completed              // "completed": final
	Rejected               // "rejected": final
	Closed                 // over without a decision, such as withdrawn; by configuration only
	Unknown                // a name that nobody has explained
)

// stageWords are the stages as people read them.
var stageWords = [...]string{"Open", "InReview", "Completed", "Rejected", "Closed", "Unknown"}

// String is the word for a stage.
func (s Stage) String() string { return stageWords[s] }

// openNames are names of states before the review, folded (not documented: our reading).
var openNames = []string{"created", "pending", "draft", "awaitingindividuals", "inprogress"}

// endWords begin the names of states that sound as if the application was over, folded (not documented: our reading).
// Only Names say whether it is.
var endWords = []string{"abandon", "cancel", "close", "delete", "expire", "revoke", "terminate", "withdr"}

// SoundsOver reports whether the name of a state is likely to mean that the application is over.
func SoundsOver(s client.State) bool {
	folded := wire.FoldName(s.Name)
	return slices.ContainsFunc(endWords, func(word string) bool { return strings.HasPrefix(folded, word) })
}

// Names are a service's own names for the stages and the results of checks, in addition to those that this
// package knows.
type Names struct{ InReview, Completed, Rejected, Closed, CheckPassed, CheckFailed []string }

// Stage returns the stage of a state. This package knows "in review", "completed", every name that begins with "reject"
// or "declin" (not documented beyond "rejected": our reading), and some names of states before the review.
//
// A known name keeps its meaning, whatever is configured: who may configure names must not make outcomes. Only a
// rejection that is not said to be over, such as "rejection proposed", can be configured as a name of the review. A
// name of several stages is the one in which nobody has decided.
func (n Names) Stage(s client.State) Stage {
	folded := wire.FoldName(s.Name)
	switch {
	case folded == "inreview":
		return InReview
	case folded == "completed":
		return Completed
	case strings.HasPrefix(folded, "rejected"), strings.HasPrefix(folded, "declined"):
		return Rejected
	case s.Is(n.InReview...):
		return InReview
	case s.Is(n.Rejected...), strings.HasPrefix(folded, "reject"), strings.HasPrefix(folded, "declin"):
		return Rejected
	case s.Is(n.Completed...):
		return Completed
	case s.Is(n.Closed...):
		return Closed
	case folded == "", slices.Contains(openNames, folded):
		return Open
	default:
		return Unknown
	}
}

// Passed reports whether the state of a check says that it has passed (interface: Check). This package knows
// "manually_accepted" and "manually_rejected", and the same without "manually", "passed" and "failed" (not documented:
// our reading). A known name keeps its meaning, whatever is configured. A name that is configured twice means failed.
func (n Names) Passed(s client.State) bool {
	return s.Is("manually_accepted", "accepted", "passed") || s.Is(n.CheckPassed...) && !n.Failed(s)
}

// Failed reports whether the state of a check says that it has failed, or that somebody rejected it.
func (n Names) Failed(s client.State) bool {
	return s.Is("manually_rejected", "rejected", "failed") || s.Is(n.CheckFailed...)
}

// IsKnown reports whether a text is the name of a state that this package knows, or that is configured, and no more
// than that: not one that only begins as such a name does.
func (n Names) IsKnown(text string) bool {
	s := client.State{Name: text}
	switch wire.FoldName(text) {
	case "", "inreview", "completed", "rejected", "declined":
		return true
	}
	configured := slices.Concat(n.InReview, n.Completed, n.Rejected, n.Closed)
	return s.Is(openNames...) || s.Is(configured...) || n.Passed(s) || n.Failed(s)
}
