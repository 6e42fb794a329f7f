package mandate

import "github.com/mandate-io/idv/internal/test/explore"

// subscriptionGuards are those of the subscriptions of applications.
func subscriptionGuards() map[string]explore.Guard {
	const decideFile = "decide_subscribe.go"
	return map[string]explore.Guard{
		"subscription that may exist": {
			Why: "a second one could replace it, or deliver everything twice", File: decideFile,
			Old:      "	case s.wish == wantedAgain && s.lookup != lookupFound &&",
			Off:      "	case s.lookup != lookupFound && !ON, s.wish == wantedAgain && s.lookup != lookupFound &&",
			CaughtBy: "TestDecide", Fails: "TestDecide",
		},
		"subscription at another service": {
			Why: "the id may be another application's there", File: decideFile,
			Old: "f.application.archived, !s.readHere:", Off: "f.application.archived, ON && !s.readHere:",
			CaughtBy: "TestDecide", Fails: "TestDecide/an_application_that_was_not_read_here",
		},
		"application of somebody else": {
			Why: "a person who created it may have subscribed it", File: decideFile,
			Old:      "	case f.record.id != f.id, f.record.otherURL, f.record.account == accountOther, !f.record.sent():",
			Off:      "	case f.record.id != f.id, f.record.otherURL, f.record.account == accountOther, ON && !f.record.sent():",
			CaughtBy: "TestDecide", Fails: "TestDecide/an_application_that_somebody_else_created,_and_somebody_asks",
		},
		"refused subscription": {
			Why: "nothing about it has changed", File: decideFile,
			Old: "	case s.wish == notWanted,", Off: "	case ON && s.wish == notWanted,",
			CaughtBy: "TestDecide", Fails: "TestDecide/a_refusal_of_which_the_status_says_so",
		},
	}
}
