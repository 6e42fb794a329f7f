package client

import (
	"strings"
)

// personal is what must never come back out of an answer.
const personal = "jane.doe@personal.example"

// testBody is a body that a service, or something between it and us, could answer with.
type testBody struct {
	name, text string
	header     string // a further line of the header, such as "Location: /x"
	challenge  bool   // the header asks for a bearer token
	cutOff     bool   // its length is said to be greater
	large      bool   // to be sent with a few statuses only
	listed     bool   // it is in a list, which is what a read asks for

	// success and failure are what it holds as the body of a 2xx and of a 4xx.
	success, failure body
	// created is the id that it shows beside the reference that a create has sent, and candidate an id otherwise.
	created, candidate int64
	id                 int64 // of the application that a read finds in it
}

const (
	someProblem = `{"type":"","title":"` + personal + `","exception":{"name":["` + personal + `"]},"status":"400"}`
	// aboutNothing is a problem that names no field.
	aboutNothing = `{"type":"","title":"x","exception":{},"status":"400"}`
)

// testBodies are members of every kind of body.
func testBodies() []testBody {
	var bodies []testBody
	add := func(success, failure body, more ...testBody) {
		for _, b := range more {
			b.success, b.failure = success, failure
			bodies = append(bodies, b)
		}
	}
	add(bodyNone, bodyNone, testBody{name: "nothing"}, testBody{name: "null", text: `null`})
	add(bodyJSON, bodyJSON, plainJSON()...)
	add(bodyJSON, bodyJSON, applications()...)
	add(bodyFailure, bodyFailure, failures()...)
	add(bodyProblem, bodyProblem, problems()...)
	add(bodyProblem, bodyContradiction,
		testBody{name: "problem about another answer", text: `{"title":"x","exception":{"name":["x"]},"status":"502"}`},
		testBody{name: "problem about 502, in words", text: `{"type":"about:blank","title":"x","status":"502 Bad Gateway"}`},
		testBody{name: "problem about 502 with an id", text: `{"title":"x","status":"502 Bad Gateway","id":4711}`, id: 4711},
		testBody{name: "problem of two statuses", text: `{"exception":{},"status":"400","Status":"502"}`},
	)
	add(bodyJSON, bodyContradiction,
		testBody{name: "title of success", text: `{"title":"Accepted","status":"200"}`},
		testBody{name: "title with a state", text: `{"title":"x","status":{"id":1,"status":"created"}}`},
	)
	add(bodyJSON, bodyProblem, testBody{name: "person", text: `{"title":"Ms","first_name":"` + personal + `"}`})
	add(bodyForeign, bodyForeign, foreign()...)
	add(bodyCutOff, bodyCutOff,
		testBody{name: "application cut off", text: someApplication, cutOff: true},
		testBody{name: "problem cut off", text: someProblem, cutOff: true},
		testBody{name: "nothing, cut off", cutOff: true},
	)
	add(bodyTooLong, bodyTooLong,
		testBody{name: "too large", text: `{"id":4711,"` + strings.Repeat("k", 1<<20) + `":1}`, large: true},
		testBody{name: "nested deeply", text: strings.Repeat(`[`, 40) + strings.Repeat(`]`, 40)},
		testBody{name: "many values", text: `[` + strings.Repeat(`1,`, 10_000) + `1]`, large: true},
	)
	return bodies
}

func plainJSON() []testBody {
	return []testBody{
		{name: "list", text: `[]`},
		{name: "string", text: `"` + personal + `"`},
		{name: "number", text: `4711`},
		{name: "true", text: `true`},
		{name: "empty object", text: `{}`},
		{name: "message", text: `{"message":"` + personal + `"}`},
		{name: "success", text: `{"success":true,"message":"x"}`},
		{name: "no error", text: `{"error":null,"message":"x"}`},
		{name: "no errors", text: `{"errors":[],"message":"x"}`},
		{name: "error that is empty", text: `{"error":"","errors":{}}`},
		{name: "code of success", text: `{"code":200,"status":"ok"}`},
		{name: "code 0", text: `{"code":0}`},
		{name: "state of an application", text: `{"status":{"id":1,"status":"created"},"name":"` + personal + `"}`},
		{name: "status of an application", text: `{"status":"created","message":"` + personal + `"}`},
		{name: "integer as a state", text: `{"id":4711,"status":404}`, id: 4711, candidate: 4711},
		{name: "failed application", text: `{"id":4711,"status":"failed"}`, id: 4711, candidate: 4711},
		{name: "error of an application", text: `{"id":4711,"error":"` + personal + `"}`, id: 4711, candidate: 4711},
	}
}

// applications are what shows an id, by the id beside the reference A-1 and by the id alone.
func applications() []testBody {
	application := func(id string) string { return `{"id":` + id + `,"name":"` + personal + `","reference":"A-1"}` }
	const found = int64(4711)
	return []testBody{
		{name: "application", text: application("4711"), id: found, created: found},
		{name: "application, id as text", text: application(`"4711"`), id: found, created: found},
		{name: "application, id as float", text: application("4711.0"), id: found, created: found},
		{
			name: "application after a byte order mark", text: "\ufeff" + application("4711") + "\r\n", id: found,
			created: found,
		},
		{name: "application in data", text: `{"data":` + application("4711") + `}`, id: found, created: found},
		{
			name: "application in two wrappers", text: `{"result":{"application":` + application("4711") + `}}`, id: found,
			created: found,
		},
		{name: "application in a list of one", text: `[` + application("4711") + `]`, id: found, created: found},
		{
			name: "application in a wrapped list of one", text: `{"data":[` + application("4711") + `]}`, id: found,
			created: found,
		},
		{
			name: "reference in other letter case", text: `{"id":4711,"reference":"a-1"}`, id: found, created: found,
		},
		{name: "envelope with an id", text: `{"id":88,"data":` + application("4711") + `}`, id: 88, created: found},
		{
			name: "envelope with a name as id", text: `{"id":"r-8","data":` + application("4711") + `}`, id: found,
			created: found,
		},
		{name: "application, large id", text: application("9007199254740993"), id: 1<<53 + 1, created: 1<<53 + 1},
		{
			name: "application, largest id", text: application("9223372036854775807"), id: 9223372036854775807,
			created: 9223372036854775807,
		},
		{name: "job", text: `{"id":88,"status":"queued"}`, id: 88, candidate: 88},
		{name: "no reference", text: `{"id":4711,"name":"` + personal + `"}`, id: found, candidate: found},
		{name: "null as reference", text: `{"id":4711,"reference":null}`, id: found, candidate: found},
		{name: "another reference", text: `{"id":4711,"reference":"A-2"}`, id: found, candidate: found},
		{
			name: "envelope around an application without reference", id: 88, candidate: found,
			text: `{"id":88,"result":{"id":4711,"mandate_type":{"id":3}}}`,
		},
		{name: "application id alone", text: `{"application_id":4711}`, candidate: found},
		{name: "same id twice", text: `{"id":4711,"id":4711}`, id: found, candidate: found},
		{name: "two references", text: `{"id":4711,"reference":"A-1","Reference":"A-2"}`, candidate: found},
		{
			name: "two envelopes with the reference", id: 88, candidate: 88,
			text: `{"id":88,"reference":"A-1","data":` + application("4711") + `}`,
		},
		{name: "located", header: "Location: /api/v1/ext/applications/4711", text: `{}`, candidate: found},
		{
			name: "located, absolute", header: "Location: https://idv.example.com/ext/applications/4711/", text: `{}`,
			candidate: found,
		},
		{name: "located as a mandate", header: "Location: ../mandates/4711?view=all", text: `{}`, candidate: found},
		{name: "located by id", header: "Location: 4711", text: `{}`, candidate: found},
		{name: "located, and a job", header: "Location: /ext/applications/4711", text: `{"id":88}`, id: 88, candidate: found},
		{name: "located in another place", header: "Location: /jobs/88", text: `{}`},
		{name: "located at a list", header: "Location: /ext/applications", text: `{}`},
		{name: "located nowhere", header: "Location: http://%zz/4711", text: `{}`},
		{name: "a job of an application", text: `{"id":"3f2c-7a","application_id":4711}`, candidate: found},
		{name: "a job, numbered", text: `{"id":88,"application_id":4711}`, id: 88, candidate: found},
		{name: "a job around an application", text: `{"id":88,"application":{"id":4711}}`, id: 88, candidate: found},
		{name: "an id of a database", text: `{"_id":"65f0c1","id":4711,"reference":"A-1"}`, id: found, created: found},
		{name: "two applications", text: `{"data":{"id":4711},"application":{"id":4712}}`},
		{name: "list of two", text: `[` + application("4711") + `,` + application("4712") + `]`},
		{name: "id too large", text: application("9223372036854775808")},
		{name: "id 0", text: application("0")},
		{name: "id below 0", text: application("-1")},
		{name: "id 1e3", text: application("1e3")},
		{name: "id 1.5", text: application("1.5")},
		{name: "id in a list", text: application("[4711]")},
		{name: "id with a sign", text: application(`"+4711"`)},
		{name: "two ids", text: `{"id":4711,"reference":"A-1","id":4712}`},
		{name: "id in two letter cases", text: `{"id":4711,"reference":"A-1","ID":4712}`},
	}
}

// failures say that a request failed, and are no problems.
func failures() []testBody {
	return []testBody{
		{name: "no success", text: `{"success":false,"message":"` + personal + `"}`},
		{name: "no success, as text", text: `{"success":"false"}`},
		{name: "not ok", text: `{"ok":0}`},
		{name: "no success, wrapped", text: `{"data":{"success":false}}`},
		{name: "no success, in a list of one", text: `{"result":[{"Is-Success":false}]}`, listed: true},
		{name: "no success of a thing with an id", text: `{"id":4711,"success":false}`},
		{
			name: "no success, around an application", text: `{"success":false,"data":` + someApplication + `}`, candidate: 4711,
		},
		{name: "false", text: `false`},
		{name: "status error", text: `{"status":"error"}`},
		{name: "status fail, with data", text: `{"status":"fail","data":{"title":"` + personal + `"}}`},
		{name: "status failed", text: `{"Status":"FAILED"}`},
		{name: "result denied", text: `{"result":"denied"}`},
		{name: "code", text: `{"code":403,"message":"` + personal + `"}`},
		{name: "code as text", text: `{"statusCode":"500"}`},
		{name: "error", text: `{"error":"` + personal + `"}`},
		{name: "error of OAuth", text: `{"error":"invalid_grant","error_description":"x"}`},
		{name: "error, an object", text: `{"error":{"code":7}}`},
		{name: "errors", text: `{"errors":[{"field":"name"}]}`},
		{name: "errors, wrapped", text: `{"data":{"errors":{"name":"x"}}}`},
		{name: "fault", text: `{"Fault":{"faultstring":"x"}}`},
		{name: "exception in words", text: `{"exception":"java.lang.NullPointerException"}`},
	}
}

// problems are the service's own error bodies, whatever else is in them.
func problems() []testBody {
	problem := func(status, more string) string {
		return `{"type":"about:blank","title":"` + personal + `","status":` + status + more + `}`
	}
	return []testBody{
		{name: "problem", text: someProblem},
		{
			name: "problem of an individual",
			text: problem(`"400"`, `,"exception":{"individuals":[{},{"reference":["`+personal+`"]}]}`),
		},
		{name: "problem, status a number", text: problem(`422`, ``)},
		{name: "problem, status in words", text: problem(`"400 Bad Request"`, ``)},
		{name: "problem, of its media type", text: `{"title":"x"}`, header: "Content-Type: application/problem+json"},
		{name: "problem with an exception only", text: `{"exception":{"mandate_type":{"0":["` + personal + `"]}}}`},
		{name: "problem with the id of a request", text: problem(`"400"`, `,"id":"req-77"`)},
		{name: "problem, empty", text: `{"type":"","title":"","exception":{}}`},
		{name: "problem around two things with ids", text: problem(`"400"`, `,"data":{"id":1},"result":{"id":2}`)},
		{name: "problem around an application", text: problem(`"400"`, `,"data":`+someApplication), candidate: 4711},
	}
}

// foreign is no JSON, or not all of it.
func foreign() []testBody {
	return []testBody{
		{name: "HTML", text: "<html><body>" + personal + "</body></html>", header: "Content-Type: text/html"},
		{name: "HTML said to be JSON", text: "<!doctype html><title>Sign in</title>" + personal},
		{name: "text", text: "no healthy upstream", header: "Content-Type: text/plain"},
		{name: "XML", text: `<?xml version="1.0"?><error/>`, header: "Content-Type: application/xml"},
		{name: "invalid UTF-8", text: "{\"id\":\xff\xfe}"},
		{name: "UTF-16", text: "\xff\xfe{\x00\"\x00i\x00d\x00\"\x00:\x007\x00}\x00"},
		{name: "JSON without its end", text: `{"id":4711,"name":"` + personal},
		{name: "application and garbage", text: someApplication + "<br>"},
		{name: "application twice", text: someApplication + someApplication},
	}
}
