package plugin

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// several are views of Mandates with these reasons, by the name of each.
func several(t *testing.T, reasons ...string) []view {
	t.Helper()
	var views []view
	for _, reason := range reasons {
		e, ok := explanationOf(kindMandate, reason)
		if !ok {
			t.Fatalf("no reason %s", reason)
		}
		f := factsFor(t, &e)
		f.mandate.Name = strings.ToLower(reason)
		views = append(views, newView(f))
	}
	sortViews(views)
	return views
}

func TestTablePutsThoseThatNeedAPersonFirst(t *testing.T) {
	views := several(t, "Accepted", "Completed", "Retrying", "DecisionRefused", "OutcomeUnknown",
		"IdentityServiceNotReady")
	for _, c := range []struct {
		name   string
		output outputFlag
		all    bool
	}{{"table", outputFlag{}, false}, {"table-wide", outputFlag{format: "wide", own: []string{"wide"}}, true}} {
		out := &bytes.Buffer{}
		s := &session{Streams: Streams{Out: out, ErrOut: out}, now: fixedNow, allNamespaces: c.all, output: c.output}
		if err := s.showViews(views, false); err != nil {
			t.Fatal(err)
		}
		compareGolden(t, c.name+".golden", out.String())
	}
}

func TestStructuredOutputHasNoPersonalData(t *testing.T) {
	for _, format := range []string{"json", "yaml"} {
		out := &bytes.Buffer{}
		s := &session{Streams: Streams{Out: out, ErrOut: out}, now: fixedNow, output: outputFlag{format: format}}
		if err := s.showViews(several(t, "OutcomeUnknown", "Accepted"), true); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), secret) || !strings.Contains(out.String(), "director") {
			t.Errorf("-o %s has personal data, or no individual:\n%s", format, out)
		}
		var decoded struct{ Items []view }
		if format == "json" {
			if err := json.Unmarshal(out.Bytes(), &decoded); err != nil || decoded.Items[0].Next[0].Reason != "OutcomeUnknown" {
				t.Errorf("%v: %s", err, out)
			}
		}
	}
}

// A stalled service needs a person, and so do the Mandates that wait for it.
func TestMandatesOfAStalledServiceNeedAPerson(t *testing.T) {
	e, _ := explanationOf(kindService, v1alpha1.ReasonCredentialsInvalid)
	f := factsFor(t, &e)
	if v := newView(f); v.Attention != needsPerson || v.Next[0].Reason != v1alpha1.ReasonCredentialsInvalid {
		t.Errorf("attention %s, next %+v", v.Attention, v.Next)
	}
}

// An action that failed needs somebody only until another one of its kind follows.
func TestRepeatedActionNeedsNobody(t *testing.T) {
	e, _ := explanationOf(kindAction, v1alpha1.ReasonOutcomeUnknown)
	f := factsFor(t, &e)
	if v := newView(f); len(v.Next) != 1 || v.Next[0].Commands[0] != "kubectl mandate resend -n onboarding acme director" {
		t.Errorf("next %+v", v.Next)
	}
	done, _ := explanationOf(kindAction, v1alpha1.ReasonCarriedOut)
	later := factsFor(t, &done).actions[0]
	later.Name = "acme-resend-2"
	later.Status.Conditions[0].LastTransitionTime.Time = fixedNow()
	f.actions = append(f.actions, later)
	if v := newView(f); len(v.Next) != 0 || v.Actions[0].Name != later.Name {
		t.Errorf("next %+v", v.Next)
	}
}

func TestColoursAreForTerminals(t *testing.T) {
	if p := newPrinter(&bytes.Buffer{}); p.colored || p.styled(red, "x") != "x" {
		t.Error("colours in what is no terminal")
	}
	if p := (&printer{colored: true}); p.styled(red, "x") != "\x1b[31mx\x1b[0m" || p.styled(plain, "x") != "x" {
		t.Errorf("%q", p.styled(red, "x"))
	}
}

// A Mandate that the operator has not seen says so, and not that all is well.
func TestUnseenMandate(t *testing.T) {
	f := facts{mandate: newMandate()}
	f.mandate.Status = v1alpha1.MandateStatus{ObservedGeneration: -1}
	v := newView(f)
	p := newPrinter(&bytes.Buffer{})
	p.tree(&v, fixedNow)
	if v.Attention != operatorWorks || !strings.Contains(p.String(), "not seen by the operator yet") ||
		!strings.Contains(p.String(), "kubectl get pods -A") {
		t.Errorf("%s: %s", v.Attention, p.String())
	}
}
