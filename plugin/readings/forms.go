package readings

import (
	"regexp"
	"slices"
)

// A form is a reading, and what is written in a response then.
type form struct {
	reading string
	fits    *regexp.Regexp
}

// of makes forms of readings and patterns, in pairs. The last one may have no pattern: what none of the others is.
func of(pairs ...string) []form {
	var made []form
	for pair := range slices.Chunk(append(pairs, "")[:(len(pairs)+1)/2*2], 2) {
		made = append(made, form{pair[0], regexp.MustCompile(pair[1])})
	}
	return made
}

const (
	absent = `^(null|"")?$`
	text   = `^"`
	object = `^\{`
	list   = `^\[`
	url    = `"(\w+)"\s*:\s*"https?://`
	state  = `"(?i:status|state)"\s*:\s*"`
	inOwn  = `^\{\s*"(?i:individual)"\s*:\s*\{`
	inData = `^\{\s*"(?i:data|result|item|application|mandate)"\s*:\s*[\[{]`
)

// forms tell the readings of a point apart, in JSON as it is written or in a header. The first one that fits counts.
var forms = map[string][]form{
	"tokenForm": of("bearer_prefix", `^"(?i:bearer) `, "plain"),
	"tokenType": of("lower", `^"[^A-Z]+"$`, "upper", `^"[^a-z]+"$`, "capitalised", `^"\w`),
	"expiresIn": of("absent", absent, "string", text, "zero", `^0+(\.0*)?$`, "float", `^\d+\.`, "absurd", `\d{11}|[eE]`,
		"milliseconds", `^\d{3,}000$|^\d{8}`, "seconds", `^\d`),
	"rateLimitAnswer": of("absent", absent, "seconds", `^\d+$`, "date"),

	// What errorBody is told from is the content type, a space and the body.
	"errorBody": of("empty", ` $`, "problem", `(?s)problem\+json.* \{.*"(title|exception)"`, "html", `(?i)^\S*html`,
		"json", `(?s)json.* \{.*"(title|exception)"`, "message", ` \{`, "text"),
	"errorShape": of("number_status", `"status"\s*:\s*\d`, "numeric_id", `"id"\s*:\s*\d`,
		"extended", `"(detail|instance|code|message|errors?|trace_?id|timestamp|path)"\s*:`, "documented", `"exception"`,
		"no_exception"),
	// What wrongMethod is told from is the status of OPTIONS and the methods that it names.
	"wrongMethod": of("405_allow_all", ` \[\w+ `, "405_without_allow", `^405 \[\]`, "405", `^405`),
	"readAnswer": of("html", `(?i)<html`, "problem", `"(title|exception)"\s*:`, "success_false", `"(success|ok)"\s*:`,
		"error_member", `"errors?"\s*:`, "cut_off"),

	"wrap":        of("data", inData, "none"),
	"ids":         of("string", text, "float", `\.`, "number"),
	"idSize":      of("above_53_bits", `9\d{15}|\d{17}`, "above_40_bits", `\d{13}`, "from_one", `^"?\d{1,3}\b`, "usual"),
	"statusShape": of("object", object, "string", text, "integer"),
	"statusCase": of("upper", state+`[^"\da-z]+"`, "title", state+`[A-Z][^"\d]*"`,
		"plain", state+`[^"\d]* `, "kebab", state+`[^"\d]*-`, "snake", state+`[^"\d]*_`),
	"absentValues": of("by_type", `:\s*(null\b(?s:.*):\s*""|""(?s:.*):\s*null\b)`, "null", `:\s*null\b`,
		"empty", `:\s*""`, "missing"),
	"memberCase": of("upper", `"[A-Z]+_[A-Z_]+"\s*:`, "pascal", `"([A-Z][a-z]+){2,}"\s*:`,
		"camel", `"[a-z]+([A-Z][a-z]+)+"\s*:`, "snake", `"[a-z]+(_[a-z]+)+"\s*:`),

	"applicationReference": of("hidden", absent, "shown"),
	"referenceFormat":      of("any", `[^\w"-]|.{53}`),
	"stateNames": of("declined", `(?i)^declined`, "rejected_by_reviewer", `(?i)^rejected.by.reviewer`,
		"approved", `(?i)^(awaiting.decision|approved|denied)$`, "german", `(?i)^(in.prüfung|abgeschlossen|abgelehnt)$`,
		"codes", `(?i)^s\d\d$`, "documented", `(?i)^(in.?review|completed|reject)`, "other"),

	"individualEntries":   of("wrapped", inOwn, "plain"),
	"individualReference": of("hidden", absent, "shown"),
	"individualEmail":     of("hidden", absent, "masked", `[*•…]|^[^@]*$`, "shown"),
	"checks":              of("in_individual", list, "by_kind", object),
	"checkStateNames": of("clear", `^(?i:awaiting|needs.attention|clear|consider)$`,
		"approved", `^(?i:queued|manual.review|approved)$`, "usual"),
	"retrieveIndividual": of("individual", inOwn, "data", inData, "plain"),
	"reportFormat":       of("json_url", `^\{(?s:.*)`+url, "json_base64", object, "pdf"),

	"references": of("paged", `"(?i:next\w*)"\s*:\s*["{]`, "flat", list, "data", inData,
		"map", `(?i)"mandate_?types"\s*:\s*\{`, "application_types", `(?i)"application_?types"\s*:`,
		"more_lists", `(?i)"(application|mandate)_?[a-su-z]\w*"\s*:\s*\[`,
		"string_ids", `(?i)"mandate_?types"(?s:.*)"id"\s*:\s*"`, "lists", `(?i)"mandate_?types"\s*:`),
}

// formOf is the first reading of a point that one of some values has, or "".
func formOf(point string, values ...string) string {
	for _, f := range forms[point] {
		if slices.ContainsFunc(values, f.fits.MatchString) {
			return f.reading
		}
	}
	return ""
}

// see records which of its forms a point has.
func (c *check) see(point string, values ...string) {
	if reading := formOf(point, values...); reading != "" {
		c.saw(point, reading)
	}
}
