package individuals

import (
	"regexp"
	"strings"
)

// mask is what services write in place of a part of personal data that they do not show.
var mask = regexp.MustCompile(`(?:[*•●…]|\.{3})+`)

// SameOrMasked reports whether a text that is shown is another one, or can be it with masked parts, as in
// j***@example.com. Whether a service masks anything is not documented.
func SameOrMasked(shown, other string) bool {
	if !mask.MatchString(shown) {
		return SameText(shown, other)
	}
	visible := mask.Split(strings.ToLower(strings.TrimSpace(shown)), -1)
	rest, found := strings.CutPrefix(strings.ToLower(strings.TrimSpace(other)), visible[0])
	last := len(visible) - 1
	for _, part := range visible[1:last] {
		_, after, ok := strings.Cut(rest, part)
		rest, found = after, found && ok
	}
	return found && strings.HasSuffix(rest, visible[last])
}

// SameText tolerates what services change in texts: letter case and surrounding space.
func SameText(a, b string) bool {
	return strings.EqualFold(strings.TrimSpace(a), strings.TrimSpace(b))
}
