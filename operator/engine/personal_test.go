package engine

import (
	"testing"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/lifecycle"
)

func TestPersonalShown(t *testing.T) {
	t.Parallel()
	m := &v1alpha1.Mandate{}
	m.Name, m.Spec.Name = "acme", "ACME"
	m.Spec.Individuals = []v1alpha1.Individual{
		{Name: "director", Reference: "Director", FirstName: "Pass", LastName: "Review", DateOfBirth: "1990-02-28"},
		{Name: "owner", FirstName: "Li", MiddleName: new("Zoë"), LastName: "李明", Email: "li@example.com"},
	}
	p := PersonalOf(m, lifecycle.Names{InReview: []string{"Pass review"}})
	p.Add("Jane Doe", "", "Anna-Lena")
	for text, want := range map[string]bool{
		"":                        true,
		"liveness":                true,
		"Liveness of Jane Doe":    false,
		"waiting_for_JANE_doe":    false,
		"Ja\u200bne\u00a0Doe":     false,
		"Jane Doering":            true,
		"<jane@example.com>":      false,
		"jane\uff20example.com":   false,
		"born 1990-02-28":         false,
		"born 1990/02/28":         false,
		"born 1990-02-280":        true,
		"passed":                  true,
		"Passport":                true,
		"pass for the check":      false,
		"in review":               true,
		"In_Review":               true,
		"review of somebody":      false,
		"Pass Review":             true,
		"Li is too short to tell": true,
		"等待李明的检查":                 false,
		"等待检查":                    true,
		"ZOË is next":             false,
		"Anna Lena":               false,
		"The director of Acme":    true,
	} {
		if got := p.Shown(text) == text; got != want {
			t.Errorf("%q is shown: %t, want %t", text, got, want)
		}
	}
	if got := (&Personal{}).Shown("Jane Doe"); got != "Jane Doe" {
		t.Errorf("without values, %q is shown", got)
	}
}
