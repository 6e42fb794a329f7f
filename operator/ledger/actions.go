package ledger

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// What the CRD allows. The names of actions are kept longer than their details: if a name were dropped, a GitOps tool
// that applies an old action again could e-mail its individual once more.
const (
	maxActions        = 100
	maxEarlierActions = 1000
)

// NameUse is what a record knows of the name of an action.
type NameUse int

// The answers of UseOf.
const (
	Unused            NameUse = iota
	UsedByThisObject          // by this very MandateAction
	UsedForSameAction         // by another MandateAction with the same type and individual
	UsedForOtherAction
)

// UseOf says whether an action of this name was started.
func UseOf(record *v1alpha1.ApplicationRecord, action *v1alpha1.RecordedAction) NameUse {
	name, purpose := digests(action)
	for i := range record.Spec.Actions {
		switch other := &record.Spec.Actions[i]; {
		case other.Name != action.Name:
		case other.UID != "" && other.UID == action.UID:
			return UsedByThisObject
		case other.Type == action.Type && other.Individual == action.Individual:
			return UsedForSameAction
		default:
			return UsedForOtherAction
		}
	}
	for _, earlier := range record.Spec.EarlierActions {
		switch {
		case earlier == name+purpose:
			return UsedForSameAction
		case strings.HasPrefix(earlier, name):
			return UsedForOtherAction
		}
	}
	return Unused
}

// IsFull reports whether a record cannot remember another action.
func IsFull(record *v1alpha1.ApplicationRecord) bool {
	return len(record.Spec.Actions) >= maxActions && len(record.Spec.EarlierActions) >= maxEarlierActions
}

// StartAction records that an action starts, and the account that has shown the application. It fails with ErrLost if
// the record has changed since it was read. So of several actions of one name, and of several operators, one starts.
// The record must not be full.
func (l *Ledger) StartAction(
	ctx context.Context, record *v1alpha1.ApplicationRecord, action v1alpha1.RecordedAction, account string,
) (*v1alpha1.ApplicationRecord, error) {
	spec := record.Spec.DeepCopy()
	spec.Actions = append(spec.Actions, action)
	if len(spec.Actions) > maxActions {
		name, purpose := digests(&spec.Actions[0])
		spec.EarlierActions = append(spec.EarlierActions, name+purpose)
		spec.Actions = spec.Actions[1:]
	}
	started, err := l.patch(ctx, record,
		testOperation("/metadata/resourceVersion", record.ResourceVersion),
		patchOperation{"add", "/spec/account", account},
		patchOperation{"add", "/spec/actions", spec.Actions},
		patchOperation{"add", "/spec/earlierActions", append([]string{}, spec.EarlierActions...)})
	if err == nil && UseOf(started, &action) != UsedByThisObject {
		return nil, ErrIncomplete
	}
	return started, err
}

// CancelAction forgets a started action the request of which certainly did nothing, so that its name is free. It fails
// with ErrLost if the record has changed since it was read.
func (l *Ledger) CancelAction(
	ctx context.Context, record *v1alpha1.ApplicationRecord, action v1alpha1.RecordedAction,
) (*v1alpha1.ApplicationRecord, error) {
	others := slices.DeleteFunc(record.Spec.DeepCopy().Actions, func(other v1alpha1.RecordedAction) bool {
		return other.Name == action.Name && other.UID == action.UID
	})
	return l.patch(ctx, record,
		testOperation("/metadata/resourceVersion", record.ResourceVersion),
		patchOperation{"add", "/spec/actions", others})
}

// digests of an action's name, and of what it does. They are short: a record may have many.
func digests(action *v1alpha1.RecordedAction) (name, purpose string) {
	digest := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return hex.EncodeToString(sum[:8])
	}
	return digest(action.Name), digest(string(action.Type) + "/" + action.Individual)
}
