package architecture

import (
	"regexp"
	"strings"
	"testing"
)

// realTime is a limit of seconds or minutes on what a test waits for, which a busy machine misses.
var realTime = regexp.MustCompile(`(?m)^.*(?:time\.(?:After|NewTimer|AfterFunc)|context\.With(?:Timeout|Deadline))\(` +
	`[^\n]*time\.(?:Second|Minute)[^\n]*$`)

// underTest is the comment of a limit that ends on purpose.
const underTest = "// the deadline under test"

// TestNoRealTimeLimits: tests wait with internal/test/await. In a bubble of synctest, time is virtual.
func TestNoRealTimeLimits(t *testing.T) {
	for name, content := range inOrder(textFiles(t)) {
		if !strings.HasSuffix(name, "_test.go") || within(name, "tools") ||
			strings.Contains(string(content), "synctest.Test") {
			continue
		}
		for _, line := range realTimeLimits(string(content)) {
			t.Errorf("%s has a limit of real time: use internal/test/await, or end the line with %q\n%s", name, underTest, line)
		}
	}
}

func realTimeLimits(content string) (lines []string) {
	for _, line := range realTime.FindAllString(content, -1) {
		if !strings.HasSuffix(line, underTest) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

func TestRealTimeLimits(t *testing.T) {
	for line, want := range map[string]int{
		"\tctx, cancel := context.WithTimeout(t.Context(), time.Minute)":                    1,
		"\tcase <-time.After(20 * time.Second):":                                            1,
		"\tcase <-time.After(50 * time.Millisecond):":                                       0,
		"\tctx, cancel := context.WithTimeout(ctx, time.Second) " + underTest:               0,
		"\tawait.Within(t, 20*time.Second, func() {":                                        0,
		"\tticker := time.NewTicker(time.Second)\n\tdeadline := time.NewTimer(time.Minute)": 1,
	} {
		if got := realTimeLimits(line); len(got) != want {
			t.Errorf("%q: %q, want %d", line, got, want)
		}
	}
}
