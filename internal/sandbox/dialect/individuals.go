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
	{"reportNotReady", "the status code of a report while the individual has pending checks",
		[]string{"400", ReportNotReady404, ReportNotReady409},
		func(d *Dialect) any { return &d.ReportNotReady }},
}
