package action

import (
	"maps"
	"testing"

	"github.com/mandate-io/idv/internal/test/explore"
)

const (
	decideFile = "decide.go"
	callsFile  = "decide_call.go"
	callFile   = "call.go"
	ledgerFile = "../ledger/calls.go"
)

func TestGuardsAreNeeded(t *testing.T) {
	all := guardsOfCalls()
	maps.Copy(all, guardsOfLooks())
	maps.Copy(all, guardsOfEnds())
	maps.Copy(all, guardsOfSites())
	maps.Copy(all, guardsOfTime())
	explore.CheckGuards(t, all)
}

// guardsOfCalls are those of what is done once per name.
func guardsOfCalls() map[string]explore.Guard {
	return map[string]explore.Guard{
		"name used": {
			Why: "an action that is applied again e-mails again", File: callsFile,
			Old:      "	r := f.record\n	unused,",
			Off:      "	r := f.record\n	if !ON {\n		return decision{}\n	}\n	unused,",
			CaughtBy: "TestExplore/applied again", Fails: "A5: ",
		},
		"call begun once": {
			Why: "two operators may have read that the name is free", File: ledgerFile,
			Old: "	operations := []patchOperation{unchanged(record), {\"add\", \"/spec/calls\", calls}}",
			Off: "	operations := []patchOperation{pick(ON, unchanged(record), " +
				"testOperation(\"/metadata/name\", record.Name)), {\"add\", \"/spec/calls\", calls}}",
			CaughtBy: "TestExplore/two actions", Fails: "A5: ",
		},
		"call begun": {
			Why: "the object of an action may go, and come back", File: decideFile,
			Old: "		perform(stepBegin),", Off: "		perform(pick(ON, stepBegin, stepSend)),",
			CaughtBy: "TestExplore/applied again", Fails: "A2: ",
		},
		"open call": {
			Why: "its request may be under way", File: callsFile,
			Old:      "		when(!unused && r.result == \"\",",
			Off:      "		when(ON && !unused && r.result == \"\",",
			CaughtBy: "TestDecide", Fails: "TestDecide/a_call_without_a_result,_of_a_deleted_Mandate",
		},
		"open call of others": {
			Why: "there is one call of a record at a time", File: decideFile,
			Old: "		when(f.record.open != noCall,", Off: "		when(ON && f.record.open != noCall,",
			CaughtBy: "TestExplore/a call of the Mandate", Fails: "A5: ",
		},
		"handover": {
			Why: "the operator of a call may be about to record its result", File: callsFile,
			Old:      "!f.now.Before(f.record.seen.Add(f.handover))",
			Off:      "(!ON || !f.now.Before(f.record.seen.Add(f.handover)))",
			CaughtBy: "TestDecide", Fails: "TestDecide/a_call_of_another_operator",
		},
		"call of the Mandate": {
			Why: "its controller finds out what became of it", File: callsFile,
			Old: "	handedOver := f.record.open != otherCall &&", Off: "	handedOver := (!ON || f.record.open != otherCall) &&",
			CaughtBy: "TestDecide", Fails: "TestDecide/a_call_of_the_Mandate",
		},
		"unsent": {
			Why: "of the call of another operator, nobody knows that it was not sent", File: callFile,
			Old:      "	case r.open.Nonce == r.localState.Get(r.action).unsent:",
			Off:      "	case !ON || r.open.Nonce == r.localState.Get(r.action).unsent:",
			CaughtBy: "TestExplore/crashes and lost answers", Fails: "A1: |A2: ",
		},
		"the ledger of the application": {
			Why: "without it, nobody knows what was done", File: decideFile,
			Old:      "		when(f.record.application != f.mandate.application,",
			Off:      "		when(ON && f.record.application != f.mandate.application,",
			CaughtBy: "TestDecide", Fails: "TestDecide/no_record",
		},
	}
}

// guardsOfLooks are those of what is looked at before a request, and before a report is requested.
func guardsOfLooks() map[string]explore.Guard {
	return map[string]explore.Guard{
		"restored record": {
			Why: "the action may have been carried out since the backup", File: decideFile,
			Old: "		when(f.record.restored,", Off: "		when(ON && f.record.restored,",
			CaughtBy: "TestDecide", Fails: "TestDecide/a_restored_record",
		},
		"last look": {
			Why: "something may have changed since it was read", File: callsFile,
			Old: "		perform(stepVerify),", Off: "		perform(pick(ON, stepVerify, stepSend)),",
			CaughtBy: "TestExplore/edits of the Mandate", Fails: "A2: ",
		},
		"last look compares": {
			Why: "a user may have suspended the Mandate, or another operator ended the action", File: callFile,
			Old:      "live.ResourceVersion != o.read.ResourceVersion",
			Off:      "ON && live.ResourceVersion != o.read.ResourceVersion",
			CaughtBy: "TestExplore/edits of the Mandate", Fails: "A2: ",
		},
		"last look at the record": {
			Why: "another operator may have ended the call, or the record may be gone", File: callFile,
			Old: "	if r.facts.emails {", Off: "	if ON && r.facts.emails {",
			CaughtBy: "TestExplore/crashes and lost answers", Fails: "A2: ",
		},
		"last look at the service": {
			Why: "its ids may be other people's since", File: callFile,
			Old:      "same, _, err := r.session.IsCurrent(ctx, r.liveServices, r.action.Namespace)",
			Off:      "same, _, err := r.session.IsCurrent(ctx, r.liveServices, r.action.Namespace)\n\tsame = same || !ON",
			CaughtBy: "TestExplore/another service", Fails: "A2: ",
		},
		"last look before a report": {
			Why: "the report may be another person's since", File: decideFile,
			Old: "		when(!report.verified,", Off: "		when(ON && !report.verified,",
			CaughtBy: "TestExplore/a report of another service", Fails: "A2: ",
		},
		"suspended": {
			Why: "nobody is e-mailed for a suspended Mandate", File: decideFile,
			Old: "		when(m.suspended,", Off: "		when(ON && m.suspended,",
			CaughtBy: "TestExplore/edits of the Mandate", Fails: "A2: ",
		},
		"permission to store": {
			Why: "a report is personal data, and nobody could have it", File: decideFile,
			Old: "		when(f.storing.denied,", Off: "		when(ON && f.storing.denied,",
			CaughtBy: "TestDecideStoring", Fails: "TestDecideStoring/denied",
		},
		"permission asked for": {
			Why: "without an answer, nothing is denied", File: decideFile,
			Old: "		when(!f.storing.checked,", Off: "		when(ON && !f.storing.checked,",
			CaughtBy: "TestDecideStoring", Fails: "TestDecideStoring/the_API_server_refused_the_Secret",
		},
	}
}

// guardsOfEnds are those of what the log and the status say in the end.
func guardsOfEnds() map[string]explore.Guard {
	return map[string]explore.Guard{
		"result recorded": {
			Why: "the status goes with its object, and nobody knows the result", File: callsFile,
			Old: "	case over:\n", Off: "	case pick(ON, over, -1):\n",
			CaughtBy: "TestDecide", Fails: "TestDecide/its_result_is_recorded",
		},
		"unknown outcome": {
			Why: "the individual may have been e-mailed", File: callFile,
			Old: "	case !outcome.NothingDone():", Off: "	case ON && !outcome.NothingDone():",
			CaughtBy: "TestExplore/crashes and lost answers", Fails: "A1: ",
		},
		"accepted": {
			Why: "nobody knows whether the service has e-mailed anybody", File: callFile,
			Old: "	case err == nil && change.Accepted:", Off: "	case ON && err == nil && change.Accepted:",
			CaughtBy: "TestExplore/what is accepted", Fails: "A3: ",
		},
		"refusal": {
			Why: "it would e-mail somebody on the day on which the service stops to refuse it", File: callFile,
			Old: "	case !idv.IsRefusal(err):", Off: "	case !ON || !idv.IsRefusal(err):",
			CaughtBy: "TestDecide", Fails: "TestDecide/forbidden",
		},
		"count": {
			Why: "a reset that was refused would hold decisions", File: callFile,
			Old: "		ended.Sends--", Off: "		ended.Sends -= int32(pick(ON, 1, 0))",
			CaughtBy: "TestExplore/requests that do nothing", Fails: "A5: ",
		},
		"the end of others is conditional": {
			Why: "the operator of the call may have recorded its result", File: ledgerFile,
			Old: "	return l.end(ctx, record, call, unchanged(record))",
			Off: "	return l.end(ctx, record, call, pick(ON, unchanged(record), " +
				"testOperation(\"/metadata/name\", record.Name)))",
			CaughtBy: "TestExplore/crashes and lost answers", Fails: "A5: ",
		},
		"the end is conditional": {
			Why: "of two operators, one ends the action", File: "status.go",
			Old: "	patch := client.MergeFromWithOptions(r.action, client.MergeFromWithOptimisticLock{})",
			Off: "	patch := pick(ON, client.MergeFromWithOptions(r.action, client.MergeFromWithOptimisticLock{}), " +
				"client.MergeFrom(r.action))",
			CaughtBy: "TestExplore/crashes and lost answers", Fails: "A3: ",
		},
		"not sent": {
			Why: "another operator may have begun the call that this one says was not sent", File: "reconciliation.go",
			Old:      "live.ResourceVersion == r.record.ResourceVersion, err",
			Off:      "(!ON || live.ResourceVersion == r.record.ResourceVersion), err",
			CaughtBy: "TestExplore/forbidden to one operator", Fails: "A3: ",
		},
		"log of an action": {
			Why: "nobody could tell what was done", File: callFile,
			Old: "	engine.LogAnswer(logger, ", Off: "	engine.LogAnswer(logger.V(pick(ON, 0, 1)), ",
			CaughtBy: "TestExplore/crashes and lost answers", Fails: "A4: ",
		},
	}
}
