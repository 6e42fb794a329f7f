package dialect

// The values other than the default of the switches about individuals and checks. The default is "".
const (
	IndividualInData          = "data"
	IndividualInIndividual    = "individual"
	ResendResetEmpty          = "empty"
	ResendResetIndividual     = "individual"
	ResetCheckIDsNew          = "new"
	DecidableInReview         = "in_review"
	RepeatedDecisionRefused   = "refused"
	CheckReferenceID          = "check_id"
	CheckReferenceRequired    = "required"
	ManualCountersUnchanged   = "unchanged"
	ReportBase64              = "json_base64"
	ReportURL                 = "json_url"
	ReportProcessing200       = "processing_200"
	ReportProcessing202       = "202"
	ReportHTML200             = "html_200"
	ReportAcceptPDF           = "pdf_only"
	IndividualIDsPerson       = "per_person"
	IndividualsNewestFirst    = "newest_first"
	IndividualsByName         = "by_name"
	IndividualReferenceHidden = "hidden"
	IndividualEmailMasked     = "masked"
	IndividualEmailHidden     = "hidden"
	IndividualEntriesWrapped  = "wrapped"
	ChecksIndividualOnly      = "individual_only"
	ChecksByKind              = "by_kind"
	CheckStateNamesClear      = "clear"
	CheckStateNamesApproved   = "approved"
	CheckRejectionEmails      = "emails"
)

var individuals = []definition{
	{"retrieveIndividual", "whether the response of retrieve individual is wrapped, and in which member",
		[]string{"plain", IndividualInData, IndividualInIndividual}},
	{"resendResetBody", "the request body of resend and reset: " + bodies,
		[]string{"any", BodyObject, BodyEmpty, BodyEmptyTyped, BodyEmptyUntyped}},
	{"resendResetAnswer", "the response of resend and reset: a message, 200, 202 or 204 without a body, or the individual",
		append([]string{"message", ResendResetEmpty, ResendResetIndividual}, statuses(202, 204)...)},
	{"resetCheckIDs", "whether checks keep their ids after a reset",
		[]string{"same", ResetCheckIDsNew}},
	{"decidableChecks", "which checks the client can accept and reject",
		[]string{"any", DecidableInReview}},
	{"repeatedDecision", "whether the client can decide a check again",
		[]string{"allowed", RepeatedDecisionRefused}},
	{"checkReference", "the reference of a check decision: any optional integer, the optional id of the check, " +
		"or the required id of the check",
		[]string{"any", CheckReferenceID, CheckReferenceRequired}},
	{"manualCounters", "whether decisions of the client change the counters of an individual",
		[]string{"recounted", ManualCountersUnchanged}},
	{"reportFormat", "the form of a report: a PDF, JSON with the PDF in base64, or JSON with a URL",
		[]string{"pdf", ReportBase64, ReportURL}},
	{"reportNotReady", "the response to a report while the individual has pending checks: an error, " +
		"200 with the status processing, 202 without a body, or 200 with a page of HTML",
		append(statuses(400, 404, 409), ReportProcessing200, ReportProcessing202, ReportHTML200)},
	{"reportAccept", "whether a report gets 406 if its Accept header does not include application/pdf",
		[]string{"any", ReportAcceptPDF}},
	{"individualIDs", "whether an e-mail address has a new individual id in each application, or keeps its first one",
		[]string{"per_application", IndividualIDsPerson}},
	{"individualOrder", "the order of the individuals of an application",
		[]string{"as_sent", IndividualsNewestFirst, IndividualsByName}},
	{"individualReference", "whether responses show the reference of an individual",
		[]string{"shown", IndividualReferenceHidden}},
	{"individualEmail", "whether responses show the e-mail address of an individual, mask it as j***@example.com, or not",
		[]string{"shown", IndividualEmailMasked, IndividualEmailHidden}},
	{"individualEntries", "whether each individual of an application is wrapped in an object",
		[]string{"plain", IndividualEntriesWrapped}},
	{"checks", "where the checks are: a list of each individual, a list only in the response of retrieve individual, " +
		"or a list for each kind of check",
		[]string{"in_individual", ChecksIndividualOnly, ChecksByKind}},
	{"checkStateNames", "the names of the states of a check: pending, in review, passed, failed; " +
		"or awaiting, needs attention, clear, consider; or queued, manual review, approved, rejected",
		[]string{"usual", CheckStateNamesClear, CheckStateNamesApproved}},
	{"checkRejection", "whether rejecting a check sends the individual an e-mail",
		[]string{"silent", CheckRejectionEmails}},
}
