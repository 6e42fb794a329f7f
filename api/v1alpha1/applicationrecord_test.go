package v1alpha1_test

const (
	namedByIt       = "cannot change: the record's name is made from it"
	oneOwner        = "cannot change: an application belongs to the Mandate of one name, ever"
	oneRecordedEver = "cannot change or go away once it is set: a record has one application, ever"
)

var applicationRecordSuite = suite{
	manifest: `
apiVersion: idv.mandate.io/v1alpha1
kind: ApplicationRecord
metadata: {name: 2f0c}
spec:
  serviceURL: https://idv.example.com
  reference: ACME-1
  mandateRef: {name: acme, uid: 0b5b5c3e}
  attempt: {nonce: n1, sent: false, ordinal: 1,
    startedTime: "2026-01-01T00:00:01.000001Z", firstStartedTime: "2026-01-01T00:00:00.000001Z"}
`,
	create: map[string]attempt{
		"a claim":          {},
		"an adoption":      {edit: `spec: {attempt: null, applicationID: 4711, createdTime: "2026-01-01T00:00:00Z"}`},
		"a verdict":        {edit: `spec: {attempt: {sent: true, inputs: 1/7c, verdict: Taken}}`},
		"an empty verdict": {edit: `spec: {attempt: {verdict: ""}}`},
		"no service":       {edit: `spec: {serviceURL: null}`, want: []violation{{"spec.serviceURL", "Required value"}}},
		"no reference":     {edit: `spec: {reference: null}`, want: []violation{{"spec.reference", "Required value"}}},
		"no Mandate":       {edit: `spec: {mandateRef: null}`, want: []violation{{"spec.mandateRef", "Required value"}}},
		"no name of a Mandate": {
			edit: `spec: {mandateRef: {name: null}}`,
			want: []violation{{"spec.mandateRef.name", "Required value"}},
		},
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
			"a take-over": {edit: `spec: {mandateRef: {uid: 9d1f}, attempt: {nonce: n2, sent: true, ordinal: 2}}`},
			"a deposit":   {edit: `spec: {attempt: {sent: true}, applicationID: 4711, createdTime: "2026-01-01T00:00:00Z"}`},
			"service": {
				edit: `spec: {serviceURL: "https://other.example.com"}`,
				want: []violation{{"spec.serviceURL", `"https://other.example.com": ` + namedByIt}},
			},
			"reference": {edit: `spec: {reference: ACME-2}`, want: []violation{{"spec.reference", `"ACME-2": ` + namedByIt}}},
			"Mandate": {
				edit: `spec: {mandateRef: {name: other}}`,
				want: []violation{{"spec.mandateRef.name", `"other": ` + oneOwner}},
			},
		}},
		"a deposit": {spec: `spec: {applicationID: 4711}`, attempts: map[string]attempt{
			"a creation time": {edit: `spec: {createdTime: "2026-01-01T00:00:00Z"}`},
			"another application": {
				edit: `spec: {applicationID: 4712}`,
				want: []violation{{"spec.applicationID", oneRecordedEver}},
			},
			"no application": {
				edit: `spec: {applicationID: null}`,
				want: []violation{{"spec.applicationID", oneRecordedEver}},
			},
		}},
	},
}
