package plugin

import (
	"bytes"
	"strings"
	"testing"

	"k8s.io/klog/v2"

	"github.com/mandate-io/idv/api/v1alpha1"
)

func TestTerminalShowsTextOnly(t *testing.T) {
	cases := map[string]struct {
		text, colored, plain string
	}{
		"text":                {"a\tb\nč 漢 ✗\n", "a\tb\nč 漢 ✗\n", "a\tb\nč 漢 ✗\n"},
		"a style":             {"\x1b[31mred\x1b[0m", "\x1b[31mred\x1b[0m", "red"},
		"another code":        {"\x1b[5mblink\x1b[2J", "blink�[2J", "blink�[2J"},
		"the clipboard":       {"\x1b]52;c;ZXZpbA==\a", "�]52;c;ZXZpbA==�", "�]52;c;ZXZpbA==�"},
		"a carriage return":   {"Ready=False\rReady=True", "Ready=False�Ready=True", "Ready=False�Ready=True"},
		"C1 controls":         {"\u009b31m", "�31m", "�31m"},
		"the other direction": {"a\u202eb", "a�b", "a�b"},
		"no UTF-8":            {"a\xffb", "a�b", "a�b"},
	}
	for name, c := range cases {
		for colored, want := range map[bool]string{true: c.colored, false: c.plain} {
			out := &bytes.Buffer{}
			terminal := &terminal{out: out, colored: colored}
			if n, err := terminal.Write([]byte(c.text)); n != len(c.text) || err != nil || out.String() != want {
				t.Errorf("%s, colored %t: %q, want %q; %d bytes, %v", name, colored, out, want, n, err)
			}
		}
	}
}

// What client-go logs is text, too.
func TestLogIsText(t *testing.T) {
	out := &bytes.Buffer{}
	logTo(newTerminal(out))
	t.Cleanup(klog.ClearLogger)
	klog.Error("refused: \x1b]52;c;ZXZpbA==\a")
	if text := out.String(); !strings.Contains(text, "refused: ") || strings.ContainsAny(text, "\x1b\a") {
		t.Errorf("%q", text)
	}
}

// What is shown has no line breaks and no styles. What is written has them as they were.
func TestPrintableCopy(t *testing.T) {
	m := &v1alpha1.Mandate{}
	m.Annotations = map[string]string{"a": "x\ny"}
	m.Spec.Reference = "a\x1b[31m\nb"
	m.Spec.Decision = &v1alpha1.Decision{Evidence: "\r"}
	m.Spec.Individuals = []v1alpha1.Individual{{Name: "\a"}}
	shown := printableCopy(m)
	spec := &shown.Spec
	got := []string{shown.Annotations["a"], spec.Reference, spec.Decision.Evidence, spec.Individuals[0].Name}
	for i, want := range []string{"x�y", "a�[31m�b", "�", "�"} {
		if got[i] != want {
			t.Errorf("%q, want %q", got[i], want)
		}
	}
	if m.Spec.Reference != "a\x1b[31m\nb" || m.Annotations["a"] != "x\ny" || m.Spec.Decision.Evidence != "\r" {
		t.Errorf("the object itself was changed: %+v", m)
	}
}
