package mandate

import "github.com/mandate-io/idv/internal/test/explore"

// timeGuards are those of when a call goes out.
func timeGuards() map[string]explore.Guard {
	const callsFile, within = "calls.go", "TestExplore/alone: time within a reconciliation"
	return map[string]explore.Guard{
		"age of the last look": {
			Why: "a user may have edited the Mandate since", File: "decide.go",
			Old:      "engine.Elapsed(a.looked, f.now) <= engine.MaxLookAge",
			Off:      "(!ON || engine.Elapsed(a.looked, f.now) <= engine.MaxLookAge)",
			CaughtBy: within, Fails: "I20: .* long after the last look",
		},
		"age of a slow look": {
			Why: "what it shows is as old as its first answer", File: callsFile,
			Old: "	r.facts.attempt.looked = r.now()\n",
			Off: "	r.facts.attempt.looked = r.now()\n	defer func() {\n		if !ON {\n" +
				"			r.facts.attempt.looked = r.now()\n		}\n	}()\n",
			CaughtBy: within, Fails: "I20: .* long after the last look",
		},
		"settle delay from before the begin": {
			Why: "others see the call while the API server is slow to answer", File: callsFile,
			Old:      "phase: attemptBegun, started: started}\n	if call.Kind",
			Off:      "phase: attemptBegun, started: pick(ON, started, r.now())}\n	if call.Kind",
			CaughtBy: within, Fails: "I20: .* may soon take it for lost",
		},
	}
}
