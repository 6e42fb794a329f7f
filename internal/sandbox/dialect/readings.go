package dialect

import "slices"

// Reading is one point that the interface leaves open.
type Reading struct {
	Topic string
	Open  string
	// Switches name the switches that select the other readings.
	Switches []string
	// Remark says what else applies, or why there is no switch.
	Remark string
}

// Readings lists every point that the interface leaves open, with its switches.
func Readings() []Reading {
	return slices.Concat(
		authenticationReadings, requestReadings, applicationReadings, individualReadings, webhookReadings,
	)
}

const (
	topicAuthentication = "Authentication"
	topicRequests       = "Requests and responses"
	topicApplications   = "Applications"
	topicIndividuals    = "Individuals and checks"
	topicWebhooks       = "Reference data and webhooks"
)

var authenticationReadings = []Reading{
	{topicAuthentication, "Authorization on the token request", []string{"tokenBasic"}, ""},
	{topicAuthentication, "which credentials are needed", []string{"credentials"}, ""},
	{topicAuthentication, "unit and presence of expires_in",
		[]string{"expiresIn", "tokenLifetime"}, "for a 401 at any time, revoke the tokens"},
	{topicAuthentication, "token_type", []string{"tokenType"}, ""},
	{topicAuthentication, "whether a new token revokes older ones", []string{"olderTokens"}, ""},
	{topicAuthentication, "user without API permission", []string{"apiPermission"}, ""},
	{topicAuthentication, "grant_type", []string{"grantType"}, ""},
	{topicAuthentication, "form of a token", []string{"tokenForm"}, ""},
	{topicAuthentication, "response to a refused login", []string{"loginRefusal"}, ""},
	{topicAuthentication, "response to a token that is not valid", []string{"tokenRefusal"}, ""},
	{topicAuthentication, "how many logins are allowed", []string{"tokensPerHour"}, ""},
}

var requestReadings = []Reading{
	{topicRequests, "Content-Type of a request without a body",
		[]string{"contentType"}, "where a body is optional, a request without one needs no Content-Type"},
	{topicRequests, "success codes",
		[]string{
			"createStatus", "createBody", "successStatus",
			"successBody", "transitionAnswer", "resendResetAnswer", "subscribeAnswer",
		}, ""},
	{topicRequests, "ids", []string{"ids", "idSize"}, ""},
	{topicRequests, "absent values", []string{"absentValues"}, ""},
	{topicRequests, "status", []string{"statusShape", "statusCase"}, ""},
	{topicRequests, "unknown members",
		[]string{"extraMembers", "memberCase", "wrap"}, "memberCase and wrap rename or move known members"},
	{topicRequests, "length", nil, "the sandbox counts a character as one code point, as the client does"},
	{topicRequests, "required create fields", []string{"requiredFields"}, ""},
	{topicRequests, "gender, title values", []string{"titleGenderCase"}, ""},
	{topicRequests, "which set a reference is unique in; case; archived; deleted",
		[]string{"deletedReferences", "archivedReferences", "referenceCase", "uniquenessGap"}, ""},
	{topicRequests, "individual reference", []string{"individualReferences"}, ""},
	{topicRequests, "response to a duplicate", []string{"duplicateAnswer"}, ""},
	{topicRequests, "error content type", []string{"errorBody", "errorShape"}, ""},
	{topicRequests, "codes not listed",
		[]string{"invalidStatus", "transitionRefusal", "undecidedChecks", "wrongMethod"},
		"for other codes, use the fault answer"},
	{topicRequests, "rate limits", []string{"rateLimit", "rateLimitAnswer"}, ""},
	{topicRequests, "read after write", []string{"readLag"}, ""},
	{topicRequests, "what a 403 or a 401 is about",
		[]string{
			"forbiddenOperation", "forbiddenObject", "forbiddenMandateType", "forbiddenBody", "forbiddenStatus",
			"forbiddenAnswer",
		}, ""},
	{topicRequests, "a 2xx that says nothing", []string{"changeAnswer", "changeWork", "readAnswer"}, ""},
	{topicRequests, "whether and when the work of a 202 is done",
		[]string{"asyncWork", "asyncOperations", "asyncDelay"}, ""},
	{topicRequests, "who answers 404", []string{"ingress404", "ingressBody"}, ""},
	{topicRequests, "refusals other than 400",
		[]string{"createRefusal", "unknownMandateType", "transitionRefusal", "errorShape"}, ""},
	{topicRequests, "where the id of a new application is", []string{"createBody"}, ""},
	{topicRequests, "format of a reference", []string{"referenceFormat"}, ""},
	{topicRequests, "a slash at the end of a path", []string{"trailingSlash"}, ""},
}

var applicationReadings = []Reading{
	{topicApplications, "state on creation, names of states", []string{"firstState", "stateNames", "statusCase"}, ""},
	{topicApplications, "method, payload, response of complete and reject",
		[]string{"completeMethod", "rejectMethod", "wrongMethod", "transitionBody", "transitionAnswer"}, ""},
	{topicApplications, "undecided checks block complete?", []string{"undecidedChecks", "transitionRefusal"}, ""},
	{topicApplications, "repeating a transition", []string{"repeatedTransition", "repeatedArchive"}, ""},
	{topicApplications, "whether the service completes applications", []string{"completion"}, ""},
	{topicApplications, "complete/reject of an archived application", []string{"archivedTransition"}, ""},
	{topicApplications, "suppress_email_notification: invite only, or everything after too", []string{"suppress"}, ""},
	{topicApplications, "start of the eight weeks", []string{"retentionStart", "archivedRetention"}, ""},
	{topicApplications, "404: never existed, deleted, expired, other account",
		nil, "the service does not distinguish them; delete, move the clock, reset the sandbox or use " +
			"the fault answer with status 404"},
	{topicApplications, "response about what was deleted or has expired", []string{"goneAnswer"}, ""},
	{topicApplications, "whether final states are final; other final states", []string{"stateNames"},
		"the control API moves an application to any state"},
	{topicApplications, "whether responses show the reference", []string{"applicationReference"}, ""},
}

var individualReadings = []Reading{
	{topicIndividuals, "retrieve individual: shape", []string{"retrieveIndividual"}, ""},
	{topicIndividuals, "resend, reset: payload and response", []string{"resendResetBody", "resendResetAnswer"}, ""},
	{topicIndividuals, "check ids after a reset", []string{"resetCheckIDs"}, ""},
	{topicIndividuals, "which checks can be decided, twice", []string{"decidableChecks", "repeatedDecision"}, ""},
	{topicIndividuals, "reference of accept/reject", []string{"checkReference"}, ""},
	{topicIndividuals, "counters after manual decisions", []string{"manualCounters"}, ""},
	{topicIndividuals, "report format", []string{"reportFormat"}, ""},
	{topicIndividuals, "report not ready", []string{"reportNotReady"}, ""},
	{topicIndividuals, "Accept of a report", []string{"reportAccept"}, ""},
	{topicIndividuals, "order of individuals", []string{"individualOrder"}, ""},
	{topicIndividuals, "what identifies an individual in responses",
		[]string{"individualReference", "individualEmail", "individualEntries", "individualIDs"}, ""},
	{topicIndividuals, "where the checks are, names of their states", []string{"checks", "checkStateNames"}, ""},
	{topicIndividuals, "whether rejecting a check sends an e-mail", []string{"checkRejection"}, ""},
}

var webhookReadings = []Reading{
	{topicWebhooks, "references: shape", []string{"references"}, ""},
	{topicWebhooks, "subscribe: field names",
		[]string{"subscribeFields", "subscribeEvents", "subscribeApplication"}, ""},
	{topicWebhooks, "subscribe: response", []string{"subscribeAnswer"}, ""},
	{topicWebhooks, "subscribing twice", []string{"subscribeTwice"}, ""},
	{topicWebhooks, "retrieve: shape; none", []string{"retrieveWebhook", "noWebhooks"}, ""},
	{topicWebhooks, "deliveries: shape, order, duplicates, signature",
		[]string{"deliveries", "deliveryShape", "ids", "memberCase"},
		"a forged delivery needs no sandbox; an undocumented signature cannot be verified"},
	{topicWebhooks, "how many subscriptions", []string{"subscriptions"}, ""},
	{topicWebhooks, "further required fields; a handshake; what counts as delivered",
		[]string{"subscribeRequired", "subscribeHandshake", "deliveredStatus"}, ""},
}
