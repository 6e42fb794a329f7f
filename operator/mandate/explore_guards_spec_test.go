package mandate

import "github.com/mandate-io/idv/internal/test/explore"

// specGuards are those of the comparison of a spec with the one that an application was created or adopted for.
func specGuards() map[string]explore.Guard {
	const differsFile = "spec.go"
	return map[string]explore.Guard{
		"spec of a new object": {
			Why: "the application was created for other people", File: differsFile,
			Old: "	if !r.newObject() {", Off: "	if !ON || !r.newObject() {",
			CaughtBy: "TestExplore/alone: another Mandate of the name for another person", Fails: "I12: ",
		},
		"adopted for another spec": {
			Why: "a person has adopted it for other people", File: differsFile,
			Old:      "	return !r.isAdopted() ||",
			Off:      "	return (ON || r.facts.record.sent()) && !r.isAdopted() ||",
			CaughtBy: "TestExplore/alone: another Mandate of the name for another person, after an adoption", Fails: "I12: ",
		},
		"edited before the status shows the application": {
			Why: "the API server refuses the edit only afterwards", File: differsFile,
			Old: "return r.editedSince() &&", Off: "return ON && r.editedSince() &&",
			CaughtBy: "TestExplore/alone: another Mandate of the name for another person", Fails: "I12: ",
		},
		"late answer to a request before an edit": {
			Why: "it has created the application for another person", File: differsFile,
			Old: "create.Edited || create", Off: "ON && create.Edited || create",
			CaughtBy: "TestNewObject", Fails: "TestNewObject/edited_before_the_last_request",
		},
		"edited between two requests": {
			Why: "the first one may have created the application", File: differsFile,
			Old: "!create.Edited &&", Off: "(!ON || !create.Edited) &&",
			CaughtBy: "TestDifferences", Fails: "TestDifferences/as_it_was_sent,_but_not_at_first,_and_nothing_shows",
		},
		"too little to compare": {
			Why: "nothing tells for whom it was created", File: differsFile,
			Old: "		if len(shown) == 0 && !r.isSent(live)", Off: "		if ON && len(shown) == 0 && !r.isSent(live)",
			CaughtBy: "TestDifferences", Fails: "TestDifferences/not_recorded,_and_nothing_shows",
		},
		"digests of the spec": {
			Why: "the service need not show for whom it was created", File: differsFile,
			Old: "	return append(recorded, shown...)", Off: "	return pick(ON, append(recorded, shown...), shown)",
			CaughtBy: "TestExplore/alone: another Mandate of the name for another person, whom the service does not show",
			Fails:    "I12: ",
		},
		"application of another spec": {
			Why: "to bind it is final", File: "observe.go",
			Old: "	if a.differs {", Off: "	if ON && a.differs {",
			CaughtBy: "TestExplore/alone: another Mandate of the name for another person", Fails: "I12: ",
		},
		"account of an erased spec": {
			Why: "nothing tells that the application of another account is this one", File: "observe.go",
			Old: "&& !r.hasErased()\n", Off: "&& !(ON && r.hasErased())\n",
			CaughtBy: "TestShowsWhatWasSent", Fails: "TestShowsWhatWasSent",
		},
		"404 before an accepted create is carried out": {
			Why: "the application would be left to nobody", File: "decide_act.go",
			Old: "	case mayCome(f):\n		return waitFor", Off: "	case ON && mayCome(f):\n		return waitFor",
			CaughtBy: "TestDecide",
			Fails:    "TestDecide/the_service_has_accepted_the_create,_and_does_not_show_the_application_yet",
		},
		"404 of an account that nobody knows any more": {
			Why: "the application may be another account's", File: "decide_act.go",
			Old: "	case r.otherURL, forgotten(f):\n", Off: "	case r.otherURL, ON && forgotten(f):\n",
			CaughtBy: "TestDecide", Fails: "TestDecide/the_record_has_gone,_and_the_application_is_not_there",
		},
		"deletion by an account that nobody knows any more": {
			Why: "the id may be that of another account's application", File: "decide_act.go",
			Old: "|| forgotten(f)) &&", Off: "|| ON && forgotten(f)) &&",
			CaughtBy: "TestDecide",
			Fails:    "TestDecide/the_record_has_gone,_and_the_service_does_not_show_whose_application_it_is",
		},
		"deletion of another spec's application": {
			Why: "it was created for other people", File: "decide_act.go",
			Old: " a.differs, (r.otherURL", Off: " ON && a.differs, (r.otherURL",
			CaughtBy: "TestDecide",
			Fails:    "TestDecide/a_Mandate_that_is_deleted,_and_whose_application_was_created_from_another_spec",
		},
	}
}
