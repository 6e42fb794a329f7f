package architecture

import (
	"regexp"
	"strings"
	"testing"
)

// A control that no test holds any more must not stay in the threat model.
func TestControlsAreHeldByTests(t *testing.T) {
	const model = "docs/threat-model.md"
	files := textFiles(t)
	declared := map[string]bool{}
	for name, content := range files {
		if !strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, match := range regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`).FindAllSubmatch(content, -1) {
			declared[string(match[1])] = true
		}
	}
	named := regexp.MustCompile("`((?:Test|Fuzz)\\w+)`")
	inTable := false
	for number, line := range strings.Split(string(files[model]), "\n") {
		inTable = strings.HasPrefix(line, "|") && (inTable || strings.Contains(line, "| held by |"))
		tests := named.FindAllStringSubmatch(line, -1)
		if inTable && len(tests) == 0 && !strings.Contains(line, "held by") && !strings.HasPrefix(line, "|---") {
			t.Errorf("%s:%d: a control names no test that holds it", model, number+1)
		}
		for _, match := range tests {
			if !declared[match[1]] {
				t.Errorf("%s:%d: there is no test %s", model, number+1, match[1])
			}
		}
	}
	if !named.Match(files[model]) {
		t.Fatalf("%s names no test", model)
	}
}
