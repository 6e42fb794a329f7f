package connection

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mandate-io/idv/internal/client"
)

// CalledLate is when an object that waits for room comes back by itself, should nobody call it.
const CalledLate = 15 * time.Second

// Visit is the time that a pass spends in the Line of a connection, and what it finds out about the connection. A zero one
// is in no Line yet.
type Visit struct {
	line  *Line
	found Result
}

// Begin enters a Line, unless the Visit is in it already. False means that there is no room: the object is called.
func (v *Visit) Begin(line *Line, who types.NamespacedName, urgent bool) bool {
	if v.line == nil && line.Enter(who, urgent) {
		v.line = line
	}
	return v.line != nil
}

// Calls notes that the service is called. It counts as an answer, unless Suspects finds a failure.
func (v *Visit) Calls() { v.found = max(v.found, Answered) }

// Suspects tells whether a failure may be the service's and not this call's alone, and notes that.
func (v *Visit) Suspects(err error) bool {
	switch client.KindOf(err) {
	case client.KindCredentials, client.KindUnreachable, client.KindConnection, client.KindTimeout, client.KindServer, client.KindUnreadable:
		v.found = Failed
		return true
	default:
		return false
	}
}

// End leaves the Line.
func (v *Visit) End() {
	if v.line != nil {
		v.line.Leave(v.found)
	}
}
