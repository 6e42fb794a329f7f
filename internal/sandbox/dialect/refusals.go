package dialect

// The values other than the default of the switches about refusals and limits. The default is "".
const (
	RequiredFieldsAll        = "all"
	RequiredFieldsMiddleName = "all_with_middle_name"
	ReferenceFormatStrict    = "strict"
	DuplicateUnique          = "unique"
	DuplicateTranslated      = "translated"
	DuplicateBeside          = "beside"
	ErrorBodyJSON            = "json"
	ErrorBodyMessage         = "message"
	ErrorBodyHTML            = "html"
	ErrorBodyText            = "text"
	ErrorBodyEmpty           = "empty"
	ErrorShapeExtended       = "extended"
	ErrorShapeNumericID      = "numeric_id"
	ErrorShapeNumberStatus   = "number_status"
	ErrorShapeNoException    = "no_exception"
	RateLimitDate            = "date"
	RateLimitAbsent          = "absent"
)

var refusals = []definition{
	{"requiredFields", "what a create needs: name, mandate_type and one individual, or also a reference and every field " +
		"of an individual except middle_name, or also middle_name, which may be empty",
		[]string{"few", RequiredFieldsAll, RequiredFieldsMiddleName}},
	{"referenceFormat", "the characters of a reference: any, or at most 50 letters, digits, hyphens and underscores",
		[]string{"any", ReferenceFormatStrict}},
	{"duplicateAnswer", "how an error reports a duplicate reference: the usual text, another text, or additional members",
		[]string{"exists", DuplicateUnique, DuplicateTranslated, DuplicateBeside}},
	{"invalidStatus", "the status code of a request with invalid fields or a duplicate reference",
		statuses(400, 422)},
	{"unknownMandateType", "the status code of a create with a mandate type that does not exist",
		statuses(400, 404, 422)},
	{"createRefusal", "the status code with which every create is refused, for example because the account has no credit",
		append([]string{"none"}, statuses(402, 403, 404, 409, 423)...)},
	{"errorBody", "the body of an error: application/problem+json, the same as application/json, " +
		"JSON that is no problem, HTML, plain text, or no body",
		[]string{"problem", ErrorBodyJSON, ErrorBodyMessage, ErrorBodyHTML, ErrorBodyText, ErrorBodyEmpty}},
	{"errorShape", "the members of an error: the documented ones, additional ones, additional ones with a number as id, " +
		"status as a number, or no empty exception",
		[]string{"documented", ErrorShapeExtended, ErrorShapeNumericID, ErrorShapeNumberStatus, ErrorShapeNoException}},
	{"rateLimit", "requests per second, above which a request gets 429; 0 is no limit", nil},
	{"rateLimitAnswer", "the Retry-After of such a 429: seconds, a date, or none",
		[]string{"seconds", RateLimitDate, RateLimitAbsent}},
}
