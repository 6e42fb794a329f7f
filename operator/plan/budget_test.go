package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/operator/plan"
)

// A plan says what waits for the budget of its service, and what its brake holds back.
func TestPlanOfABudget(t *testing.T) {
	t.Parallel()
	limited := service()
	limited.Spec.Creation.MaxPerHour, limited.Spec.Creation.MaxPerDay = 3, 100
	input := plan.Input{Cluster: []client.Object{limited}, Now: now}
	for i := range 5 {
		input.Manifests = append(input.Manifests, manifestOf(fmt.Sprintf("mandate-%d", i), nil))
	}
	made, err := plan.Make(t.Context(), input)
	if err != nil {
		t.Fatal(err)
	}
	waits := 0
	for _, item := range made.Items {
		if !slices.Equal(item.Actions, []plan.Action{plan.Create}) || item.Emails != 2 {
			t.Errorf("%s: %v and %d e-mails", item.Name, item.Actions, item.Emails)
		}
		if item.Reason == "CreationBudgetReached" && strings.Contains(item.Message, "status.creation") {
			waits++
		}
	}
	if waits != 2 || made.Emails != 10 {
		t.Errorf("%d Mandates wait, and %d e-mails are planned, want 2 and 10: %+v", waits, made.Emails, made.Items)
	}
	limited.Spec.Creation.Suspend = true
	made, err = plan.Make(t.Context(), input)
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range made.Items {
		if item.Reason != "CreationSuspended" || !slices.Equal(item.Actions, []plan.Action{plan.Wait}) || item.Emails != 0 {
			t.Errorf("%s: %v, %s and %d e-mails", item.Name, item.Actions, item.Reason, item.Emails)
		}
	}
}

// A create that is refused uses the budget once, and does not wait for more of it.
func TestPlanOfABudgetAndARefusal(t *testing.T) {
	t.Parallel()
	limited := service()
	limited.Spec.Creation.MaxPerHour, limited.Spec.Creation.MaxPerDay = 2, 100
	input := plan.Input{Cluster: append([]client.Object{limited}, bound(t, "acme", 7, nil)...), Now: now}
	input.Manifests = []plan.Manifest{
		manifestOf("acme", nil), manifestOf("another", map[string]any{"reference": namespace + ".acme"}),
		manifestOf("new", nil),
	}
	made, err := plan.Make(t.Context(), input)
	if err != nil {
		t.Fatal(err)
	}
	actions := map[string][]plan.Action{}
	for _, item := range made.Items {
		actions[item.Name] = item.Actions
	}
	if !slices.Equal(actions["another"], []plan.Action{plan.Refuse}) || made.Emails != 2 {
		t.Errorf("%d e-mails are planned, want 2: %v", made.Emails, actions)
	}
}
