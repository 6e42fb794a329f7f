package service

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/lifecycle"
	"github.com/mandate-io/idv/operator/connection"
)

// mandates is a cache that has Mandates which confirm for so long that their applications are gone.
type mandates struct {
	client.Reader
	confirming []time.Duration
}

func (m mandates) List(_ context.Context, into client.ObjectList, _ ...client.ListOption) error {
	list := into.(*v1alpha1.MandateList)
	for _, since := range m.confirming {
		list.Items = append(list.Items, v1alpha1.Mandate{Status: v1alpha1.MandateStatus{Conditions: []metav1.Condition{{
			Type: v1alpha1.ConditionReconciling, Reason: v1alpha1.ReasonConfirming,
			LastTransitionTime: metav1.NewTime(time.Now().Add(-since)),
		}}}})
	}
	return nil
}

// Several applications that are missing for long are the fault of the connection. One, or a short time, is not.
func TestApplicationsMissing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		confirming []time.Duration
		missing    bool
	}{
		"none":                    {},
		"one":                     {confirming: []time.Duration{time.Hour}},
		"two":                     {confirming: []time.Duration{time.Hour, 3 * time.Minute}, missing: true},
		"one of two for a moment": {confirming: []time.Duration{time.Hour, time.Minute}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &Reconciler{config: Config{
				Cache: mandates{confirming: c.confirming}, Connections: connection.NewRegistry(0),
			}}
			found, err := r.dependents(t.Context(), connection.Key{}, lifecycle.Names{})
			missing := found.confirming >= manyMissing
			if err != nil || missing != c.missing {
				t.Errorf("%t, %v, want %t", missing, err, c.missing)
			}
			status := &v1alpha1.IdentityServiceStatus{}
			setShared(status, 1, v1alpha1.ConditionApplicationsMissing, missing)
			if meta.IsStatusConditionTrue(status.Conditions, v1alpha1.ConditionApplicationsMissing) != c.missing {
				t.Errorf("the conditions are %+v", status.Conditions)
			}
			setShared(status, 1, v1alpha1.ConditionApplicationsMissing, false)
			if len(status.Conditions) != 0 {
				t.Errorf("afterwards, the conditions are %+v", status.Conditions)
			}
		})
	}
}

// cached is a cache that has these Mandates.
type cached struct {
	client.Reader
	mandates []v1alpha1.Mandate
	err      error
}

func (c cached) List(_ context.Context, into client.ObjectList, _ ...client.ListOption) error {
	into.(*v1alpha1.MandateList).Items = c.mandates
	return c.err
}

// A Mandate whose create has begun needs its service, for as long as the cache does not show what became of it.
func TestBegunMandatesNeedTheService(t *testing.T) {
	t.Parallel()
	key, name := connection.Key{Name: "default"}, types.NamespacedName{Name: "acme"}
	acme := v1alpha1.Mandate{ObjectMeta: metav1.ObjectMeta{Name: "acme"}}
	shown, decided := acme, acme
	shown.Status.ApplicationID = ptr.To[int64](4711)
	decided.Status.Outcome = v1alpha1.OutcomeCompleted
	deleted := acme
	deleted.DeletionTimestamp = new(metav1.Now())
	for what, c := range map[string]struct {
		mandates      []v1alpha1.Mandate
		err           error
		needed, begun int
	}{
		"shows nothing yet":     {mandates: []v1alpha1.Mandate{acme}, needed: 1, begun: 1},
		"shows its application": {mandates: []v1alpha1.Mandate{shown}, needed: 1},
		"has its outcome":       {mandates: []v1alpha1.Mandate{decided}},
		"may go":                {mandates: []v1alpha1.Mandate{deleted}},
		"is gone":               {},
		"nobody can tell":       {err: io.ErrUnexpectedEOF, begun: 1},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			connections := connection.NewRegistry(0)
			connections.SetBegun(key, name, true)
			r := &Reconciler{config: Config{Cache: cached{mandates: c.mandates, err: c.err}, Connections: connections}}
			found, err := r.dependents(t.Context(), key, lifecycle.Names{})
			if begun := connections.Begun(key).Len(); !errors.Is(err, c.err) || found.needed != c.needed || begun != c.begun {
				t.Errorf("needed by %d, want %d; %d begun, want %d; %v", found.needed, c.needed, begun, c.begun, err)
			}
		})
	}
}

// A deletion of a service is given up by the clock of the API server, whatever this machine's shows.
func TestDeletionIsOver(t *testing.T) {
	t.Parallel()
	began := time.Now()
	for what, c := range map[string]struct {
		deleted *metav1.Time
		server  time.Time
		want    bool
	}{
		"not deleted":             {nil, began, false},
		"this machine is fast":    {&metav1.Time{Time: began.Add(-25 * time.Hour)}, began.Add(-24 * time.Hour), false},
		"this machine is slow":    {&metav1.Time{Time: began}, began.Add(25 * time.Hour), true},
		"nothing is known":        {&metav1.Time{Time: began.Add(-25 * time.Hour)}, time.Time{}, true},
		"nor is it that long yet": {&metav1.Time{Time: began.Add(-time.Hour)}, time.Time{}, false},
	} {
		r := &Reconciler{config: Config{
			DeletionGiveUpAfter: 24 * time.Hour, ServerClock: func() time.Time { return c.server },
		}}
		if got := r.isOver(c.deleted); got != c.want {
			t.Errorf("%s: over %t, want %t", what, got, c.want)
		}
	}
}
