package dialect

// The values other than the default of the switches about every request and answer. The default is "".
const (
	IDsString = "string"

	IDsAbove40Bits = "above_40_bits"
	IDsAbove53Bits = "above_53_bits"

	StatusString  = "string"
	StatusInteger = "integer"

	StatusSnake = "snake"
	StatusKebab = "kebab"
	StatusUpper = "upper"
	StatusTitle = "title"

	WrapData = "data"

	AbsentNull    = "null"
	AbsentEmpty   = "empty"
	AbsentMissing = "missing"

	ExtraMembersPresent = "present"

	MemberCaseCamel  = "camel"
	MemberCasePascal = "pascal"
	MemberCaseUpper  = "upper"

	Success200 = "200"
	Success201 = "201"
	Success202 = "202"
	Success204 = "204"

	SuccessBodyEmpty = "empty"

	TitleGenderLower = "lower"
	TitleGenderUpper = "upper"
	TitleGenderTitle = "title"

	ContentTypeAlways = "always"

	WrongMethodBare = "405_without_allow"
	WrongMethod404  = "404"
)

var answers = []definition{
	{"ids", "how ids are written",
		[]string{"number", IDsString},
		func(d *Dialect) any { return &d.IDs }},
	{"idSize", "how large new ids are: those of applications and individuals below 32 bits, or all above 40, or above the 53 that a float64 holds exactly",
		[]string{"usual", IDsAbove40Bits, IDsAbove53Bits},
		func(d *Dialect) any { return &d.IDSize }},
	{"statusShape", "how a status is written",
		[]string{"object", StatusString, StatusInteger},
		func(d *Dialect) any { return &d.StatusShape }},
	{"statusCase", "how the name of a status is spelled: in review, in_review, in-review, IN REVIEW or In Review",
		[]string{"plain", StatusSnake, StatusKebab, StatusUpper, StatusTitle},
		func(d *Dialect) any { return &d.StatusCase }},
	{"wrap", "whether answers other than tokens are wrapped in an object",
		[]string{"none", WrapData},
		func(d *Dialect) any { return &d.Wrap }},
	{"absentValues", `how values that are not there are written: null or "" by type, always null, always "", or left out`,
		[]string{"by_type", AbsentNull, AbsentEmpty, AbsentMissing},
		func(d *Dialect) any { return &d.AbsentValues }},
	{"extraMembers", "whether every object of an answer, tokens and errors included, has members that nobody knows",
		[]string{"none", ExtraMembersPresent},
		func(d *Dialect) any { return &d.ExtraMembers }},
	{"memberCase", "how the names of members are spelled: mandate_type, mandateType, MandateType or MANDATE_TYPE (errors are as RFC 7807 has them)",
		[]string{"snake", MemberCaseCamel, MemberCasePascal, MemberCaseUpper},
		func(d *Dialect) any { return &d.MemberCase }},
	{"successStatus", "the status code of a delete, an archive and a check decision; 204 has no body",
		[]string{"documented", Success200, Success201, Success202, Success204},
		func(d *Dialect) any { return &d.SuccessStatus }},
	{"successBody", "whether those answers have a body",
		[]string{"documented", SuccessBodyEmpty},
		func(d *Dialect) any { return &d.SuccessBody }},
	{"titleGenderCase", "what becomes of the letter case of title and gender",
		[]string{"kept", TitleGenderLower, TitleGenderUpper, TitleGenderTitle},
		func(d *Dialect) any { return &d.TitleGenderCase }},
	{"contentType", "what needs a Content-Type: a request with a body, or also those that have none, as the interface lists it for every request",
		[]string{"with_body", ContentTypeAlways},
		func(d *Dialect) any { return &d.ContentType }},
	{"wrongMethod", "what answers a method that a path has not: 405 with Allow, 405 without, or 404",
		[]string{"405", WrongMethodBare, WrongMethod404},
		func(d *Dialect) any { return &d.WrongMethod }},
}
