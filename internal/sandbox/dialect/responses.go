package dialect

// The values other than the default of the switches about every request and response. The default is "".
const (
	IDsString           = "string"
	IDsFloat            = "float"
	IDsAbove40Bits      = "above_40_bits"
	IDsAbove53Bits      = "above_53_bits"
	IDsFromOne          = "from_one"
	StatusString        = "string"
	StatusInteger       = "integer"
	StatusSnake         = "snake"
	StatusKebab         = "kebab"
	StatusUpper         = "upper"
	StatusTitle         = "title"
	WrapData            = "data"
	AbsentNull          = "null"
	AbsentEmpty         = "empty"
	AbsentMissing       = "missing"
	ExtraMembersPresent = "present"
	MemberCaseCamel     = "camel"
	MemberCasePascal    = "pascal"
	MemberCaseUpper     = "upper"
	SuccessBodyEmpty    = "empty"
	TitleGenderLower    = "lower"
	TitleGenderUpper    = "upper"
	TitleGenderTitle    = "title"
	ContentTypeAlways   = "always"
	WrongMethodBare     = "405_without_allow"
	WrongMethodAll      = "405_allow_all"
	WrongMethod404      = "404"
	TrailingSlash301    = "redirect_301"
	TrailingSlash308    = "redirect_308"
)

var responses = []definition{
	{"ids", "how ids are written: 4711, \"4711\" or 4711.0",
		[]string{"number", IDsString, IDsFloat}},
	{"idSize", "the size of new ids: applications and individuals below 32 bits, or all above 40 bits, " +
		"or all above 53 bits, which a float64 cannot hold exactly, or each kind from one, so that an application " +
		"and an individual have the same id",
		[]string{"usual", IDsAbove40Bits, IDsAbove53Bits, IDsFromOne}},
	{"statusShape", "the JSON type of a status",
		[]string{"object", StatusString, StatusInteger}},
	{"statusCase", "the form of a status name: in review, in_review, in-review, IN REVIEW or In Review",
		[]string{"plain", StatusSnake, StatusKebab, StatusUpper, StatusTitle}},
	{"wrap", "whether responses other than tokens are wrapped in an object",
		[]string{"none", WrapData}},
	{"absentValues", `how absent values are written: null or "" by type, always null, always "", or omitted`,
		[]string{"by_type", AbsentNull, AbsentEmpty, AbsentMissing}},
	{"extraMembers", "whether every object of a response, tokens and errors included, has undocumented members",
		[]string{"none", ExtraMembersPresent}},
	{"memberCase", "the form of member names: mandate_type, mandateType, MandateType or MANDATE_TYPE; " +
		"errors follow RFC 7807",
		[]string{"snake", MemberCaseCamel, MemberCasePascal, MemberCaseUpper}},
	{"successStatus", "the status code of a delete, an archive and a check decision; 204 has no body",
		append([]string{"documented"}, statuses(200, 201, 202, 204)...)},
	{"successBody", "whether the responses of successStatus have a body",
		[]string{"documented", SuccessBodyEmpty}},
	{"titleGenderCase", "how the letter case of title and gender changes",
		[]string{"kept", TitleGenderLower, TitleGenderUpper, TitleGenderTitle}},
	{"contentType", "which requests need a Content-Type: those with a body, or all, as the interface lists",
		[]string{"with_body", ContentTypeAlways}},
	{"wrongMethod", "the response to a method that a path does not have: 405 with Allow, 405 without Allow, " +
		"405 with an Allow of every method, as of a gateway that also answers OPTIONS, or 404",
		[]string{"405", WrongMethodBare, WrongMethodAll, WrongMethod404}},
	{"trailingSlash", "whether a path without a slash at its end is redirected to the one with it",
		[]string{"not_used", TrailingSlash301, TrailingSlash308}},
}
