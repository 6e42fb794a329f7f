package v1alpha1_test

const (
	maybeThere      = "cannot change once an application may have been created there"
	maybeWithIt     = "cannot change once an application may have been created with it"
	maybeUnknown    = "cannot change while an application may have been created with it and is not known"
	oneRecordedEver = "cannot change or go away once it is set: a record has one application, ever"
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
  attempt: {nonce: n1, sent: false, ordinal: 1,
    startedTime: "2026-01-01T00:00:01.000001Z", firstStartedTime: "2026-01-01T00:00:00.000001Z"}
`,
	create: map[string]attempt{
		"a claim":     {},
		"an adoption": {edit: `spec: {attempt: null, applicationID: 4711, createdTime: "2026-01-01T00:00:00Z"}`},
		"a subscription": {
			edit: `spec: {applicationID: 4711, subscription: {startedTime: "2026-01-01T00:00:00.000001Z", ordinal: 1}}`,
		},
		"a subscription without a start": {
			edit: `spec: {applicationID: 4711, subscription: {ordinal: 1}}`,
			want: []violation{{"spec.subscription.startedTime", "Required value"}},
		},
		"a verdict":        {edit: `spec: {attempt: {sent: true, inputs: 1/7c, verdict: Taken}}`},
		"an empty verdict": {edit: `spec: {attempt: {verdict: ""}}`},
		"no account":       {edit: `spec: {account: null}`, want: []violation{{"spec.account", "Required value"}}},
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
		"sent or not, not said": {
			edit: `spec: {attempt: {sent: null}}`,
			want: []violation{{"spec.attempt.sent", "Required value"}},
		},
		"no nonce": {
			edit: `spec: {attempt: {nonce: null}}`,
			want: []violation{{"spec.attempt.nonce", "Required value"}},
		},
		"no start": {
			edit: `spec: {attempt: {startedTime: null}}`,
			want: []violation{{"spec.attempt.startedTime", "Required value"}},
		},
		"no first start": {
			edit: `spec: {attempt: {firstStartedTime: null}}`,
			want: []violation{{"spec.attempt.firstStartedTime", "Required value"}},
		},
		"no ordinal": {
			edit: `spec: {attempt: {ordinal: null}}`,
			want: []violation{{"spec.attempt.ordinal", "Required value"}},
		},
	},
	update: map[string]state{
		"a claim": {attempts: map[string]attempt{
			"a take-over":     {edit: `spec: {mandateRef: {uid: 9d1f}, attempt: {nonce: n2, sent: true, ordinal: 2}}`},
			"a deposit":       {edit: `spec: {attempt: {sent: true}, applicationID: 4711, createdTime: "2026-01-01T00:00:00Z"}`},
			"another account": {edit: `spec: {account: "ffeeddccbbaa99887766554433221100"}`},
			"another salt": {
				edit: `spec: {salt: "00000000000000000000000000000000"}`,
				want: []violation{{"spec.salt", "cannot change: digests of the application are keyed with it"}},
			},
			"another service and reference": {
				edit: `spec: {serviceURL: "https://other.example.com", reference: ACME-2, attempt: {nonce: n2, sent: true}}`,
			},
			"an action": {
				edit: `spec: {actions: [{name: a, type: ResendInvite, individual: jane, startedTime: "2026-01-01T00:00:00Z"}]}`,
			},
			"an action of the name of another": {
				edit: `spec: {actions: [
					{name: a, type: ResendInvite, individual: jane, startedTime: "2026-01-01T00:00:00Z"},
					{name: a, type: ResetIndividual, individual: jane, startedTime: "2026-01-01T00:00:00Z"}]}`,
				want: []violation{{"spec.actions[1]", `Duplicate value: {"name":"a"}`}},
			},
		}},
		"an open attempt": {spec: `spec: {attempt: {sent: true}}`, attempts: map[string]attempt{
			"account": {
				edit: `spec: {account: "ffeeddccbbaa99887766554433221100"}`,
				want: []violation{{"spec.account", maybeUnknown}},
			},
			"account, with a proof that is none yet": {
				edit: `spec: {account: "ffeeddccbbaa99887766554433221100", attempt: {sent: false}}`,
				want: []violation{{"spec.account", maybeUnknown}},
			},
			"account, with the application that it has shown": {
				edit: `spec: {account: "ffeeddccbbaa99887766554433221100", applicationID: 4711}`,
			},
			"a proof that nothing was sent": {edit: `spec: {attempt: {sent: false, verdict: NotSent}}`},
			"service": {
				edit: `spec: {serviceURL: "https://other.example.com"}`,
				want: []violation{{"spec.serviceURL", maybeThere}},
			},
			"reference": {edit: `spec: {reference: ACME-2}`, want: []violation{{"spec.reference", maybeWithIt}}},
			"reference, with a proof that is none yet": {
				edit: `spec: {reference: ACME-2, attempt: {sent: false}}`,
				want: []violation{{"spec.reference", maybeWithIt}},
			},
		}},
		"a deposit": {spec: `spec: {applicationID: 4711}`, attempts: map[string]attempt{
			"another account by the same application": {edit: `spec: {account: "ffeeddccbbaa99887766554433221100"}`},
			"a creation time":                         {edit: `spec: {createdTime: "2026-01-01T00:00:00Z"}`},
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
		}},
		"a subscription": {
			spec: `spec: {applicationID: 4711, subscription: {startedTime: "2026-01-01T00:00:00.000001Z", ordinal: 1}}`,
			attempts: map[string]attempt{
				"another one": {edit: `spec: {subscription: {startedTime: "2026-01-02T00:00:00.000001Z", ordinal: 2}}`},
				"a refusal":   {edit: `spec: {subscription: {refused: true}}`},
				"none": {
					edit: `spec: {subscription: null}`,
					want: []violation{{
						"spec.subscription", "cannot go away once it is set: the application could be subscribed twice",
					}},
				},
			},
		},
	},
}
