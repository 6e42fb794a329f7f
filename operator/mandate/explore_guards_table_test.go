package mandate

// guard is a line of the product that keeps a promise.
type guard struct {
	why      string
	file     string
	old, off string // in off, ON is true unless the guard is off
	caughtBy string // a test of this package
}

// guards of the protocol. The preconditions of Deposit and Release are not here: the ledger's own tests have a case for
// each, on a real API server.
func guards() map[string]guard {
	const decideFile, createFile = "decide.go", "create.go"
	const ledgerFile = "../ledger/ledger.go"
	return map[string]guard{
		"claim": {
			why:      "creating the record is the lock",
			file:     ledgerFile,
			old:      "		return nil, ErrLost\n	case isNamespaceGone",
			off:      "		return pick(ON, nil, record), pick(ON, ErrLost, nil)\n	case isNamespaceGone",
			caughtBy: "TestExplore/crashes and lost answers",
		},
		"retake": {
			why:  "of two operators that find the same lost attempt, one takes it over",
			file: ledgerFile,
			old:  "(\"/metadata/resourceVersion\", record.ResourceVersion),\n		patchOperation{\"add\", \"/spec/attempt\"",
			off: "(\"/metadata/\"+pick(ON, \"resourceVersion\", \"name\"), pick(ON, record.ResourceVersion, " +
				"record.Name)),\n		patchOperation{\"add\", \"/spec/attempt\"",
			caughtBy: "TestExplore/crashes and lost answers",
		},
		"conclude": {
			why:  "an attempt that was given up must not overwrite the next one",
			file: ledgerFile,
			old:  "(\"/spec/attempt/nonce\", attempt.Nonce),\n		testOperation(\"/metadata/uid\", string(record.UID)),",
			off: "(pick(ON, \"/spec/attempt/nonce\", \"/metadata/name\"), pick(ON, attempt.Nonce, record.Name)),\n" +
				"		testOperation(\"/metadata/\"+pick(ON, \"uid\", \"name\"), pick(ON, string(record.UID), record.Name)),",
			caughtBy: "TestExplore/crashes and lost answers",
		},
		"settle delay": {
			why:      "an attempt may still be under way",
			file:     decideFile,
			old:      "case r.verdict == \"\" && f.now.Before(r.observed.Add(f.settleDelay)):",
			off:      "case ON && r.verdict == \"\" && f.now.Before(r.observed.Add(f.settleDelay)):",
			caughtBy: "TestExplore/crashes and lost answers",
		},
		"half of the settle delay": {
			why: "another operator may have taken over the attempt", file: decideFile,
			old: "f.now.Sub(a.started) > f.settleDelay/2:", off: "ON && f.now.Sub(a.started) > f.settleDelay/2:",
			caughtBy: "TestExplore/crashes and lost answers",
		},
		"attempt window": {
			why: "the service may have forgotten the reference", file: decideFile,
			old: "f.now.Sub(r.firstStarted) >= attemptWindow,", off: "ON && f.now.Sub(r.firstStarted) >= attemptWindow,",
			caughtBy: "TestExplore/alone: eight weeks",
		},
		"createBefore": {
			why: "after a restore nothing else says that it was sent long ago", file: decideFile,
			old: "return !f.createBefore.IsZero()", off: "return ON && !f.createBefore.IsZero()",
			caughtBy: "TestExplore/alone: restore after eight weeks",
		},
		"taken is final": {
			why:      "the service may forget a reference that it rejected as taken",
			file:     decideFile,
			old:      "refused && r.verdict == v1alpha1.VerdictTaken:",
			off:      "ON && refused && r.verdict == v1alpha1.VerdictTaken:",
			caughtBy: "TestExplore/alone: restore into an empty cluster",
		},
		"edited after a refusal": {
			why: "what was refused under another reference says nothing about this one", file: decideFile,
			old: "&& !r.otherReference && !r.otherURL\n", off: "&& (!ON || !r.otherReference && !r.otherURL)\n",
			caughtBy: "TestDecide",
		},
		"another reference": {
			why: "a name has one application, and this one is wanted under another reference now", file: decideFile,
			old: "	case r.mayExist() && r.otherReference:\n", off: "	case ON && r.mayExist() && r.otherReference:\n",
			caughtBy: "TestExplore/alone: applied again with an edit",
		},
		"another URL": {
			why: "another account knows nothing of the attempt", file: decideFile,
			old: "	case r.mayExist() && r.otherURL:\n", off: "	case ON && r.mayExist() && r.otherURL:\n",
			caughtBy: "TestExplore/alone: another account",
		},
		"application of another reference": {
			why: "the Mandate does not ask for it", file: "records.go",
			old: " && !found.otherReference {", off: " && !(ON && found.otherReference) {",
			caughtBy: "TestExplore/alone: applied again with an edit, and no references are shown",
		},
		"application of another URL": {
			why: "at this service, the id may belong to an unrelated application", file: "records.go",
			old: "== 0 && !found.otherURL", off: "== 0 && !(ON && found.otherURL)",
			caughtBy: "TestRecordOfAnotherServiceOrReference",
		},
		"adoption under another reference": {
			why: "a name has one application", file: "decide_application.go",
			old:      "	case r.mayExist() && r.otherReference, r.id",
			off:      "	case ON && r.mayExist() && r.otherReference, ON && r.id",
			caughtBy: "TestDecide",
		},
		"adopted by another": {
			why: "no two Mandates have one application", file: "adoption.go",
			old: "	if err != nil || other {", off: "	if err != nil || ON && other {",
			caughtBy: "TestExplore/alone: two Mandates adopt one application",
		},
		"verify": {
			why:  "the Mandate may have been edited since the inputs were read",
			file: createFile,
			old:  "same && err == nil && r.current(mandate) && (usesSecrets(r.mandate) || r.takeSpec(ctx, mandate))",
			off: "same && err == nil && (ON && r.current(mandate) && (usesSecrets(r.mandate) || r.takeSpec(ctx, mandate)) ||" +
				" !ON && (r.takeSpec(ctx, mandate) || true))",
			caughtBy: "TestExplore/edits",
		},
		"verify the IdentityService": {
			why:      "it may lead to another account since",
			file:     "confirm.go",
			old:      "service.GetUID() == used.UID && service.GetGeneration() == used.Generation",
			off:      "(!ON || service.GetUID() == used.UID && service.GetGeneration() == used.Generation)",
			caughtBy: "TestExplore/another account",
		},
		"deposit retried": {
			why:      "the id is known nowhere else",
			file:     createFile,
			old:      "			r.pause(ctx, engine.WriteBackoff.After(failures))\n			continue",
			off:      "			if ON {\n				r.pause(ctx, engine.WriteBackoff.After(failures))\n				continue\n			}",
			caughtBy: "TestExplore/alone: missing applications",
		},
		"attempts are counted on": {
			why: "a duplicate after an unknown outcome is our own", file: createFile,
			old: "	if r.facts.record.sent {", off: "	if ON && r.facts.record.sent {",
			caughtBy: "TestExplore/alone: crashes and lost answers",
		},
		"earlier attempts stay open": {
			why: "that the second attempt created nothing says nothing of the first", file: createFile,
			old: "	case conclusion.Ordinal == 1:", off: "	case conclusion.Ordinal == 1 || !ON:",
			caughtBy: "TestExplore/alone: crashes and lost answers",
		},
		"404": {
			why:  "a 404 never leads to a create",
			file: "decide_application.go",
			old:  "	case a.missing:\n		return decideMissing(f)",
			off: "	case a.missing && !ON:\n		return decision{Step: pick(f.record.read, pick(f.inputs.resolved, " +
				"stepRetake, stepResolve), stepReadRecord)}\n	case a.missing:\n		return decideMissing(f)",
			caughtBy: "TestExplore/alone: missing applications",
		},
		"404 to other credentials": {
			why: "another account has other applications", file: "decide_application.go",
			old: "	case !f.application.believable && missing", off: "	case ON && !f.application.believable && missing",
			caughtBy: "TestExplore/alone: exchanged credentials",
		},
		"Deleted is looked for again": {
			why: "the credentials may have been those of another account for a day", file: "decide_application.go",
			old:      "	case f.outcome != \"\" && !deleted && !f.archive &&",
			off:      "	case f.outcome != \"\" && (!ON || !deleted) && !f.archive &&",
			caughtBy: "TestExplore/alone: exchanged credentials",
		},
		"Deleted is taken back": {
			why: "the application can be read again", file: "status.go",
			old:      "	if status.Outcome == v1alpha1.OutcomeDeleted && f",
			off:      "	if ON && status.Outcome == v1alpha1.OutcomeDeleted && f",
			caughtBy: "TestExplore/alone: exchanged credentials",
		},
		"application of another": {
			why: "at another service, the id may belong to an unrelated application", file: "application.go",
			old: "	return shown == \"\" || strings", off: "	return !ON || shown == \"\" || strings",
			caughtBy: "TestMatches",
		},
		"404 of another service": {
			why: "that an application is gone is believed for ever", file: "decide_application.go",
			old: "	case f.record.otherURL && !overdue", off: "	case ON && f.record.otherURL && !overdue",
			caughtBy: "TestDecide",
		},
		"request for another service": {
			why:      "it may show no references",
			file:     "decide_application.go",
			old:      "	case !a.referenceMatched && f.record.otherURL:",
			off:      "	case ON && !a.referenceMatched && f.record.otherURL:",
			caughtBy: "TestDecide",
		},
		"status of another": {
			why:  "the Mandate may be another one of that name since the reconciliation started",
			file: "status.go",
			old:  "client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}).Data",
			off: "pick(ON, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), " +
				"client.MergeFrom(before)).Data",
			caughtBy: "TestExplore/another Mandate of the name with another reference",
		},
		"confirmation delay": {
			why: "a read may lag behind the create", file: "decide_application.go",
			old: "	case missing < f.confirmDelay:", off: "	case ON && missing < f.confirmDelay:",
			caughtBy: "TestDecide",
		},
		"adopted reference": {
			why: "the application may be unrelated", file: "decide_application.go",
			old: "	case a.missing, a.read && !a.sameReference:", off: "	case a.missing, ON && a.read && !a.sameReference:",
			caughtBy: "TestExplore/alone: adoption",
		},
		"adoption waits": {
			why:      "an attempt may still be under way",
			file:     "decide_application.go",
			old:      "	case r.id == 0 && r.sent && r.verdict == \"\" && f.now.Before",
			off:      "	case ON && r.id == 0 && r.sent && r.verdict == \"\" && f.now.Before",
			caughtBy: "TestDecide",
		},
		"review recorded": {
			why: "a crash or a stale cache must not make a review look new", file: "decide_application.go",
			old: "!final && !refused && !a.reviewRecorded:", off: "!final && !refused && !a.reviewRecorded && ON:",
			caughtBy: "TestExplore/alone: reviews and resets that keep the ids of checks",
		},
		"review carried out": {
			why: "the checks after a reset are others", file: "review.go",
			old:      "i < 0 || slices.Contains(r.reviewed.done, key)",
			off:      "i < 0 || ON && slices.Contains(r.reviewed.done, key)",
			caughtBy: "TestExplore/alone: reviews and resets",
		},
		"review of a check that is gone": {
			why: "its answer may have been lost, and the individual reset", file: "review.go",
			old: "		case bound && !isFor(&pending, check):", off: "		case ON && bound && !isFor(&pending, check):",
			caughtBy: "TestExplore/alone: reviews and resets",
		},
		"review of a check that changed": {
			why: "the individual may have been reset, and the check has kept its id", file: "review.go",
			old: "(pending.SentState == \"\" || pending", off: "(!ON || pending.SentState == \"\" || pending",
			caughtBy: "TestExplore/alone: reviews and resets that keep the ids of checks",
		},
		"review of what the status showed": {
			why: "its author has seen no other check", file: "review.go",
			old: "	return pending, pending.CheckID != 0\n", off: "	return pending, ON && pending.CheckID != 0\n",
			caughtBy: "TestExplore/alone: reviews and resets",
		},
		"review in a restored Mandate": {
			why: "nobody knows what it was for", file: "review.go",
			old: "	if r.record != nil && r.record.Spec", off: "	if ON && r.record != nil && r.record.Spec",
			caughtBy: "TestExplore/alone: reviews and a restore",
		},
		"review by the last to record it": {
			why: "another operator may have sent it since, and the individual may have been reset", file: "confirm.go",
			old:      "live.ResourceVersion != r.mandate.ResourceVersion",
			off:      "live.Generation != r.mandate.Generation || ON && live.ResourceVersion != r.mandate.ResourceVersion",
			caughtBy: "TestExplore/two operators send a review",
		},
		"individuals are compared": {
			why: "nothing else tells them apart", file: "individuals.go",
			old: "&& !r.compared() &&", off: "&& !r.compared() && ON &&",
			caughtBy: "TestExplore/alone: individuals",
		},
		"review of what the status showed before": {
			why: "the status does not show the checks while individuals are unmatched", file: "review.go",
			old: "			r.keepSeenCheck(key)\n", off: "			if ON {\n				r.keepSeenCheck(key)\n			}\n",
			caughtBy: "TestExplore/alone: reviews and individuals",
		},
		"review while individuals are unmatched": {
			why: "it may reach another one", file: "decide_application.go",
			old: "	case a.reviews > 0 && !a.unmatched && !final && !refused:", off: "	case a.reviews > 0 && " +
				"!(ON && a.unmatched) && !final && !refused:",
			caughtBy: "TestDecide",
		},
		"spec of a new object": {
			why: "the application was created for other people", file: "spec_differs.go",
			old: "	if !r.newObject() {", off: "	if !ON || !r.newObject() {",
			caughtBy: "TestExplore/alone: another Mandate of the name for another person",
		},
		"application of another spec": {
			why: "to bind it is final", file: "application.go",
			old: "	if a.differs {", off: "	if ON && a.differs {",
			caughtBy: "TestExplore/alone: another Mandate of the name for another person",
		},
		"deletion of another spec's application": {
			why: "it was created for other people", file: "decide_application.go",
			old: " a.differs, r.otherURL", off: " ON && a.differs, r.otherURL",
			caughtBy: "TestDecide",
		},
		"live read before a call": {
			why:      "a user may have withdrawn what the cache asks for",
			file:     decideFile,
			old:      "	case !f.confirmed && slices",
			off:      "	case ON && !f.confirmed && slices",
			caughtBy: "TestExplore/alone: decisions",
		},
		"edit before a call": {
			why:      "a user may have withdrawn what the cache asks for",
			file:     "confirm.go",
			old:      "live.Generation == r.mandate.Generation &&\n",
			off:      "(!ON || live.Generation == r.mandate.Generation) &&\n",
			caughtBy: "TestExplore/alone: decisions",
		},
		"another Mandate before a call": {
			why:      "nobody has decided for it",
			file:     "confirm.go",
			old:      "return live != nil && live.UID == r.mandate.UID &&",
			off:      "return live != nil && (!ON || live.UID == r.mandate.UID) &&",
			caughtBy: "TestExplore/alone: decisions and another Mandate of the name",
		},
		"the IdentityService before a call": {
			why:      "a user may have pointed it at another account",
			file:     "confirm.go",
			old:      "	if same && err == nil {",
			off:      "	if !ON || same && err == nil {",
			caughtBy: "TestExplore/alone: decisions and another account",
		},
		"one call a reconciliation": {
			why:      "the first may have changed what the second was decided on",
			file:     decideFile,
			old:      "	case f.acted && slices",
			off:      "	case ON && f.acted && slices",
			caughtBy: "TestExplore/alone: decisions, archiving and reviews",
		},
		"deleted reference": {
			why: "the id may belong to an unrelated application", file: "decide_application.go",
			old: "	case !a.sameReference, a.differs,", off: "	case ON && !a.sameReference, a.differs,",
			caughtBy: "TestDecide",
		},
	}
}
