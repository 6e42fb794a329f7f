// Package chaos is the test that nobody is e-mailed twice and nothing is lost silently, whatever breaks when. It runs the
// operator's binary on a real API server and the sandbox, through proxies that number every effect which the operator has
// on the world outside: each write to the API server, each call to the service. A calm run tells what there is to disturb,
// and how it ends. Then the same life is lived again and again, with faults at other effects, and must end as the calm one
// did or, where knowledge was truly lost, as documented.
//
//	make chaos                         all single faults, then two and three in each Mandate's life at random
//	make chaos CHAOSTIME=1h SEED=7     for an hour, with the plans of seed 7
//	make chaos PLAN='kill after: POST applicationrecords plain #1; drop: service: POST applications plain #1'
//	make chaos SEED=7 SQUAD=12         the random plans that one operator goes through
//
// A plan or a squad that failed is printed in this form, with the trace of what happened. Beside that: watches that are
// held, an API server that lags behind, and leaders that are stopped and go on.
package chaos
