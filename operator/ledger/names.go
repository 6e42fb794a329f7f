package ledger

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// What the CRD allows. The names of actions are kept longer than their details: if a name were dropped, a GitOps tool
// that applies an old action again could e-mail its individual once more.
const (
	maxCalls   = 100
	maxEarlier = 1000
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

// UseOf says whether a call was begun for a MandateAction of this name, and which. The call is nil if the record has
// only a digest of it.
func UseOf(record *v1alpha1.ApplicationRecord, action *v1alpha1.Call) (NameUse, *v1alpha1.Call) {
	if c := Find(record, func(c *v1alpha1.Call) bool { return c.Name == action.Name }); c != nil {
		switch {
		case c.UID != "" && c.UID == action.UID:
			return UsedByThisObject, c
		case c.Kind == action.Kind && c.Individual == action.Individual:
			return UsedForSameAction, c
		default:
			return UsedForOtherAction, c
		}
	}
	name, purpose := digests(action)
	for _, earlier := range record.Spec.Earlier {
		switch {
		case earlier == name+purpose:
			return UsedForSameAction, nil
		case strings.HasPrefix(earlier, name):
			return UsedForOtherAction, nil
		}
	}
	return Unused, nil
}

// IsFull reports whether a record cannot hold another call.
func IsFull(record *v1alpha1.ApplicationRecord) bool {
	_, _, err := with(record, &v1alpha1.Call{})
	return err != nil
}

// WasMade reports whether a record has only a digest of a call like this one.
func WasMade(record *v1alpha1.ApplicationRecord, call *v1alpha1.Call) bool {
	return slices.Contains(record.Spec.Earlier, digestOf(call))
}

// DigestsOf are those of the calls of a record that must not be made again, the oldest first: of all that may have been
// carried out, and of actions, whose names are used up. Another record of the application keeps them. A create needs
// none: the id of the application says it.
func DigestsOf(record *v1alpha1.ApplicationRecord) []string {
	digests := slices.Clone(record.Spec.Earlier)
	for i := range record.Spec.Calls {
		if call := &record.Spec.Calls[i]; !isCreate(call) && (call.Sends > 0 || call.Name != "") {
			digests = append(digests, digestOf(call))
		}
	}
	return digests
}

func digestOf(call *v1alpha1.Call) string {
	name, purpose := digests(call)
	return name + purpose
}

// digests of the name of a call, and of what it does. They are short: a record may have many.
func digests(call *v1alpha1.Call) (name, purpose string) {
	digest := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return hex.EncodeToString(sum[:8])
	}
	return digest(cmp.Or(call.Name, subject(call))), digest(string(call.Kind) + "/" + call.Individual)
}
