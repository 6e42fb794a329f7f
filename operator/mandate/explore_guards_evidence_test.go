package mandate

import "github.com/mandate-io/idv/internal/test/explore"

// evidenceGuards are those of what a decision or a review is about, and of what a create is made from.
func evidenceGuards() map[string]explore.Guard {
	const neverBack = "TestEvidenceDoesNotComeBack"
	return map[string]explore.Guard{
		"evidence of a check comes back": {
			Why: "nobody has seen the new round", File: "evidence.go",
			Old: "		if digestOf(shown) != digest {", Off: "		if !ON { shown = digest } else if digestOf(shown) != digest {",
			CaughtBy: neverBack, Fails: "the same, after another",
		},
		"evidence of another object": {
			Why: "what was decided about the one before was outdated", File: "evidence.go",
			Old: ".For(r.mandate.UID,", Off: ".For(pick(ON, r.mandate.UID, \"\"),",
			CaughtBy: neverBack, Fails: "a Mandate that is applied again",
		},
		"evidence of a restored record": {
			Why: "it may lack a reset", File: "evidence.go",
			Old: " r.record.UID)", Off: " pick(ON, r.record.UID, \"\"))",
			CaughtBy: neverBack, Fails: "a record that is restored",
		},
		"rule after a restore": {
			Why: "the decision may have been sent since the backup", File: "decide_act.go",
			Old: "(before != nil || f.record.restored)", Off: "(before != nil || ON && f.record.restored)",
			CaughtBy: "TestDecide", Fails: "TestDecide/the_rule_holds,_and_the_record_was_restored",
		},
		"accepted create": {
			Why: "it may be carried out at any time", File: "decide_create.go",
			Old: "	case r.accepted(), r.answer ==", Off: "	case ON && r.accepted(), r.answer ==",
			CaughtBy: "TestDecide", Fails: "TestDecide/an_accepted_create_of_a_clock_that_is_fast_is_not_sent_again_either",
		},
	}
}
