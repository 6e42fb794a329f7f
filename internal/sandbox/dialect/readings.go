package dialect

// Reading is one point that the interface leaves open.
type Reading struct {
	Topic string
	Open  string
	// Switches name the switches with which the sandbox takes the other readings.
	Switches []string
	// Note says what else there is to it, or why there is no switch.
	Note string
}

// Readings lists every point that the interface leaves open, with the switches
// that decide it here.
func Readings() []Reading {
	return []Reading{
		{"Authentication", "Authorization on the token request", []string{"tokenBasic"}, ""},
		{"Authentication", "which credentials are needed", []string{"credentials"}, ""},
		{"Authentication", "unit and presence of expires_in", []string{"expiresIn", "tokenLifetime"}, "a 401 at any time: revoke the tokens"},
		{"Authentication", "token_type", []string{"tokenType"}, ""},
		{"Authentication", "whether a new token revokes older ones", []string{"olderTokens"}, ""},
		{"Authentication", "user without API permission", []string{"apiPermission"}, ""},

		{"Requests and answers", "Content-Type of a request without a body", []string{"contentType"}, "where it is open whether there is a body, none needs no Content-Type either"},
		{"Requests and answers", "success codes", []string{"createStatus", "createBody", "successStatus", "successBody", "transitionAnswer", "resendResetAnswer", "subscribeAnswer"}, ""},
		{"Requests and answers", "ids", []string{"ids", "idSize"}, "they never follow each other"},
		{"Requests and answers", "absent values", []string{"absentValues"}, ""},
		{"Requests and answers", "status", []string{"statusShape", "statusCase"}, ""},
		{"Requests and answers", "unknown members", []string{"extraMembers", "memberCase", "wrap"}, "memberCase and wrap: known members that a strict decoder would not know"},
		{"Requests and answers", "length", nil, "the interface speaks of characters; the sandbox counts code points, as the client does"},
		{"Requests and answers", "required create fields", []string{"requiredFields"}, ""},
		{"Requests and answers", "gender, title values", []string{"titleGenderCase"}, ""},
		{"Requests and answers", "which set a reference is unique in; case; archived; deleted", []string{"deletedReferences", "archivedReferences", "referenceCase", "uniquenessGap"}, ""},
		{"Requests and answers", "individual reference", []string{"individualReferences"}, ""},
		{"Requests and answers", "duplicate answer", []string{"duplicateAnswer"}, ""},
		{"Requests and answers", "error content type", []string{"errorBody", "errorShape"}, ""},
		{"Requests and answers", "codes not listed", []string{"invalidStatus", "transitionRefusal", "undecidedChecks", "wrongMethod"}, "any other code of any operation: the fault answer"},
		{"Requests and answers", "rate limits", []string{"rateLimit", "rateLimitAnswer"}, ""},
		{"Requests and answers", "read after write", []string{"readLag"}, ""},

		{"Applications", "state on creation, names of states", []string{"firstState", "stateNames", "statusCase"}, ""},
		{"Applications", "method, payload, answer of complete and reject", []string{"completeMethod", "rejectMethod", "wrongMethod", "transitionBody", "transitionAnswer"}, ""},
		{"Applications", "undecided checks block complete?", []string{"undecidedChecks", "transitionRefusal"}, ""},
		{"Applications", "repeating a transition", []string{"repeatedTransition", "repeatedArchive"}, ""},
		{"Applications", "the service completes by itself", []string{"completion"}, ""},
		{"Applications", "complete/reject of an archived application", []string{"archivedTransition"}, ""},
		{"Applications", "suppress_email_notification: invite only, or everything after too", []string{"suppress"}, ""},
		{"Applications", "start of the eight weeks", []string{"retentionStart", "archivedRetention"}, ""},
		{"Applications", "404: never existed, deleted, expired, other account", nil, "the service answers all four alike: delete, move the clock, reset the sandbox, or set the fault answer with status 404"},

		{"Individuals and checks", "retrieve individual: shape", []string{"retrieveIndividual"}, ""},
		{"Individuals and checks", "resend, reset: payload and answer", []string{"resendResetBody", "resendResetAnswer"}, ""},
		{"Individuals and checks", "check ids after a reset", []string{"resetCheckIDs"}, ""},
		{"Individuals and checks", "which checks can be decided, twice", []string{"decidableChecks", "repeatedDecision"}, ""},
		{"Individuals and checks", "reference of accept/reject", []string{"checkReference"}, ""},
		{"Individuals and checks", "counters after manual decisions", []string{"manualCounters"}, ""},
		{"Individuals and checks", "report format", []string{"reportFormat"}, ""},
		{"Individuals and checks", "report not ready", []string{"reportNotReady"}, ""},

		{"Reference data and webhooks", "references: shape", []string{"references"}, ""},
		{"Reference data and webhooks", "subscribe: field names", []string{"subscribeFields", "subscribeEvents", "subscribeApplication"}, ""},
		{"Reference data and webhooks", "subscribe: answer", []string{"subscribeAnswer"}, ""},
		{"Reference data and webhooks", "subscribing twice", []string{"subscribeTwice"}, ""},
		{"Reference data and webhooks", "retrieve: shape; none", []string{"retrieveWebhook", "noWebhooks"}, ""},
		{"Reference data and webhooks", "deliveries: shape, order, duplicates, signature", []string{"deliveries", "deliveryShape"}, "forged ones need no sandbox: anybody can post to the target; a signature that nobody documents cannot be checked"},
	}
}
