package notification

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// interval is how often a Mandate is annotated, on average.
const interval = 10 * time.Second

// notified is a Notifier with an API server, in a bubble of a fake clock.
type notified struct {
	*testing.T
	*Notifier
	api     *apiServer
	stale   *staleCache
	results map[string]int
}

// notify runs a test with a Notifier, which has ended afterwards.
func notify(t *testing.T, test func(*notified)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := &notified{T: t, api: newAPIServer(), results: map[string]int{}}
		index := NewIndex()
		n.stale = &staleCache{Reader: n.api}
		n.api.connect(testKey, goodToken)
		n.Notifier = newNotifier(index, accountsIn(n.stale, n.api, false))
		n.api.index = index
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			n.run(t.Context())
		}()
		test(n)
		t.Cleanup(func() { <-ended })
	})
}

// deliver delivers, and waits until all that follows at once is done.
func (n *notified) deliver(body string) {
	n.results[n.Notifier.deliver(testKey, mediaJSON, []byte(body))]++
	synctest.Wait()
}

func (n *notified) wait(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func (n *notified) wantPatches(what string, want int) {
	n.Helper()
	if got := n.api.count(&n.api.patches); got != want {
		n.Errorf("%s: %d patches, want %d", what, got, want)
	}
}

func (n *notified) wantUnknown(what string, want ...int64) {
	n.Helper()
	if got := n.api.unknown(testKey); !slices.Equal(got, want) {
		n.Errorf("%s: the service has %d, want %d", what, got, want)
	}
}

func (n *notified) wantAnnotation(what, name, annotation, want string) {
	n.Helper()
	if got := n.api.annotation(n.T, name, annotation); got != want {
		n.Errorf("%s: %s of %s is %q, want %q", what, annotation, name, got, want)
	}
}

// request is the value of the annotation of a notification now.
func request() string {
	return v1alpha1.NotificationRequestPrefix + time.Now().UTC().Format(time.RFC3339)
}

// Many deliveries about one Mandate cause a read at once, and few more, so that the last of them is not lost.
func TestRequestsAreCoalesced(t *testing.T) {
	notify(t, func(n *notified) {
		n.api.store(bound("one", 1, 10))
		for range 100 {
			n.deliver(`{"application":{"id":1}}`)
		}
		n.wantPatches("at once", 1)
		n.wantAnnotation("at once", "one", v1alpha1.ReconcileRequestAnnotation, request())
		n.wait(time.Second)
		n.wantPatches("after a second", 2)
		n.wantAnnotation("after a second", "one", v1alpha1.ReconcileRequestAnnotation, request()+"/2")
		n.wait(time.Hour)
		n.wantPatches("later", 2)
		n.mu.Lock()
		if len(n.delayed) > 0 {
			n.Errorf("%d objects are remembered", len(n.delayed))
		}
		n.mu.Unlock()
		n.deliver(`{"individual_id":10}`)
		n.wantPatches("the next", 3)
		if n.results[resultMatched] != 101 {
			n.Errorf("the results are %v", n.results)
		}
	})
}

// The delivery of a create does not delay the event that follows, nor does that the next one. Who goes on and on has
// one read in ten seconds.
func TestEventsThatFollowEachOther(t *testing.T) {
	notify(t, func(n *notified) {
		n.api.store(bound("one", 1))
		for i := range 3 {
			n.deliver(`{"id":1}`)
			n.wantPatches("an event", i+1)
			n.wait(3 * time.Second)
		}
		n.deliver(`{"id":1}`)
		n.wantPatches("one too many", 3)
		n.wait(7 * time.Second)
		n.wantPatches("ten seconds after the last one", 4)
		const minutes = 10
		for range minutes * 600 {
			n.deliver(`{"id":1}`)
			n.wait(100 * time.Millisecond)
		}
		n.wantPatches("a flood", 4+6*minutes)
		n.wait(time.Minute)
		n.deliver(`{"id":1}`)
		n.deliver(`{"id":1}`)
		n.wait(time.Second)
		n.wantPatches("after a quiet minute", 6+6*minutes)
	})
}

// Another replica has annotated the Mandate, which its cache shows.
func TestReplicasShareTheInterval(t *testing.T) {
	notify(t, func(n *notified) {
		m := bound("one", 1)
		m.Annotations = map[string]string{v1alpha1.ReconcileRequestAnnotation: request() + "/3"}
		n.api.store(m)
		n.wait(interval / 2)
		n.deliver(`{"id":1}`)
		n.wantPatches("soon after the other", 0)
		n.wait(interval / 2)
		n.wantPatches("after the interval", 1)
	})
}

// The request of a person is acknowledged in the status, so it is not replaced before that.
func TestRequestOfAPersonStays(t *testing.T) {
	notify(t, func(n *notified) {
		m := bound("one", 1)
		m.Annotations = map[string]string{v1alpha1.ReconcileRequestAnnotation: "now, please"}
		n.api.store(m)
		n.deliver(`{"id":1}`)
		n.wait(time.Hour)
		n.wantPatches("while the person waits", 0) // the read for the person comes after the delivery
		acknowledged := m.DeepCopy()
		acknowledged.Status.LastHandledReconcileAt = "now, please"
		n.deliver(`{"id":1}`)
		n.api.store(acknowledged)
		n.wait(interval)
		n.wantPatches("after it is acknowledged", 1)
	})
}

// So does a request that the cache does not show yet.
func TestNewRequestOfAPersonStays(t *testing.T) {
	notify(t, func(n *notified) {
		m := bound("one", 1)
		n.api.store(m)
		n.stale.shown.Store(m.DeepCopy())
		requested := m.DeepCopy()
		requested.Annotations = map[string]string{v1alpha1.ReconcileRequestAnnotation: "now, please"}
		n.api.store(requested)
		n.deliver(`{"id":1}`)
		n.wait(interval / 2)
		n.wantAnnotation("while the cache is behind", "one", v1alpha1.ReconcileRequestAnnotation, "now, please")
		n.stale.shown.Store(nil)
		n.wait(time.Hour)
		n.wantPatches("in the end", 0) // the read for the person comes after the delivery
	})
}

// A Mandate that others write is annotated within a second after the cache shows that.
func TestBusyMandate(t *testing.T) {
	notify(t, func(n *notified) {
		m := bound("one", 1)
		n.api.store(m)
		for i := range 10 {
			n.stale.shown.Store(n.api.mandates[nameOf("one")].DeepCopy())
			n.api.store(n.api.mandates[nameOf("one")].DeepCopy())
			n.deliver(`{"id":1}`)
			n.wait(time.Second / 2)
			n.wantPatches("while the cache is behind", i)
			n.stale.shown.Store(nil)
			n.wait(time.Second)
			n.wantPatches("a delivery", i+1)
			n.wait(interval)
		}
	})
}

func TestMandatesThatAreNotRead(t *testing.T) {
	notify(t, func(n *notified) {
		suspended, expired := bound("suspended", 1), bound("expired", 2)
		old := bound("old", 3)
		suspended.Spec.Suspend = true
		expired.Status.Outcome, old.Status.Outcome = v1alpha1.OutcomeExpired, v1alpha1.OutcomeCompleted
		old.Status.ExpiryTime = new(metav1.NewTime(time.Now()))
		n.api.store(suspended)
		n.api.store(expired)
		n.api.store(old)
		n.wait(time.Second)
		n.deliver(`[{"id":1},{"id":2},{"id":3}]`)
		n.wait(time.Minute)
		n.wantPatches("of what cannot be read", 0)
	})
}

// What contradicts an outcome is said, and an application that was deleted can come back.
func TestMandatesWithAnOutcome(t *testing.T) {
	notify(t, func(n *notified) {
		for i, outcome := range []v1alpha1.Outcome{
			"", v1alpha1.OutcomeCompleted, v1alpha1.OutcomeRejected, v1alpha1.OutcomeDeleted,
		} {
			m := bound(fmt.Sprint(i), int64(i+1))
			m.Status.Outcome, m.Status.ExpiryTime = outcome, new(metav1.NewTime(time.Now().Add(24*time.Hour)))
			n.api.store(m)
			n.deliver(fmt.Sprintf(`{"id":%d}`, i+1))
			n.wait(time.Minute)
			n.wantPatches("with outcome "+string(outcome), i+1)
		}
	})
}

// A delivery can come before the status shows what it is about.
func TestDeliveriesThatAreEarly(t *testing.T) {
	notify(t, func(n *notified) {
		n.deliver(`{"application":{"id":4711,"reference":"team.lost"}}`)
		n.deliver(`{"application":{"id":4712}}`)
		n.deliver(`{"application":{"id":1}}`)
		n.wait(time.Minute)
		n.wantPatches("before", 0)
		n.api.store(bound("one", 1))
		n.wait(0)
		n.wantPatches("an application", 1)
		n.api.store(waitingMandate("lost"))
		n.wait(0)
		n.wantUnknown("with the reference, and without one", 4711, 4712)
		n.api.takeOff(testKey, 4711, 4712)
		n.deliver(`{"application":{"id":4713}}`)
		n.api.takeOff(testKey, 4713)
		n.wait(unknownTTL)
		n.api.store(bound("lost", 4711))
		n.api.store(waitingMandate("late"))
		n.wait(interval)
		n.wantUnknown("too late")
		if n.results[resultUnmatched] != 4 {
			n.Errorf("the results are %v", n.results)
		}
	})
}

// The create of a Mandate with a status notifies while it is under way. Then its answer is lost.
func TestDeliveryDuringCreate(t *testing.T) {
	notify(t, func(n *notified) {
		n.api.store(creatingMandate("lost"))
		n.deliver(`{"application":{"id":4711,"reference":"team.lost"}}`)
		n.wait(time.Minute)
		n.wantPatches("before", 0)
		n.wantUnknown("before")
		n.api.store(waitingMandate("lost"))
		n.wait(0)
		n.wantUnknown("after", 4711)
	})
}

// What the API server refuses is tried again until it is accepted: the sender has its answer.
func TestAnnotationsAreRetried(t *testing.T) {
	for _, outage := range []time.Duration{time.Second, time.Hour} {
		notify(t, func(n *notified) {
			n.api.store(waitingMandate("lost"))
			n.api.store(bound("one", 1))
			n.api.failWith(errors.New("it is away"))
			n.deliver(`{"id":4711}`)
			n.deliver(`{"id":1}`)
			n.wait(outage)
			n.wantPatches("while it is away", 0)
			n.api.failWith(nil)
			n.wait(maxRetryDelay + interval)
			n.wantUnknown("after "+outage.String(), 4711)
			n.wantPatches("after "+outage.String(), 1)
			n.wait(time.Hour)
			n.wantPatches("later", 1)
		})
	}
}

// A delivery about a person leaves nothing of that person in an annotation.
func TestAnnotationsHaveNoPersonalData(t *testing.T) {
	notify(t, func(n *notified) {
		n.api.store(waitingMandate("lost"))
		n.api.store(waitingMandate("other"))
		const person = `"individual":{"id":77,"reference":"8001015009087","phone":"447700900123","born":19800101}`
		n.deliver(`{"event":"individual.updated",` + person + `}`)
		n.wait(interval)
		n.wantUnknown("a person")
		n.deliver(`{"application":{"id":4711,"reference":"team.lost"},` + person + `}`)
		n.wait(interval)
		n.wantUnknown("an application", 4711)
		n.wantPatches("of no Mandate", 0)
	})
}

// A service that floods the operator with deliveries about all of its Mandates causes a bounded number of writes, and
// does not keep the Mandates of others waiting.
func TestFlood(t *testing.T) {
	notify(t, func(n *notified) {
		const mandates = 2000
		for i := range mandates {
			n.api.store(bound(fmt.Sprint("m", i), int64(1000+i)))
		}
		other := bound("other", 1)
		other.Spec.ServiceRef.Name = "other"
		n.api.store(other)
		for i := 0; i < mandates; i += maxCandidates {
			var ids []string
			for j := range maxCandidates {
				ids = append(ids, fmt.Sprint(1000+i+j))
			}
			n.deliver(`{"ids":[` + strings.Join(ids, ",") + `]}`)
		}
		key := testKey
		key.Name = "other"
		n.Notifier.deliver(key, mediaJSON, []byte(`{"id":1}`))
		n.wait(time.Second)
		n.wantAnnotation("another service", "other", v1alpha1.ReconcileRequestAnnotation,
			v1alpha1.NotificationRequestPrefix+time.Now().Add(-time.Second).UTC().Format(time.RFC3339))
		if got := n.api.count(&n.api.patches); got > 3*maxWrites+2 {
			n.Errorf("%d patches within a second", got)
		}
		n.wait(mandates / maxWrites * time.Second)
		n.wantPatches("in the end", mandates+1)
	})
}

// What is answered is annotated before the process ends, also what has to wait.
func TestShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api, index := newAPIServer(), NewIndex()
		api.connect(testKey, goodToken)
		n := newNotifier(index, accountsIn(api, api, false))
		api.index = index
		api.store(bound("one", 1))
		api.store(bound("two", 2))
		api.store(waitingMandate("lost"))
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			n.run(ctx)
		}()
		send := func(body string) { n.deliver(testKey, mediaJSON, []byte(body)) }
		send(`{"id":1}`)
		synctest.Wait()
		send(`{"id":1}`)
		send(`{"id":2}`)
		send(`{"id":4711}`)
		stop()
		<-ended
		if unknown := api.unknown(testKey); api.patches != 3 || !slices.Equal(unknown, []int64{4711}) {
			t.Errorf("%d patches, want 3, and the unknown ids are %d", api.patches, unknown)
		}
	})
}
