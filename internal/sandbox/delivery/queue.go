// Package delivery sends webhook deliveries in the background, through a bounded
// queue, with a few attempts each and a log of the outcomes.
package delivery

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

const (
	queueCapacity = 1024 // a request that does not fit is dropped
	logCapacity   = 4096 // the log keeps the newest ones
	workers       = 4    // so that one hanging target does not block the others
)

// Request is one webhook delivery to send.
type Request struct {
	SubscriptionID int64
	URL            string
	Event          string
	ApplicationID  int64
	Body           []byte
	ContentType    string // "" sends none
	// Delay is how long the request waits before it is sent.
	Delay time.Duration
	// Only200 makes 200 the only status code of a success, instead of any 2xx.
	Only200 bool
	// Failed, if it is not nil, is called after the last attempt failed.
	Failed func()
}

// Queue sends requests until it is closed. It is safe for concurrent use.
type Queue struct {
	now      func() time.Time
	sender   sender
	ctx      context.Context
	cancel   context.CancelFunc
	done     sync.WaitGroup
	requests chan queuedRequest

	mu       sync.Mutex
	sequence int64
	log      []*control.Delivery
}

type queuedRequest struct {
	Request
	record *control.Delivery
}

// NewQueue returns a running queue. Its log has times of now. Unless remote is true,
// it blocks requests to other machines.
func NewQueue(now func() time.Time, remote bool) *Queue {
	ctx, cancel := context.WithCancel(context.Background())
	q := &Queue{
		now: now, sender: newSender(remote), ctx: ctx, cancel: cancel,
		requests: make(chan queuedRequest, queueCapacity),
	}
	for range workers {
		q.done.Go(q.work)
	}
	return q
}

// Enqueue adds a request and returns at once.
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
	next := queuedRequest{request, record}
	if request.Delay == 0 {
		q.submit(next)
		return
	}
	time.AfterFunc(request.Delay, func() { // a worker that waited would delay others
		q.mu.Lock()
		defer q.mu.Unlock()
		q.submit(next)
	})
}

// submit gives a request to the workers.
func (q *Queue) submit(next queuedRequest) {
	select {
	case q.requests <- next:
	default:
		next.record.State = control.Dropped
	}
}

// Log returns the newest deliveries, oldest first.
func (q *Queue) Log() []control.Delivery {
	q.mu.Lock()
	defer q.mu.Unlock()
	log := make([]control.Delivery, len(q.log))
	for i, record := range q.log {
		log[i] = *record
	}
	return log
}

// Clear empties the log. Queued requests are still sent.
func (q *Queue) Clear() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.log = nil
}

// Close drops queued requests, aborts running ones, and returns when all workers have stopped.
func (q *Queue) Close() {
	q.cancel()
	q.done.Wait()
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, record := range q.log {
		if record.State == control.Queued {
			record.State = control.Dropped
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
		case <-time.After(pause):
		}
		status, state := q.sender.post(q.ctx, next.Request)
		if state == control.Queued && attempt+1 == len(retryDelays) {
			state = control.Failed
			if next.Failed != nil {
				next.Failed()
			}
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
	record.State = state
	record.Attempts, record.LastStatus = attempts, status
}
