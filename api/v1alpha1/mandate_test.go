package v1alpha1_test

import "strings"

const (
	exactlyOne    = "must have exactly one of id, code and name"
	notLabel      = "must be a DNS label: lower-case letters, digits and -, starting and ending with a letter or a digit"
	noEmail       = "must be set, here or as the key email of a Secret that detailsSecretRef names"
	notEmail      = "must be an e-mail address such as name@example.com"
	notDate       = "must be a date that exists, written YYYY-MM-DD, such as 1990-02-28"
	notIndividual = "must name individuals of this Mandate: each individual here must be in spec.individuals"
	noShortName   = "must be set, because its default, metadata.name, is longer than 150 characters"
	notBack       = "false: cannot be set back to false: the service cannot undo archiving"
	frozen        = "cannot change once the application exists: restore the old value, " + orAnother
	frozenPeople  = "cannot change once the application exists: restore the old values, " + orAnother + orErased
	orErased      = ". Once there is an outcome, you can replace an individual's details by erased: true"
	notErased     = "excludes inline details: remove reference, email, title, names, " +
		"dateOfBirth and gender"
	orAnother   = "or create another Mandate, which e-mails again"
	timePattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}" +
		"([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$"
	oneEver = "cannot change or go away once it is set: a Mandate has one application, ever"
)

// The individuals of the Mandate that is accepted.
const (
	jane = `{name: jane, email: jane@personal.test, reference: PERSONAL-1, firstName: Personalia,
		dateOfBirth: "1991-03-04"}`
	joe = `{name: joe, detailsSecretRef: {name: joe}}`
)

var mandateSuite = suite{
	manifest: `
apiVersion: idv.mandate.io/v1alpha1
kind: Mandate
metadata: {name: acme}
spec:
  mandateType: {code: kyc}
  individuals: [` + jane + `, ` + joe + `]
`,
	create: both(mandateCreates, decisionCreates),
	update: map[string]state{
		"before the application exists": {
			status: `status: {observedGeneration: 1, reference: ACME-1}`,
			spec:   `spec: {adopt: {applicationID: 7}, reference: ACME-1}`,
			attempts: map[string]attempt{
				"everything":    {edit: everythingSent},
				"adopt":         {edit: `spec: {adopt: {applicationID: 8}}`},
				"no adopt":      {edit: `spec: {adopt: null}`},
				"application 1": {edit: `status: {applicationID: 1}`, onStatus: true},
			},
		},
		"after it exists": {
			status: `status: {observedGeneration: 1, applicationID: 4711}`,
			spec:   `spec: {name: Acme, reference: ACME-1, adopt: {applicationID: 7}}`,
			attempts: map[string]attempt{
				"what is not sent": {
					edit: `{metadata: {labels: {a: b}}, spec: {decision: {outcome: Complete, when: AllChecksPassed}, archived: true,
					deletionPolicy: Delete, suspend: true, createBefore: "2026-12-31T00:00:00Z",
					checkReviews: [{individual: jane, check: liveness, evidence: 41aa90c2, decision: Accept}]}}`,
				},
				"individuals in another order": {
					reason: "they are a map by name",
					edit:   `spec: {individuals: [` + joe + `, ` + jane + `]}`,
				},
				"name":         {edit: `spec: {name: Acme Ltd}`, want: []violation{{"spec.name", frozen}}},
				"no name":      {edit: `spec: {name: null}`, want: []violation{{"spec.name", frozen}}},
				"reference":    {edit: `spec: {reference: ACME-2}`, want: []violation{{"spec.reference", frozen}}},
				"no reference": {edit: `spec: {reference: null}`, want: []violation{{"spec.reference", frozen}}},
				"mandate type": {edit: `spec: {mandateType: {code: kyb}}`, want: []violation{{"spec.mandateType", frozen}}},
				"selector of the type": {
					edit: `spec: {mandateType: {code: null, id: 1}}`,
					want: []violation{{"spec.mandateType", frozen}},
				},
				"e-mails": {
					edit: `spec: {suppressEmailNotification: true}`,
					want: []violation{{"spec.suppressEmailNotification", frozen}},
				},
				"kind of the service": {
					edit: `spec: {serviceRef: {kind: ClusterIdentityService}}`,
					want: []violation{{"spec.serviceRef", frozen}},
				},
				"service":  {edit: `spec: {serviceRef: {name: other}}`, want: []violation{{"spec.serviceRef", frozen}}},
				"adopt":    {edit: `spec: {adopt: {applicationID: 8}}`, reason: "it has no effect any more"},
				"no adopt": {edit: `spec: {adopt: null}`, reason: "a GitOps tool removes what a person has set"},
				"an individual's field": {
					edit: `spec: {individuals: [` + strings.Replace(jane, "jane@", "jan@", 1) + `, ` + joe + `]}`,
					want: []violation{{"spec.individuals", frozenPeople}},
				},
				"one individual more": {
					edit: `spec: {individuals: [` + jane + `, ` + joe + `, {name: jim, detailsSecretRef: {name: jim}}]}`,
					want: []violation{{"spec.individuals", frozenPeople}},
				},
				"one individual less": {
					edit: `spec: {individuals: [` + joe + `]}`,
					want: []violation{{"spec.individuals", frozenPeople}},
				},
				"another status": {edit: `status: {observedGeneration: 2, state: in review}`, onStatus: true},
				"another application": {
					edit:     `status: {applicationID: 4712}`,
					onStatus: true,
					want:     []violation{{"status.applicationID", oneEver}},
				},
				"no application": {
					edit:     `status: {applicationID: null}`,
					onStatus: true,
					want:     []violation{{"status.applicationID", oneEver}},
				},
				"no status": {edit: `status: null`, onStatus: true, want: []violation{{"status.applicationID", oneEver}}},
			},
		},
		"after it exists, with defaults": {
			status: `status: {applicationID: 4711}`,
			attempts: map[string]attempt{
				"the same, written out": {
					edit: `spec: {serviceRef: {kind: IdentityService, name: default},
					suppressEmailNotification: false, archived: false}`,
				},
				"a name":      {edit: `spec: {name: acme}`, want: []violation{{"spec.name", frozen}}},
				"a reference": {edit: `spec: {reference: ACME-1}`, want: []violation{{"spec.reference", frozen}}},
				"adopt":       {edit: `spec: {adopt: {applicationID: 4712}}`, reason: "it has no effect any more"},
			},
		},
		"decided": {
			spec:     `spec: {decision: {outcome: Complete, evidence: 7d9f2c41-3}}`,
			attempts: decisionUpdates,
		},
		"archived": {
			spec: `spec: {archived: true}`,
			attempts: map[string]attempt{
				"still":    {edit: `spec: {archived: true, suspend: true}`},
				"set back": {edit: `spec: {archived: false}`, want: []violation{{"spec.archived", notBack}}},
				"removed": {
					edit:   `spec: {archived: null}`,
					reason: "absent is false",
					want:   []violation{{"spec.archived", notBack}},
				},
			},
		},
	},
}

const everythingSent = `spec: {name: Other, reference: OTHER, mandateType: {code: null, name: KYC},
  suppressEmailNotification: true, serviceRef: {name: other}, individuals: [{name: jim, email: jim@personal.test}]}`

func individual(fields string) string { return "spec: {individuals: [{" + fields + "}]}" }

var mandateCreates = map[string]attempt{
	"as little as possible": {edit: individual(`name: jane, email: jane@personal.test`)},
	"everything": {edit: `spec:
  serviceRef: {name: other}
  name: Acme onboarding
  reference: ACME-2026-001
  suppressEmailNotification: true
  individuals:
  - {name: jane, reference: PERSONAL-1, email: jane@personal.test, title: Dr,
     firstName: Personalia, middleName: "", lastName: Personally, dateOfBirth: "1991-03-04",
     gender: female, detailsSecretRef: {name: jane}}
  decision: {outcome: Complete, evidence: 7d9f2c41-3}
  archived: true
  checkReviews:
  - {individual: jane, check: liveness, evidence: 41aa90c2, decision: Accept, comment: seen,
     commentFor: IndividualCheck, reference: 3}
  - {individual: jane, check: document, evidence: 5bd0f6e1, decision: Reject}
  deletionPolicy: Archive
  adopt: {applicationID: 123}
  createBefore: "2026-12-31T00:00:00Z"
  suspend: true`},

	"no individuals":    {edit: `spec: {individuals: null}`, want: []violation{{"spec.individuals", "Required value"}}},
	"no mandate type":   {edit: `spec: {mandateType: null}`, want: []violation{{"spec.mandateType", "Required value"}}},
	"no selector":       {edit: `spec: {mandateType: {code: null}}`, want: []violation{{"spec.mandateType", exactlyOne}}},
	"two selectors":     {edit: `spec: {mandateType: {id: 1}}`, want: []violation{{"spec.mandateType", exactlyOne}}},
	"type by id":        {edit: `spec: {mandateType: {code: null, id: 1099511627777}}`},
	"type by name":      {edit: `spec: {mandateType: {code: null, name: Know your customer}}`},
	"no application id": {edit: `spec: {adopt: {}}`, want: []violation{{"spec.adopt.applicationID", "Required value"}}},
	"a long name in Kubernetes": {
		edit:   `metadata: {name: ` + longName + `}`,
		reason: "the default of spec.name would be too long",
		want:   []violation{{"spec.name", noShortName}},
	},
	"a long name in Kubernetes and a short one": {edit: `{metadata: {name: ` + longName + `}, spec: {name: Acme}}`},
	"a date for a time": {
		edit: `spec: {createBefore: "2026-12-31"}`,
		want: []violation{
			{"spec.createBefore", `"2026-12-31": spec.createBefore in body must be of type date-time: "2026-12-31"`},
			{"spec.createBefore", `"2026-12-31": spec.createBefore in body should match '` + timePattern + `'`},
		},
	},
	"a time in lower case": {
		edit: `spec: {createBefore: "2026-12-31t00:00:00z"}`,
		want: []violation{
			{"spec.createBefore", `"2026-12-31t00:00:00z": spec.createBefore in body should match '` + timePattern + `'`},
		},
	},

	"no name of an individual": {
		edit: individual(`email: jane@personal.test`),
		want: []violation{{"spec.individuals[0].name", "Required value"}},
	},
	"a handle with a digit": {edit: individual(`name: 1-jane-2, email: jane@personal.test`)},
	"a handle in capitals": {
		edit: individual(`name: Jane, email: jane@personal.test`),
		want: []violation{{"spec.individuals[0].name", notLabel}},
	},
	"a handle that ends with -": {
		edit: individual(`name: jane-, email: jane@personal.test`),
		want: []violation{{"spec.individuals[0].name", notLabel}},
	},
	"a handle with a line break": {
		edit: individual(`name: "jane\n", email: jane@personal.test`),
		want: []violation{{"spec.individuals[0].name", notLabel}},
	},
	"an e-mail address as handle": {
		edit: individual(`name: jane@personal.test, email: jane@personal.test`),
		want: []violation{{"spec.individuals[0].name", notLabel}},
	},
	"one handle twice": {
		edit: `spec: {individuals: [{name: jane, email: jane@personal.test}, {name: jane, email: joe@personal.test}]}`,
		want: []violation{{"spec.individuals[1]", `Duplicate value: {"name":"jane"}`}},
	},

	"erased, with an e-mail address": {
		edit: individual(`name: jane, erased: true, email: "a@personal.test"`),
		want: []violation{{"spec.individuals[0].erased", notErased}},
	},
	"erased": {edit: individual(`name: jane, erased: true`)},
	"neither e-mail nor Secret": {
		edit: individual(`name: jane`),
		want: []violation{{"spec.individuals[0].email", noEmail}},
	},
	"an e-mail address with a tag": {edit: individual(`name: jane, email: "jané+tag@mail.personal.test"`)},
	"an e-mail without @": {
		edit: individual(`name: jane, email: jane.personal.test`),
		want: []violation{{"spec.individuals[0].email", notEmail}},
	},
	"an e-mail with two @": {
		edit: individual(`name: jane, email: jane@@personal.test`),
		want: []violation{{"spec.individuals[0].email", notEmail}},
	},
	"an e-mail with a blank": {
		edit: individual(`name: jane, email: "jane doe@personal.test"`),
		want: []violation{{"spec.individuals[0].email", notEmail}},
	},
	"an e-mail with a line break": {
		edit: individual(`name: jane, email: "jane@personal.test\n"`),
		want: []violation{{"spec.individuals[0].email", notEmail}},
	},
	"an empty e-mail": {
		edit: individual(`name: jane, email: ""`),
		want: []violation{{"spec.individuals[0].email", notEmail}},
	},
	"a Secret for the rest": {
		edit: individual(`name: jane, email: jane@personal.test, detailsSecretRef: {name: jane}`),
	},
	"a number for a text": {
		edit:   individual(`name: jane, email: 12345678`),
		reason: "the API server tells types, not values",
		want: []violation{
			{"spec.individuals[0].email", `"integer": spec.individuals[0].email in body must be of type string: "integer"`},
		},
	},

	"29 February of a leap year":    date("2024-02-29"),
	"29 February of 2000":           date("2000-02-29"),
	"31 December":                   date("1999-12-31"),
	"29 February of no leap year":   date("2023-02-29", notDate),
	"29 February of 1900":           date("1900-02-29", notDate),
	"30 February":                   date("2021-02-30", notDate),
	"31 April":                      date("2021-04-31", notDate),
	"month 13":                      date("2021-13-01", notDate),
	"day 0":                         date("2021-01-00", notDate),
	"a date in another order":       date("28-02-1990", notDate),
	"a date with slashes":           date("1990/02/28", notDate),
	"a date with one digit":         date("1990-2-28", notDate),
	"an empty date":                 date("", notDate),
	"a date in Arabic-Indic digits": date("١٩٩٠-٠٢-٢", notDate),

	"a review of somebody else": {
		edit: `spec: {checkReviews: [{individual: jim, check: liveness, evidence: 41aa90c2, decision: Accept}]}`,
		want: []violation{{"spec.checkReviews", notIndividual}},
	},
	"a check reviewed twice": {
		edit: `spec: {checkReviews: [{individual: jane, check: liveness, evidence: 41aa90c2, decision: Accept},
		{individual: jane, check: liveness, evidence: 5bd0f6e1, decision: Reject}]}`,
		want: []violation{{"spec.checkReviews[1]", `Duplicate value: {"check":"liveness","individual":"jane"}`}},
	},
	"a review without a decision": {
		edit: `spec: {checkReviews: [{individual: jane, check: liveness, evidence: 41aa90c2}]}`,
		want: []violation{{"spec.checkReviews[0].decision", "Required value"}},
	},
}

// longName has 151 characters.
var longName = strings.Repeat("n123456789.", 13) + "n1234567"

func date(value string, messages ...string) attempt {
	a := attempt{edit: individual(`name: jane, email: jane@personal.test, dateOfBirth: "` + value + `"`)}
	for _, message := range messages {
		a.want = append(a.want, violation{"spec.individuals[0].dateOfBirth", message})
	}
	return a
}
