package v1alpha1_test

import "strings"

const (
	maybeThere      = "cannot change once an application may have been created there"
	maybeWithIt     = "cannot change once an application may have been created with it"
	maybeByIt       = "cannot change once an application may have been created with it"
	oneRecordedEver = "cannot change or go away once it is set: a record has one application, ever"
	keepsDigests    = "cannot change or go away once they are set: they tell whom the application is about"
	keepsCalls      = "must keep every call: what was sent once could be sent again"
	onlyGrows       = "can only grow: what was sent once could be sent again"
	sentOnceMore    = "can only change when the call is sent once more"
	resultStays     = "cannot go away unless the call is sent once more"
	wentDown        = "can only go down by the last request, which did nothing, or if a person says that nothing was " +
		"created"
	doneIsForEver = "cannot change once it is Done, and only to Done once it is Accepted"
)

// begun are the fields that every call has.
const begun = `startedTime: "2026-01-01T00:00:01.000001Z", firstStartedTime: "2026-01-01T00:00:00.000001Z"`

// calls is an edit that gives a record these calls, and no others.
func calls(all ...string) string {
	for i := range all {
		all[i] = "{" + all[i] + ", " + begun + "}"
	}
	return "calls: [" + strings.Join(all, ", ") + "]"
}

// spec is an edit of these fields.
func spec(fields ...string) string { return "spec: {" + strings.Join(fields, ", ") + "}" }

const (
	notSent  = `seq: 1, kind: Create, nonce: n1, sends: 0, result: NotSent`
	open     = `seq: 1, kind: Create, nonce: n1, sends: 1`
	created  = `seq: 1, kind: Create, nonce: n1, sends: 1, result: Done`
	resend   = `seq: 2, kind: ResendInvite, name: resend-1, uid: 9d1f, individual: jane, nonce: n2, sends: 1`
	unnamed  = `seq: 2, kind: ResendInvite, individual: jane, nonce: n2, sends: 1`
	complete = `seq: 3, kind: Complete, evidence: 7d9f2c41-3, generation: 2, nonce: n3, sends: 1`
)

var applicationRecordSuite = suite{
	manifest: `
apiVersion: idv.mandate.io/v1alpha1
kind: ApplicationRecord
metadata: {name: acme}
spec:
  salt: "0123456789abcdef0123456789abcdef"
  account: "00112233445566778899aabbccddeeff"
  serviceURL: https://idv.example.com
  reference: ACME-1
  mandateRef: {uid: 0b5b5c3e}
  ` + calls(notSent),
	create: map[string]attempt{
		"a claim":      {edit: spec(calls(open))},
		"an adoption":  {edit: `spec: {calls: null, applicationID: 4711, createdTime: "2026-01-01T00:00:00Z"}`},
		"every result": {edit: spec(calls(created, resend+", result: Unknown, answer: Refused", complete))},
		"the answer to a create": {
			edit: spec(calls(notSent + `, answer: Duplicate, inputs: 1/7c, candidateID: 4711, ` +
				`endedTime: "2026-01-01T00:00:00Z"`)),
		},
		"individuals": {edit: spec("individuals: [{name: jane, id: 91}]")},
		"digests of the spec": {
			edit: spec("specDigests: {name: 0a1b, mandateType: 2c3d, individuals: [{name: jane, digest: 4e}]}"),
		},
		"an individual without an id": {
			edit: spec("individuals: [{name: jane}]"), want: []violation{{"spec.individuals[0].id", "Required value"}},
		},
		"no account": {edit: `spec: {account: null}`, want: []violation{{"spec.account", "Required value"}}},
		"half an account": {
			edit: `spec: {account: "0011223344556677"}`,
			want: []violation{{"spec.account", `"0011223344556677": spec.account in body should match '^[0-9a-f]{32}$'`}},
		},
		"no salt": {edit: `spec: {salt: null}`, want: []violation{{"spec.salt", "Required value"}}},
		"half a salt": {
			edit: `spec: {salt: "0123456789abcdef"}`,
			want: []violation{{"spec.salt", `"0123456789abcdef": spec.salt in body should match '^[0-9a-f]{32}$'`}},
		},
		"no service":   {edit: `spec: {serviceURL: null}`, want: []violation{{"spec.serviceURL", "Required value"}}},
		"no reference": {edit: `spec: {reference: null}`, want: []violation{{"spec.reference", "Required value"}}},
		"no Mandate":   {edit: `spec: {mandateRef: null}`, want: []violation{{"spec.mandateRef", "Required value"}}},
		"no uid of a Mandate": {
			edit: `spec: {mandateRef: {uid: null}}`,
			want: []violation{{"spec.mandateRef.uid", "Required value"}},
		},
		"a call that says nothing": {
			edit: `spec: {calls: [{seq: 1}]}`,
			want: []violation{
				{"spec.calls[0].firstStartedTime", "Required value"},
				{"spec.calls[0].kind", "Required value"},
				{"spec.calls[0].nonce", "Required value"},
				{"spec.calls[0].sends", "Required value"},
				{"spec.calls[0].startedTime", "Required value"},
			},
		},
		"two calls of one number": {
			edit: spec(calls(open, open)), want: []violation{{"spec.calls[1]", `Duplicate value: {"seq":1}`}},
		},
	},
	update: map[string]state{
		"a create that was not sent": {attempts: map[string]attempt{
			"sent once more": {
				edit: spec("mandateRef: {uid: 9d1f}", calls(`seq: 1, kind: Create, nonce: n2, sends: 1`)),
			},
			"another account": {edit: `spec: {account: "ffeeddccbbaa99887766554433221100"}`},
			"another salt": {
				edit: `spec: {salt: "00000000000000000000000000000000"}`,
				want: []violation{{"spec.salt", "cannot change: digests of the application are keyed with it"}},
			},
			"sent to another service with another reference": {
				edit: spec(`serviceURL: "https://other.example.com"`, "reference: ACME-2",
					calls(`seq: 1, kind: Create, nonce: n2, sends: 1`)),
			},
			"counted without being sent": {
				edit: spec(calls(`seq: 1, kind: Create, nonce: n2, sends: 0`)),
				want: []violation{{"spec.calls[0].nonce", sentOnceMore}},
			},
			"without the result": {
				edit: spec(calls(`seq: 1, kind: Create, nonce: n1, sends: 0`)),
				want: []violation{{"spec.calls[0].result", resultStays}},
			},
			"another kind": {
				edit: spec(calls(`seq: 1, kind: Subscribe, nonce: n1, sends: 0, result: NotSent`)),
				want: []violation{{"spec.calls[0].kind", "cannot change: a call is what it is"}},
			},
		}},
		"an open create": {spec: spec(calls(open)), attempts: map[string]attempt{
			"account": {
				edit: `spec: {account: "ffeeddccbbaa99887766554433221100"}`,
				want: []violation{{"spec.account", maybeByIt}},
			},
			"account, with a proof that is none yet": {
				edit: spec(`account: "ffeeddccbbaa99887766554433221100"`, calls(notSent)),
				want: []violation{{"spec.account", maybeByIt}},
			},
			"account, with the application that it has shown": {
				edit: `spec: {account: "ffeeddccbbaa99887766554433221100", applicationID: 4711}`,
			},
			"a proof that nothing was sent": {edit: spec(calls(notSent))},
			"the application":               {edit: spec("applicationID: 4711", calls(created))},
			"sent once more":                {edit: spec(calls(`seq: 1, kind: Create, nonce: n2, sends: 2`))},
			"sent once more, and not counted": {
				edit: spec(calls(`seq: 1, kind: Create, nonce: n2, sends: 1`)),
				want: []violation{{"spec.calls[0].nonce", sentOnceMore}},
			},
			"sent once more, with a result": {
				edit: spec(calls(`seq: 1, kind: Create, nonce: n2, sends: 2, result: Unknown`)),
				want: []violation{{"spec.calls[0].nonce", sentOnceMore}},
			},
			"service": {
				edit: `spec: {serviceURL: "https://other.example.com"}`,
				want: []violation{{"spec.serviceURL", maybeThere}},
			},
			"reference": {edit: `spec: {reference: ACME-2}`, want: []violation{{"spec.reference", maybeWithIt}}},
			"reference, with a proof that is none yet": {
				edit: spec("reference: ACME-2", calls(notSent)), want: []violation{{"spec.reference", maybeWithIt}},
			},
			"no calls": {edit: `spec: {calls: null}`, want: []violation{{"spec.calls", keepsCalls}}},
			"a digest of it": {
				edit: spec("calls: null", "earlier: [0a1b]"), want: []violation{{"spec.calls", keepsCalls}},
			},
		}},
		"a create that was sent three times": {
			spec: spec(calls(`seq: 1, kind: Create, nonce: n1, sends: 3`)),
			attempts: map[string]attempt{
				"a proof about the last request": {
					edit: spec(calls(`seq: 1, kind: Create, nonce: n1, sends: 2, result: Unknown`)),
				},
				"a person's word": {
					edit: spec(calls(`seq: 1, kind: Create, nonce: n1, sends: 0, result: NotSent, answer: NotCreated`)),
				},
				"a person's word about the next one": {
					edit: spec(calls(`seq: 1, kind: Create, nonce: n2, sends: 0, result: NotSent, answer: NotCreated`)),
					want: []violation{
						{"spec.calls[0].sends", wentDown},
						{"spec.calls[0].nonce", sentOnceMore},
					},
				},
				"a proof about all": {
					edit: spec(calls(`seq: 1, kind: Create, nonce: n1, sends: 0, result: Refused`)),
					want: []violation{{"spec.calls[0].sends", wentDown}},
				},
			},
		},
		"an application": {spec: spec("applicationID: 4711", calls(created)), attempts: map[string]attempt{
			"another account": {
				edit: `spec: {account: "ffeeddccbbaa99887766554433221100"}`, want: []violation{{"spec.account", maybeByIt}},
			},
			"a creation time": {edit: `spec: {createdTime: "2026-01-01T00:00:00Z"}`},
			"service": {
				edit: `spec: {serviceURL: "https://other.example.com"}`,
				want: []violation{{"spec.serviceURL", maybeThere}},
			},
			"reference": {edit: `spec: {reference: ACME-2}`, want: []violation{{"spec.reference", maybeWithIt}}},
			"another application": {
				edit: `spec: {applicationID: 4712}`,
				want: []violation{{"spec.applicationID", oneRecordedEver}},
			},
			"no application": {
				edit: `spec: {applicationID: null}`,
				want: []violation{{"spec.applicationID", oneRecordedEver}},
			},
			"a digest of its create": {
				edit: spec("calls: null", "earlier: [0a1b]"), want: []violation{{"spec.calls", keepsCalls}},
			},
			"an action":   {edit: spec(calls(created, resend))},
			"individuals": {edit: spec("individuals: [{name: jane, id: 91}]")},
			"another result": {
				edit: spec(calls(open + ", result: Refused")), want: []violation{{"spec.calls[0].result", doneIsForEver}},
			},
			"sent once more": {
				edit: spec(calls(`seq: 1, kind: Create, nonce: n2, sends: 2`)),
				want: []violation{{"spec.calls[0].result", doneIsForEver}},
			},
		}},
		"an action that was accepted": {
			spec: spec("applicationID: 4711", calls(created, resend+", result: Accepted")),
			attempts: map[string]attempt{
				"that is done":   {edit: spec(calls(created, resend+", result: Done"))},
				"and a decision": {edit: spec(calls(created, resend+", result: Accepted", complete))},
				"that is not done": {
					edit: spec(calls(created, resend+", result: Refused")),
					want: []violation{{"spec.calls[1].result", doneIsForEver}},
				},
				"of another name": {
					edit: spec(calls(created, strings.Replace(resend, "resend-1", "resend-2", 1)+", result: Accepted")),
					want: []violation{{"spec.calls[1].name", "cannot change: the action was started under this name"}},
				},
				"without a name": {
					edit: spec(calls(created, unnamed+", result: Accepted")),
					want: []violation{{"spec.calls[1].name", "cannot change: the action was started under this name"}},
				},
				"that goes": {edit: spec(calls(created)), want: []violation{{"spec.calls", keepsCalls}}},
				"that becomes a digest": {
					edit: spec(calls(created, complete), "earlier: [0a1b]"),
				},
			},
		},
		"two calls that have ended": {
			spec: spec("applicationID: 4711", calls(created, resend+", result: Done", complete+", result: Refused")),
			attempts: map[string]attempt{
				"two digests": {edit: spec(calls(created), "earlier: [0a1b, 2c3d]")},
				"one digest for two": {
					edit: spec(calls(created), "earlier: [0a1b]"), want: []violation{{"spec.calls", keepsCalls}},
				},
			},
		},
		"digests of calls": {spec: spec("earlier: [0a1b, 2c3d]"), attempts: map[string]attempt{
			"one more":       {edit: spec("earlier: [0a1b, 2c3d, 4e5f]")},
			"one less":       {edit: spec("earlier: [0a1b]"), want: []violation{{"spec.earlier", onlyGrows}}},
			"none":           {edit: spec("earlier: null"), want: []violation{{"spec.earlier", onlyGrows}}},
			"another first":  {edit: spec("earlier: [4e5f, 2c3d]"), want: []violation{{"spec.earlier", onlyGrows}}},
			"another last":   {edit: spec("earlier: [0a1b, 4e5f]"), want: []violation{{"spec.earlier", onlyGrows}}},
			"one in between": {edit: spec("earlier: [0a1b, 4e5f, 2c3d]"), want: []violation{{"spec.earlier", onlyGrows}}},
			"one longer":     {edit: spec("earlier: [0a1b, 2c3d4]"), want: []violation{{"spec.earlier", onlyGrows}}},
		}},
		"digests of the spec": {
			spec: spec("specDigests: {name: 0a1b, mandateType: 2c3d, individuals: [{name: jane, digest: 4e}]}"),
			attempts: map[string]attempt{
				"another person": {
					edit: spec("specDigests: {name: 0a1b, mandateType: 2c3d, individuals: [{name: jane, digest: 5f}]}"),
					want: []violation{{"spec.specDigests", keepsDigests}},
				},
				"none": {edit: spec("specDigests: null"), want: []violation{{"spec.specDigests", keepsDigests}}},
			},
		},
		"individuals": {
			spec: spec("applicationID: 4711", "individuals: [{name: jane, id: 91}]"), attempts: map[string]attempt{
				"another id": {
					edit: spec("individuals: [{name: jane, id: 92}]"),
					want: []violation{{"spec.individuals[0].id", "cannot change: an individual stays the same"}},
				},
				"none": {
					edit: spec("individuals: null"),
					want: []violation{{"spec.individuals", "cannot go away once they are set"}},
				},
				"one more": {edit: spec("individuals: [{name: jane, id: 91}, {name: joe, id: 92}]")},
			},
		},
	},
}
