package reference

import (
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	for name, want := range map[string]struct{ namespace, name bool }{
		"team-a":                 {true, true},
		"a.b":                    {false, true},
		"":                       {},
		"-a":                     {},
		"A":                      {},
		"a..b":                   {},
		"a-":                     {},
		strings.Repeat("a", 63):  {true, true},
		strings.Repeat("a", 64):  {false, true},
		strings.Repeat("a", 254): {},
	} {
		if IsNamespace(name) != want.namespace || IsName(name) != want.name {
			t.Errorf("%q: namespace %v, name %v", name, IsNamespace(name), IsName(name))
		}
	}
}
