package budget

import (
	"cmp"
	"context"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
)

// waiting are those whose status says that they wait for the budget, the oldest first. Those that have taken their part
// since are not among them.
func (b *Budgets) waiting(ctx context.Context, key connection.Key, s *service) ([]Waiter, error) {
	type candidate struct {
		Waiter
		created metav1.Time
	}
	var found []candidate
	var mandates v1alpha1.MandateList
	err := b.config.Cache.List(ctx, &mandates, client.InNamespace(key.Namespace), client.UnsafeDisableDeepCopy,
		client.MatchingFields{connection.MandateField: key.String()})
	if err != nil {
		return nil, err
	}
	for i := range mandates.Items {
		if m := &mandates.Items[i]; Waits(m) {
			found = append(found, candidate{Waiter{false, client.ObjectKeyFromObject(m)}, m.CreationTimestamp})
		}
	}
	actions, err := WaitingActions(ctx, b.config.Cache, key)
	if err != nil {
		return nil, err
	}
	for _, a := range actions {
		if a.Suspended {
			continue
		}
		found = append(found, candidate{Waiter{true, a.NamespacedName}, a.created})
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(a.created.Compare(b.created.Time), cmp.Compare(a.String(), b.String()))
	})
	served, waiting := map[Waiter]time.Time{}, make([]Waiter, 0, len(found))
	for _, c := range found {
		if of, ok := s.served[c.Waiter]; ok {
			served[c.Waiter] = of
			continue
		}
		waiting = append(waiting, c.Waiter)
	}
	s.served = served
	return waiting, nil
}

// Waits reports whether a Mandate waits for the budget of its service.
func Waits(m *v1alpha1.Mandate) bool {
	ready := engine.ReasonOf(m.Status.Conditions, v1alpha1.ConditionReady)
	return ready == v1alpha1.ReasonCreationBudgetReached && m.DeletionTimestamp.IsZero() && !m.Spec.Suspend
}

// A WaitingAction is a MandateAction that waits for the budget of a service or, if Suspended, for its brake.
type WaitingAction struct {
	types.NamespacedName
	Suspended bool
	created   metav1.Time
}

// WaitingActions are those of a service.
func WaitingActions(ctx context.Context, cache client.Reader, key connection.Key) ([]WaitingAction, error) {
	var actions v1alpha1.MandateActionList
	err := cache.List(ctx, &actions, client.InNamespace(key.Namespace), client.UnsafeDisableDeepCopy)
	var waiting []WaitingAction
	for i := range actions.Items {
		a := &actions.Items[i]
		reason := engine.ReasonOf(a.Status.Conditions, v1alpha1.ConditionReconciling)
		suspended := reason == v1alpha1.ReasonCreationSuspended
		if !suspended && reason != v1alpha1.ReasonCreationBudgetReached || !a.DeletionTimestamp.IsZero() {
			continue
		}
		mandate := &v1alpha1.Mandate{}
		name := client.ObjectKey{Namespace: a.Namespace, Name: a.Spec.MandateRef.Name}
		if cache.Get(ctx, name, mandate) == nil && connection.KeyOf(mandate) == key {
			waiting = append(waiting, WaitingAction{client.ObjectKeyFromObject(a), suspended, a.CreationTimestamp})
		}
	}
	return waiting, err
}

// reservations are those of a status that has what this process wrote there last. Any other status may be new, lost,
// restored from a backup or somebody else's: what the ledger says was sent counts, too, and nothing is given back.
func (b *Budgets) reservations(
	ctx context.Context, key connection.Key, s *service, live connection.Service, now time.Time,
) (reservations, error) {
	var all reservations
	if status := live.ServiceStatus().Creation; status != nil {
		all = slices.Clone(status.Reserved)
	}
	if !s.written.IsZero() && !all.newest().Before(s.written) {
		all.giveBack(s.reserved, s.unused+len(s.admitted))
		return all, nil
	}
	if s.begun == nil {
		begun, err := b.config.Ledger.Begun(ctx, v1alpha1.IdentityServiceReference{Kind: key.Kind, Name: key.Name},
			key.Namespace, now.Add(-b.windows.day-b.windows.late))
		if err != nil {
			return nil, err
		}
		slices.SortFunc(begun, func(a, b v1alpha1.CreationReservation) int { return a.Time.Compare(b.Time.Time) })
		s.begun = append(reservations{}, reservations(begun).merge(b.windows, now)...)
	}
	return all.merge(b.windows, now).larger(s.begun), nil
}
