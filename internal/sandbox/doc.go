// Package sandbox is a stand-in of the identity verification service, as an
// http.Handler. It serves the whole documented interface below /api/v1. Where the
// interface leaves something open, switches select the reading. It keeps
// everything in memory and sends no e-mail: the outbox lists what the service
// would have sent.
//
// # Control API
//
// The control API below /sandbox/v1 acts for everything but the client: the
// individuals, the clock and the network. It has no authentication. Bodies are
// JSON; an error is {"error": "..."}. Package control has its types and a client.
//
//	GET    /sandbox/v1/              list the routes, as text or JSON by the Accept header
//	GET    /sandbox/v1/overview      all that the page shows, newest first
//	GET    /sandbox/v1/outbox        list the e-mails sent, oldest first; ?after=SEQUENCE skips the earlier ones
//	GET    /sandbox/v1/applications  list the applications in short form
//	POST   /sandbox/v1/play          play: {"reference" or "application_id", "individual", "step", "check", "result"}
//	POST   /sandbox/v1/state         move an application to a state: {"reference" or "application_id", "state"}
//	GET    /sandbox/v1/clock         show the time of the sandbox
//	PUT    /sandbox/v1/clock         set the time: {"now": "2026-01-31T12:00:00Z"}
//	POST   /sandbox/v1/clock/advance move the time: {"seconds": 3600}
//	GET    /sandbox/v1/stats         count logins, and requests and responses per operation
//	DELETE /sandbox/v1/stats         reset the counts
//	POST   /sandbox/v1/tokens/revoke revoke every token
//	GET    /sandbox/v1/faults        list the pending faults, oldest first
//	POST   /sandbox/v1/faults        add one: {"operation","kind","after_work","times","delay_ms","status","body", ...}
//	DELETE /sandbox/v1/faults        remove all faults
//	GET    /sandbox/v1/deliveries    list the webhook deliveries with their states
//	GET    /sandbox/v1/autoplay      show the autoplay mode
//	PUT    /sandbox/v1/autoplay      change the mode: {"enabled": true, "delay_ms": 500}
//	GET    /sandbox/v1/dialects      list the dialect switches, their values and meanings
//	PUT    /sandbox/v1/dialects      set switches: {"completeMethod": "POST"}
//	DELETE /sandbox/v1/dialects      reset every switch to its default
//	POST   /sandbox/v1/reset         remove all data; ids are never reused
//
// # Playing the individuals
//
// An individual accepts the terms, completes the actions and then finishes the
// checks, each with the result pass, fail or review. When no individual has a
// pending check, the application is in review.
//
// With autoplay on, every individual takes one step (one check at a time) each
// delay. The tag of the e-mail address selects the result: NAME+fail@HOST fails
// every check, NAME+review@HOST leaves every check in review, NAME+idle@HOST
// does nothing. All others pass.
//
// # Readings
//
// Each point that the interface leaves open is a switch of package dialect, or a
// comment in the code says "our reading". The defaults in short:
//
//   - A create or check decision with an unknown member is an error, because a
//     misspelled member would lose data silently.
//   - A create needs name, mandate_type and one individual.
//   - Checks in review block complete.
//   - A subscription may name an application that does not exist.
//   - A body above 1 MiB gets a 413.
package sandbox
