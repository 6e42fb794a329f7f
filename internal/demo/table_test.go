package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const someTable = `NAME     READY   STATE         PROGRESS   OUTCOME   APPLICATION   AGE
acme     True    in progress   2/6                  4711          9s
globex   True    in review     0/3                  4720          9s
`

func TestChangedRows(t *testing.T) {
	cases := map[string]struct {
		later string
		want  []string
	}{
		"nothing": {later: someTable},
		"only the age": {later: `NAME     READY   STATE         PROGRESS   OUTCOME   APPLICATION   AGE
acme     True    in progress   2/6                  4711          10s
globex   True    in review     0/3                  4720          10s
`},
		"only the width of the columns, because another row is gone": {
			later: `NAME     READY   STATE       PROGRESS   OUTCOME   APPLICATION   AGE
globex   True    in review   0/3                  4720          9s
`,
		},
		"progress": {
			later: `NAME     READY   STATE         PROGRESS   OUTCOME   APPLICATION   AGE
acme     True    in progress   3/6                  4711          9s
globex   True    in review     0/3                  4720          9s
`,
			want: []string{"acme     True    in progress   3/6                  4711          9s"},
		},
		"an outcome, which was empty before": {
			later: `NAME     READY   STATE         PROGRESS   OUTCOME    APPLICATION   AGE
acme     True    in progress   2/6                   4711          9s
globex   True    rejected      0/3        Rejected   4720          9s
`,
			want: []string{"globex   True    rejected      0/3        Rejected   4720          9s"},
		},
		"one more": {
			later: someTable + "hooli    False                                                   0s\n",
			want:  []string{"hooli    False                                                   0s"},
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
