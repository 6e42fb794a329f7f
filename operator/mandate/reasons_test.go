package mandate

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// A user who follows a message must not e-mail people again unless the message says so.
func TestAdviceThatEmails(t *testing.T) {
	advice := regexp.MustCompile(
		`(?i)another spec\.reference|mandate (of|with) another name|needs another name|move spec\.createBefore|` +
			`without spec\.adopt`)
	texts := maps.Clone(messages) // no reason is in both with advice
	for reason, v := range conditionSpecs {
		if texts[reason] == "" {
			texts[reason] = v.message
		}
	}
	given := 0
	for reason, message := range texts {
		if advice.MatchString(message) {
			given++
			if !strings.Contains(message[advice.FindStringIndex(message)[0]:], "e-mail") {
				t.Errorf("%s gives advice that may e-mail people again, and does not say so: %s", reason, message)
			}
		}
	}
	if given != 6 {
		t.Errorf("%d messages give such advice, want 6: does the expression still find it?", given)
	}
	message := texts[v1alpha1.ReasonReferenceConflict]
	adopt, other := strings.Index(message, "spec.adopt"), strings.Index(message, "another spec.reference")
	if adopt < 0 || other < adopt {
		t.Errorf(
			"after a restore the reference is taken by the Mandate's own application, so adopting it comes first: %s",
			message,
		)
	}
}

// docs/conditions.md has a section for every reason in which the reconciliation of a Mandate ends.
func TestReasonsHaveSections(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "conditions.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Mandate\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for reason := range conditionSpecs {
		if !slices.Contains(internalReasons, reason) && !strings.Contains(section, "\n### "+reason+"\n") {
			t.Errorf("docs/conditions.md has no section %s", reason)
		}
	}
}
