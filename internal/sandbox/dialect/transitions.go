package dialect

// The values other than the default of the switches about complete, reject and archive. The default is "".
const (
	MethodPost = "POST"
	MethodPut  = "PUT"

	BodyObject = "object"
	BodyEmpty  = "empty"

	TransitionMessage = "message"
	Transition202     = "202"
	Transition204     = "204"

	Refusal409 = "409"
	Refusal422 = "422"

	UndecidedBlock409 = "block_409"
	UndecidedAllow    = "allow"

	RepeatedTransitionOK = "ok"

	ArchivedTransitionRefused = "refused"

	RepeatedArchiveRefused = "refused"

	CompletionByItself = "by_itself"
)

var transitions = []definition{
	{"completeMethod", "the method of complete",
		[]string{"PATCH", MethodPost, MethodPut},
		func(d *Dialect) any { return &d.CompleteMethod }},
	{"rejectMethod", "the method of reject",
		[]string{"PATCH", MethodPost, MethodPut},
		func(d *Dialect) any { return &d.RejectMethod }},
	{"transitionBody", "the body that complete and reject take: an object or none, an object, or none",
		[]string{"any", BodyObject, BodyEmpty},
		func(d *Dialect) any { return &d.TransitionBody }},
	{"transitionAnswer", "what complete and reject answer: the application, a message, or 202 or 204 without a body",
		[]string{"application", TransitionMessage, Transition202, Transition204},
		func(d *Dialect) any { return &d.TransitionAnswer }},
	{"transitionRefusal", "the status code of what the state does not allow (reports have their own)",
		[]string{"400", Refusal409, Refusal422},
		func(d *Dialect) any { return &d.TransitionRefusal }},
	{"undecidedChecks", "whether checks that wait for a decision block complete: as every refusal, with 409, or not",
		[]string{"block", UndecidedBlock409, UndecidedAllow},
		func(d *Dialect) any { return &d.UndecidedChecks }},
	{"repeatedTransition", "what completing the completed and rejecting the rejected answers",
		[]string{"refused", RepeatedTransitionOK},
		func(d *Dialect) any { return &d.RepeatedTransition }},
	{"archivedTransition", "whether an archived application can be completed and rejected",
		[]string{"allowed", ArchivedTransitionRefused},
		func(d *Dialect) any { return &d.ArchivedTransition }},
	{"repeatedArchive", "what archiving the archived answers",
		[]string{"ok", RepeatedArchiveRefused},
		func(d *Dialect) any { return &d.RepeatedArchive }},
	{"completion", "who completes an application whose checks have all passed: the client, or the service by itself",
		[]string{"by_client", CompletionByItself},
		func(d *Dialect) any { return &d.Completion }},
}
