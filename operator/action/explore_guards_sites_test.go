package action

import "github.com/mandate-io/idv/internal/test/explore"

// guardsOfSites are those of whom a request reaches.
func guardsOfSites() map[string]explore.Guard {
	const mandateFile = "mandate.go"
	return map[string]explore.Guard{
		"another account": {
			Why: "its ids are other people's", File: "facts.go",
			Old: "	return f.record.otherAccount &&", Off: "	return ON && f.record.otherAccount &&",
			CaughtBy: "TestExplore/a Mandate with another service", Fails: "A6: ",
		},
		"another account since the record was read": {
			Why: "the Secret may have been exchanged, or the Mandate replaced", File: mandateFile,
			Old: "	r.compareRecord()\n	return err", Off: "	if ON {\n		r.compareRecord()\n	}\n	return err",
			CaughtBy: "TestExplore/exchanged credentials, and no references are shown", Fails: "A6: ",
		},
		"an account that shows no reference": {
			Why: "it has an application with the same id, and that proves nothing", File: mandateFile,
			Old:      "s.sameReference && application.Reference != \"\"",
			Off:      "s.sameReference && (!ON || application.Reference != \"\")",
			CaughtBy: "TestExplore/a Mandate with another service", Fails: "A6: ",
		},
		"individuals of the record": {
			Why: "the Secrets and the status can be edited", File: mandateFile,
			Old:      "individuals.Recorded(individuals.Known(r.observed), r.record)",
			Off:      "individuals.Recorded(individuals.Known(r.observed), pick(ON, r.record, nil))",
			CaughtBy: "TestExplore/which individual is which", Fails: "A6: ",
		},
		"id of the record": {
			Why: "the service may e-mail another individual by the new one", File: "../individuals/match.go",
			Old:      "e.Recorded && a.ID != 0",
			Off:      "ON && e.Recorded && a.ID != 0",
			CaughtBy: "TestExplore/which individual is which", Fails: "A6: ",
		},
		"individual of the status": {
			Why: "it may be another one than the service shows", File: mandateFile,
			Old: "found == nil || found.ID != id", Off: "found == nil || ON && found.ID != id",
			CaughtBy: "TestExplore/which individual is which", Fails: "A6: ",
		},
	}
}

// guardsOfTime are those of when a request goes out.
func guardsOfTime() map[string]explore.Guard {
	const within = "TestExplore/time within a reconciliation"
	return map[string]explore.Guard{
		"first half of the handover": {
			Why: "another operator may end the call, and a person order another one", File: callsFile,
			Old: "when(engine.Elapsed(c.started, f.now) >", Off: "when(ON && engine.Elapsed(c.started, f.now) >",
			CaughtBy: within, Fails: "A7: .* may soon end",
		},
		"handover from before the begin": {
			Why: "others see the call while the API server is slow to answer", File: callFile,
			Old: "r.facts.call.started = begun, started", Off: "r.facts.call.started = begun, pick(ON, started, r.clock.Now())",
			CaughtBy: within, Fails: "A7: .* may soon end",
		},
		"age of the last look": {
			Why: "a user may have suspended the Mandate since", File: callsFile,
			Old:      "verified && engine.Elapsed(c.looked, f.now) <= engine.MaxLookAge,",
			Off:      "verified && (!ON || engine.Elapsed(c.looked, f.now) <= engine.MaxLookAge),",
			CaughtBy: within, Fails: "A7: .* long after the last look",
		},
		"age of a slow look": {
			Why: "what it shows is as old as its first answer", File: callFile,
			Old: ".looked = verified, looked", Off: ".looked = verified, pick(ON, looked, r.clock.Now())",
			CaughtBy: within, Fails: "A7: .* long after the last look",
		},
		"last look at a restored record": {
			Why: "it does not have the call, so others begin it again", File: callFile,
			Old: "live.UID != o.read.UID || live.ResourceVersion != o.read.ResourceVersion",
			Off: "(ON || o.kind != \"ApplicationRecord\") && " +
				"(live.UID != o.read.UID || live.ResourceVersion != o.read.ResourceVersion)",
			CaughtBy: "TestExplore/a record of a backup", Fails: "A2: ",
		},
	}
}
