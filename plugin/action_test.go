package plugin_test

import (
	"os"
	"strings"
	"testing"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/test/testenv/faultproxy"
)

// TestSuppressedEmail announces no e-mail that the service may not send.
func TestSuppressedEmail(t *testing.T) {
	const sent, suppressed = "An e-mail with a new code is on its way to jane.", "the service may send no e-mail"
	w := newWorld(t, sandbox.Options{})
	w.mandate("acme")
	m := w.get("acme")
	w.check(w.Create(t.Context(), &v1alpha1.Mandate{ObjectMeta: w.named("silent"), Spec: *m.Spec.DeepCopy()}))
	silent := w.get("silent")
	silent.Spec.SuppressEmailNotification = true
	w.check(w.Update(t.Context(), silent))
	w.through(func(_, path string, _ int32) faultproxy.Fault {
		if !strings.HasPrefix(path, "mandateactions/") {
			return faultproxy.Fault{}
		}
		return faultproxy.Fault{OnRequest: func() {
			for _, action := range w.actions() {
				w.patchStatus(&action, complete)
			}
		}}
	})
	for _, verb := range []string{"resend", "reset"} {
		w.contains(w.run("", 5, verb, "silent", "jane"), suppressed)
		for name, says := range map[string]string{"acme": sent, "silent": suppressed} {
			out := w.run("", 0, verb, name, "jane", "--yes")
			w.contains(out, says)
			if strings.Contains(out, sent) && strings.Contains(out, suppressed) {
				t.Errorf("%s of %s says both:\n%s", verb, name, out)
			}
		}
	}
}

// TestNoFileOfTheStandardOutput: - is no name of a file.
func TestNoFileOfTheStandardOutput(t *testing.T) {
	w := newWorld(t, sandbox.Options{})
	w.mandate("acme")
	t.Chdir(t.TempDir())
	for _, arguments := range [][]string{{"export"}, {"report", "acme", "jane", "--timeout=1s"}} {
		w.contains(w.run("", 1, append(arguments, "--file", "-")...), "--file -: the standard output is not supported")
		if _, err := os.Stat("-"); err == nil {
			t.Errorf("%s has written a file with the name -", arguments[0])
		}
	}
	if actions := w.actions(); len(actions) > 0 {
		t.Errorf("a report was downloaded: %+v", actions)
	}
}
