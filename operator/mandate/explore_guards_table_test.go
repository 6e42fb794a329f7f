package mandate

import (
	"maps"
	"testing"

	"github.com/mandate-io/idv/operator/explore"
)

func TestGuardsAreNeeded(t *testing.T) {
	all := guards()
	maps.Copy(all, subscriptionGuards())
	explore.CheckGuards(t, all)
}

// guards of the protocol. The preconditions of Deposit are not here: the ledger's own tests have a case for each, on a
// real API server.
func guards() map[string]explore.Guard {
	const decideFile, createFile = "decide.go", "create.go"
	const ledgerFile, holderFile = "../ledger/ledger.go", "../ledger/holder.go"
	return map[string]explore.Guard{
		"claim": {
			Why:      "creating the record is the lock",
			File:     ledgerFile,
			Old:      "		return nil, ErrLost\n	case isNamespaceGone",
			Off:      "		return pick(ON, nil, record), pick(ON, ErrLost, nil)\n	case isNamespaceGone",
			CaughtBy: "TestExplore/crashes and lost answers",
		},
		"retake": {
			Why:  "of two operators that find the same lost attempt, one takes it over",
			File: ledgerFile,
			Old:  "(\"/metadata/resourceVersion\", record.ResourceVersion),\n		patchOperation{\"add\", \"/spec/attempt\"",
			Off: "(\"/metadata/\"+pick(ON, \"resourceVersion\", \"name\"), pick(ON, record.ResourceVersion, " +
				"record.Name)),\n		patchOperation{\"add\", \"/spec/attempt\"",
			CaughtBy: "TestExplore/crashes and lost answers",
		},
		"conclude": {
			Why:  "an attempt that was given up must not overwrite the next one",
			File: ledgerFile,
			Old:  "(\"/spec/attempt/nonce\", attempt.Nonce),\n		testOperation(\"/metadata/uid\", string(record.UID)),",
			Off: "(pick(ON, \"/spec/attempt/nonce\", \"/metadata/name\"), pick(ON, attempt.Nonce, record.Name)),\n" +
				"		testOperation(\"/metadata/\"+pick(ON, \"uid\", \"name\"), pick(ON, string(record.UID), record.Name)),",
			CaughtBy: "TestExplore/crashes and lost answers",
		},
		"settle delay": {
			Why:      "an attempt may still be under way",
			File:     decideFile,
			Old:      "case r.verdict == \"\" && f.now.Before(r.observed.Add(f.settleDelay)):",
			Off:      "case ON && r.verdict == \"\" && f.now.Before(r.observed.Add(f.settleDelay)):",
			CaughtBy: "TestExplore/crashes and lost answers",
		},
		"half of the settle delay": {
			Why: "another operator may have taken over the attempt", File: decideFile,
			Old: "f.now.Sub(a.started) > f.settleDelay/2:", Off: "ON && f.now.Sub(a.started) > f.settleDelay/2:",
			CaughtBy: "TestExplore/crashes and lost answers",
		},
		"attempt window": {
			Why: "the service may have forgotten the reference", File: decideFile,
			Old: "f.now.Sub(r.firstStarted) >= attemptWindow,", Off: "ON && f.now.Sub(r.firstStarted) >= attemptWindow,",
			CaughtBy: "TestExplore/alone: eight weeks",
		},
		"createBefore": {
			Why: "after a restore nothing else says that it was sent long ago", File: decideFile,
			Old: "return !f.createBefore.IsZero()", Off: "return ON && !f.createBefore.IsZero()",
			CaughtBy: "TestExplore/alone: restore after eight weeks",
		},
		"taken is final": {
			Why:      "the service may forget a reference that it rejected as taken",
			File:     decideFile,
			Old:      "refused && r.verdict == v1alpha1.VerdictTaken:",
			Off:      "ON && refused && r.verdict == v1alpha1.VerdictTaken:",
			CaughtBy: "TestExplore/alone: restore into an empty cluster",
		},
		"edited after a refusal": {
			Why: "what was refused under another reference says nothing about this one", File: decideFile,
			Old: "&& !r.otherReference && !r.otherURL\n", Off: "&& (!ON || !r.otherReference && !r.otherURL)\n",
			CaughtBy: "TestDecide",
		},
		"another reference": {
			Why: "a name has one application, and this one is wanted under another reference now", File: decideFile,
			Old: "	case r.mayExist() && r.otherReference:\n", Off: "	case ON && r.mayExist() && r.otherReference:\n",
			CaughtBy: "TestExplore/alone: applied again with an edit",
		},
		"another URL": {
			Why: "another account knows nothing of the attempt", File: decideFile,
			Old: "	case r.mayExist() && r.otherURL:\n", Off: "	case ON && r.mayExist() && r.otherURL:\n",
			CaughtBy: "TestExplore/alone: another account",
		},
		"application of another reference": {
			Why: "the Mandate does not ask for it", File: "records.go",
			Old: " && !found.otherReference {", Off: " && !(ON && found.otherReference) {",
			CaughtBy: "TestExplore/alone: applied again with an edit, and no references are shown",
		},
		"application of another URL": {
			Why: "at this service, the id may belong to an unrelated application", File: "records.go",
			Old: "== 0 && !found.otherURL", Off: "== 0 && !(ON && found.otherURL)",
			CaughtBy: "TestRecordOfAnotherServiceOrReference",
		},
		"adoption under another reference": {
			Why: "a name has one application", File: "decide_application.go",
			Old:      "	case r.mayExist() && r.otherReference, r.id",
			Off:      "	case ON && r.mayExist() && r.otherReference, ON && r.id",
			CaughtBy: "TestDecide",
		},
		"adopted by another": {
			Why: "no two Mandates have one application", File: "adoption.go",
			Old: "	if err != nil || other {", Off: "	if err != nil || ON && other {",
			CaughtBy: "TestExplore/alone: two Mandates adopt one application",
		},
		"adopted in another namespace": {
			Why: "its ledger has the application", File: holderFile,
			Old:      "		return sameReference && sameID //",
			Off:      "		return ON && sameReference && sameID //",
			CaughtBy: "TestExplore/alone: another namespace adopts",
		},
		"unknown in another namespace": {
			Why: "its lost application may be the one", File: holderFile,
			Old:      "		return sameReference && shared && attempt != nil && attempt.Sent\n",
			Off:      "		return ON && sameReference && shared && attempt != nil && attempt.Sent\n",
			CaughtBy: "TestExplore/alone: another namespace adopts",
		},
		"reference of a named application": {
			Why: "a notification may name any application", File: "candidates.go",
			Old: "	case !a.sameReference:", Off: "	case ON && !a.sameReference:",
			CaughtBy: "TestExplore/alone: notifications",
		},
		"named application of another spec": {
			Why: "it was created for other people, and no person has named it", File: "candidates.go",
			Old: "	case a.differs:", Off: "	case ON && a.differs:",
			CaughtBy: "TestExplore/alone: notifications and another Mandate of the name",
		},
		"named application that is not found": {
			Why: "a read may lag behind the create", File: "candidate_reads.go",
			Old: "	case another, c.again:", Off: "	case another, ON && c.again:",
			CaughtBy: "TestNamedApplications",
		},
		"named application that is named again": {
			Why:  "deliveries that name ids that are none must not cost a read of each with every request",
			File: "candidate_reads.go",
			Old:  "	case another && last:", Off: "	case another && (!ON || last):", CaughtBy: "TestReadsOfForgedIDs",
		},
		"named application that is refused": {
			Why: "those that it was named with may be this Mandate's", File: "candidates.go",
			Old: "	case isConnectionError(ctx, err):\n		r.facts.candidates, r.facts.candidatePending = nil",
			Off: "	case !ON && !idv.IsNotFound(err), isConnectionError(ctx, err):\n" +
				"		r.facts.candidates, r.facts.candidatePending = nil",
			CaughtBy: "TestExplore/alone: notifications, and what others have cannot be read",
		},
		"named application that shows no reference": {
			Why: "a read may lag behind the create", File: "candidates.go",
			Old:      "resultWithReference(application.Reference)",
			Off:      "resultWithReference(pick(ON, application.Reference, \"of another\"))",
			CaughtBy: "TestNamedApplicationsThatAreNotComplete",
		},
		"named application that differs": {
			Why: "a read may lag behind the create, and the spec and its Secrets can be edited", File: "candidates.go",
			Old:      "r.skipCandidate(id, candidateIncomplete)",
			Off:      "r.skipCandidate(id, pick(ON, candidateIncomplete, candidateOther))",
			CaughtBy: "TestNamedApplicationsThatAreNotComplete",
		},
		"named application that fails again": {
			Why: "the service was down, and nobody may name it again", File: "candidate_reads.go",
			Old: "made.again = failed ||", Off: "made.again = ON && failed ||",
			CaughtBy: "TestNamedApplicationsThatFail",
		},
		"named application of another Mandate": {
			Why: "it waits for that, and nobody else was given it", File: "candidates.go",
			Old: "	if err == nil {\n		r.rememberCandidate(", Off: "	if ON && err == nil {\n		r.rememberCandidate(",
			CaughtBy: "TestNamedApplicationsOfOthers",
		},
		"named applications that are left": {
			Why: "they may be those of others, and nobody reads them for this Mandate again", File: decideFile,
			Old:      "(len(f.candidates) == 0 || f.candidates[0] == f.found)",
			Off:      "(!ON || len(f.candidates) == 0 || f.candidates[0] == f.found)",
			CaughtBy: "TestDecide",
		},
		"named application that cannot be read": {
			Why: "it may be this Mandate's, and then a create is refused as a duplicate at best", File: decideFile,
			Old: "	case f.candidatePending: //", Off: "	case ON && f.candidatePending: //", CaughtBy: "TestDecide",
		},
		"named application that is read for another Mandate": {
			Why: "it may be this one's, and then a create is refused as a duplicate at best", File: "candidates.go",
			Old: "candidatePending = r.facts.candidates[1:], true", Off: "candidatePending = r.facts.candidates[1:], ON",
			CaughtBy: "TestNamedApplicationsOfOthers",
		},
		"decisions while writes fail": {
			Why: "the circuit is open", File: "decide_application.go",
			Old: "	case !f.service.Ready: //", Off: "	case ON && !f.service.Ready: //", CaughtBy: "TestDecide",
		},
		"named application of another namespace": {
			Why: "the reference is the other one's", File: decideFile,
			Old: " && !f.referenceNotAllowed\n", Off: " && (!ON || !f.referenceNotAllowed)\n",
			CaughtBy: "TestDecide",
		},
		"reference of another namespace": {
			Why: "the other one will need it, or has an application under it", File: "decide.go",
			Old:      "	case f.referenceNotAllowed:\n",
			Off:      "	case ON && f.referenceNotAllowed:\n",
			CaughtBy: "TestExplore/alone: another namespace's reference",
		},
		"adoption of another namespace's reference": {
			Why: "the application is the other one's, whatever its ledger has lost", File: "decide_application.go",
			Old:      "	case f.referenceNotAllowed:\n",
			Off:      "	case ON && f.referenceNotAllowed:\n",
			CaughtBy: "TestExplore/alone: another namespace's reference",
		},
		"verify": {
			Why:  "the Mandate may have been edited since the inputs were read",
			File: createFile,
			Old:  "same && err == nil && r.current(mandate) && (usesSecrets(r.mandate) || r.takeSpec(ctx, mandate))",
			Off: "same && err == nil && (ON && r.current(mandate) && (usesSecrets(r.mandate) || r.takeSpec(ctx, mandate)) ||" +
				" !ON && (r.takeSpec(ctx, mandate) || true))",
			CaughtBy: "TestExplore/edits",
		},
		"verify the IdentityService": {
			Why:      "it may lead to another account since",
			File:     "../engine/service.go",
			Old:      "service.GetUID() == used.UID && service.GetGeneration() == used.Generation",
			Off:      "(!ON || service.GetUID() == used.UID && service.GetGeneration() == used.Generation)",
			CaughtBy: "TestExplore/another account",
		},
		"deposit retried": {
			Why:  "the id is known nowhere else",
			File: "conclude.go",
			Old:  "	return &engine.UnrecordedError{Err: err}",
			Off: "	if !ON {\n		r.facts.attempt = attemptFacts{}\n		return nil\n	}\n" +
				"	return &engine.UnrecordedError{Err: err}",
			CaughtBy: "TestExplore/alone: an API server that refuses records",
		},
		"attempts are counted on": {
			Why: "a duplicate after an unknown outcome is our own", File: createFile,
			Old: "	if r.facts.record.sent {", Off: "	if ON && r.facts.record.sent {",
			CaughtBy: "TestExplore/alone: crashes and lost answers",
		},
		"earlier attempts stay open": {
			Why: "that the second attempt created nothing says nothing of the first", File: "conclude.go",
			Old: "	case conclusion.Ordinal == 1:", Off: "	case conclusion.Ordinal == 1 || !ON:",
			CaughtBy: "TestExplore/alone: crashes and lost answers",
		},
		"404": {
			Why:  "a 404 never leads to a create",
			File: "decide_application.go",
			Old:  "	case a.missing:\n		return decideMissing(f)",
			Off: "	case a.missing && !ON:\n		return decision{Step: pick(f.record.read, pick(f.inputs.resolved, " +
				"stepRetake, stepResolve), stepReadRecord)}\n	case a.missing:\n		return decideMissing(f)",
			CaughtBy: "TestExplore/alone: missing applications",
		},
		"404 to other credentials": {
			Why: "another account has other applications", File: "decide_application.go",
			Old: "	case !f.application.believable && missing", Off: "	case ON && !f.application.believable && missing",
			CaughtBy: "TestExplore/alone: exchanged credentials",
		},
		"Deleted is looked for again": {
			Why: "the credentials may have been those of another account for a day", File: "decide_application.go",
			Old:      "	case f.outcome != \"\" && !deleted && !f.archive &&",
			Off:      "	case f.outcome != \"\" && (!ON || !deleted) && !f.archive &&",
			CaughtBy: "TestExplore/alone: exchanged credentials",
		},
		"Deleted is taken back": {
			Why: "the application can be read again", File: "status.go",
			Old:      "	if status.Outcome == v1alpha1.OutcomeDeleted && f",
			Off:      "	if ON && status.Outcome == v1alpha1.OutcomeDeleted && f",
			CaughtBy: "TestExplore/alone: exchanged credentials",
		},
		"application of another": {
			Why: "at another service, the id may belong to an unrelated application", File: "application.go",
			Old: "	return shown == \"\" || strings", Off: "	return !ON || shown == \"\" || strings",
			CaughtBy: "TestExplore/alone: another account",
		},
		"404 of another service": {
			Why: "that an application is gone is believed for ever", File: "decide_application.go",
			Old: "	case f.record.otherURL && !overdue", Off: "	case ON && f.record.otherURL && !overdue",
			CaughtBy: "TestExplore/alone: another service, which has no application",
		},
		"request for another service": {
			Why:      "it may show no references",
			File:     "decide_application.go",
			Old:      "	case !a.referenceMatched && f.record.otherURL:",
			Off:      "	case ON && !a.referenceMatched && f.record.otherURL:",
			CaughtBy: "TestDecide",
		},
		"status of another": {
			Why:  "the Mandate may be another one of that name since the reconciliation started",
			File: "status.go",
			Old:  "client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}).Data",
			Off: "pick(ON, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), " +
				"client.MergeFrom(before)).Data",
			CaughtBy: "TestExplore/another Mandate of the name with another reference",
		},
		"an accepted create is final": {
			Why: "the service may carry it out later, and find the reference free twice", File: decideFile,
			Old: "	case r.verdict == v1alpha1.VerdictAccepted, r.verdict",
			Off: "	case ON && r.verdict == v1alpha1.VerdictAccepted, r.verdict", CaughtBy: "TestDecide",
		},
		"an accepted create is recorded": {
			Why: "after an edit or a restart, nothing else would say so", File: "conclude.go",
			Old: "	case a.posted && !a.outcome.NothingDone():", Off: "	case ON && a.posted && !a.outcome.NothingDone():",
			CaughtBy: "TestExplore/alone: answers without a proof",
		},
		"404 of somebody else": {
			Why: "an ingress answers so while the service is away", File: "decide_application.go",
			Old:      "	case f.application.unproven && !f.application.othersRead &&",
			Off:      "	case ON && f.application.unproven && !f.application.othersRead &&",
			CaughtBy: "TestDecide",
		},
		"404 of somebody else before a deletion": {
			Why: "the application may be there", File: "decide_application.go",
			Old: "	case a.missing && a.unproven && f.now", Off: "	case ON && a.missing && a.unproven && f.now",
			CaughtBy: "TestDecide",
		},
		"decision whose answer was lost": {
			Why: "the service may carry it out later, and e-mail again", File: "decide_application.go",
			Old: "; next != f.sentBefore {", Off: "; !ON || next != f.sentBefore {", CaughtBy: "TestDecide",
		},
		"confirmation delay": {
			Why: "a read may lag behind the create", File: "decide_application.go",
			Old: "	case missing < f.confirmDelay:", Off: "	case ON && missing < f.confirmDelay:",
			CaughtBy: "TestDecide",
		},
		"adopted reference": {
			Why: "the application may be unrelated", File: "decide_application.go",
			Old: "	case a.missing, a.read && !a.sameReference:", Off: "	case a.missing, ON && a.read && !a.sameReference:",
			CaughtBy: "TestExplore/alone: adoption",
		},
		"adoption waits": {
			Why:      "an attempt may still be under way",
			File:     "decide_application.go",
			Old:      "	case r.id == 0 && r.sent && r.verdict == \"\" && f.now.Before",
			Off:      "	case ON && r.id == 0 && r.sent && r.verdict == \"\" && f.now.Before",
			CaughtBy: "TestDecide",
		},
		"review recorded": {
			Why: "a crash or a stale cache must not make a review look new", File: "decide_application.go",
			Old: "!final && !refused && !a.reviewRecorded:", Off: "!final && !refused && !a.reviewRecorded && ON:",
			CaughtBy: "TestExplore/alone: reviews and resets that keep the ids of checks",
		},
		"review carried out": {
			Why: "the checks after a reset are others", File: "review.go",
			Old:      "i < 0 || slices.Contains(r.reviewed.done, key)",
			Off:      "i < 0 || ON && slices.Contains(r.reviewed.done, key)",
			CaughtBy: "TestExplore/alone: reviews and resets",
		},
		"review of a check that is gone": {
			Why: "its answer may have been lost, and the individual reset", File: "review.go",
			Old: "		case bound && !isFor(&pending, check):", Off: "		case ON && bound && !isFor(&pending, check):",
			CaughtBy: "TestExplore/alone: reviews and resets",
		},
		"review of a check that changed": {
			Why: "the individual may have been reset, and the check has kept its id", File: "review.go",
			Old: "(pending.SentState == \"\" || pending", Off: "(!ON || pending.SentState == \"\" || pending",
			CaughtBy: "TestExplore/alone: reviews and resets that keep the ids of checks",
		},
		"review of what the status showed": {
			Why: "its author has seen no other check", File: "review.go",
			Old: "	return pending, pending.CheckID != 0\n", Off: "	return pending, ON && pending.CheckID != 0\n",
			CaughtBy: "TestExplore/alone: reviews and resets",
		},
		"review in a restored Mandate": {
			Why: "nobody knows what it was for", File: "review.go",
			Old: "	if r.record != nil && r.record.Spec", Off: "	if ON && r.record != nil && r.record.Spec",
			CaughtBy: "TestExplore/alone: reviews and a restore",
		},
		"review by the last to record it": {
			Why: "another operator may have sent it since, and the individual may have been reset", File: "confirm.go",
			Old:      "live.ResourceVersion != r.mandate.ResourceVersion",
			Off:      "live.Generation != r.mandate.Generation || ON && live.ResourceVersion != r.mandate.ResourceVersion",
			CaughtBy: "TestExplore/two operators send a review",
		},
		"individuals are compared": {
			Why: "nothing else tells them apart", File: "individuals.go",
			Old: "&& !r.compared() &&", Off: "&& !r.compared() && ON &&",
			CaughtBy: "TestExplore/alone: individuals",
		},
		"review of what the status showed before": {
			Why: "the status does not show the checks while individuals are unmatched", File: "review.go",
			Old: "			r.keepSeenCheck(key)\n", Off: "			if ON {\n				r.keepSeenCheck(key)\n			}\n",
			CaughtBy: "TestExplore/alone: reviews and individuals",
		},
		"review while individuals are unmatched": {
			Why: "it may reach another one", File: "decide_application.go",
			Old: "	case a.reviews > 0 && !a.unmatched && !final && !refused:", Off: "	case a.reviews > 0 && " +
				"!(ON && a.unmatched) && !final && !refused:",
			CaughtBy: "TestDecide",
		},
		"spec of a new object": {
			Why: "the application was created for other people", File: "spec_differs.go",
			Old: "	if !r.newObject() {", Off: "	if !ON || !r.newObject() {",
			CaughtBy: "TestExplore/alone: another Mandate of the name for another person",
		},
		"application of another spec": {
			Why: "to bind it is final", File: "application.go",
			Old: "	if a.differs {", Off: "	if ON && a.differs {",
			CaughtBy: "TestExplore/alone: another Mandate of the name for another person",
		},
		"deletion of another spec's application": {
			Why: "it was created for other people", File: "decide_application.go",
			Old: " a.differs, r.otherURL", Off: " ON && a.differs, r.otherURL",
			CaughtBy: "TestDecide",
		},
		"live read before a call": {
			Why:      "a user may have withdrawn what the cache asks for",
			File:     decideFile,
			Old:      "	case !f.confirmed && slices",
			Off:      "	case ON && !f.confirmed && slices",
			CaughtBy: "TestExplore/alone: decisions",
		},
		"edit before a call": {
			Why:      "a user may have withdrawn what the cache asks for",
			File:     "confirm.go",
			Old:      "live.Generation == r.mandate.Generation &&\n",
			Off:      "(!ON || live.Generation == r.mandate.Generation) &&\n",
			CaughtBy: "TestExplore/alone: decisions",
		},
		"another Mandate before a call": {
			Why:      "nobody has decided for it",
			File:     "confirm.go",
			Old:      "return live != nil && live.UID == r.mandate.UID &&",
			Off:      "return live != nil && (!ON || live.UID == r.mandate.UID) &&",
			CaughtBy: "TestExplore/alone: decisions and another Mandate of the name",
		},
		"the IdentityService before a call": {
			Why:      "a user may have pointed it at another account",
			File:     "confirm.go",
			Old:      "	if same && err == nil {",
			Off:      "	if !ON || same && err == nil {",
			CaughtBy: "TestExplore/alone: decisions and another account",
		},
		"one call a reconciliation": {
			Why:      "the first may have changed what the second was decided on",
			File:     decideFile,
			Old:      "{ return f.acted && slices",
			Off:      "{ return ON && f.acted && slices",
			CaughtBy: "TestExplore/alone: decisions, archiving and reviews",
		},
		"log of a call": {
			Why: "nobody could tell what was done", File: "application.go",
			Old:      "		log.FromContext(ctx).Info(\"Carried out the decision\",",
			Off:      "		log.FromContext(ctx).V(pick(ON, 0, 1)).Info(\"Carried out the decision\",",
			CaughtBy: "TestExplore/alone: decisions",
		},
		"deleted reference": {
			Why: "the id may belong to an unrelated application", File: "decide_application.go",
			Old: "	case !a.sameReference, a.differs,", Off: "	case ON && !a.sameReference, a.differs,",
			CaughtBy: "TestDecide",
		},
	}
}
