package architecture

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// forNamespaces are pages and messages for people of a namespace, who cannot read the operator's log.
var forNamespaces = []string{
	"docs/conditions.md", "docs/status.md", "docs/notifications.md",
	"operator/mandate/reasons.go", "operator/mandate/problems.go", "operator/action/reasons.go",
	"operator/service/status.go", "operator/service/notifications.go",
}

var toTheLog = regexp.MustCompile(`(?i)(operator's|its)\s+("?\s*\+\s*")?log\b|\bthe log\b`)

// TestNoStepNeedsTheOperatorsLog holds that messages and pages for people of a namespace do not send them to the log.
func TestNoStepNeedsTheOperatorsLog(t *testing.T) {
	for _, name := range forNamespaces {
		content, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range toTheLog.FindAllIndex(content, -1) {
			around := content[max(0, found[0]-60):min(len(content), found[1]+60)]
			t.Errorf("%s: people of a namespace cannot read the operator's log: ...%s...", name, around)
		}
	}
}
