package client

import (
	"slices"

	"github.com/mandate-io/idv/internal/client/wire"
)

// State of an application, an individual or a check (interface: States and transitions). The interface names few
// states, so Name is what the service writes.
type State struct {
	ID   int64  // 0 if the service gave none
	Name string // "" if the service gave none
}

// parseState reads {id, status}, a name or an id. The last two are not documented: our reading. An id without a name is
// the name as well, so that a user can list it among the names of lifecycle.Names.
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
