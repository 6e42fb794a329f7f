package mandate

import "github.com/mandate-io/idv/operator/explore"

// subscriptionGuards are those of the subscriptions of applications.
func subscriptionGuards() map[string]explore.Guard {
	const decideFile, stateFile = "decide_subscription.go", "subscription.go"
	return map[string]explore.Guard{
		"subscription that is under way": {
			Why: "what the service does not show yet may still come", File: decideFile,
			Old: "	case f.now.Before(s.seen.Add(f.settleDelay)):", Off: "	case ON && f.now.Before(s.seen.Add(f.settleDelay)):",
			CaughtBy: "TestExplore/alone: subscriptions whose answers are lost", Fails: "I16: ",
		},
		"late subscription": {
			Why: "another operator may have taken it for a lost one", File: decideFile,
			Old: "inTime := f.now.Sub(s.seen)", Off: "inTime := !ON || f.now.Sub(s.seen)",
			CaughtBy: "TestExplore/subscriptions that are delayed", Fails: "I1[56]: ",
		},
		"subscription that may exist": {
			Why: "the service may say of every application that it has none", File: decideFile,
			Old: "s.lookup == lookupNone && s.believable:", Off: "s.lookup == lookupNone && (!ON || s.believable):",
			CaughtBy: "TestExplore/alone: subscriptions, and none is shown", Fails: "I16: ",
		},
		"masked subscription": {
			Why: "it may be the one that is looked for", File: "subscribe.go",
			Old: "		if sameHost(shown", Off: "		if ON && sameHost(shown",
			CaughtBy: "TestExplore/alone: subscriptions, and tokens are masked", Fails: "I16: ",
		},
		"subscription with an id that is recorded again": {
			Why: "another operator may have started one since", File: stateFile,
			Old: "== nil || r.facts.attempt.unrecorded ||", Off: "== nil || ON && r.facts.attempt.unrecorded ||",
			CaughtBy: "TestFirstSubscription", Fails: "TestFirstSubscription",
		},
		"start of a subscription": {
			Why: "of two operators that find the same lost one, one starts another", File: "../ledger/subscriptions.go",
			Old: "testOperation(\"/metadata/resourceVersion\", record.ResourceVersion)",
			Off: "testOperation(\"/metadata/\"+pick(ON, \"resourceVersion\", \"name\"), " +
				"pick(ON, record.ResourceVersion, record.Name))",
			CaughtBy: "TestExplore/subscriptions whose answers are lost", Fails: "I16: ",
		},
		"live read before a subscription": {
			Why: "a user may have deleted the Mandate, or pointed its service at another account", File: decideFile,
			Old: "	case s.mine && inTime && !s.checked:", Off: "	case ON && s.mine && inTime && !s.checked:",
			CaughtBy: "TestExplore/alone: subscriptions", Fails: "I15: ",
		},
		"subscription at another service": {
			Why: "the id may be another application's there", File: decideFile,
			Old: "f.application.archived, !s.readHere:", Off: "f.application.archived, ON && !s.readHere:",
			CaughtBy: "TestDecide", Fails: "TestDecide/an_application_that_was_not_read_here",
		},
		"application of somebody else": {
			Why: "a person who created it may have subscribed it", File: decideFile,
			Old:      "	case r.id != f.id, r.otherURL, r.otherAccount, !r.sent:",
			Off:      "	case r.id != f.id, r.otherURL, r.otherAccount, ON && !r.sent:",
			CaughtBy: "TestDecide", Fails: "TestDecide/an_application_that_somebody_else_created,_and_somebody_asks",
		},
		"refused subscription": {
			Why: "nothing about it has changed", File: decideFile,
			Old: "	case subscriptionState(f) != \"\" && !s.again:", Off: "	case ON && subscriptionState(f) != \"\" && !s.again:",
			CaughtBy: "TestDecide", Fails: "TestDecide/a_refusal_of_an_earlier_Mandate_of_the_name",
		},
	}
}
