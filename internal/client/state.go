package client

import (
	"encoding/json"
	"strings"
)

// State of an application, an individual or a check: `status` of the interface. The document names very few states, so
// Name is passed through as the service writes it.
type State struct {
	ID   int64  // 0 if the service gave none
	Name string // "" if the service gave none
}

// parseState reads {id, status}, a bare name or a bare id (not documented beyond the first: our reading). A bare id is the
// name as well: it is all that a user can tell us about the states of such a service.
func parseState(raw json.RawMessage) State {
	if o, ok := asObject(raw); ok {
		return State{ID: o.id("id"), Name: o.text("status", "name", "state", "code")}
	}
	if name, ok := parseString(raw); ok {
		return State{Name: name}
	}
	id, _ := parseID(raw)
	return State{ID: id, Name: parseText(raw)}
}

// Is tells whether the state has one of the names; names are compared in their folded form, see FoldName.
func (s State) Is(names ...string) bool {
	for _, name := range names {
		if s.Name != "" && alike(s.Name, name) {
			return true
		}
	}
	return false
}

// Stage is where an application stands, as far as the interface names it (interface: States and transitions).
type Stage int

// The stages.
const (
	StageOpen      Stage = iota // any state that the interface does not name
	StageInReview               // "in review": it can be completed or rejected
	StageCompleted              // "completed": final
	StageRejected               // "rejected": final
)

// StateNames are further names that a service uses for the stages, beyond those that the client knows.
type StateNames struct{ InReview, Completed, Rejected []string }

// Stage tells where an application in this state stands. Known without further names: "in review", "completed", and
// every name that begins with "reject" or "declin" (not documented beyond the word rejected: our reading).
func (n StateNames) Stage(s State) Stage {
	folded := FoldName(s.Name)
	switch {
	case s.Is(n.Completed...):
		return StageCompleted
	case s.Is(n.Rejected...):
		return StageRejected
	case s.Is(n.InReview...):
		return StageInReview
	case s.Is("completed"):
		return StageCompleted
	case strings.HasPrefix(folded, "reject"), strings.HasPrefix(folded, "declin"):
		return StageRejected
	case s.Is("in review"):
		return StageInReview
	default:
		return StageOpen
	}
}
