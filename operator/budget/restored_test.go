package budget

import (
	"context"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/ledger"
)

// cluster has one service and the ledger, and counts how often that is read.
type cluster struct {
	client.SubResourceWriter

	service v1alpha1.IdentityService
	records v1alpha1.ApplicationRecordList
	asked   int
}

func (c *cluster) Get(_ context.Context, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	if service, ok := into.(*v1alpha1.IdentityService); ok {
		c.service.DeepCopyInto(service)
	}
	return nil
}

func (c *cluster) List(_ context.Context, into client.ObjectList, _ ...client.ListOption) error {
	if list, ok := into.(*v1alpha1.ApplicationRecordList); ok {
		c.asked++
		c.records.DeepCopyInto(list)
	}
	return nil
}

func (c *cluster) Patch(
	_ context.Context, written client.Object, _ client.Patch, _ ...client.SubResourcePatchOption,
) error {
	service, _ := written.(*v1alpha1.IdentityService)
	for i := range service.Status.Creation.Reserved { // as it is written
		at := &service.Status.Creation.Reserved[i].Time
		*at = metav1.NewTime(at.Truncate(time.Second))
	}
	service.DeepCopyInto(&c.service)
	return nil
}

// reserved sets the status of the service.
func (c *cluster) reserved(all ...v1alpha1.CreationReservation) {
	c.service.Status.Creation = &v1alpha1.CreationStatus{Reserved: all}
}

// sent adds a call to the ledger.
func (c *cluster) sent(at time.Time, sends int32) {
	c.records.Items = append(c.records.Items, v1alpha1.ApplicationRecord{Spec: v1alpha1.ApplicationRecordSpec{
		Calls: []v1alpha1.Call{{Kind: v1alpha1.CallCreate, StartedTime: metav1.NewMicroTime(at), Sends: sends}},
	}})
}

var serviceKey = connection.Key{Kind: v1alpha1.ServiceKindIdentityService, Namespace: "team", Name: "default"}

// budgets are those of a process that has just started. The service allows so many requests in an hour.
func (c *cluster) budgets(now time.Time) *Budgets {
	return New(Config{
		Cache: c, Live: c, Status: c, Ledger: ledger.Ledger{Reader: c}, Connections: connection.NewRegistry(1),
		Now: func() time.Time { return now }, Hour: time.Hour, SettleDelay: time.Minute,
	})
}

func newCluster(perHour int32) *cluster {
	c := &cluster{}
	c.service.UID, c.service.Generation = "some", 1
	c.service.Spec.Creation = v1alpha1.Creation{MaxPerHour: perHour, MaxPerDay: 10 * perHour}
	return c
}

// used is the connection of the service.
func (c *cluster) used() *connection.Connection {
	return &connection.Connection{UID: c.service.UID, Generation: c.service.Generation}
}

func waiter(number int) Waiter {
	return Waiter{NamespacedName: types.NamespacedName{Namespace: "team", Name: fmt.Sprint(number)}}
}

func (c *cluster) take(t *testing.T, b *Budgets, most int) (got int) {
	t.Helper()
	for got < most {
		wait, err := b.Take(t.Context(), serviceKey, c.used(), waiter(got))
		if err != nil {
			t.Fatal(err)
		}
		if wait > 0 {
			return got
		}
		got++
	}
	return got
}

var noon = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration, count int32) v1alpha1.CreationReservation {
	return v1alpha1.CreationReservation{Time: metav1.NewTime(noon.Add(-d)), Count: count}
}

// A process that starts, and one that finds a status that lacks what it wrote, believes the ledger, too: the status may
// have been restored from a backup.
func TestRestoredStatus(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status []v1alpha1.CreationReservation
		sends  int32
		want   int
	}{
		"nothing was sent":               {nil, 0, 10},
		"as it was written":              {[]v1alpha1.CreationReservation{ago(time.Minute, 8)}, 1, 2},
		"the rest was not used":          {[]v1alpha1.CreationReservation{ago(time.Minute, 10)}, 1, 0},
		"none":                           {nil, 8, 2},
		"restored":                       {[]v1alpha1.CreationReservation{ago(50*time.Minute, 1)}, 8, 2},
		"restored, of another day":       {[]v1alpha1.CreationReservation{ago(20*time.Hour, 10)}, 8, 2},
		"forged":                         {[]v1alpha1.CreationReservation{ago(0, 0)}, 8, 2},
		"a create was sent three times":  {nil, 3, 7},
		"more was sent than was allowed": {[]v1alpha1.CreationReservation{ago(time.Minute, 1)}, 50, 0},
	} {
		c := newCluster(10)
		if test.status != nil {
			c.reserved(test.status...)
		}
		c.sent(noon.Add(-5*time.Minute), test.sends)
		b := c.budgets(noon)
		if got := c.take(t, b, 20); got != test.want {
			t.Errorf("%s: %d were sent, want %d", name, got, test.want)
		}
		if c.asked != 1 {
			t.Errorf("%s: the ledger was read %d times", name, c.asked)
		}
	}
}

// A status is restored while a process runs, and another object takes the place of the service.
func TestStatusRestoredMeanwhile(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*cluster){
		"restored":       func(c *cluster) { c.reserved(ago(30*time.Minute, 1)) },
		"another object": func(c *cluster) { c.service.UID, c.service.Status = "other", v1alpha1.IdentityServiceStatus{} },
	} {
		c := newCluster(10)
		c.reserved(ago(30*time.Minute, 1))
		b := c.budgets(noon)
		if got := c.take(t, b, 5); got != 5 {
			t.Fatalf("%s: %d were sent", name, got)
		}
		change(c)
		c.sent(noon, 5)
		if got := c.take(t, b, 20); got != 5 {
			t.Errorf("%s: then %d were sent", name, got)
		}
	}
}

// What was reserved and not used is given back to the status that has it, and to no other list.
func TestGiveBackToTheStatusAlone(t *testing.T) {
	t.Parallel()
	for _, restored := range []bool{false, true} {
		c := newCluster(100) // four at a time
		b := c.budgets(noon)
		if got := c.take(t, b, 1); got != 1 {
			t.Fatal("nothing was sent")
		}
		want := 99
		if restored {
			c.reserved()
			c.sent(noon.Add(time.Second), 60)
			want = 40
		}
		c.service.Generation++ // what is not used is reserved again
		if got := c.take(t, b, 200); got != want {
			t.Errorf("restored=%t: then %d were sent, want %d", restored, got, want)
		}
		if wantAsked := map[bool]int{false: 1, true: 2}[restored]; c.asked != wantAsked {
			t.Errorf("restored=%t: the ledger was read %d times", restored, c.asked)
		}
	}
}

// A request that was not sent can be used by anybody, once: now, or by the next reservation.
func TestReturn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before func(*Budgets, *cluster)
		want   int
	}{
		"at once":                    {func(*Budgets, *cluster) {}, 1},
		"twice":                      {func(b *Budgets, c *cluster) { b.Return(serviceKey, c.used(), waiter(0)) }, 1},
		"after another reservation":  {func(b *Budgets, _ *cluster) { b.services[serviceKey].reserved = time.Time{} }, 0},
		"when it is too old":         {func(b *Budgets, _ *cluster) { b.services[serviceKey].until = time.Time{} }, 1},
		"of another generation":      {func(_ *Budgets, c *cluster) { c.service.Generation++ }, 1},
		"to a service that replaced": {func(_ *Budgets, c *cluster) { c.service.UID = "other" }, 0},
	} {
		cluster := newCluster(1)
		b := cluster.budgets(noon)
		if got := cluster.take(t, b, 2); got != 1 {
			t.Fatalf("%s: %d were taken, want 1", name, got)
		}
		c.before(b, cluster)
		b.Return(serviceKey, cluster.used(), waiter(0))
		if got := b.services[serviceKey].unused; got != c.want {
			t.Errorf("%s: %d can be used, want %d", name, got, c.want)
		}
	}
}

// In each window, the larger of two lists counts.
func TestLarger(t *testing.T) {
	t.Parallel()
	status, sent := reservations{ago(8*time.Hour, 20), ago(10*time.Minute, 5)}, reservations{ago(time.Hour, 12), ago(0, 1)}
	all := status.larger(sent)
	for d := time.Duration(0); d < 10*time.Hour; d += time.Minute {
		since := noon.Add(-d - time.Second)
		if got, want := all.since(since), max(status.since(since), sent.since(since)); got != want {
			t.Errorf("in %s: %d, want %d", d, got, want)
		}
	}
}
