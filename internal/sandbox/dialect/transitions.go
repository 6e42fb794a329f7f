package dialect

// The values other than the default of the switches about complete, reject and archive. The default is "".
const (
	MethodPost = "POST"
	MethodPut  = "PUT"
	BodyObject = "object"
	BodyEmpty  = "empty"
	// BodyEmptyTyped requires the Content-Type of a body that there is none of, BodyEmptyUntyped its absence.
	BodyEmptyTyped            = "empty_typed"
	BodyEmptyUntyped          = "empty_untyped"
	TransitionMessage         = "message"
	UndecidedBlock409         = "block_409"
	UndecidedAllow            = "allow"
	RepeatedTransitionOK      = "ok"
	ArchivedTransitionRefused = "refused"
	RepeatedArchiveRefused    = "refused"
	CompletionByItself        = "by_itself"
)

const bodies = "optional object, required object, no body, no body but a Content-Type, or neither"

var transitions = []definition{
	{"completeMethod", "the method of complete",
		[]string{"PATCH", MethodPost, MethodPut}},
	{"rejectMethod", "the method of reject",
		[]string{"PATCH", MethodPost, MethodPut}},
	{"transitionBody", "the request body of complete and reject: " + bodies,
		[]string{"any", BodyObject, BodyEmpty, BodyEmptyTyped, BodyEmptyUntyped}},
	{"transitionAnswer", "the response of complete and reject: the application, a message, or 202 or 204 without a body",
		append([]string{"application", TransitionMessage}, statuses(202, 204)...)},
	{"transitionRefusal", "the status code of a request that the state does not allow; for reports, see reportNotReady",
		statuses(400, 402, 403, 404, 409, 422, 423, 428)},
	{"undecidedChecks", "whether checks in review block complete: as transitionRefusal says, with 409, or not",
		[]string{"block", UndecidedBlock409, UndecidedAllow}},
	{"repeatedTransition", "whether completing a completed and rejecting a rejected application succeeds",
		[]string{"refused", RepeatedTransitionOK}},
	{"archivedTransition", "whether an archived application can be completed or rejected",
		[]string{"allowed", ArchivedTransitionRefused}},
	{"repeatedArchive", "whether archiving an archived application succeeds",
		[]string{"ok", RepeatedArchiveRefused}},
	{"completion", "who completes an application whose checks have all passed: the client or the service",
		[]string{"by_client", CompletionByItself}},
}
