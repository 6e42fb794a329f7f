package plugin_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/test/testenv/faultproxy"
)

// inReview has the status of a Mandate show an application in review, on some evidence. Each check has it too.
func (w *world) inReview(name, evidence string) {
	w.Helper()
	w.patchStatus(&v1alpha1.Mandate{ObjectMeta: w.named(name)}, strings.ReplaceAll(`{"status": {"applicationID": 4711,
	  "reference": "ref", "state": "in review", "progress": "1/2", "evidence": "EVIDENCE", "individuals": [
	  {"name": "jane", "id": 91, "state": {"id": 1, "name": "in review"}, "checksInReview": 1, "checksPassed": 1,
	   "checks": [
	    {"id": 7, "name": "document", "state": {"id": 2, "name": "passed"}, "evidence": "EVIDENCE"},
	    {"id": 8, "name": "liveness", "state": {"id": 1, "name": "in review"}, "evidence": "EVIDENCE"},
	    {"id": 9, "name": "liveness", "state": {"id": 1, "name": "in review"}, "evidence": "EVIDENCE"}]}]}}`,
		"EVIDENCE", evidence))
}

func (w *world) get(name string) *v1alpha1.Mandate {
	w.Helper()
	m := &v1alpha1.Mandate{}
	w.check(w.Get(context.WithoutCancel(w.Context()), client.ObjectKey{Namespace: w.namespace, Name: name}, m))
	return m
}

// operate acknowledges each request of a read, and shows other evidence from then on, as an operator does that finds
// another round of checks. Of the Mandates in unread it reads nothing, and "deleted" goes when its read is requested.
func (w *world) operate(evidence string, unread ...string) {
	w.Helper()
	w.through(func(method, path string, _ int32) faultproxy.Fault {
		name, isMandate := strings.CutPrefix(path, "mandates/")
		if method == http.MethodPatch && name == "deleted" {
			return faultproxy.Fault{OnRequest: func() { w.check(w.Delete(w.Context(), w.get(name))) }}
		}
		if method != http.MethodGet || !isMandate {
			return faultproxy.Fault{}
		}
		return faultproxy.Fault{OnRequest: func() {
			requested := w.get(name).Annotations[v1alpha1.ReconcileRequestAnnotation]
			if requested == "" || slices.Contains(unread, name) {
				return
			}
			w.inReview(name, evidence)
			w.patchStatus(&v1alpha1.Mandate{ObjectMeta: w.named(name)},
				`{"status": {"lastHandledReconcileAt": "`+requested+`"}}`)
		}}
	})
}

// A decision is on what the operator has just read, which the command shows before it asks.
func TestDecideOnWhatIsShown(t *testing.T) {
	w := newWorld(t, sandbox.Options{})
	w.mandate("acme")
	w.inReview("acme", "old-1")
	w.contains(w.run("", 4, "decide", "acme", "Complete", "--yes", "--timeout=2s"), "has not carried out the request",
		"It was not changed. With --refresh=false")
	if m := w.get("acme"); m.Spec.Decision != nil {
		t.Errorf("decided without an operator: %+v", m.Spec.Decision)
	}
	w.operate("new-2")
	out := w.run("", 5, "decide", "acme", "Complete")
	w.contains(out, "state in review, checks passed 1/2, evidence new-2",
		"└─ Individual jane  in review, passed 1, in review 1", "liveness  in review, evidence new-2",
		`Its state is "in review"; 1/2 checks passed; jane: 1 check not decided.`)
	w.contains(w.run("", 0, "decide", "acme", "Complete", "--yes"), "to Complete on evidence new-2")
	if got, want := w.decision("acme"), (v1alpha1.Decision{Outcome: "Complete", Evidence: "new-2"}); got != want {
		t.Errorf("decision %+v, want %+v", got, want)
	}
}

// Several Mandates are confirmed at once. What cannot be decided is said, and does not hold the others.
func TestDecideSeveral(t *testing.T) {
	w := newWorld(t, sandbox.Options{})
	for _, name := range []string{"one", "two", "done", "new"} {
		w.mandate(name)
		m := w.get(name)
		m.Labels = map[string]string{"batch": "7"}
		w.check(w.Update(t.Context(), m))
	}
	w.inReview("one", "a-1")
	w.inReview("two", "b-1")
	w.patchStatus(&v1alpha1.Mandate{ObjectMeta: w.named("done")}, `{"status": {"outcome": "Rejected"}}`)
	w.contains(w.run("", 1, "decide", "Complete"), "name Mandates, or select them with --selector")
	w.contains(w.run("", 1, "decide", "one", "Complete", "-l", "batch=7"), "name Mandates, or select them with --selector")
	w.contains(w.run("", 1, "decide", "Complete", "-l", "batch=8"), "has these labels; nothing was changed")
	w.contains(w.run("", 5, "decide", "one", "two", "new", "Complete", "--refresh=false"), "/one? Its", "/two? Its",
		"new shows no evidence yet")
	out := w.run("", 3, "decide", "-l", "batch=7", "Complete", "--refresh=false", "--yes", "-o", "name")
	w.contains(out, "mandate.idv.mandate.io/one\nmandate.idv.mandate.io/two\n",
		"the Mandate done has the outcome Rejected already", "the Mandate new shows no evidence yet")
	for name, want := range map[string]string{"one": "a-1", "two": "b-1", "done": "", "new": ""} {
		if got := w.decision(name).Evidence; got != want {
			t.Errorf("%s is decided on %q, want %q", name, got, want)
		}
	}
}

// A Mandate that the operator does not read is named, with the reason, and does not hold the others.
func TestDecideWhatCanBeRead(t *testing.T) {
	w := newWorld(t, sandbox.Options{})
	w.connect()
	broken := &v1alpha1.IdentityService{ObjectMeta: w.named("broken")}
	broken.Spec.BaseURL, broken.Spec.CredentialsSecretRef.Name = w.url, "idv"
	w.check(w.Create(t.Context(), broken))
	w.patchStatus(broken, `{"status": {"conditions": [{"type": "Ready", "status": "False", "reason": "Unreachable",
	  "message": "Check the network.", "observedGeneration": 1, "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}`)
	for name, service := range map[string]string{
		"a": "default", "deleted": "default", "silent": "default", "suspended": "default", "waiting": "broken",
		"z": "default",
	} {
		w.mandateAt(name, service)
		w.inReview(name, "old-1")
	}
	decide := func(code int, timeout string, names ...string) string {
		return w.run("", code, append(append([]string{"decide"}, names...), "Complete", "--yes", "--timeout="+timeout)...)
	}
	w.run("", 0, "suspend", "mandate/suspended")
	w.operate("new-2", "suspended", "waiting", "silent")
	w.contains(w.run("", 3, "refresh", "suspended"), "the Mandate suspended: spec.suspend is true")
	w.contains(decide(3, "0", "a", "deleted", "suspended", "waiting", "z"), `"deleted" not found`,
		"the Mandate suspended: spec.suspend is true, so the operator reads nothing",
		"the operator reads nothing before the IdentityService broken is Ready (Unreachable): Check the network.")
	w.mandate("y") // which is looked at when the time has passed
	w.inReview("y", "old-1")
	w.contains(decide(4, "3s", "silent", "y"), "not carried out the request for the Mandate silent")
	for name, want := range map[string]string{
		"a": "new-2", "suspended": "", "waiting": "", "silent": "", "y": "new-2", "z": "new-2",
	} {
		if got := w.decision(name).Evidence; got != want {
			t.Errorf("%s is decided on %q, want %q", name, got, want)
		}
	}
}

// A dry run prints what to commit, and writes nothing.
func TestDryRun(t *testing.T) {
	w := newWorld(t, sandbox.Options{})
	w.mandate("acme")
	w.inReview("acme", "a-1")
	before := w.get("acme").ResourceVersion
	w.contains(w.run("", 1, "decide", "acme", "Reject", "--dry-run=server"), "use none or client")
	w.contains(w.run("", 0, "decide", "acme", "Reject", "--dry-run"),
		"Would set spec.decision of the Mandate acme to Reject")
	for _, c := range []struct {
		arguments []string
		want      v1alpha1.MandateSpec
	}{
		{
			[]string{"decide", "acme", "Reject"},
			v1alpha1.MandateSpec{Decision: &v1alpha1.Decision{Outcome: "Reject", Evidence: "a-1"}},
		},
		{
			[]string{"review", "acme", "jane", "document", "Reject", "--comment", "The photo is cut off."},
			v1alpha1.MandateSpec{CheckReviews: []v1alpha1.CheckReview{{
				Individual: "jane", Check: "document", Evidence: "a-1", Decision: "Reject", Comment: "The photo is cut off.",
			}}},
		},
	} {
		out := w.run("", 0, append(c.arguments, "--dry-run=client", "-o", "yaml")...)
		printed := &v1alpha1.Mandate{}
		_, manifest, _ := strings.Cut(out, "apiVersion:")
		manifest, _, _ = strings.Cut(manifest, "Would set")
		w.check(yaml.UnmarshalStrict([]byte("apiVersion:"+manifest), printed))
		if diff := cmp.Diff(c.want, printed.Spec); diff != "" || printed.Kind != "Mandate" || printed.Name != "acme" {
			t.Errorf("%v: %s\n%s", c.arguments, diff, out)
		}
	}
	if after := w.get("acme").ResourceVersion; after != before {
		t.Error("a dry run has written")
	}
}

// TestReview sets reviews next to those that are there, each on the evidence of its check.
func TestReview(t *testing.T) {
	w := newWorld(t, sandbox.Options{})
	w.mandate("acme")
	w.inReview("acme", "a-1")
	review := func(code int, arguments ...string) string {
		return w.run("", code, append([]string{"review", "acme", "jane", "--refresh=false", "--yes"}, arguments...)...)
	}
	w.contains(review(1, "document", "Maybe"), "use Accept or Reject")
	w.contains(review(3, "face", "Accept"), `0 checks of jane of the Mandate acme are called "face"`, "document (7)")
	w.contains(review(3, "liveness", "Accept"), "2 checks of jane", "liveness (8), liveness (9)")
	w.contains(w.run("", 3, "review", "acme", "john", "document", "Accept", "--refresh=false"),
		`shows no individual "john"`)
	w.contains(review(0, "8", "Reject", "--comment", "No face."), "Reject the check 8 of jane on evidence a-1")
	w.contains(review(0, "document", "Accept"), "Accept the check document of jane on evidence a-1")
	w.contains(review(0, "7", "Accept"), "has this checkReviews already")
	w.inReview("acme", "b-2")
	review(0, "7", "Reject", "--comment", "Expired.")
	want := []v1alpha1.CheckReview{
		{Individual: "jane", Check: "8", Evidence: "a-1", Decision: "Reject", Comment: "No face."},
		{Individual: "jane", Check: "document", Evidence: "b-2", Decision: "Reject", Comment: "Expired."},
	}
	if diff := cmp.Diff(want, w.get("acme").Spec.CheckReviews); diff != "" {
		t.Error(diff)
	}
	w.contains(w.complete("review", "acme", "jane", ""), "document\n")
	w.contains(w.complete("review", "acme", "jane", "8", ""), "Accept\nReject\n")
}

// Between the look and the confirmation, the checks may change: then nothing is set. Other writes do not matter.
func TestChecksChangeBeforeTheConfirmation(t *testing.T) {
	for name, c := range map[string]struct {
		patch, says string
		code        int
	}{
		"other evidence": {`{"status": {"evidence": "b-2"}}`, "has changed since its checks were shown", 3},
		"an outcome":     {`{"status": {"outcome": "Rejected"}}`, "has changed since its checks were shown", 3},
		"a later read":   {`{"status": {"lastReadTime": "2026-01-01T00:00:00Z"}}`, "Set spec.decision", 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, sandbox.Options{})
			w.mandate("acme")
			w.inReview("acme", "a-1")
			w.through(func(method, _ string, before int32) faultproxy.Fault {
				if method != http.MethodPatch || before > 0 {
					return faultproxy.Fault{}
				}
				return faultproxy.Fault{OnRequest: func() {
					w.patchStatus(&v1alpha1.Mandate{ObjectMeta: w.named("acme")}, c.patch)
				}}
			})
			w.contains(w.run("", c.code, "decide", "acme", "Complete", "--yes", "--refresh=false"), c.says)
			if decided := w.get("acme").Spec.Decision != nil; decided != (c.code == 0) {
				t.Errorf("decided: %t", decided)
			}
		})
	}
}
