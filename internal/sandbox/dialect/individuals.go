package dialect

// The values other than the default of the switches about individuals and checks. The default is "".
const (
	IndividualInData       = "data"
	IndividualInIndividual = "individual"

	ResendResetEmpty      = "empty"
	ResendReset202        = "202"
	ResendReset204        = "204"
	ResendResetIndividual = "individual"

	ResetCheckIDsNew = "new"

	DecidableInReview = "in_review"

	RepeatedDecisionRefused = "refused"

	CheckReferenceID       = "check_id"
	CheckReferenceRequired = "required"

	ManualCountersUnchanged = "unchanged"

	ReportBase64 = "json_base64"
	ReportURL    = "json_url"

	ReportProcessing200 = "processing_200"
	ReportProcessing202 = "202"
	ReportHTML200       = "html_200"

	ReportAcceptPDF = "pdf_only"

	IndividualIDsPerson = "per_person"

	IndividualsNewestFirst = "newest_first"
	IndividualsByName      = "by_name"

	IndividualReferenceHidden = "hidden"

	IndividualEmailMasked = "masked"
	IndividualEmailHidden = "hidden"

	IndividualEntriesWrapped = "wrapped"

	ChecksIndividualOnly = "individual_only"
	ChecksByKind         = "by_kind"

	CheckStateNamesClear    = "clear"
	CheckStateNamesApproved = "approved"

	CheckRejectionEmails = "emails"
)

var individuals = []definition{
	{"retrieveIndividual", "whether the response of retrieve individual is wrapped, and in which member",
		[]string{"plain", IndividualInData, IndividualInIndividual},
		func(d *Dialect) any { return &d.RetrieveIndividual }},
	{"resendResetBody", "the request body of resend and reset: " + bodies,
		[]string{"any", BodyObject, BodyEmpty, BodyEmptyTyped, BodyEmptyUntyped},
		func(d *Dialect) any { return &d.ResendResetBody }},
	{"resendResetAnswer", "the response of resend and reset: a message, 200, 202 or 204 without a body, or the individual",
		[]string{"message", ResendResetEmpty, ResendReset202, ResendReset204, ResendResetIndividual},
		func(d *Dialect) any { return &d.ResendResetAnswer }},
	{"resetCheckIDs", "whether checks keep their ids after a reset",
		[]string{"same", ResetCheckIDsNew},
		func(d *Dialect) any { return &d.ResetCheckIDs }},
	{"decidableChecks", "which checks the client can accept and reject",
		[]string{"any", DecidableInReview},
		func(d *Dialect) any { return &d.DecidableChecks }},
	{"repeatedDecision", "whether the client can decide a check again",
		[]string{"allowed", RepeatedDecisionRefused},
		func(d *Dialect) any { return &d.RepeatedDecision }},
	{"checkReference", "the reference of a check decision: any optional integer, the optional id of the check, " +
		"or the required id of the check",
		[]string{"any", CheckReferenceID, CheckReferenceRequired},
		func(d *Dialect) any { return &d.CheckReference }},
	{"manualCounters", "whether decisions of the client change the counters of an individual",
		[]string{"recounted", ManualCountersUnchanged},
		func(d *Dialect) any { return &d.ManualCounters }},
	{"reportFormat", "the form of a report: a PDF, JSON with the PDF in base64, or JSON with a URL",
		[]string{"pdf", ReportBase64, ReportURL},
		func(d *Dialect) any { return &d.ReportFormat }},
	{"reportNotReady", "the response to a report while the individual has pending checks: an error, " +
		"200 with the status processing, 202 without a body, or 200 with a page of HTML",
		append(statuses(400, 404, 409), ReportProcessing200, ReportProcessing202, ReportHTML200),
		func(d *Dialect) any { return &d.ReportNotReady }},
	{"reportAccept", "whether a report gets 406 if its Accept header does not include application/pdf",
		[]string{"any", ReportAcceptPDF},
		func(d *Dialect) any { return &d.ReportAccept }},
	{"individualIDs", "whether an e-mail address has a new individual id in each application, or keeps its first one",
		[]string{"per_application", IndividualIDsPerson},
		func(d *Dialect) any { return &d.IndividualIDs }},
	{"individualOrder", "the order of the individuals of an application",
		[]string{"as_sent", IndividualsNewestFirst, IndividualsByName},
		func(d *Dialect) any { return &d.IndividualOrder }},
	{"individualReference", "whether responses show the reference of an individual",
		[]string{"shown", IndividualReferenceHidden},
		func(d *Dialect) any { return &d.IndividualReference }},
	{"individualEmail", "whether responses show the e-mail address of an individual, mask it as j***@example.com, or not",
		[]string{"shown", IndividualEmailMasked, IndividualEmailHidden},
		func(d *Dialect) any { return &d.IndividualEmail }},
	{"individualEntries", "whether each individual of an application is wrapped in an object",
		[]string{"plain", IndividualEntriesWrapped},
		func(d *Dialect) any { return &d.IndividualEntries }},
	{"checks", "where the checks are: a list of each individual, a list only in the response of retrieve individual, " +
		"or a list for each kind of check",
		[]string{"in_individual", ChecksIndividualOnly, ChecksByKind},
		func(d *Dialect) any { return &d.Checks }},
	{"checkStateNames", "the names of the states of a check: pending, in review, passed, failed; " +
		"or awaiting, needs attention, clear, consider; or queued, manual review, approved, rejected",
		[]string{"usual", CheckStateNamesClear, CheckStateNamesApproved},
		func(d *Dialect) any { return &d.CheckStateNames }},
	{"checkRejection", "whether rejecting a check sends the individual an e-mail",
		[]string{"silent", CheckRejectionEmails},
		func(d *Dialect) any { return &d.CheckRejection }},
}
