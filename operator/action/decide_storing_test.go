package action

import (
	"testing"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// Without the permission to create Secrets, a download ends before the report is requested.
func TestDecideStoring(t *testing.T) {
	cases := map[string]struct {
		why   string
		facts facts
		want  decision
	}{
		"the permission is asked for first": {
			why:   "the individual may take days: who waits for the report should know at once",
			facts: download(func(f *facts) { f.storing, f.mandate = storingFacts{}, mandateFacts{} }),
			want:  decision{Step: stepCheckAccess},
		},
		"denied": {
			facts: download(func(f *facts) { f.storing.denied, f.mandate = true, mandateFacts{} }),
			want:  wait(v1alpha1.ReasonReportForbidden),
		},
		"stored before the permission was withdrawn": {
			facts: download(func(f *facts) {
				f.storing.denied = true
				f.secret.exists, f.secret.mine = true, true
			}),
			want: wait(v1alpha1.ReasonCarriedOut),
		},
		"the API server refused the Secret": {
			why: "RBAC, or something else such as a quota?",
			facts: download(func(f *facts) {
				f.report.downloaded = true
				f.storing = storingFacts{refused: true}
			}),
			want: decision{Step: stepCheckAccess},
		},
		"something other than RBAC refused the Secret": {
			facts: download(func(f *facts) { f.report.downloaded, f.storing.refused = true, true }),
			want:  wait(v1alpha1.ReasonSecretRefused),
		},
		"an action that e-mails needs no Secret": {
			facts: emailing(func(f *facts) { f.storing.denied = true }),
			want:  decision{Step: stepBegin},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := decide(c.facts); got != c.want {
				t.Errorf("%+v, want %+v\n%s", got, c.want, c.why)
			}
		})
	}
}
