package action

import (
	"testing"

	"github.com/mandate-io/idv/operator/explore"
)

const (
	decideFile  = "decide.go"
	attemptFile = "decide_attempt.go"
	ledgerFile  = "../ledger/actions.go"
)

func TestGuardsAreNeeded(t *testing.T) { explore.CheckGuards(t, guards()) }

// guards of what is done once per name.
func guards() map[string]explore.Guard {
	return map[string]explore.Guard{
		"name used": {
			Why: "an action that is applied again e-mails again", File: decideFile,
			Old:      "	switch r := f.record; {\n	case r.used && !r.mine && r.alike:",
			Off:      "	switch r := f.record; {\n	case !ON:\n		return decision{}\n	case r.used && !r.mine && r.alike:",
			CaughtBy: "TestDecide", Fails: "TestDecide/another_action_of_the_name_came_first",
		},
		"name recorded once": {
			Why: "two operators may have read that the name is free", File: ledgerFile,
			Old: "	started, err := l.patch(ctx, record,\n		testOperation(\"/metadata/resourceVersion\", " +
				"record.ResourceVersion),",
			Off: "	started, err := l.patch(ctx, record,\n		testOperation(\"/metadata/\"+pick(ON, \"resourceVersion\", " +
				"\"name\"), pick(ON, record.ResourceVersion, record.Name)),",
			CaughtBy: "TestExplore/two actions", Fails: "A1: ",
		},
		"name recorded": {
			Why: "the object of an action may go, and come back", File: attemptFile,
			Old:      "	case !f.record.mine:\n		return decision{Step: stepRecord}",
			Off:      "	case ON && !f.record.mine:\n		return decision{Step: stepRecord}",
			CaughtBy: "TestExplore/applied again", Fails: "A1: ",
		},
		"last look": {
			Why: "something may have changed since it was read", File: attemptFile,
			Old: "	case !f.attempt.verified:", Off: "	case ON && !f.attempt.verified:",
			CaughtBy: "TestExplore/edits of the Mandate", Fails: "A2: ",
		},
		"last look compares": {
			Why: "a user may have suspended the Mandate, or another operator ended the action", File: "records.go",
			Old:      "live.ResourceVersion != read.as.ResourceVersion",
			Off:      "ON && live.ResourceVersion != read.as.ResourceVersion",
			CaughtBy: "TestExplore/edits of the Mandate", Fails: "A2: ",
		},
		"last look at the service": {
			Why: "its ids may be other people's since", File: "records.go",
			Old:      "same, _, err := r.session.IsCurrent(ctx, r.liveServices, r.action.Namespace)",
			Off:      "same, _, err := r.session.IsCurrent(ctx, r.liveServices, r.action.Namespace)\n\tsame = same || !ON",
			CaughtBy: "TestExplore/another service", Fails: "A2: ",
		},
		"last look before a report": {
			Why: "the report may be another person's since", File: decideFile,
			Old:      "	case !f.attempt.verified:\n		return decision{Step: stepVerify}",
			Off:      "	case ON && !f.attempt.verified:\n		return decision{Step: stepVerify}",
			CaughtBy: "TestExplore/a report of another service", Fails: "A2: ",
		},
		"open attempt": {
			Why: "its request may be under way", File: decideFile,
			Old: "	case f.attempt.open:\n		return wait", Off: "	case ON && f.attempt.open:\n		return wait",
			CaughtBy: "TestDecide", Fails: "TestDecide/an_attempt_without_a_result,_of_a_deleted_Mandate",
		},
		"handover": {
			Why: "the operator of an attempt may be about to record its result", File: decideFile,
			Old: "	case f.attempt.open && f.now.Before", Off: "	case ON && f.attempt.open && f.now.Before",
			CaughtBy: "TestDecide", Fails: "TestDecide/an_attempt_of_another_operator",
		},
		"unknown outcome": {
			Why: "the individual may have been e-mailed", File: attemptFile,
			Old: "a.outcome.NothingDone() && !a.refusal:", Off: "(a.outcome.NothingDone() || !ON) && !a.refusal:",
			CaughtBy: "TestExplore/crashes and lost answers", Fails: "A1: ",
		},
		"accepted": {
			Why: "nobody knows whether the service has e-mailed anybody", File: attemptFile,
			Old: "	case a.accepted:", Off: "	case ON && a.accepted:",
			CaughtBy: "TestExplore/what is accepted", Fails: "A3: ",
		},
		"canceled start": {
			Why: "the name must be free again, or the action looks like one that was done", File: attemptFile,
			Old:      "	case f.record.mine:\n		return decision{Step: stepCancel}",
			Off:      "	case ON && f.record.mine:\n		return decision{Step: stepCancel}",
			CaughtBy: "TestDecide", Fails: "TestDecide/not_sent,_and_still_in_the_ledger",
		},
		"a start that failed": {
			Why: "another operator may carry the action out, under the same name", File: "send.go",
			Old:      "	case r.action.Status.Attempt == r.attempt:",
			Off:      "	case !ON || r.action.Status.Attempt == r.attempt:",
			CaughtBy: "TestExplore/requests that do nothing", Fails: "A3: ",
		},
		"the start is conditional": {
			Why: "of two operators, one starts the action", File: "status.go",
			Old: "		client.MergeFromWithOptions(r.action, client.MergeFromWithOptimisticLock{}),",
			Off: "		pick(ON, client.MergeFromWithOptions(r.action, client.MergeFromWithOptimisticLock{}), " +
				"client.MergeFrom(r.action)),",
			CaughtBy: "TestExplore/crashes and lost answers", Fails: "A3: ",
		},
		"suspended": {
			Why: "nobody is e-mailed for a suspended Mandate", File: decideFile,
			Old: "	case m.suspended:", Off: "	case ON && m.suspended:",
			CaughtBy: "TestExplore/edits of the Mandate", Fails: "A2: ",
		},
		"permission to store": {
			Why: "a report is personal data, and nobody could have it", File: decideFile,
			Old: "	case f.storing.denied: //", Off: "	case ON && f.storing.denied: //",
			CaughtBy: "TestDecideStoring", Fails: "TestDecideStoring/denied",
		},
		"permission asked for": {
			Why: "without an answer, nothing is denied", File: decideFile,
			Old: "	case !f.storing.checked:", Off: "	case ON && !f.storing.checked:",
			CaughtBy: "TestDecideStoring", Fails: "TestDecideStoring/the_API_server_refused_the_Secret",
		},
		"log of an action": {
			Why: "nobody could tell what was done", File: "send.go",
			Old: "		logger.Info(\"Carried out the action\")", Off: "		logger.V(pick(ON, 0, 1)).Info(\"Carried out the action\")",
			CaughtBy: "TestExplore/crashes and lost answers", Fails: "A4: ",
		},
		"the ledger of the application": {
			Why: "without it, nobody knows what was done", File: attemptFile,
			Old:      "	case f.record.application != f.mandate.application:",
			Off:      "	case ON && f.record.application != f.mandate.application:",
			CaughtBy: "TestDecide", Fails: "TestDecide/the_record_is_gone",
		},
	}
}
