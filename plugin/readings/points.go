package readings

// follows says what follows from a reading.
//
//nolint:gosec // these are no credentials
var follows = map[string]string{
	"apiPermission=granted":       "the user may use the API",
	"applicationReference=hidden": "after a lost answer, nobody can tell whose an application is",
	"checks=individual_only":      "the operator does not read the checks in retrieve individual: reviews wait",
	"credentials=both":            "the login needs all four: username, password, client_id and client_secret",
	"credentials=client":          "the login needs client_id and client_secret",
	"credentials=either":          "either pair is enough: username and password, or client_id and client_secret",
	"credentials=user":            "the login needs username and password",
	"forbiddenObject=odd":         "this user may read some applications, and others not",
	"forbiddenObject=unknown":     "what does not exist, or every application, is forbidden: --application tells which",
	"goneAnswer=403":              "a deleted application is forbidden: the operator does not notice what is gone",
	"goneAnswer=404":              "a deleted application gets the service's own 404, which the operator believes",
	"goneAnswer=410":              "a deleted application gets the service's own 410, which the operator believes",
	"goneAnswer=state_deleted":    "a deleted application is shown in a state of its own, which spec.states.closed needs",
	"grantType=password":          "the login works with grant_type password",
	"identity=email":              "the e-mail address tells people apart; references are not shown",
	"identity=masked_email":       "two people whose masked addresses are the same cannot be told apart",
	"identity=nothing":            "nothing tells two people apart: use one Mandate for each person",
	"identity=reference":          "the reference tells people apart",
	"ingress404=applications":     "a proxy does not know the path of an application that exists",
	"olderTokens=revoked":         "everybody who logs in with these credentials costs the others a login",
	"references=paged":            "the client reads up to 20 pages; use spec.mandateType.id for what comes later",
	"reportFormat=json_url":       "the operator does not follow the URL, and the action fails with ReportIsURL",
	"tokenBasic=ignored":          "the login works with and without HTTP Basic",
	"tokenBasic=refused":          "the login must have no Authorization header",
	"tokenBasic=refused_401":      "the login must have no Authorization header",
	"tokenBasic=required":         "the login needs HTTP Basic with client_id and client_secret",
	"tokenBasic=user_required":    "the login takes HTTP Basic with username and password",

	"grantType=client_credentials": "the login needs grant_type client_credentials, with client_id and client_secret only",
}

// A Later point is one that no read shows.
type Later struct {
	Point string
	// Step of docs/first-contact.md shows it; 0 if nothing does before real use.
	Step int
	// Text says what shows it, or why nothing does.
	Text string
	// Switches are those of the sandbox that the point is about, with spaces between them.
	Switches string
}

// Laters are all points that no read shows. For any other switch of the sandbox, there is a finding of its name.
var Laters = []Later{
	{"create", 4, "whether a create answers with an id (Ready) or loses it (OutcomeUnknown), which fields it needs " +
		"(Refused), its first state, and whether a read finds it at once",
		"createStatus createBody firstState readLag requiredFields asyncWork asyncOperations asyncDelay"},
	{"actions", 6, "which body a resend and a reset take, what they answer, whether the e-mail comes, and whether " +
		"checks keep their ids", "resendResetBody resendResetAnswer resetCheckIDs changeAnswer changeWork"},
	{"complete", 6, "body and answer of complete, whether checks block it, and whether the service completes by itself",
		"transitionBody transitionAnswer undecidedChecks completion"},
	{"rejection", 7, "whether a check can be rejected, with or without its reference, and what that changes and sends",
		"decidableChecks checkReference checkRejection manualCounters"},
	{"deletion", 7, "what a deletion answers, which e-mails suppressEmailNotification suppresses, and whether a person " +
		"has one id in all applications", "successStatus successBody suppress individualIDs"},
	{"subscribe", 8, "which fields a subscription needs, its answer, a handshake, and what a second one does",
		"subscribeEvents subscribeApplication subscribeRequired subscribeAnswer subscribeHandshake subscribeTwice " +
			"subscriptions"},
	{"deliveries", 8, "the form of a delivery, with --notification-capture", "deliveries deliveryShape"},

	{"refusals", 0, "refusals of a create other than 400, and filters of what is sent, show when they come",
		"createRefusal forbiddenMandateType forbiddenBody unknownMandateType invalidStatus duplicateAnswer " +
			"transitionRefusal"},
	{"limits", 0, "ask the service's support for its limits", "rateLimit tokensPerHour"},
	{"uniqueness", 0, "the operator never relies on when a reference is free again, or on how references are compared",
		"deletedReferences archivedReferences referenceCase individualReferences uniquenessGap"},
	{"repetition", 0, "the operator reads first, and repeats no change that was carried out",
		"repeatedTransition repeatedArchive repeatedDecision archivedTransition"},
	{"time", 0, "tokens expire, applications end after eight weeks, states change after an outcome, and subscriptions " +
		"end after failed deliveries", "tokenLifetime retentionStart archivedRetention deliveredStatus"},
	{"unused", 0, "the client sends a Content-Type with every request, accepts every format of a report, ignores what " +
		"it does not know, and compares no titles", "contentType reportAccept extraMembers titleGenderCase"},
}
