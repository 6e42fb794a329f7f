package dialect

// The values other than the default of the switches about refusals and limits. The default is "".
const (
	RequiredFieldsAll = "all"

	DuplicateUnique     = "unique"
	DuplicateTranslated = "translated"
	DuplicateBeside     = "beside"

	Invalid422 = "422"

	ErrorBodyJSON  = "json"
	ErrorBodyHTML  = "html"
	ErrorBodyText  = "text"
	ErrorBodyEmpty = "empty"

	ErrorShapeExtended     = "extended"
	ErrorShapeNumberStatus = "number_status"
	ErrorShapeNoException  = "no_exception"

	RateLimitDate   = "date"
	RateLimitAbsent = "absent"
)

var refusals = []definition{
	{"requiredFields", "what a create needs: name, mandate_type and one individual, or also a reference and every field " +
		"of an individual except middle_name",
		[]string{"few", RequiredFieldsAll},
		func(d *Dialect) any { return &d.RequiredFields }},
	{"duplicateAnswer", "how an error reports a duplicate reference: the usual text, another text, or additional members",
		[]string{"exists", DuplicateUnique, DuplicateTranslated, DuplicateBeside},
		func(d *Dialect) any { return &d.DuplicateAnswer }},
	{"invalidStatus", "the status code of a request with invalid fields or a duplicate reference",
		[]string{"400", Invalid422},
		func(d *Dialect) any { return &d.InvalidStatus }},
	{"errorBody", "the body of an error: application/problem+json, the same as application/json, HTML, plain text, " +
		"or no body",
		[]string{"problem", ErrorBodyJSON, ErrorBodyHTML, ErrorBodyText, ErrorBodyEmpty},
		func(d *Dialect) any { return &d.ErrorBody }},
	{"errorShape", "the members of an error: the documented ones, additional ones, status as a number, " +
		"or no empty exception",
		[]string{"documented", ErrorShapeExtended, ErrorShapeNumberStatus, ErrorShapeNoException},
		func(d *Dialect) any { return &d.ErrorShape }},
	{"rateLimit", "requests per second, above which a request gets 429; 0 is no limit", nil,
		func(d *Dialect) any { return &d.RateLimit }},
	{"rateLimitAnswer", "the Retry-After of such a 429: seconds, a date, or none",
		[]string{"seconds", RateLimitDate, RateLimitAbsent},
		func(d *Dialect) any { return &d.RateLimitAnswer }},
}
