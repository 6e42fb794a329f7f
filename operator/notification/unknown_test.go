package notification

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/connection"
)

// read takes what is named off the service every second, one id and at first ten, as the leader does, until that has
// been so for long.
func (n *notified) read(long time.Duration) (all []int64) {
	for first := 9; long >= 0; long, first = long-roomInterval, 0 {
		named := n.api.unknown(testKey)
		named = named[:min(len(named), 1+first)]
		all = append(all, named...)
		if len(named) > 0 {
			n.api.takeOff(testKey, named...)
		}
		n.wait(roomInterval)
	}
	return all
}

// An id that nobody knows is named to the leader while a Mandate waits for one, and only then.
func TestUnknownIDs(t *testing.T) {
	notify(t, func(n *notified) {
		suspended, adopts := waitingMandate("suspended"), waitingMandate("adopts")
		suspended.Spec.Suspend = true
		adopts.Spec.Adopt = &v1alpha1.Adoption{ApplicationID: 7}
		expired := waitingMandate("expired")
		expired.Status.Outcome = v1alpha1.OutcomeExpired
		for _, m := range []*v1alpha1.Mandate{bound("one", 1), suspended, adopts, expired} {
			n.api.store(m)
		}
		n.deliver(`{"id":4711}`)
		n.wantUnknown("nobody waits")
		n.api.store(waitingMandate("lost"))
		n.wait(0)
		n.wantUnknown("somebody waits", 4711)
		n.deliver(`{"id":4711}`)
		n.deliver(`{"application":{"id":4712,"status":{"id":1}}}`)
		n.deliver(`{"application":{"id":1}}`)
		n.wantUnknown("each is named once", 4711, 4712)
		n.api.takeOff(testKey, 4711)
		n.deliver(`{"id":4711}`)
		n.wantUnknown("one that was read is named again", 4712, 4711)
		n.api.store(bound("lost", 4711))
		n.api.takeOff(testKey, 4711, 4712)
		n.deliver(`{"application":{"id":4711,"status":{"id":5}}}`)
		n.deliver(`{"id":4713}`)
		n.wait(interval)
		n.wantUnknown("nobody waits any more")
	})
}

// A write whose answer is lost is made once more, and names each id once all the same.
func TestUnknownIDsAfterALostAnswer(t *testing.T) {
	notify(t, func(n *notified) {
		n.api.store(waitingMandate("lost"))
		n.api.loses = errors.New("the answer is lost")
		n.deliver(`[{"id":4711},{"id":4712}]`)
		n.wait(maxRetryDelay)
		written := n.api.services[testKey].GetAnnotations()[v1alpha1.UnknownIDsAnnotation]
		if n.api.loses != nil || written != "4711,4712" {
			t.Errorf("the service names %s", written)
		}
	})
}

// More come than there is room for. Those that are left follow when the leader has read some.
func TestManyUnknownIDs(t *testing.T) {
	const many = 100
	notify(t, func(n *notified) {
		n.api.store(waitingMandate("lost"))
		var want []int64
		for i := range many {
			want = append(want, int64(1000+i))
			n.deliver(fmt.Sprintf(`{"id":%d}`, 1000+i))
		}
		if got := n.api.unknown(testKey); len(got) != v1alpha1.MaxCandidates {
			n.Errorf("the service has %d", got)
		}
		got := n.read(many * time.Second)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			n.Errorf("read are %d, want each once", got)
		}
	})
}

// Deliveries about applications of others come faster than they can be read. The ones that matter come when an answer
// is lost, so they are not the last to be read, also beside a Mandate whose application nobody finds.
func TestManyForeignIDs(t *testing.T) {
	for name, ago := range map[string]time.Duration{"alone": 0, "beside an old one": 14 * 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			notify(t, func(n *notified) {
				if ago > 0 {
					old := waitingMandate("old")
					old.Status.Conditions[0].LastTransitionTime = metav1.NewTime(time.Now().Add(-ago))
					n.api.store(old)
				}
				n.foreign(600)
				n.deliver(`{"id":4711}`)
				read := n.foreign(10)
				lost := waitingMandate("lost")
				lost.Status.Conditions[0].LastTransitionTime = metav1.Now()
				n.api.store(lost)
				n.wait(0)
				if read = append(read, n.foreign(300)...); !slices.Contains(read, 4711) {
					n.Errorf("the application is not among the %d that are read", len(read))
				}
			})
		})
	}
}

// foreign delivers two ids of others each second, and gives those that the leader reads meanwhile.
func (n *notified) foreign(seconds int) (read []int64) {
	for range seconds {
		for i := range 2 {
			n.deliver(fmt.Sprintf(`{"id":%d}`, time.Now().Unix()*10+int64(i)))
		}
		read = append(read, n.read(0)...)
	}
	return read
}

// However many ids of others come, the one that comes with the reference of a Mandate that waits is the next.
func TestUnknownIDsOfAReference(t *testing.T) {
	notify(t, func(n *notified) {
		for i := range maxUnknown / 2 {
			n.deliver(fmt.Sprintf(`{"id":%d}`, 10_000+i))
		}
		n.deliver(`{"id":4711,"reference":"team.lost"}`)
		for i := range maxUnknown / 4 {
			n.deliver(fmt.Sprintf(`{"id":%d}`, 20_000+i))
		}
		n.api.store(waitingMandate("lost"))
		n.wait(0)
		if got := n.api.unknown(testKey); len(got) != v1alpha1.MaxCandidates || got[0] != 4711 {
			n.Errorf("the service has %d, want 4711 first", got)
		}
	})
}

// Two connections have one account, and the service has one subscription: whichever it delivers to, the id is read. One
// that a Mandate of either has is none.
func TestUnknownIDsOfOneAccount(t *testing.T) {
	other, foreign := testKey, testKey
	other.Namespace, foreign.Namespace = "other", "foreign"
	of := func(key connection.Key, m *v1alpha1.Mandate) *v1alpha1.Mandate {
		m.Namespace = key.Namespace
		return m
	}
	notify(t, func(n *notified) {
		n.api.connect(other, goodToken)
		n.api.connect(foreign, goodToken)
		n.api.services[foreign].ServiceStatus().Account = "of somebody else"
		n.api.store(of(foreign, waitingMandate("lost")))
		n.deliver(`{"id":4711}`)
		n.wantUnknown("another account")
		n.api.store(of(other, bound("one", 1)))
		n.api.store(of(other, waitingMandate("lost")))
		n.deliver(`[{"id":1},{"id":4712}]`)
		n.wait(0)
		slices.Sort(n.api.unknown(testKey))
		n.wantUnknown("the same account", 4711, 4712)
	})
}

// Two replicas have deliveries at the same time, and the cache of one is behind: neither overwrites the ids of the
// other.
func TestReplicasNameIDs(t *testing.T) {
	notify(t, func(n *notified) {
		n.api.store(waitingMandate("lost"))
		n.stale.service.Store(n.api.services[testKey].(*v1alpha1.IdentityService).DeepCopy())
		n.deliver(`{"id":4711}`)
		n.deliver(`{"id":4712}`)
		for i := range v1alpha1.MaxCandidates {
			n.deliver(fmt.Sprintf(`{"id":%d}`, 1000+i))
		}
		n.wantUnknown("while the cache is behind", 4711)
		n.stale.service.Store(nil)
		n.wait(interval)
		if got := n.api.unknown(testKey); len(got) != v1alpha1.MaxCandidates || !slices.Equal(got[:2], []int64{4711, 4712}) {
			n.Errorf("in the end, the service has %d", got)
		}
	})
}
