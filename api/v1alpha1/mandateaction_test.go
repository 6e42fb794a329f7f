package v1alpha1_test

const (
	reportNeeded  = "must be set for type DownloadReport, and for no other type"
	notHandle     = "must be the name of an individual in the Mandate: lower-case letters, digits and -"
	orderedOnce   = "cannot change, because an action is carried out once: create another MandateAction"
	startedBefore = "cannot change or go away once it is set: an action starts once"
	endedBefore   = "cannot change or go away once it is set: an action ends once"
	notSecretName = "must be a valid Secret name: lower-case letters, digits, - and ."
)

var mandateActionSuite = suite{
	manifest: `
apiVersion: idv.mandate.io/v1alpha1
kind: MandateAction
metadata: {name: acme-resend}
spec: {mandateRef: {name: acme}, type: ResendInvite, individual: jane}
`,
	create: map[string]attempt{
		"resend an invite":    {},
		"reset an individual": {edit: `spec: {type: ResetIndividual, ttlSecondsAfterFinished: 0}`},
		"download a report":   {edit: `spec: {type: DownloadReport, reportSecretRef: {name: jane-report}}`},
		"a report to nowhere": {
			edit: `spec: {type: DownloadReport}`,
			want: []violation{{"spec.reportSecretRef", reportNeeded}},
		},
		"a report to no Secret": {edit: `spec: {type: DownloadReport, reportSecretRef: {name: Jane_Report}}`,
			want: []violation{{"spec.reportSecretRef.name", notSecretName}}},
		"a report of a resend": {edit: `spec: {reportSecretRef: {name: jane-report}}`,
			want: []violation{{"spec.reportSecretRef", reportNeeded}}},
		"a report of a reset": {edit: `spec: {type: ResetIndividual, reportSecretRef: {name: jane-report}}`,
			want: []violation{{"spec.reportSecretRef", reportNeeded}}},
		"an e-mail address": {
			edit:   `spec: {individual: jane@personal.test}`,
			reason: "a person's address is not a handle, and is not repeated",
			want:   []violation{{"spec.individual", notHandle}},
		},
		"no type":       {edit: `spec: {type: null}`, want: []violation{{"spec.type", "Required value"}}},
		"no individual": {edit: `spec: {individual: null}`, want: []violation{{"spec.individual", "Required value"}}},
		"no Mandate":    {edit: `spec: {mandateRef: null}`, want: []violation{{"spec.mandateRef", "Required value"}}},
	},
	update: map[string]state{
		"a resend": {attempts: map[string]attempt{
			"time to live": {edit: `spec: {ttlSecondsAfterFinished: 60}`},
			"Mandate":      {edit: `spec: {mandateRef: {name: other}}`, want: []violation{{"spec.mandateRef", orderedOnce}}},
			"type": {
				edit: `spec: {type: ResetIndividual}`,
				want: []violation{{"spec.type", `"ResetIndividual": ` + orderedOnce}},
			},
			"individual": {edit: `spec: {individual: joe}`, want: []violation{{"spec.individual", `"joe": ` + orderedOnce}}},
			"a start":    {edit: `status: {startedTime: "2026-01-01T00:00:00Z"}`, onStatus: true},
		}},
		"a download": {
			spec: `spec: {type: DownloadReport, reportSecretRef: {name: jane-report}, ttlSecondsAfterFinished: 60}`,
			attempts: map[string]attempt{
				"no time to live": {edit: `spec: {ttlSecondsAfterFinished: null}`},
				"another Secret": {
					edit: `spec: {reportSecretRef: {name: joe-report}}`,
					want: []violation{{"spec.reportSecretRef", orderedOnce}},
				},
			},
		},
		"started": {status: `status: {startedTime: "2026-01-01T00:00:00Z"}`, attempts: map[string]attempt{
			"ended": {edit: `status: {completedTime: "2026-01-01T00:00:01Z"}`, onStatus: true},
			"started again": {
				edit:     `status: {startedTime: "2026-01-01T00:00:01Z"}`,
				onStatus: true,
				want:     []violation{{"status.startedTime", startedBefore}},
			},
			"not started": {
				edit:     `status: {startedTime: null}`,
				onStatus: true,
				want:     []violation{{"status.startedTime", startedBefore}},
			},
			"no status": {edit: `status: null`, onStatus: true, want: []violation{{"status.startedTime", startedBefore}}},
		}},
		"ended": {
			status: `status: {startedTime: "2026-01-01T00:00:00Z", completedTime: "2026-01-01T00:00:01Z"}`,
			attempts: map[string]attempt{
				"seen again": {edit: `status: {observedGeneration: 2}`, onStatus: true},
				"ended again": {
					edit:     `status: {completedTime: "2026-01-01T00:00:02Z"}`,
					onStatus: true,
					want:     []violation{{"status.completedTime", endedBefore}},
				},
				"not ended": {
					edit:     `status: {completedTime: null}`,
					onStatus: true,
					want:     []violation{{"status.completedTime", endedBefore}},
				},
				"time to live": {edit: `spec: {ttlSecondsAfterFinished: 60}`},
			},
		},
	},
}
