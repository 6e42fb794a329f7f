package plugin

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
)

var update = flag.Bool("update", false, "write testdata/*.golden")

// fixedNow is the clock of the tests.
func fixedNow() time.Time { return time.Date(2026, 5, 1, 3, 0, 0, 0, time.UTC) }

// secret is the personal data in the objects of the tests.
const secret = "Jane.Doe.1990@example.com"

// TestStatusOfEveryReason shows the tree of an object with each reason of docs/conditions.md. A reason that is added to
// the page has no text here, so the test fails until somebody has read it: go test ./plugin -run Reason -update.
func TestStatusOfEveryReason(t *testing.T) {
	shown := map[string]*strings.Builder{}
	for i := range explanations {
		e := &explanations[i]
		out := &bytes.Buffer{}
		s := &session{Streams: Streams{Out: out, ErrOut: out}, now: fixedNow}
		v := newView(factsFor(t, e))
		if err := s.show([]view{v}, &outputFlag{}, true); err != nil {
			t.Fatal(err)
		}
		if shown[e.Kind] == nil {
			shown[e.Kind] = &strings.Builder{}
		}
		fmt.Fprintf(shown[e.Kind], "=== %s\n\n%s\n", e.Reason, out)
		// These two say that another reason says it, and the names of those who are waited for say more.
		indirect := e.Reason == "Creating" || e.Reason == "InProgress"
		if !indirect && len(e.Steps) > 0 && !strings.Contains(squeeze(out.String()), squeeze(e.Steps[0])) {
			t.Errorf("%s %s: the text does not say what to do: %s", e.Kind, e.Reason, out)
		}
		if strings.Contains(out.String(), secret) || placeholder.MatchString(out.String()) {
			t.Errorf("%s %s: personal data, or a placeholder: %s", e.Kind, e.Reason, out)
		}
		if !strings.Contains(out.String(), e.Reason) {
			t.Errorf("%s %s: the reason is not shown: %s", e.Kind, e.Reason, out)
		}
	}
	for kind, text := range shown {
		compareGolden(t, "status-"+kind+".golden", text.String())
	}
	if len(shown) != 3 {
		t.Errorf("%d kinds, want 3", len(shown))
	}
}

var placeholder = regexp.MustCompile(`\{\w+\}`)

func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs; look at it, and then run: go test ./plugin -update\n%s", name, diff)
	}
}

func squeeze(text string) string { return strings.Join(strings.Fields(text), "") }

// factsFor are objects with one reason: a Mandate with it, or a healthy Mandate whose service or action has it.
func factsFor(t *testing.T, e *explanation) facts {
	t.Helper()
	mandate := healthyMandate()
	s := &v1alpha1.IdentityService{}
	s.Status.Conditions = conditionsOf("Connected", []string{"Ready=True"}, "The connection works.")
	f := facts{mandate: mandate, service: s}
	switch message := messageOf(t, e); e.Kind {
	case kindService:
		s.Status.Conditions = withConditions(s.Status.Conditions, conditionsOf(e.Reason, e.Conditions, message))
	case kindAction:
		action := v1alpha1.MandateAction{}
		action.Name = "acme-resend-1"
		action.Spec.MandateRef.Name, action.Spec.Individual = "acme", "director"
		action.Spec.Type = v1alpha1.MandateActionResendInvite
		action.Status.Conditions = conditionsOf(e.Reason, e.Conditions, message)
		f.actions = []v1alpha1.MandateAction{action}
	default:
		changed := conditionsOf(e.Reason, e.Conditions, message)
		mandate.Status.Conditions = withConditions(mandate.Status.Conditions, changed)
		for _, c := range changed {
			if c.Type == "Completed" && c.Status == metav1.ConditionTrue {
				mandate.Status.Outcome = v1alpha1.Outcome(e.Reason)
			}
			if c.Type == "Created" && c.Status != metav1.ConditionTrue {
				mandate.Status.ApplicationID = nil
			}
		}
		mandate.Spec.Suspend = e.Reason == "Suspended"
	}
	f.record = recordOf(mandate)
	return f
}

func healthyMandate() *v1alpha1.Mandate {
	m := &v1alpha1.Mandate{}
	m.Namespace, m.Name = "onboarding", "acme"
	m.Generation = 1
	m.CreationTimestamp = metav1.NewTime(fixedNow().Add(-50 * time.Hour))
	m.Spec.ServiceRef = v1alpha1.IdentityServiceReference{Kind: v1alpha1.ServiceKindIdentityService, Name: "default"}
	m.Spec.Individuals = []v1alpha1.Individual{{
		Name: "director", Email: secret, FirstName: secret, LastName: secret, Reference: secret, DateOfBirth: secret,
	}}
	m.Spec.CheckReviews = []v1alpha1.CheckReview{{Individual: "director", Check: "liveness", Comment: secret}}
	m.Spec.Name = secret
	expiry := metav1.NewTime(fixedNow().Add(54 * 24 * time.Hour))
	m.Status = v1alpha1.MandateStatus{
		ObservedGeneration: 1, ApplicationID: new(int64(4711)), Reference: "onboarding.acme", State: "created",
		Progress: "1/2", ExpiryTime: &expiry,
		Individuals: []v1alpha1.IndividualStatus{{
			Name: "director", ID: 91, State: &v1alpha1.ServiceState{Name: "in progress"}, TermsAccepted: new(true),
			ChecksPending: new(int64(1)), ChecksPassed: new(int64(1)),
			Checks: []v1alpha1.CheckStatus{
				{ID: 1, Name: "identity_document", State: &v1alpha1.ServiceState{Name: "passed"}},
				{ID: 2, Name: "liveness", State: &v1alpha1.ServiceState{Name: "pending"}},
			},
		}},
		Conditions: withConditions(
			conditionsOf("Accepted", []string{"Ready=True"}, "The application exists."),
			append(conditionsOf("Created", []string{"Created=True"}, "The application exists and its id is known."),
				conditionsOf("Resolved", []string{"ResolvedRefs=True"}, "Everything was found.")...),
		),
	}
	m.Status.Conditions = withConditions(m.Status.Conditions,
		conditionsOf("InProgress", []string{"Completed=False"}, "The verification has no outcome yet."))
	return m
}

func recordOf(m *v1alpha1.Mandate) *v1alpha1.ApplicationRecord {
	record := &v1alpha1.ApplicationRecord{}
	record.Spec.ApplicationID, record.Spec.Reference = m.Status.ApplicationID, m.Status.Reference
	started := v1alpha1.MicroTime{MicroTime: metav1.NewMicroTime(fixedNow().Add(-49 * time.Hour))}
	record.Spec.Attempt = &v1alpha1.Attempt{Ordinal: 1, Sent: true, StartedTime: started}
	return record
}

// conditionsOf are conditions as the page lists them: Ready=False and so on.
func conditionsOf(reason string, listed []string, message string) []metav1.Condition {
	var conditions []metav1.Condition
	for _, condition := range listed {
		kind, status, _ := strings.Cut(condition, "=")
		conditions = append(conditions, metav1.Condition{
			Type: kind, Status: metav1.ConditionStatus(status), Reason: reason, Message: message,
			LastTransitionTime: metav1.NewTime(fixedNow().Add(-10 * time.Minute)),
		})
	}
	return conditions
}

// withConditions replaces conditions of the same type, and adds the others.
func withConditions(conditions, changed []metav1.Condition) []metav1.Condition {
	var all []metav1.Condition
	for _, c := range conditions {
		if !containsType(changed, c.Type) {
			all = append(all, c)
		}
	}
	return append(all, changed...)
}

func containsType(conditions []metav1.Condition, kind string) bool {
	for _, c := range conditions {
		if c.Type == kind {
			return true
		}
	}
	return false
}

var messageLine = regexp.MustCompile("(?m)^- `(\\w+)`: (.*)$")

// messageOf is the operator's message of a reason of a Mandate, from docs/status.md.
func messageOf(t *testing.T, e *explanation) string {
	t.Helper()
	if e.Kind != kindMandate {
		return "The message of the operator."
	}
	page, err := os.ReadFile(filepath.Join("..", "docs", "status.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, match := range messageLine.FindAllStringSubmatch(string(page), -1) {
		if match[1] == e.Reason {
			return match[2]
		}
	}
	t.Fatalf("docs/status.md has no message of %s", e.Reason)
	return ""
}
