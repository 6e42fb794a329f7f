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

	ReportNotReady404 = "404"
	ReportNotReady409 = "409"
)

var individuals = []definition{
	{"retrieveIndividual", "whether the answer of retrieve individual is wrapped, and in what",
		[]string{"plain", IndividualInData, IndividualInIndividual},
		func(d *Dialect) any { return &d.RetrieveIndividual }},
	{"resendResetBody", "the body that resend and reset take: an object or none, an object, or none",
		[]string{"any", BodyObject, BodyEmpty},
		func(d *Dialect) any { return &d.ResendResetBody }},
	{"resendResetAnswer", "what resend and reset answer: a message, 200, 202 or 204 without a body, or the individual",
		[]string{"message", ResendResetEmpty, ResendReset202, ResendReset204, ResendResetIndividual},
		func(d *Dialect) any { return &d.ResendResetAnswer }},
	{"resetCheckIDs", "whether checks keep their ids in a reset",
		[]string{"same", ResetCheckIDsNew},
		func(d *Dialect) any { return &d.ResetCheckIDs }},
	{"decidableChecks", "which checks can be accepted and rejected by hand",
		[]string{"any", DecidableInReview},
		func(d *Dialect) any { return &d.DecidableChecks }},
	{"repeatedDecision", "whether a check that was decided by hand can be decided again",
		[]string{"allowed", RepeatedDecisionRefused},
		func(d *Dialect) any { return &d.RepeatedDecision }},
	{"checkReference", "what the reference of a check decision may be: any integer or none, the check's id or none, or the check's id",
		[]string{"any", CheckReferenceID, CheckReferenceRequired},
		func(d *Dialect) any { return &d.CheckReference }},
	{"manualCounters", "whether decisions by hand change the counters of an individual",
		[]string{"recounted", ManualCountersUnchanged},
		func(d *Dialect) any { return &d.ManualCounters }},
	{"reportFormat", "what a report is: a PDF, JSON with the PDF in base64, or JSON with a URL",
		[]string{"pdf", ReportBase64, ReportURL},
		func(d *Dialect) any { return &d.ReportFormat }},
	{"reportNotReady", "the status code of a report on an individual who has not completed the checks",
		[]string{"400", ReportNotReady404, ReportNotReady409},
		func(d *Dialect) any { return &d.ReportNotReady }},
}
