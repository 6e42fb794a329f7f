package gitops

import (
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// UntestedReasons returns the reasons below the heading "## <kind>" of docs/conditions.md that no condition has. A test
// of the health of that kind passes the conditions of every status that it covers.
func UntestedReasons(page, kind string, covered []metav1.Condition) []string {
	_, section, _ := strings.Cut(page, "\n## "+kind+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	untested := []string{}
	for _, heading := range regexp.MustCompile(`(?m)^### (\w+)$`).FindAllStringSubmatch(section, -1) {
		reason := heading[1]
		if !slices.ContainsFunc(covered, func(c metav1.Condition) bool { return c.Reason == reason }) {
			untested = append(untested, reason)
		}
	}
	if section == "" {
		return []string{"no section " + kind}
	}
	return untested
}
