// Package sandbox is a stand-in of the identity verification service, as an
// http.Handler: the whole documented interface below /api/v1, strict where the
// documentation speaks, and switchable to every other reading where it is silent.
// It keeps everything in memory and sends no e-mail: what it would have sent is
// in its outbox.
//
// # Control API
//
// Below /sandbox/v1 lies what the real service has not: the other side. It has
// no authentication, speaks JSON, and answers {"error": "..."} when it refuses.
// Package control holds its types and a client.
//
//	GET    /sandbox/v1/              this list (JSON when asked for)
//	GET    /sandbox/v1/overview      everything at one look, as the page for people shows it
//	GET    /sandbox/v1/outbox        the e-mails sent, oldest first; ?after=SEQUENCE for the later ones
//	GET    /sandbox/v1/applications  every application in short
//	POST   /sandbox/v1/play          individuals act: {"reference" or "application_id", "individual", "step", "check", "result"}
//	GET    /sandbox/v1/clock         the sandbox's time
//	PUT    /sandbox/v1/clock         set it: {"now": "2026-01-31T12:00:00Z"}
//	POST   /sandbox/v1/clock/advance move it: {"seconds": 3600}
//	GET    /sandbox/v1/stats         requests and answers per operation, and logins
//	DELETE /sandbox/v1/stats         count from zero
//	POST   /sandbox/v1/tokens/revoke make every token invalid
//	GET    /sandbox/v1/faults        the faults that have yet to strike
//	POST   /sandbox/v1/faults        add one: {"operation", "kind", "after_work", "times", "delay_ms", "status", "retry_after"}
//	DELETE /sandbox/v1/faults        remove all
//	GET    /sandbox/v1/deliveries    the webhook calls and what became of them
//	GET    /sandbox/v1/autoplay      whether the sandbox plays the individuals by itself
//	PUT    /sandbox/v1/autoplay      change it: {"enabled": true, "delay_ms": 500}
//	GET    /sandbox/v1/dialects      every switch, its values and its meaning
//	PUT    /sandbox/v1/dialects      set switches: {"completeMethod": "POST"}
//	DELETE /sandbox/v1/dialects      set all to the documented reading
//	POST   /sandbox/v1/reset         forget everything; ids go on
//
// # Playing the individuals
//
// An individual accepts the terms, completes the actions and then finishes the
// checks, each with the result pass, fail or review. When nobody has a pending
// check left, the application is in review.
//
// With autoplay on, every individual takes one step (one check at a time) each
// delay. The tag of the e-mail address decides how: NAME+fail@HOST fails every
// check, NAME+review@HOST leaves them to be decided, NAME+idle@HOST does
// nothing, and everybody else passes.
//
// # Readings
//
// What the documentation leaves open is a switch of package dialect, or is said
// to be "our reading" where it is decided. In short: unknown members of a create
// or a check decision are refused, because a misspelled one would lose data
// silently; name, mandate_type and one individual are required; complete waits
// for checks that are in review; a subscription may name an application that
// does not exist; a body above 1 MiB answers 413.
package sandbox
