package reference

import (
	"strings"
	"testing"
)

// Applications exist under these references: an operator that made others would create the applications again.
func TestReferencesStayWhatTheyAre(t *testing.T) {
	x := strings.Repeat("x", 200)
	for situation, test := range map[string]struct{ got, want string }{
		"short":                 {Mandate("", "team-a", "acme"), "team-a.acme"},
		"with a prefix":         {Mandate("eu-", "team-a", "acme"), "eu-team-a.acme"},
		"as long as it may be":  {Mandate("", "n", x[:148]), "n." + x[:148]},
		"one too long":          {Mandate("", "n", x[:149]), "n." + x[:131] + "-aql3de4t3k4aefu3"},
		"longer":                {Mandate("", "n", x), "n." + x[:131] + "-kto5q3j4sbkvrxyf"},
		"characters, not bytes": {Mandate(strings.Repeat("é", 50), "n", x[:98]), strings.Repeat("é", 50) + "n." + x[:98]},
		"an individual":         {Individual("team-a.acme", "jane"), "team-a.acme.jane"},
		"an individual, long":   {Individual(x[:150], "jane"), x[:133] + "-ziudrjl4pqk4otqi"},
	} {
		if test.got != test.want {
			t.Errorf("%s: want %q, got %q", situation, test.want, test.got)
		}
	}
}

// What differs only in its cut-off end stays different.
func TestLongReferencesDiffer(t *testing.T) {
	x := strings.Repeat("x", 200)
	if Mandate("", "n", x+"a") == Mandate("", "n", x+"b") {
		t.Error("two Mandates would share a reference")
	}
}

// A default reference is in its namespace, however long the names are, and in no other one.
func TestInNamespace(t *testing.T) {
	label, name := strings.Repeat("n", 63), strings.Repeat("x", 253)
	namespaces := []string{"team", "team-a", "team-a-b", "a", label, label[1:]}
	for _, prefix := range []string{"", "eu-", "eu.", "team", "team-", strings.Repeat("é", 50)} {
		for _, owner := range namespaces {
			for _, mandate := range []string{"acme", "a.team.acme", name} {
				made := Mandate(prefix, owner, mandate)
				for _, namespace := range namespaces {
					if got := InNamespace(made, prefix, namespace); got != (namespace == owner) {
						t.Errorf("with the prefix %q, %q is in the namespace %q: %t", prefix, made, namespace, got)
					}
				}
			}
		}
	}
}
