// Package chaos tests that nobody is e-mailed twice and no application is lost silently, whatever fails and when. It
// runs the operator's binary on a real API server and the sandbox. Proxies between them number every effect of the
// operator: each write to the API server, and each request to the service. A fault-free run shows which effects there
// are, and its final state. The same scenario then runs again and again, with faults at other effects. It must reach
// the state of the fault-free run, or the documented one where an application's id was truly lost.
//
// Each request that acts on people is such an effect: reviews, decisions, archiving, deletion, resends and resets. None
// decides about evidence that its user has not seen, none is for another individual, none is against the live spec, and
// none repeats an action.
//
//	make chaos                         all single faults, then random plans of two and three faults for each Mandate
//	make chaos CHAOSTIME=1h SEED=7     for an hour, with the random plans of seed 7
//	make chaos PLAN='kill after: POST applicationrecords plain #1; drop: service: POST applications plain #1'
//	make chaos SEED=7 BATCH=12         one batch: the random plans of one operator
//
// Another test loses the answers of a thousand creates while notifications arrive: once, twice, out of order, in every
// shape, and forged. Every application is found again, without a person.
//
// `make chaos` has the race detector, in the operators too. A failed plan or batch is printed as such a command, with a
// trace. Further tests hold back watches, let an API server lag, and stop leaders and continue them.
package chaos
