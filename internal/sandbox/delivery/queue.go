// Package delivery makes webhook calls: in the background, a few attempts each,
// through a bounded queue, with a log of what became of every call.
package delivery

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

const (
	capacity = 1024 // calls that wait; the next one is dropped
	history  = 4096 // calls that the log remembers
	workers  = 4    // so that one target that hangs does not stop the others
)

// Call is one webhook call to make.
type Call struct {
	SubscriptionID int64
	URL            string
	Event          string
	ApplicationID  int64
	Body           []byte
	ContentType    string // "" sends none
	// OvertakenFor makes every other call of those that have it wait so long first.
	OvertakenFor time.Duration
}

// Queue makes calls until it is closed. It is safe for concurrent use.
type Queue struct {
	now    func() time.Time
	post   poster
	ctx    context.Context
	cancel context.CancelFunc
	done   sync.WaitGroup
	calls  chan queued

	mu       sync.Mutex
	sequence int64
	wait     bool // the next call that can be overtaken is
	log      []*control.Delivery
}

type queued struct {
	Call
	record *control.Delivery
}

// NewQueue returns a working queue whose log shows times of now. Unless remote
// is true, calls to other machines are blocked.
func NewQueue(now func() time.Time, remote bool) *Queue {
	ctx, cancel := context.WithCancel(context.Background())
	q := &Queue{now: now, post: newPoster(remote), ctx: ctx, cancel: cancel, calls: make(chan queued, capacity)}
	for range workers {
		q.done.Go(q.work)
	}
	return q
}

// Enqueue adds a call and does not wait for it.
func (q *Queue) Enqueue(call Call) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sequence++
	record := &control.Delivery{
		Sequence: q.sequence, Time: q.now(), SubscriptionID: call.SubscriptionID, URL: call.URL,
		Event: call.Event, ApplicationID: call.ApplicationID, State: control.Queued,
	}
	if len(q.log) == history {
		q.log = slices.Delete(q.log, 0, 1)
	}
	q.log = append(q.log, record)
	if call.OvertakenFor > 0 {
		if q.wait = !q.wait; !q.wait {
			call.OvertakenFor = 0
		}
	}
	select {
	case q.calls <- queued{call, record}:
	default:
		record.State = control.Dropped
	}
}

// Log returns the newest calls, oldest first.
func (q *Queue) Log() []control.Delivery {
	q.mu.Lock()
	defer q.mu.Unlock()
	log := make([]control.Delivery, len(q.log))
	for i, record := range q.log {
		log[i] = *record
	}
	return log
}

// Forget empties the log. Calls that wait are still made.
func (q *Queue) Forget() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.log = nil
}

// Close drops what waits, cuts off what is under way, and returns when all has ended.
func (q *Queue) Close() {
	q.cancel()
	q.done.Wait()
	for {
		select {
		case next := <-q.calls:
			q.update(next.record, control.Dropped, 0, 0)
		default:
			return
		}
	}
}

func (q *Queue) work() {
	for {
		select {
		case <-q.ctx.Done():
			return
		case next := <-q.calls:
			q.deliver(next)
		}
	}
}

func (q *Queue) deliver(next queued) {
	for attempt, pause := range pauses {
		select {
		case <-q.ctx.Done():
			q.update(next.record, control.Dropped, attempt, 0)
			return
		case <-time.After(pause + next.OvertakenFor):
		}
		next.OvertakenFor = 0
		status, state := q.post.post(q.ctx, next.Call)
		if state == control.Queued && attempt+1 == len(pauses) {
			state = control.Failed
		}
		q.update(next.record, state, attempt+1, status)
		if state != control.Queued {
			return
		}
	}
}

func (q *Queue) update(record *control.Delivery, state control.DeliveryState, attempts, status int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	record.State, record.Attempts, record.LastStatus = state, attempts, status
}
