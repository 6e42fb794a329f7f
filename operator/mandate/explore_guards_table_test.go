package mandate

import (
	"maps"
	"testing"

	"github.com/mandate-io/idv/internal/test/explore"
)

func TestGuardsAreNeeded(t *testing.T) {
	all := guards()
	maps.Copy(all, subscriptionGuards())
	maps.Copy(all, specGuards())
	maps.Copy(all, timeGuards())
	maps.Copy(all, evidenceGuards())
	explore.CheckGuards(t, all)
}

// guards of the protocol. The preconditions of Deposit and End are not here: the ledger's own tests have a case for
// each, on a real API server.
func guards() map[string]explore.Guard {
	const (
		decideFile = "decide.go"
		callsFile  = "calls.go"
		ledgerFile = "../ledger/ledger.go"
		logFile    = "../ledger/calls.go"
		holderFile = "../ledger/holder.go"
	)
	return map[string]explore.Guard{
		"claim": {
			Why:      "creating the record is the lock",
			File:     ledgerFile,
			Old:      "		return nil, ErrLost\n	case isNamespaceGone",
			Off:      "		return pick(ON, nil, record), pick(ON, ErrLost, nil)\n	case isNamespaceGone",
			CaughtBy: "TestExplore/crashes and lost answers", Fails: "TestExplore/crashes_and_lost_answers",
		},
		"begin": {
			Why:  "of two operators that find the same lost call, one takes it over",
			File: logFile,
			Old:  "{unchanged(record), {\"add\", \"/spec/calls\", calls}}",
			Off: "{pick(ON, unchanged(record), testOperation(\"/metadata/name\", record.Name)), " +
				"{\"add\", \"/spec/calls\", calls}}",
			CaughtBy: "TestExplore/two operators find a lost attempt", Fails: "I8: ",
		},
		"begin before send": {
			Why:  "a crash or a stale cache must not make a call look new",
			File: callsFile,
			Old:  "		return r.config.Ledger.Begin(ctx, r.record, call, about)\n",
			Off: "		if ON {\n			return r.config.Ledger.Begin(ctx, r.record, call, about)\n		}\n" +
				"		return r.record, nil\n",
			CaughtBy: "TestExplore/alone: decisions", Fails: "I8: ",
		},
		"one call at a time": {
			Why: "another operator may be sending it", File: "decide_act.go",
			Old:      "	if f.record.open() != nil && f.mayBeUnderWay() {",
			Off:      "	if ON && f.record.open() != nil && f.mayBeUnderWay() {",
			CaughtBy: "TestDecide", Fails: "TestDecide",
		},
		"settle delay": {
			Why:      "an attempt may still be under way",
			File:     "decide_create.go",
			Old:      "case r.isOpen() && f.mayBeUnderWay():",
			Off:      "case ON && r.isOpen() && f.mayBeUnderWay():",
			CaughtBy: "TestExplore/crashes and lost answers", Fails: "TestExplore/crashes_and_lost_answers",
		},
		"settled by a person": {
			Why: "the request may still be under way", File: "decide_create.go",
			Old:      "	case open && f.mayBeUnderWay():",
			Off:      "	case ON && open && f.mayBeUnderWay():",
			CaughtBy: "TestDecide", Fails: "TestDecide/too_many_unknown_attempts,_of_which_the_last_may_be_under_way",
		},
		"half of the settle delay": {
			Why: "another operator may have taken over the attempt", File: decideFile,
			Old: "engine.Elapsed(a.started, f.now) >", Off: "ON && engine.Elapsed(a.started, f.now) >",
			CaughtBy: "TestExplore/crashes and lost answers", Fails: "I20: .* may soon take it for lost",
		},
		"create window": {
			Why: "the service may have forgotten the reference", File: "decide_create.go",
			Old:      "!withinCreateWindow(r.firstStarted, f.now),",
			Off:      "ON && !withinCreateWindow(r.firstStarted, f.now),",
			CaughtBy: "TestExplore/alone: eight weeks", Fails: "I[15]: ",
		},
		"restored record": {
			Why: "what it says of the create may be of long ago", File: "decide_create.go",
			Old: "	case f.record.restored:", Off: "	case ON && f.record.restored:",
			CaughtBy: "TestDecide", Fails: "TestDecide/a_restored_record_of_a_create_that_created_nothing",
		},
		"create that a gateway answered": {
			Why: "on request, too: it may be under way at the service", File: "decide_create.go",
			Old: "== v1alpha1.AnswerRetryable && passed <", Off: "== v1alpha1.AnswerRetryable && ON && passed <",
			CaughtBy: "TestDecide", Fails: "TestDecide/a_create_that_a_gateway_answered_with_503,_on_request",
		},
		"request that a gateway answered": {
			Why: "nothing proves that it did nothing", File: "records.go",
			Old: "sends = max(1, sends-1)", Off: "sends = max(pick[int32](ON, 1, 0), sends-1)",
			CaughtBy: "TestConclusion", Fails: "TestConclusion",
		},
		"createBefore": {
			Why: "after a restore nothing else says that it was sent long ago", File: "decide_create.go",
			Old: "return !f.create.createBefore.IsZero()", Off: "return ON && !f.create.createBefore.IsZero()",
			CaughtBy: "TestExplore/alone: restore after eight weeks", Fails: "I1: ",
		},
		"erased": {
			Why: "nobody says any more whom to e-mail", File: "decide_create.go",
			Old: "	case f.create.erased:", Off: "	case ON && f.create.erased:",
			CaughtBy: "TestExplore/alone: erased individuals", Fails: "I21: ",
		},
		"taken is final": {
			Why:      "the service may forget a reference that it rejected as taken",
			File:     "decide_create.go",
			Old:      "refused && r.answer == v1alpha1.AnswerDuplicate:",
			Off:      "ON && refused && r.answer == v1alpha1.AnswerDuplicate:",
			CaughtBy: "TestExplore/alone: restore into an empty cluster", Fails: "I5: ",
		},
		"edited after a refusal": {
			Why: "what was refused under another reference says nothing about this one", File: "decide_create.go",
			Old: "&& !r.otherReference && !r.otherURL\n", Off: "&& (!ON || !r.otherReference && !r.otherURL)\n",
			CaughtBy: "TestDecide", Fails: "TestDecide/a_refused_application_is_sent_again_to_another_service",
		},
		"another reference": {
			Why: "a name has one application, and this one is wanted under another reference now", File: "decide_create.go",
			Old: "	case r.mayExist() && r.otherReference:\n", Off: "	case ON && r.mayExist() && r.otherReference:\n",
			CaughtBy: "TestExplore/alone: applied again with an edit", Fails: "I5: ",
		},
		"another URL": {
			Why: "another account knows nothing of the attempt", File: "decide_create.go",
			Old: "	case r.mayExist() && r.otherURL:\n", Off: "	case ON && r.mayExist() && r.otherURL:\n",
			CaughtBy: "TestExplore/alone: another account", Fails: "I5: ",
		},
		"application of another reference": {
			Why: "the Mandate does not ask for it", File: "records.go",
			Old: " && !found.otherReference {", Off: " && !(ON && found.otherReference) {",
			CaughtBy: "TestRecordOfAnotherServiceOrReference",
			Fails:    "TestRecordOfAnotherServiceOrReference/another_reference",
		},
		"application of another URL": {
			Why: "at this service, the id may belong to an unrelated application", File: "records.go",
			Old: "== 0 && !found.otherURL", Off: "== 0 && !(ON && found.otherURL)",
			CaughtBy: "TestRecordOfAnotherServiceOrReference",
			Fails:    "TestRecordOfAnotherServiceOrReference/another_service",
		},
		"adoption under another reference": {
			Why: "a name has one application", File: "decide_create.go",
			Old:      "	case r.mayExist() && r.otherReference, r.id",
			Off:      "	case ON && r.mayExist() && r.otherReference, ON && r.id",
			CaughtBy: "TestDecide",
			Fails:    "TestDecide/what_may_exist_under_another_reference_keeps_others_from_being_adopted",
		},
		"adopted by another": {
			Why: "no two Mandates have one application", File: "bind.go",
			Old: "	if err != nil || other {", Off: "	if err != nil || ON && other {",
			CaughtBy: "TestExplore/alone: two Mandates adopt one application", Fails: "I3: ",
		},
		"adopted in another namespace": {
			Why: "its ledger has the application", File: holderFile,
			Old:      "		return sameReference && sameID //",
			Off:      "		return ON && sameReference && sameID //",
			CaughtBy: "TestExplore/alone: another namespace adopts", Fails: "I13: ",
		},
		"unknown in another namespace": {
			Why: "its lost application may be the one", File: holderFile,
			Old:      "		return sameReference && shared && MayExist(other)\n",
			Off:      "		return ON && sameReference && shared && MayExist(other)\n",
			CaughtBy: "TestExplore/alone: another namespace adopts", Fails: "I13: ",
		},
		"reference of a named application": {
			Why: "a notification may name any application", File: "bind.go",
			Old: "	case a.reference == referenceOther:", Off: "	case ON && a.reference == referenceOther:",
			CaughtBy: "TestExplore/alone: notifications", Fails: "I3: ",
		},
		"named application of another spec": {
			Why: "it was created for other people, and no person has named it", File: "bind.go",
			Old: "	case a.differs:", Off: "	case ON && a.differs:",
			CaughtBy: "TestExplore/alone: notifications and another Mandate of the name", Fails: "I12: ",
		},
		"named application that is not found": {
			Why: "a read may lag behind the create", File: "bind.go",
			Old:      "	case result == candidateIncomplete && made.tries < 2:",
			Off:      "	case ON && result == candidateIncomplete && made.tries < 2:",
			CaughtBy: "TestNamedApplications", Fails: "TestNamedApplications",
		},
		"named application that is refused": {
			Why: "those that it was named with may be this Mandate's", File: "bind.go",
			Old:      "	case engine.IsConnectionError(ctx, err):",
			Off:      "	case !ON && !idv.IsNotFound(err), engine.IsConnectionError(ctx, err):",
			CaughtBy: "TestExplore/alone: notifications, and what others have cannot be read", Fails: "I5: ",
		},
		"named application that shows no reference": {
			Why: "a read may lag behind the create", File: "bind.go",
			Old:      "resultWithReference(application.Reference)",
			Off:      "resultWithReference(pick(ON, application.Reference, \"of another\"))",
			CaughtBy: "TestNamedApplicationsThatAreNotComplete",
			Fails:    "TestNamedApplicationsThatAreNotComplete/the_reference_is_not_visible_yet/once_more_by_itself",
		},
		"named application that differs": {
			Why: "a read may lag behind the create, and the spec and its Secrets can be edited", File: "bind.go",
			Old:      "r.skipCandidate(id, candidateIncomplete)\n",
			Off:      "r.skipCandidate(id, pick(ON, candidateIncomplete, candidateOther))\n",
			CaughtBy: "TestNamedApplicationsThatAreNotComplete",
			Fails:    "TestNamedApplicationsThatAreNotComplete/a_Secret_was_edited_after_the_create/once_more_by_itself",
		},
		"named application that cannot be read": {
			Why: "it may be this Mandate's, and then a create is refused as a duplicate at best", File: "decide_create.go",
			Old: "	case f.create.candidatePending: //", Off: "	case ON && f.create.candidatePending: //",
			CaughtBy: "TestDecide", Fails: "TestDecide/nothing_is_sent_while_an_application_that_is_named_cannot_be_read",
		},
		"decisions while writes fail": {
			Why: "the circuit is open", File: "decide_act.go",
			Old: "	case !f.service.Ready: //", Off: "	case ON && !f.service.Ready: //",
			CaughtBy: "TestDecide",
			Fails:    "TestDecide/a_decision_about_an_application_that_was_found_while_only_writes_fail",
		},
		"named application of another namespace": {
			Why: "the reference is the other one's", File: "decide_create.go",
			Old: " && !f.create.referenceNotAllowed\n", Off: " && (!ON || !f.create.referenceNotAllowed)\n",
			CaughtBy: "TestDecide", Fails: "TestDecide/nothing_is_looked_for_in_another_namespace",
		},
		"reference of another namespace": {
			Why: "the other one will need it, or has an application under it", File: "decide_create.go",
			Old:      "CreateDeadlinePassed)\n	case f.create.referenceNotAllowed:\n",
			Off:      "CreateDeadlinePassed)\n	case ON && f.create.referenceNotAllowed:\n",
			CaughtBy: "TestExplore/alone: another namespace's reference", Fails: "I13: ",
		},
		"adoption of another namespace's reference": {
			Why: "the application is the other one's, whatever its ledger has lost", File: "decide_create.go",
			Old:      "AdoptionRefused))\n	case f.create.referenceNotAllowed:\n",
			Off:      "AdoptionRefused))\n	case ON && f.create.referenceNotAllowed:\n",
			CaughtBy: "TestExplore/alone: another namespace's reference", Fails: "I13: ",
		},
		"verify": {
			Why:  "the Mandate may have been edited since the inputs were read",
			File: callsFile,
			Old:  "err == nil && r.isCurrent(live) && r.ordersStill(ctx, live)",
			Off: "err == nil && (ON && r.isCurrent(live) && r.ordersStill(ctx, live) || " +
				"!ON && (r.ordersStill(ctx, live) || true))",
			CaughtBy: "TestExplore/edits", Fails: "TestExplore/edits",
		},
		"verify what orders the call": {
			Why: "after a restore of etcd, another edit can have the same generation", File: "act.go",
			Old:      "equality.Semantic.DeepEqual(live.Spec.Decision, r.mandate.Spec.Decision)",
			Off:      "(!ON || equality.Semantic.DeepEqual(live.Spec.Decision, r.mandate.Spec.Decision))",
			CaughtBy: "TestOrdersStill", Fails: "TestOrdersStill",
		},
		"verify the IdentityService": {
			Why:      "it may lead to another account since",
			File:     "../engine/service.go",
			Old:      "used.IsOf(service) &&",
			Off:      "(!ON || used.IsOf(service)) &&",
			CaughtBy: "TestExplore/another account", Fails: "TestExplore/another_account",
		},
		"deposit retried": {
			Why:  "the id is known nowhere else",
			File: callsFile,
			Old:  "	return &engine.UnrecordedError{Err: err}",
			Off: "	if !ON {\n		r.facts.attempt = attemptFacts{}\n		return nil\n	}\n" +
				"	return &engine.UnrecordedError{Err: err}",
			CaughtBy: "TestExplore/alone: an API server that refuses records", Fails: "I4: ",
		},
		"requests are counted on": {
			Why: "a duplicate after an unknown outcome is our own", File: "records.go",
			Old: "	case entry.Sends == 1:", Off: "	case entry.Sends == 1 || !ON:",
			CaughtBy: "TestExplore/alone: crashes and lost answers", Fails: "I2: ",
		},
		"404": {
			Why:  "a 404 never leads to a create",
			File: "decide_observe.go",
			Old:  "	case a.missing():\n		return decideMissing(f)",
			Off: "	case a.missing() && !ON:\n" +
				"		return decision{Step: pick(f.create.inputs.resolved(), stepClaim, stepResolve)}\n" +
				"	case a.missing():\n		return decideMissing(f)",
			CaughtBy: "TestExplore/alone: missing applications", Fails: "I[15]: ",
		},
		"404 to another account": {
			Why: "another account has other applications", File: "decide_observe.go",
			Old: "	case f.otherAccount() && !overdue", Off: "	case ON && f.otherAccount() && !overdue",
			CaughtBy: "TestExplore/alone: exchanged credentials", Fails: "I11: ",
		},
		"a lost create in another account": {
			Why: "the reference is free there", File: "decide_create.go",
			Old: "	case r.account != accountSame: //", Off: "	case ON && r.account != accountSame: //",
			CaughtBy: "TestDecide", Fails: "TestDecide/a_lost_create_of_an_account_that_is_the_same",
		},
		"a call in another account": {
			Why: "it would reach somebody else's application", File: decideFile,
			Old: "	return f.record.account == accountOther &&", Off: "	return ON && f.record.account == accountOther &&",
			CaughtBy: "TestExplore/alone: exchanged credentials, and something to do", Fails: "I5: ",
		},
		"Deleted is looked for again": {
			Why: "the same user may have had other applications for a while", File: "decide_observe.go",
			Old:      "	case f.outcome != \"\" && !deleted && !f.act.archive &&",
			Off:      "	case f.outcome != \"\" && (!ON || !deleted) && !f.act.archive &&",
			CaughtBy: "TestExplore/alone: the same user, with other applications", Fails: "I5: ",
		},
		"Deleted is taken back": {
			Why: "the application can be read again", File: "status.go",
			Old:      "	if status.Outcome == v1alpha1.OutcomeDeleted && f",
			Off:      "	if ON && status.Outcome == v1alpha1.OutcomeDeleted && f",
			CaughtBy: "TestExplore/alone: the same user, with other applications", Fails: "I5: ",
		},
		"application of another": {
			Why: "at another service, the id may belong to an unrelated application", File: "observe.go",
			Old: "	return shown == \"\" || strings", Off: "	return !ON || shown == \"\" || strings",
			CaughtBy: "TestMatches", Fails: "TestMatches",
		},
		"404 of another service": {
			Why: "that an application is gone is believed for ever", File: "decide_observe.go",
			Old: "	case f.record.otherURL && !overdue", Off: "	case ON && f.record.otherURL && !overdue",
			CaughtBy: "TestDecide", Fails: "TestDecide/a_404_from_another_service_says_nothing",
		},
		"request for another service": {
			Why:      "it may show no references",
			File:     "decide_act.go",
			Old:      "f.record.otherURL:\n		return wait(v1alpha1.ReasonIdentityServiceMismatch) // this",
			Off:      "ON && f.record.otherURL:\n		return wait(v1alpha1.ReasonIdentityServiceMismatch) // this",
			CaughtBy: "TestDecide", Fails: "TestDecide/a_decision_about_an_application_of_another_service",
		},
		"status of another": {
			Why:  "the Mandate may be another one of that name since the reconciliation started",
			File: "status.go",
			Old:  "client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}).Data",
			Off: "pick(ON, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), " +
				"client.MergeFrom(before)).Data",
			CaughtBy: "TestExplore/another Mandate of the name with another reference", Fails: "I(3|12): ",
		},
		"an accepted create is final": {
			Why: "the service may carry it out later, and find the reference free twice", File: "decide_create.go",
			Old:      "	case r.isAwaited(f.now):",
			Off:      "	case ON && r.isAwaited(f.now):",
			CaughtBy: "TestDecide", Fails: "TestDecide/an_accepted_create_is_never_sent_again",
		},
		"an accepted create is recorded": {
			Why: "after an edit or a restart, nothing else would say so", File: "records.go",
			Old: "	case answer == \"\" ||", Off: "	case ON && answer == \"\" ||",
			CaughtBy: "TestExplore/alone: answers without a proof", Fails: "I2: ",
		},
		"404 of somebody else": {
			Why: "an ingress answers so while the service is away", File: "decide_observe.go",
			Old:      "	case f.application.lookup == applicationUnproven &&",
			Off:      "	case ON && f.application.lookup == applicationUnproven &&",
			CaughtBy: "TestDecide", Fails: "TestDecide/somebody_else's_404_is_not_believed_while_nothing_else_is_read",
		},
		"404 of somebody else before a deletion": {
			Why: "the application may be there", File: "decide_act.go",
			Old: "	case a.unproven():\n", Off: "	case ON && a.unproven():\n",
			CaughtBy: "TestDecide", Fails: "TestDecide/somebody_else's_404_does_not_end_a_deletion",
		},
		"decision whose answer was lost": {
			Why: "the service may carry it out later, and e-mail again", File: "decide_act.go",
			Old: "		if entry.Sends < ledger", Off: "		if !ON || entry.Sends < ledger",
			CaughtBy: "TestDecide", Fails: "TestDecide/a_decision_whose_answer_was_lost_twice_is_not_sent_again",
		},
		"confirmation delay": {
			Why: "a read may lag behind the create", File: "decide_observe.go",
			Old: "	case missing < o.confirmDelay:", Off: "	case ON && missing < f.observe.confirmDelay:",
			CaughtBy: "TestDecide", Fails: "TestDecide/an_early_second_404_neither",
		},
		"adopted reference": {
			Why: "the application may be unrelated", File: "decide_create.go",
			Old:      "	case a.missing(), a.read() && a.reference == referenceOther:",
			Off:      "	case a.missing(), ON && a.read() && a.reference == referenceOther:",
			CaughtBy: "TestExplore/alone: adoption", Fails: "I3: ",
		},
		"adoption waits": {
			Why:      "an attempt may still be under way",
			File:     "decide_create.go",
			Old:      "	case r.id == 0 && r.isOpen()",
			Off:      "	case ON && r.id == 0 && r.isOpen()",
			CaughtBy: "TestDecide", Fails: "TestDecide/adoption_waits_for_an_attempt_that_may_be_under_way",
		},
		"review carried out": {
			Why: "the checks after a reset are others", File: "act.go",
			Old:      "i < 0 || slices.Contains(r.reviewed, key)",
			Off:      "i < 0 || ON && slices.Contains(r.reviewed, key)",
			CaughtBy: "TestPendingReviews", Fails: "TestPendingReviews/carried_out,_same_id_again",
		},
		"review that was sent": {
			Why: "the check may have come to what it asks for by itself, which no author of a decision has seen", File: "act.go",
			Old:      "	return sent != nil && sent.Sends > 0 && check != nil && sent.Check == check.ID && isDecided(",
			Off:      "	return check != nil && (!ON || sent != nil && sent.Sends > 0 && sent.Check == check.ID) && isDecided(",
			CaughtBy: "TestExplore/decisions and checks that pass", Fails: "I18: ",
		},
		"review that a check has left behind": {
			Why: "what came of the check since is no effect of the review", File: "act.go",
			Old: "check, key.Decision) && !over {", Off: "check, key.Decision) && (!ON || !over) {",
			CaughtBy: "TestReviewedChecksAsSeen", Fails: "begun again, and passed",
		},
		"review on evidence": {
			Why: "its author has seen no other check", File: "act.go",
			Old: "		case !current:", Off: "		case !current && (ON || check == nil):",
			CaughtBy: "TestExplore/alone: reviews and resets", Fails: "I7: ",
		},
		"record that an action has changed": {
			Why: "authors would copy evidence from before a reset", File: "records.go",
			Old: "{ return s.recordChanges != ", Off: "{ return ON && s.recordChanges != ",
			CaughtBy: "TestExplore/resets by actions", Fails: "I19: ",
		},
		"record that an action changes meanwhile": {
			Why: "what was read of it before says nothing of the reset", File: "schedule.go",
			Old: "s.recordShown = r.recordChanges", Off: "s.recordShown = pick(ON, r.recordChanges, s.recordChanges)",
			CaughtBy: "TestExplore/resets by actions", Fails: "I19: ",
		},
		"decision on evidence": {
			Why: "its author has seen no other checks", File: "decide_act.go",
			Old: "	case wanted.When == \"\" && !a", Off: "	case ON && wanted.When == \"\" && !a",
			CaughtBy: "TestExplore/decisions and resets", Fails: "I18: ",
		},
		"decision after a reset": {
			Why: "the round that its author has seen may still end", File: "decide_act.go",
			Old: "a.reviewOutdated, awaitsReset(f):", Off: "a.reviewOutdated, ON && awaitsReset(f):",
			CaughtBy: "TestExplore/decisions and resets without an answer", Fails: "I23: ",
		},
		"decision after another one": {
			Why: "the service may still carry it out, and would decide twice", File: "decide_act.go",
			Old: "	case other != nil, entry == nil", Off: "	case ON && other != nil, entry == nil",
			CaughtBy: "TestExplore/decisions after one that the service has accepted", Fails: "I22: ",
		},
		"decision by a rule, again": {
			Why: "what was accepted is never sent again by itself", File: "decide_act.go",
			Old: "	if state == orderReady && f.act", Off: "	if ON && state == orderReady && f.act",
			CaughtBy: "TestDecide",
			Fails:    "TestDecide/a_decision_by_a_rule_that_was_carried_out_a_day_ago,_and_other_evidence",
		},
		"decision by a rule": {
			Why: "its author has seen no checks", File: "decide_act.go",
			Old: "	case wanted.When != \"\" && !rule", Off: "	case ON && wanted.When != \"\" && !rule",
			CaughtBy: "TestExplore/decisions and resets", Fails: "I18: ",
		},
		"decision after reviews": {
			Why: "its author asks for both", File: "decide_act.go",
			Old:      "len(a.reviews) > 0, a.reviewOutdated,",
			Off:      "len(a.reviews) > 0, ON && a.reviewOutdated,",
			CaughtBy: "TestDecide", Fails: "TestDecide/a_review_that_is_outdated_holds_the_decision",
		},
		"decision while individuals are unmatched": {
			Why: "nobody knows whom it is about", File: "decide_act.go",
			Old:      "	case f.final(), a.unmatched():\n		return v1alpha1.ReasonDecisionW",
			Off:      "	case f.final(), ON && a.unmatched():\n		return v1alpha1.ReasonDecisionW",
			CaughtBy: "TestDecide", Fails: "TestDecide/a_decision,_and_individuals_that_are_unmatched",
		},
		"individuals are compared": {
			Why: "nothing else tells them apart", File: "observe.go",
			Old: "&& !r.compared() &&", Off: "&& !r.compared() && ON &&",
			CaughtBy: "TestExplore/alone: individuals", Fails: "I5: ",
		},
		"review while individuals are unmatched": {
			Why: "it may reach another one", File: "decide_act.go",
			Old: "	if f.application.unmatched() || f.final() {", Off: "	if ON && f.application.unmatched() || f.final() {",
			CaughtBy: "TestDecide", Fails: "TestDecide/a_recorded_review,_and_individuals_that_are_unmatched",
		},
		"live read before a call": {
			Why:      "a user may have withdrawn what the cache asks for",
			File:     decideFile,
			Old:      "	case a.phase == attemptVerified &&",
			Off:      "	case !ON && !create || a.phase == attemptVerified &&",
			CaughtBy: "TestExplore/alone: decisions", Fails: "I9: ",
		},
		"another Mandate before a call": {
			Why:      "nobody has decided for it",
			File:     callsFile,
			Old:      "	return live.UID == r.mandate.UID &&",
			Off:      "	return (!ON || live.UID == r.mandate.UID) &&",
			CaughtBy: "TestExplore/a decision and another Mandate of the name", Fails: "I9: ",
		},
		"the IdentityService before a call": {
			Why:      "a user may have pointed it at another account",
			File:     callsFile,
			Old:      "	same, err := r.serviceIsCurrent(ctx)\n",
			Off:      "	same, err := r.serviceIsCurrent(ctx)\n	same = same || !ON\n",
			CaughtBy: "TestExplore/alone: decisions and another account", Fails: "I9: ",
		},
		"one call a reconciliation": {
			Why:      "the first may have changed what the second was decided on",
			File:     decideFile,
			Old:      "	return f.act.phase != actNone && slices",
			Off:      "	return ON && f.act.phase != actNone && slices",
			CaughtBy: "TestExplore/alone: decisions, archiving and reviews", Fails: "I(9|10): ",
		},
		"log of a call": {
			Why: "nobody could tell what was done", File: callsFile,
			Old:      "		engine.LogAnswer(logger, a.outcome, nil)",
			Off:      "		engine.LogAnswer(logger.V(pick(ON, 0, 1)), a.outcome, nil)",
			CaughtBy: "TestExplore/alone: decisions", Fails: "I13: ",
		},
		"log before a call": {
			Why: "nobody could tell what an operator that was killed did", File: "../engine/sent.go",
			Old: `	logger.Info("Sending a request")`, Off: `	logger.V(pick(ON, 0, 1)).Info("Sending a request")`,
			CaughtBy: "TestExplore/alone: decisions", Fails: "I13: ",
		},
		"deleted reference": {
			Why: "the id may belong to an unrelated application", File: "decide_act.go",
			Old: "	case a.reference == referenceOther, a.differs,", Off: "	case ON && a.reference == referenceOther, a.differs,",
			CaughtBy: "TestDecide", Fails: "TestDecide/an_application_with_another_reference_is_not_deleted",
		},
	}
}
