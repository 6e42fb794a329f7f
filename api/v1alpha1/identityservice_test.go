package v1alpha1_test

import (
	"fmt"
	"strings"
)

const (
	notURL     = "must be a URL such as https://idv.example.com"
	notHTTPS   = "must start with https://; http:// is only for localhost, 127.0.0.0/8 and [::1]"
	tooMuchURL = "must not contain a user, password, query or fragment: " +
		"put credentials into the Secret of credentialsSecretRef"
	hasAPIPath   = "must not end with /api/v1: remove it, the operator adds it"
	notPEM       = "must be PEM text and not base64 of it: -----BEGIN CERTIFICATE----- is missing"
	belowMinimum = "must not be below minIntervalSeconds"
	belowHour    = "must not be below maxPerHour"
	alsoInReview = "must not have a name that is also in inReview"
	alsoEarlier  = "must not have a name that is also in inReview or completed"

	notUndecided = "must not have completed, or a name that starts with rejected or declined: these always mean an outcome"
	notCompleted = "must not have in review, or a name that starts with reject or declin: these never mean completed"
	notRejected  = "must not have in review or completed: these never mean rejected"

	knownCheckName = "must not have accepted, manually_accepted, passed, rejected, manually_rejected or failed: " +
		"the operator knows what these mean"
)

var identityServiceSuite = suite{
	manifest: `
apiVersion: idv.mandate.io/v1alpha1
kind: IdentityService
metadata: {name: default}
spec:
  baseURL: https://idv.example.com
  credentialsSecretRef: {name: idv}
`,
	create: both(misplacedNames(), map[string]attempt{
		"as little as possible":    {},
		"a port and a path":        {edit: `spec: {baseURL: "https://gateway.example.com:8443/idv/"}`},
		"an IPv6 address":          {edit: `spec: {baseURL: "https://[2001:db8::1]:8443"}`},
		"the scheme in capitals":   {edit: `spec: {baseURL: "HTTPS://idv.example.com"}`},
		"http on localhost":        {edit: `spec: {baseURL: "http://localhost:8080"}`},
		"http on 127.0.0.1":        {edit: `spec: {baseURL: "http://127.0.0.1:8080/"}`},
		"http on another of 127/8": {edit: `spec: {baseURL: "http://127.255.3.9"}`},
		"http on ::1":              {edit: `spec: {baseURL: "http://[::1]:8080"}`},
		"a path that begins alike": {edit: `spec: {baseURL: "https://idv.example.com/api/v1beta"}`},
		"an at sign in the path":   {edit: `spec: {baseURL: "https://idv.example.com/@tenant"}`},
		"no base URL":              {edit: `spec: {baseURL: null}`, want: []violation{{"spec.baseURL", "Required value"}}},
		"no credentials": {
			edit: `spec: {credentialsSecretRef: null}`,
			want: []violation{{"spec.credentialsSecretRef", "Required value"}},
		},
		"http": {
			edit: `spec: {baseURL: "http://idv.example.com"}`,
			want: []violation{{"spec.baseURL", notHTTPS}},
		},
		"http in capitals": {
			edit: `spec: {baseURL: "HTTP://idv.example.com"}`,
			want: []violation{{"spec.baseURL", notHTTPS}},
		},
		"http on a private address": {
			edit: `spec: {baseURL: "http://10.0.0.1"}`,
			want: []violation{{"spec.baseURL", notHTTPS}},
		},
		"http, begins with localhost": {
			edit: `spec: {baseURL: "http://localhost.example.com"}`,
			want: []violation{{"spec.baseURL", notHTTPS}},
		},
		"http, begins with 127": {
			edit: `spec: {baseURL: "http://127.0.0.1.example.com"}`,
			want: []violation{{"spec.baseURL", notHTTPS}},
		},
		"http, localhost is the user": {
			edit: `spec: {baseURL: "http://localhost:x@example.com"}`,
			want: []violation{{"spec.baseURL", tooMuchURL}, {"spec.baseURL", notHTTPS}},
		},
		"no scheme": {edit: `spec: {baseURL: "idv.example.com"}`, want: []violation{{"spec.baseURL", notURL}}},
		"another scheme": {
			edit: `spec: {baseURL: "ftp://idv.example.com"}`,
			want: []violation{{"spec.baseURL", notURL}},
		},
		"no host": {edit: `spec: {baseURL: "https:///idv"}`, want: []violation{{"spec.baseURL", notURL}}},
		"a blank in the host": {
			edit: `spec: {baseURL: "https://idv .example.com"}`,
			want: []violation{{"spec.baseURL", notURL}},
		},
		"a user and a password": {
			edit: `spec: {baseURL: "https://user:secret@idv.example.com"}`,
			want: []violation{{"spec.baseURL", tooMuchURL}},
		},
		"a query": {
			edit: `spec: {baseURL: "https://idv.example.com?key=secret"}`,
			want: []violation{{"spec.baseURL", tooMuchURL}},
		},
		"a fragment": {
			edit: `spec: {baseURL: "https://idv.example.com/#top"}`,
			want: []violation{{"spec.baseURL", tooMuchURL}},
		},
		"the API's path": {
			edit: `spec: {baseURL: "https://idv.example.com/api/v1"}`,
			want: []violation{{"spec.baseURL", hasAPIPath}},
		},
		"the API's path, slashed": {
			edit: `spec: {baseURL: "https://idv.example.com/x/api/v1/"}`,
			want: []violation{{"spec.baseURL", hasAPIPath}},
		},
		"a CA bundle": {
			edit: `spec: {caBundle: "# ours\n-----BEGIN CERTIFICATE-----\nMII=\n-----END CERTIFICATE-----\n"}`,
		},
		"a CA bundle in base64": {
			edit: `spec: {caBundle: LS0tLS1CRUdJTiBDRVJU}`,
			want: []violation{{"spec.caBundle", notPEM}},
		},
		"one polling interval": {
			edit:   `spec: {polling: {minIntervalSeconds: 3600}}`,
			reason: "the other has its default, 3600",
		},
		"polling out of order": {
			edit: `spec: {polling: {minIntervalSeconds: 60, maxIntervalSeconds: 59}}`,
			want: []violation{{"spec.polling.maxIntervalSeconds", belowMinimum}},
		},
		"above the default": {
			edit: `spec: {polling: {minIntervalSeconds: 3601}}`,
			want: []violation{{"spec.polling.maxIntervalSeconds", belowMinimum}},
		},
		"a budget of an hour alone": {
			edit:   `spec: {creation: {maxPerHour: 5000}}`,
			reason: "the other has its default, 5000",
		},
		"a budget of a day below that of an hour": {
			edit: `spec: {creation: {maxPerHour: 501, maxPerDay: 500}}`,
			want: []violation{{"spec.creation.maxPerDay", belowHour}},
		},
		"polling in minutes": {
			edit: `spec: {polling: {minIntervalSeconds: 1m}}`,
			want: []violation{{"spec.polling.minIntervalSeconds",
				`"string": spec.polling.minIntervalSeconds in body must be of type integer: "string"`}},
		},
		"state names": {
			edit: `spec: {states: {inReview: [review, checking], completed: [done], rejected: [denied]}}`,
		},
		"one state name twice": {
			edit: `spec: {states: {inReview: [a, a]}}`,
			want: []violation{{"spec.states.inReview[1]", `Duplicate value: "a"`}},
		},
		"done while in review": {
			edit: `spec: {states: {inReview: [a, b], completed: [b]}}`,
			want: []violation{{"spec.states.completed", alsoInReview}},
		},
		"rejected while done": {
			edit: `spec: {states: {completed: [b], rejected: [a, b]}}`,
			want: []violation{{"spec.states.rejected", alsoEarlier}},
		},
		"rejected while in review": {edit: `spec: {states: {inReview: [b], rejected: [a, b]}}`,
			want: []violation{{"spec.states.rejected", alsoEarlier}}},
		"done while in review, written otherwise": {
			edit: `spec: {states: {inReview: ["final check"], completed: ["Final-Check"], rejected: [FINAL_CHECK]}}`,
			want: []violation{{"spec.states.completed", alsoInReview}, {"spec.states.rejected", alsoEarlier}},
		},
		"the interface's names, where they belong": {
			edit: `spec: {states: {inReview: [In_Review, "rejection proposed"], completed: [COMPLETED],
			rejected: [Rejected, declined]}}`,
		},
		"names that contain the interface's": {
			edit: `spec: {states: {inReview: ["not completed"], completed: ["was in review"], rejected: ["completed badly"]}}`,
		},
		"check states": {
			edit: `spec: {states: {checkPassed: [clear, "in review"], checkFailed: ["needs attention", "not passed"]}}`,
		},
		"a check that passed and failed, written otherwise": {
			edit: `spec: {states: {checkPassed: ["all clear"], checkFailed: ["All-Clear"]}}`,
			want: []violation{{"spec.states.checkFailed", "must not have a name that is also in checkPassed"}},
		},
		"20 long names in each list": {edit: `spec: {states: ` + longNames() + `}`},
	}),
}

// checkNames are the names of the states of a check that the operator knows, in some forms.
var checkNames = []string{
	"manually_accepted", "Manually Accepted", "accepted", "passed", "PASS-ED", "manually_rejected", "Rejected", "failed",
}

// misplacedNames are the interface's names of states, in every form that the operator does not tell apart, each in a
// list where it would make an outcome out of an application that nobody decided, or hide one.
func misplacedNames() map[string]attempt {
	attempts := map[string]attempt{}
	for list, misplaced := range map[string]struct {
		names   []string
		message string
	}{
		"inReview": {[]string{
			"completed", "Completed", "COM-PLETED", " completed", "rejected", "rejected by reviewer", "Declined",
		}, notUndecided},
		"completed": {[]string{
			"in review", "In Review", "IN_REVIEW", "in-review", "inReview", "rejected", "Rejection", "declined",
		}, notCompleted},
		"rejected":    {[]string{"in review", "In_Review", "in-review", "completed", "Completed"}, notRejected},
		"checkPassed": {checkNames, knownCheckName},
		"checkFailed": {checkNames, knownCheckName},
	} {
		for _, name := range misplaced.names {
			attempts[fmt.Sprintf("%q is never %s", name, list)] = attempt{
				reason: "who may edit the service, and not decide, could make outcomes",
				edit:   fmt.Sprintf("spec: {states: {%s: [another, %q]}}", list, name),
				want:   []violation{{"spec.states." + list, misplaced.message}},
			}
		}
	}
	return attempts
}

// longNames are as many and as long state names as there may be, no two of them the same.
func longNames() string {
	var lists []string
	for _, list := range []string{"inReview", "completed", "rejected", "closed", "checkPassed", "checkFailed"} {
		var names []string
		for i := range 20 {
			names = append(names, fmt.Sprintf("%s-%02d-%s", list[len(list)-4:], i, strings.Repeat("_- .X", 28)))
		}
		lists = append(lists, list+`: ["`+strings.Join(names, `", "`)+`"]`)
	}
	return "{" + strings.Join(lists, ", ") + "}"
}
