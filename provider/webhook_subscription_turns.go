package provider

import (
	"context"
	"sync"
	"time"

	"github.com/mandate-io/idv/internal/client"
)

// turns lets one subscription of an application at a time look and subscribe. The service may show only the newest
// webhook, and whether one exists can then be told only as long as no other one comes after it.
type turns struct {
	mu           sync.Mutex
	applications map[int64]*turn
}

// turn is that of one application. Its holder alone uses the fields.
type turn struct {
	taken chan struct{}
	// latest is what the service showed last. Subscriptions of one application share it: each would ask the same.
	latest *showing
	// created are the receivers that were subscribed in this run. The service may be slow to show them.
	created map[string]bool
	// abandoned are those that were destroyed in this run, by their receivers: some to be replaced.
	abandoned map[string]subscriptionModel
}

// showing is one answer of retrieve webhook.
type showing struct {
	webhooks *client.Webhooks
	err      error
	urlName  string
	// asked and answered bound the moment that it shows.
	asked, answered time.Time
}

// take waits for the turn of an application. False means that the context ended.
func (t *turns) take(ctx context.Context, application int64) (*turn, bool) {
	t.mu.Lock()
	if t.applications == nil {
		t.applications = map[int64]*turn{}
	}
	if t.applications[application] == nil {
		t.applications[application] = &turn{taken: make(chan struct{}, 1), created: map[string]bool{}, abandoned: map[string]subscriptionModel{}}
	}
	turn := t.applications[application]
	t.mu.Unlock()
	select {
	case turn.taken <- struct{}{}:
		return turn, true
	case <-ctx.Done():
		return nil, false
	}
}

func (t *turn) release() { <-t.taken }

// freshness is how old an answer may be that another subscription of the application got. Counted from when it was asked
// for, that of a slow service would never be shared, and all the reads of an application would wait for each other.
const freshness = time.Second

// ask gives what the service shows for the application, or showed a moment ago.
func (t *turn) ask(ctx context.Context, service *client.Client, application int64, urlName string) showing {
	return t.askUnless(func(latest *showing) bool { return time.Since(latest.answered) < freshness })(ctx, service, application, urlName)
}

// askSince gives what the service shows, or showed to one that asked after a moment.
func (t *turn) askSince(moment time.Time) asking {
	return t.askUnless(func(latest *showing) bool { return latest.asked.After(moment) })
}

func (t *turn) askUnless(good func(latest *showing) bool) asking {
	return func(ctx context.Context, service *client.Client, application int64, urlName string) showing {
		if t.latest != nil && t.latest.urlName == urlName && good(t.latest) {
			return *t.latest
		}
		return t.askAgain(ctx, service, application, urlName)
	}
}

// listed tells that the service has shown all webhooks of the application, and there were some: not only the newest.
func (t *turn) listed() bool {
	return t.latest != nil && t.latest.err == nil && t.latest.webhooks.Complete && len(t.latest.webhooks.Items) > 0
}

// askAgain gives what the service shows now.
func (t *turn) askAgain(ctx context.Context, service *client.Client, application int64, urlName string) showing {
	now := showing{urlName: urlName, asked: time.Now()}
	now.webhooks, now.err = service.RetrieveWebhook(ctx, application, urlName)
	now.answered = time.Now()
	t.latest = nil
	if now.err == nil || client.IsNotFound(now.err) {
		t.latest = &now
	}
	return now
}
