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
	{"requiredFields", "what a create needs: name, mandate_type and one individual, or also a reference and every field of an individual but middle_name",
		[]string{"few", RequiredFieldsAll},
		func(d *Dialect) any { return &d.RequiredFields }},
	{"duplicateAnswer", "how a duplicate reference is told: the usual text, other texts, or other members beside it",
		[]string{"exists", DuplicateUnique, DuplicateTranslated, DuplicateBeside},
		func(d *Dialect) any { return &d.DuplicateAnswer }},
	{"invalidStatus", "the status code of a request whose fields do not validate, duplicates included",
		[]string{"400", Invalid422},
		func(d *Dialect) any { return &d.InvalidStatus }},
	{"errorBody", "what an error is: application/problem+json, the same as application/json, an HTML page, plain text, or nothing",
		[]string{"problem", ErrorBodyJSON, ErrorBodyHTML, ErrorBodyText, ErrorBodyEmpty},
		func(d *Dialect) any { return &d.ErrorBody }},
	{"errorShape", "the members of an error: the documented ones, more beside them, status as a number, or exception only where there is something to say",
		[]string{"documented", ErrorShapeExtended, ErrorShapeNumberStatus, ErrorShapeNoException},
		func(d *Dialect) any { return &d.ErrorShape }},
	{"rateLimit", "how many requests a second are served, real time; the others get 429; 0 is no limit", nil,
		func(d *Dialect) any { return &d.RateLimit }},
	{"rateLimitAnswer", "the Retry-After of those 429: seconds, a date, or none",
		[]string{"seconds", RateLimitDate, RateLimitAbsent},
		func(d *Dialect) any { return &d.RateLimitAnswer }},
}
