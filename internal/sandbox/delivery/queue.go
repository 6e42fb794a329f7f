// Package delivery makes webhook calls: in the background, a few attempts each,
// through a bounded queue, with a log of what became of every request.
package delivery

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

const (
	queueCapacity = 1024 // calls that wait; the next one is dropped
	logCapacity   = 4096 // calls that the log remembers
	workers       = 4    // so that one target that hangs does not stop the others
)

// Request is one webhook call to make.
type Request struct {
	SubscriptionID int64
	URL            string
	Event          string
	ApplicationID  int64
	Body           []byte
	ContentType    string // "" sends none
	// ReorderDelay makes every other call of those that have it wait so long first.
	ReorderDelay time.Duration
}

// Queue makes calls until it is closed. It is safe for concurrent use.
type Queue struct {
	now      func() time.Time
	post     sender
	ctx      context.Context
	cancel   context.CancelFunc
	done     sync.WaitGroup
	requests chan queuedRequest

	mu        sync.Mutex
	sequence  int64
	delayNext bool // the next call that can be overtaken is
	log       []*control.Delivery
}

type queuedRequest struct {
	Request
	record *control.Delivery
}

// NewQueue returns a working queue whose log shows times of now. Unless remote
// is true, calls to other machines are blocked.
func NewQueue(now func() time.Time, remote bool) *Queue {
	ctx, cancel := context.WithCancel(context.Background())
	q := &Queue{now: now, post: newSender(remote), ctx: ctx, cancel: cancel, requests: make(chan queuedRequest, queueCapacity)}
	for range workers {
		q.done.Go(q.work)
	}
	return q
}

// Enqueue adds a call and does not wait for it.
func (q *Queue) Enqueue(request Request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sequence++
	record := &control.Delivery{
		Sequence: q.sequence, Time: q.now(), SubscriptionID: request.SubscriptionID, URL: request.URL,
		Event: request.Event, ApplicationID: request.ApplicationID, State: control.Queued,
	}
	if len(q.log) == logCapacity {
		q.log = slices.Delete(q.log, 0, 1)
	}
	q.log = append(q.log, record)
	if request.ReorderDelay > 0 {
		if q.delayNext = !q.delayNext; !q.delayNext {
			request.ReorderDelay = 0
		}
	}
	select {
	case q.requests <- queuedRequest{request, record}:
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

// Clear empties the log. Calls that wait are still made.
func (q *Queue) Clear() {
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
		case next := <-q.requests:
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
		case next := <-q.requests:
			q.deliver(next)
		}
	}
}

func (q *Queue) deliver(next queuedRequest) {
	for attempt, pause := range retryDelays {
		select {
		case <-q.ctx.Done():
			q.update(next.record, control.Dropped, attempt, 0)
			return
		case <-time.After(pause + next.ReorderDelay):
		}
		next.ReorderDelay = 0
		status, state := q.post.post(q.ctx, next.Request)
		if state == control.Queued && attempt+1 == len(retryDelays) {
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
