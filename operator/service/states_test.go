package service

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/lifecycle"
	"github.com/mandate-io/idv/operator/connection"
)

// A status is written for a new name, for another meaning of one, and once a day.
func TestShowStates(t *testing.T) {
	t.Parallel()
	status, now := &v1alpha1.IdentityServiceStatus{}, time.Now()
	var names lifecycle.Names
	show := func(what string, changes bool, seen map[string]time.Time) {
		t.Helper()
		before := status.DeepCopy()
		showStates(status, names, maps.Clone(seen))
		if changed := !equality.Semantic.DeepEqual(before, status); changed != changes {
			t.Errorf("%s: it is written %t, want %t: %+v", what, changed, changes, status.States)
		}
	}
	seen := map[string]time.Time{"under review": now, "created": now}
	show("two names", true, seen)
	show("the same", false, seen)
	for hour := range 24 {
		show("every hour", false, map[string]time.Time{"created": now.Add(time.Duration(hour) * time.Hour)})
	}
	show("a day later", true, map[string]time.Time{"created": now.Add(24 * time.Hour)})
	show("after a restart", false, nil)
	names.InReview = []string{"Under Review"}
	show("explained", true, nil)
	status.States = append(status.States, v1alpha1.StateStatus{Name: "waits for jane@example.com", Stage: "Unknown"})
	show("an address, by an earlier version", true, nil)
	show("another name", true, map[string]time.Time{"completed": now, "withdrawn": now})
	want := []v1alpha1.StateStatus{
		{Name: "completed", Stage: "Completed", LastSeenTime: at(now)},
		{Name: "created", Stage: "Open", LastSeenTime: at(now.Add(24 * time.Hour))},
		{Name: "under review", Stage: "InReview", LastSeenTime: at(now)},
		{Name: "withdrawn", Stage: "Unknown", LastSeenTime: at(now)},
	}
	if !equality.Semantic.DeepEqual(status.States, want) {
		t.Errorf("the states are %+v, want %+v", status.States, want)
	}
}

func at(t time.Time) metav1.Time { return metav1.NewTime(t.Truncate(time.Second)) }

// A service that makes up a name for every answer costs no more than others: those of a day are kept.
func TestStatesAreBounded(t *testing.T) {
	t.Parallel()
	status, now := &v1alpha1.IdentityServiceStatus{}, time.Now()
	writes := 0
	for i := range 1000 {
		before := status.DeepCopy()
		showStates(status, lifecycle.Names{}, map[string]time.Time{fmt.Sprint(i): now.Add(time.Duration(i) * time.Minute)})
		if !equality.Semantic.DeepEqual(before, status) {
			writes++
		}
	}
	if len(status.States) != connection.MaxStates || writes != connection.MaxStates {
		t.Errorf("%d writes of %d states", writes, len(status.States))
	}
	showStates(status, lifecycle.Names{}, map[string]time.Time{"new": now.Add(25 * time.Hour)})
	is := func(name string) bool {
		return slices.ContainsFunc(status.States, func(s v1alpha1.StateStatus) bool { return s.Name == name })
	}
	if !is("new") || is("0") || len(status.States) != connection.MaxStates {
		t.Errorf("a day later, the states are %+v", status.States)
	}
}

// The condition is there only while it is False.
func TestStatesUnderstood(t *testing.T) {
	t.Parallel()
	status := &v1alpha1.IdentityServiceStatus{}
	setStatesUnderstood(status, 2, false)
	c := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionStatesUnderstood)
	if c == nil || c.Status != metav1.ConditionFalse || c.Reason != v1alpha1.ReasonStateUnknown || c.Message == "" {
		t.Errorf("the condition is %+v", c)
	}
	setStatesUnderstood(status, 2, true)
	if len(status.Conditions) != 0 {
		t.Errorf("afterwards, the conditions are %+v", status.Conditions)
	}
}

// aService is a cache that has one service.
type aService struct {
	client.Reader
	v1alpha1.IdentityService
}

func (s *aService) Get(_ context.Context, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	s.DeepCopyInto(into.(*v1alpha1.IdentityService))
	return nil
}

// The first Mandate that waits for the meaning of a state has its service say so at once, and the others do not.
func TestMandateThatWaitsForState(t *testing.T) {
	t.Parallel()
	service := &aService{}
	service.Finalizers = []string{v1alpha1.ServiceFinalizer}
	r := &Reconciler{config: Config{Cache: service}}
	m := &v1alpha1.Mandate{ObjectMeta: metav1.ObjectMeta{Namespace: "team"}}
	m.Status.ApplicationID, m.Status.State = new(int64(7)), "in review"
	m.Status.Individuals = []v1alpha1.IndividualStatus{{ChecksPending: new(int64(0)), ChecksPassed: new(int64(3))}}
	check := func(want int) {
		t.Helper()
		if got := r.mandateChanged(t.Context(), m); len(got) != want {
			t.Errorf("%q has %d services reconciled, want %d", m.Status.State, len(got), want)
		}
	}
	check(0)
	m.Status.State = "under review"
	check(1)
	setStatesUnderstood(&service.Status, 1, false)
	check(0)
}
