package mandate

import "testing"

// What the service shows as the reference.
func TestMatches(t *testing.T) {
	for name, c := range map[string]struct {
		id    int64
		shown string
		want  bool
	}{
		"the same":                          {7, "team.acme", true},
		"in other letters":                  {7, "TEAM.ACME", true},
		"none":                              {7, "", true},
		"another":                           {7, "team.beta", false},
		"the same, to adopt":                {0, "team.acme", true},
		"in other letters, to adopt":        {0, "TEAM.ACME", false},
		"none, to adopt: a person may err":  {0, "", false},
		"another, to adopt: a person erred": {0, "team.beta", false},
	} {
		p := observer{scope: &scope{reference: "team.acme", facts: facts{id: c.id}}}
		if got := p.matches(c.shown); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
