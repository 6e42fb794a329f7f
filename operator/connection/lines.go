package connection

import (
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

// Lines are the Lines of all connections for one kind of object.
type Lines struct {
	// Size is how many passes may use one connection at a time; 0 is any number. Set it before use.
	Size int
	// Called tells of the objects that there is room for. One reader. A call may get lost: whoever waits comes back by
	// itself, only later.
	Called chan event.GenericEvent

	mu    sync.Mutex
	lines map[Key]*Line
}

func newLines() *Lines {
	return &Lines{Called: make(chan event.GenericEvent, 1000), lines: map[Key]*Line{}}
}

// line of a connection, which uses the client that the connection has now.
func (l *Lines) line(key Key, trip func(), ahead func() time.Duration) *Line {
	l.mu.Lock()
	defer l.mu.Unlock()
	line := l.lines[key]
	if line == nil {
		line = &Line{size: l.Size, call: l.call, trip: trip, waiting: map[types.NamespacedName]bool{}}
		l.lines[key] = line
	}
	line.mu.Lock()
	line.ahead = ahead
	line.mu.Unlock()
	return line
}

func (l *Lines) remove(key Key) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.lines, key)
}

func (l *Lines) call(who types.NamespacedName) {
	object := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: who.Namespace, Name: who.Name}}
	select {
	case l.Called <- event.GenericEvent{Object: object}:
	default:
	}
}
