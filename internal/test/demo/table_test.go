package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const someTable = `NAME     READY   REASON     STATE         PROGRESS   OUTCOME   AGE
acme     True    Accepted   in progress   2/6                  9s
globex   True    Accepted   in review     0/3                  9s
`

func TestChangedRows(t *testing.T) {
	cases := map[string]struct {
		later string
		want  []string
	}{
		"nothing": {later: someTable},
		"only the age": {later: `NAME     READY   REASON     STATE         PROGRESS   OUTCOME   AGE
acme     True    Accepted   in progress   2/6                  10s
globex   True    Accepted   in review     0/3                  10s
`},
		"only the width of the columns, because another row is gone": {
			later: `NAME     READY   REASON     STATE       PROGRESS   OUTCOME   AGE
globex   True    Accepted   in review   0/3                  9s
`,
		},
		"progress": {
			later: `NAME     READY   REASON     STATE         PROGRESS   OUTCOME   AGE
acme     True    Accepted   in progress   3/6                  9s
globex   True    Accepted   in review     0/3                  9s
`,
			want: []string{"acme     True    Accepted   in progress   3/6                  9s"},
		},
		"an outcome, which was empty before": {
			later: `NAME     READY   REASON     STATE         PROGRESS   OUTCOME    AGE
acme     True    Accepted   in progress   2/6                   9s
globex   True    Accepted   rejected      0/3        Rejected   9s
`,
			want: []string{"globex   True    Accepted   rejected      0/3        Rejected   9s"},
		},
		"one more": {
			later: someTable + "hooli    False   Creating                                        0s\n",
			want:  []string{"hooli    False   Creating                                        0s"},
		},
		"everything is gone": {later: ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, parseTable(tc.later).changed(parseTable(someTable))); diff != "" {
				t.Errorf("changed rows (-want +got):\n%s", diff)
			}
		})
	}
	if got := parseTable(someTable).changed(table{}); len(got) != 2 {
		t.Errorf("at first everything has changed, got %q", got)
	}
}
