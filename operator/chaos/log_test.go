package chaos_test

import (
	"context"
	"fmt"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/ledger"
)

// What the log can have wrong, which a campaign counts.
const (
	unloggedCall     = "CALL WITHOUT AN ENTRY"
	unexplainedEntry = "UNEXPLAINED ENTRY"
)

// callKinds are what the log calls the requests that act on people or cannot be undone.
var callKinds = map[string]v1alpha1.CallKind{
	createRequest: v1alpha1.CallCreate, complete: v1alpha1.CallComplete, reject: v1alpha1.CallReject,
	archive: v1alpha1.CallArchive, deletion: v1alpha1.CallDelete, acceptCheck: v1alpha1.CallAcceptCheck,
	rejectCheck: v1alpha1.CallRejectCheck, resendInvite: v1alpha1.CallResendInvite,
	resetIndividual: v1alpha1.CallResetIndividual, subscribe: v1alpha1.CallSubscribe,
}

// logProblems compares the log of each Mandate with the requests that the service received, one to one: whatever was
// carried out is on record at least as often, and what the log calls done was carried out.
func (s *scenario) logProblems(ctx context.Context, mandates []string) (found []string) {
	for _, mandate := range mandates {
		carriedOut, sent := map[v1alpha1.CallKind]int{}, map[v1alpha1.CallKind]bool{}
		for _, o := range s.occurrences() {
			kind := callKinds[o.effect.what]
			if kind == "" || o.effect.owner() != mandate && o.effect.about != mandate {
				continue
			}
			sent[kind] = true
			if o.forwarded && o.status/100 == 2 {
				carriedOut[kind]++
			}
		}
		record := s.record(ctx, mandate)
		for kind := range sent {
			if entry := entryOf(record, kind); entry == nil {
				found = append(found, fmt.Sprintf("%s: %s: %s", mandate, unloggedCall, kind))
			}
		}
		found = append(found, unexplained(mandate, record, carriedOut)...)
	}
	return found
}

func entryOf(record *v1alpha1.ApplicationRecord, kind v1alpha1.CallKind) *v1alpha1.Call {
	return ledger.Find(record, func(c *v1alpha1.Call) bool { return c.Kind == kind })
}

// unexplained are the entries that do not fit to what was carried out.
func unexplained(
	mandate string, record *v1alpha1.ApplicationRecord, carriedOut map[v1alpha1.CallKind]int,
) (found []string) {
	if record == nil {
		return nil
	}
	sends, done := map[v1alpha1.CallKind]int{}, map[v1alpha1.CallKind]int{}
	for _, c := range record.Spec.Calls {
		sends[c.Kind] += int(c.Sends)
		if c.Result == v1alpha1.CallDone {
			done[c.Kind]++
		}
	}
	for kind, n := range carriedOut {
		if n > sends[kind] {
			found = append(found, fmt.Sprintf("%s: %s: %s was carried out %d times, and the log has %d requests",
				mandate, unloggedCall, kind, n, sends[kind]))
		}
	}
	for kind, n := range done {
		if carriedOut[kind] < n {
			found = append(found, fmt.Sprintf("%s: %s: %d times %s, which the service carried out %d times",
				mandate, unexplainedEntry, n, kind, carriedOut[kind]))
		}
	}
	return found
}
