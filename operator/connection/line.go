package connection

import (
	"math"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// tripAfter is how many passes in a row may fail on a connection before nobody uses it any more. One that is broken
	// would otherwise be tried by everybody, one after the other.
	tripAfter = 3
	// aheadMost is how far away the next request's turn may be for a pass to begin: a worker waits that long, and no longer.
	aheadMost = time.Second
)

// Result is what a pass found out about the connection.
type Result int

// The results, from the least to what counts most. A pass that asked the service nothing found out nothing.
const (
	Unused Result = iota
	Answered
	Failed
)

// Line bounds how many passes use a connection at a time, so that one that does not answer holds up no other. Nobody waits
// in it: who finds it full, or the next turn too far away, is called when there is room.
type Line struct {
	size int // 0: any number
	call func(types.NamespacedName)
	trip func()

	mu       sync.Mutex
	ahead    func() time.Duration // how far away the turn of a request is
	timed    bool                 // somebody is called when that is near
	inside   int
	failures int // passes in a row
	waiting  map[types.NamespacedName]bool
	urgent   []types.NamespacedName
	others   []types.NamespacedName
}

// Enter tells whether a pass over an object may begin; then it has to Leave. If not, the object is called when there is
// room, the urgent ones first.
func (l *Line) Enter(who types.NamespacedName, urgent bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.inside < l.room() && l.near() {
		l.inside++
		delete(l.waiting, who)
		return true
	}
	if !l.waiting[who] {
		l.waiting[who] = true
		queue := &l.others
		if urgent {
			queue = &l.urgent
		}
		*queue = append(*queue, who)
	}
	return false
}

// Leave ends a pass.
func (l *Line) Leave(result Result) {
	l.mu.Lock()
	l.inside--
	switch result {
	case Answered:
		l.failures = 0
	case Failed:
		l.failures++
	}
	tripped := result == Failed && l.failures >= tripAfter
	called := l.next()
	l.mu.Unlock()
	if tripped {
		l.trip()
	}
	for _, who := range called {
		l.call(who)
	}
}

// room is how many may be inside: one, while it has to be found out whether the connection works.
func (l *Line) room() int {
	switch {
	case l.failures > 0:
		return 1
	case l.size == 0:
		return math.MaxInt
	default:
		return l.size
	}
}

// near tells whether a request's turn is near; if not, it has somebody called when it is.
func (l *Line) near() bool {
	ahead := l.ahead()
	if ahead > aheadMost && !l.timed {
		l.timed = true
		time.AfterFunc(ahead-aheadMost/2, l.reopen)
	}
	return ahead <= aheadMost
}

func (l *Line) reopen() {
	l.mu.Lock()
	l.timed = false
	called := l.next()
	l.mu.Unlock()
	for _, who := range called {
		l.call(who)
	}
}

// next takes as many of those that wait as there is room for. Some of them have come by themselves meanwhile.
func (l *Line) next() (called []types.NamespacedName) {
	for _, queue := range []*[]types.NamespacedName{&l.urgent, &l.others} {
		for len(*queue) > 0 && len(called) < l.room()-l.inside && l.near() {
			who := (*queue)[0]
			*queue = (*queue)[1:]
			if l.waiting[who] {
				delete(l.waiting, who)
				called = append(called, who)
			}
		}
	}
	return called
}
