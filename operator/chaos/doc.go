// Package chaos is the test that nobody is e-mailed twice and nothing is lost silently, whatever breaks when. It runs the
// operator's binary on a real API server and the sandbox, through proxies that number every effect which the operator has
// on the world outside: each write to the API server, each call to the service. A calm run tells what there is to disturb,
// and how it ends. Then the same life is lived again and again, each time with faults at other effects, and must end as the
// calm one did or, where knowledge was truly lost, as documented.
//
//	make chaos                         all single faults, then pairs and triples at random
//	make chaos CHAOSTIME=1h SEED=7     for an hour, and the plans of seed 7
//	make chaos PLAN='3:kill after'     one plan, as a failure prints it
package chaos
