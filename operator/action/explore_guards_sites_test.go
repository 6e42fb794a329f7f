package action

import "github.com/mandate-io/idv/operator/explore"

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
			Old: "	r.compareAccount()\n	return err", Off: "	if ON {\n		r.compareAccount()\n	}\n	return err",
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
			CaughtBy: "TestExplore/who is who", Fails: "A6: ",
		},
		"individual of the status": {
			Why: "it may be another one than the service shows", File: mandateFile,
			Old: "found == nil || found.ID != id", Off: "found == nil || ON && found.ID != id",
			CaughtBy: "TestExplore/who is who", Fails: "A6: ",
		},
	}
}
