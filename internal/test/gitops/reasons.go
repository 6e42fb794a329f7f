package gitops

import (
	"fmt"
	"maps"
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

// UndocumentedConditions returns the conditions, such as "Ready=False with reason Refused", that docs/conditions.md
// does not have in the line below the heading of their reason.
func UndocumentedConditions(page, kind string, covered []metav1.Condition) (undocumented []string) {
	_, section, _ := strings.Cut(page, "\n## "+kind+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, c := range covered {
		_, explained, found := strings.Cut(section, "\n### "+c.Reason+"\n\n")
		line, _, _ := strings.Cut(explained, "\n\n")
		said := fmt.Sprintf("%s=%s with reason %s", c.Type, c.Status, c.Reason)
		if (!found || !strings.Contains(line, fmt.Sprintf("`%s=%s`", c.Type, c.Status))) &&
			!slices.Contains(undocumented, said) {
			undocumented = append(undocumented, said)
		}
	}
	slices.Sort(undocumented)
	return undocumented
}

// Messages lists the messages of each reason, as conditions have them. If a reason has several, they have the types of
// their conditions.
func Messages(covered []metav1.Condition) string {
	types := map[string]map[string][]string{} // by reason and message
	for _, c := range covered {
		if types[c.Reason] == nil {
			types[c.Reason] = map[string][]string{}
		}
		if of := types[c.Reason]; !slices.Contains(of[c.Message], c.Type) {
			of[c.Message] = append(of[c.Message], c.Type)
		}
	}
	var page strings.Builder
	for _, reason := range slices.Sorted(maps.Keys(types)) {
		for _, message := range slices.Sorted(maps.Keys(types[reason])) {
			conditions := ""
			if len(types[reason]) > 1 {
				conditions = " (" + strings.Join(slices.Sorted(slices.Values(types[reason][message])), ", ") + ")"
			}
			fmt.Fprintf(&page, "- `%s`%s: %s\n", reason, conditions, message)
		}
	}
	return page.String()
}
