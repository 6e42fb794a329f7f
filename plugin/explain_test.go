package plugin

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/mandate-io/idv/docs"
)

// run runs the plugin without a cluster.
func run(t *testing.T, arguments ...string) (output string, code int) {
	t.Helper()
	t.Setenv("KUBECONFIG", "/dev/null")
	out := &bytes.Buffer{}
	code = Run(context.Background(), Streams{In: strings.NewReader(""), Out: out, ErrOut: out}, "v1.2.3", arguments)
	return out.String(), code
}

func TestExplain(t *testing.T) {
	out, code := run(t, "explain", "outcomeunknown", "--kind", "mandate")
	want := []string{
		"OutcomeUnknown of a Mandate  Ready=False, Stalled=True, Created=Unknown",
		"1. Look at the service for an application with the reference in status.reference.",
	}
	for _, text := range want {
		if code != 0 || !strings.Contains(out, text) {
			t.Errorf("code %d, no %q in\n%s", code, text, out)
		}
	}
	if out, _ := run(t, "explain", "OutcomeUnknown"); strings.Count(out, "What to do") != 2 {
		t.Errorf("not both kinds:\n%s", out)
	}
}

// Every heading of the page is a reason, with all its parts.
func TestExplanationsAreComplete(t *testing.T) {
	if want := strings.Count(docs.Conditions, "\n### "); len(explanations) != want || want < 70 {
		t.Errorf("%d explanations of %d sections", len(explanations), want)
	}
	for _, e := range explanations {
		if e.Meaning == "" || e.Operator == "" || len(e.Conditions) == 0 {
			t.Errorf("%s %s lacks a part: %+v", e.Kind, e.Reason, e)
		}
		for _, text := range append(e.Steps, e.Meaning, e.Operator) {
			if text == "" || strings.ContainsAny(text, "`[") || strings.Contains(text, "**") {
				t.Errorf("%s %s: empty, or marks are left: %q", e.Kind, e.Reason, text)
			}
		}
	}
}

func TestWrongArguments(t *testing.T) {
	for name, arguments := range map[string][]string{
		"an unknown reason":     {"explain", "Nonsense"},
		"an unknown kind":       {"explain", "--kind", "Pod"},
		"an unknown format":     {"explain", "-o", "xml"},
		"an unknown command":    {"nonsense"},
		"an unknown flag":       {"status", "--nonsense"},
		"a name and a selector": {"status", "acme", "-l", "a=b"},
		"a bad selector":        {"status", "-l", "a in"},
	} {
		t.Run(name, func(t *testing.T) {
			if out, code := run(t, arguments...); code != exitFailure || !strings.HasPrefix(out, "error: ") {
				t.Errorf("code %d, want %d:\n%s", code, exitFailure, out)
			}
		})
	}
}

func TestVersion(t *testing.T) {
	if out, code := run(t, "--version"); code != 0 || out != "v1.2.3\n" {
		t.Errorf("%d: %s", code, out)
	}
}
