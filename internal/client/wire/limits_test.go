package wire

import (
	"errors"
	"strings"
	"testing"
)

// listed repeats the text of an item.
func listed(item string, n int) string { return strings.TrimSuffix(strings.Repeat(item+",", n), ",") }

// TestLimits: each limit at its edge and beyond.
func TestLimits(t *testing.T) {
	for name, test := range map[string]struct {
		body func(n int) string
		most int
	}{
		"depth":   {func(n int) string { return strings.Repeat(`[`, n) + strings.Repeat(`]`, n) }, maxDepth},
		"entries": {func(n int) string { return `{"countries":[` + listed(`"x"`, n) + `]}` }, maxEntries},
		"members": {func(n int) string { return `{` + listed(`"x":0`, n) + `}` }, maxEntries},
		"values": {func(n int) string {
			lists := n / 1000
			return `[` + listed(`[`+listed(`0`, 999)+`]`, lists) + strings.Repeat(`,0`, n-1000*lists) + `]`
		}, maxValues},
		"objects": {func(n int) string {
			return `[` + listed(`[`+listed(`{}`, n/8)+`]`, 8) + strings.Repeat(`,{}`, n%8) + `]`
		}, maxObjects},
	} {
		for _, n := range []int{test.most, test.most + 1} {
			value, err := Parse([]byte(test.body(n)))
			var limit LimitError
			if exceeded := errors.As(err, &limit); exceeded != (n > test.most) || !exceeded && err != nil {
				t.Errorf("%s, %d of %d: %v", name, n, test.most, err)
			}
			if value.IsNull() {
				t.Errorf("%s: what must not be lost cannot be read", name)
			}
		}
	}
	if _, err := Parse([]byte(strings.Repeat(`[`, maxDepth+1))); err == nil {
		t.Error("no JSON, and no error")
	}
	if value, err := Parse([]byte(`"{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{\"[[["`)); err != nil || value.Text() == "" {
		t.Errorf("a text has no depth: %v", err)
	}
}
