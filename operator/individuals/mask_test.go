package individuals

import "testing"

// What a service masks proves nothing, and what it shows beside that does.
func TestSameOrMasked(t *testing.T) {
	t.Parallel()
	for shown, want := range map[string]bool{
		"jane.doe@example.com":   true,
		"Jane.Doe@Example.com":   true,
		"j***@example.com":       true,
		"J•••••e@example.com":    true,
		"j...@e...com":           true,
		"jane…":                  true,
		"***":                    true,
		"*@*":                    true,
		"**jane.doe@example.com": true,
		"jane.doe@example.com**": true,
		"b***@example.com":       false,
		"j***@example.org":       false,
		"j***d***@example.com":   true,
		"j***y***@example.com":   false,
		"jane.doe*e@example.com": false,
		"jane@example.com":       false,
	} {
		if got := SameOrMasked(shown, "jane.doe@example.com"); got != want {
			t.Errorf("%s: %v", shown, got)
		}
	}
}
