package mandate

import (
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
)

// path makes the way to a field. What the interface does not know has a name of its own, which is nobody's to show.
func path(steps ...any) (made idv.Path) {
	for _, s := range steps {
		switch s := s.(type) {
		case int:
			made = append(made, idv.PathStep{Index: s})
		case string:
			step := idv.PathStep{Field: s, Index: -1, Name: idv.Hide(s)}
			if strings.HasPrefix(s, "canary") {
				step.Field = ""
			}
			made = append(made, step)
		}
	}
	return made
}

// The fields that a service refuses have the names of the spec, and nothing else of the answer is shown.
func TestProblemsOfRefusedFields(t *testing.T) {
	r := connected(&Reconciler{}, scope{mandate: situated(func(m *v1alpha1.Mandate) {
		m.Spec.Individuals = append(m.Spec.Individuals, v1alpha1.Individual{
			Name: "john", DetailsSecretRef: &v1alpha1.SecretReference{Name: "johns"},
		})
	})}, nil)
	const refused = "The service refused this field: HTTP 422."
	const ofSecret = " It may come from the key email of the Secret johns."
	for name, c := range map[string]struct {
		path           idv.Path
		field, message string
	}{
		"the name":                  {path("name"), "spec.name", refused},
		"the type":                  {path("mandate_type"), "spec.mandateType", refused},
		"the flag":                  {path("suppress_email_notification"), "spec.suppressEmailNotification", refused},
		"an inline field":           {path("individuals", 0, "date_of_birth"), "spec.individuals[jane].dateOfBirth", refused},
		"a field of a Secret":       {path("individuals", 1, "email"), "spec.individuals[john].email", refused + ofSecret},
		"an individual":             {path("individuals", 1), "spec.individuals[john]", refused},
		"an unknown field of one":   {path("individuals", 0, "canary"), "spec.individuals[jane]", refused},
		"individuals":               {path("individuals"), "spec.individuals", refused},
		"one that is not there":     {path("individuals", 7, "email"), "spec.individuals", refused},
		"individuals by their name": {path("individuals", "canary@example.com", "email"), "spec.individuals", refused},
		"an unknown field": {
			path("canary"), "spec", "The service refused a field that its documentation does not name: HTTP 422.",
		},
	} {
		err := &idv.Error{Operation: idv.OpCreateApplication, Outcome: idv.Refused, Kind: idv.KindInvalid, Status: 422,
			Problem: &idv.Problem{
				Title: idv.Hide("canary"), Detail: idv.Hide("canary"),
				Errors: []idv.FieldError{{Path: c.path, Messages: []idv.Secret{idv.Hide("canary")}}, {Path: c.path}},
			}}
		want := []v1alpha1.Problem{{Field: c.field, Reason: v1alpha1.ReasonRefused, Message: c.message}}
		if diff := cmp.Diff(want, r.createProblems(v1alpha1.ReasonRefused, err)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Each way in which a reason can come about has a problem of its own.
func TestProblemsOfFacts(t *testing.T) {
	types := &idv.References{MandateTypes: []idv.Reference{{ID: 1, Code: "kyc"}, {ID: 2, Code: "kyc"}}}
	for name, c := range map[string]struct {
		reason   string
		change   func(*reconciliation)
		contains string
	}{
		"the mandate types are not readable": {
			v1alpha1.ReasonMandateTypeNotFound,
			func(r *reconciliation) { r.session.Connection.References = nil },
			"does not let the operator read its mandate types",
		},
		"two mandate types": {
			v1alpha1.ReasonMandateTypeNotFound, func(*reconciliation) {}, "several mandate types",
		},
		"no mandate type": {
			v1alpha1.ReasonMandateTypeNotFound,
			func(r *reconciliation) { r.mandate.Spec.MandateType = v1alpha1.MandateTypeSelector{Name: "other"} }, "no such",
		},
		"the record has another application": {
			v1alpha1.ReasonAdoptionRefused,
			func(r *reconciliation) { r.facts.record.id, r.facts.create.adopt = 7, 8 }, "ApplicationRecord of the Mandate",
		},
		"another Mandate has it": {
			v1alpha1.ReasonAdoptionRefused,
			func(r *reconciliation) { r.facts.create.adoptedByOther = true }, "Another Mandate",
		},
		"it has another reference": {
			v1alpha1.ReasonAdoptionRefused,
			func(r *reconciliation) { r.facts.application = applicationFacts{lookup: applicationFound} }, "another reference",
		},
		"another base URL": {
			v1alpha1.ReasonIdentityServiceMismatch,
			func(r *reconciliation) { r.facts.record.otherURL = true }, "another base URL",
		},
		"the record is gone": {
			v1alpha1.ReasonDeletionRefused,
			func(r *reconciliation) { r.facts.record.lookup = recordMissing }, "ApplicationRecord is gone",
		},
		"nothing more is deleted": {
			v1alpha1.ReasonDeletionRefused,
			func(r *reconciliation) { r.facts.record.full = true }, "cannot hold another call",
		},
	} {
		r := connected(&Reconciler{}, scope{mandate: situated(func(m *v1alpha1.Mandate) {
			m.Spec.MandateType = v1alpha1.MandateTypeSelector{Code: "kyc"}
		})}, nil)
		r.session.Connection.References = types
		c.change(r)
		r.creator.specInputs()
		found := r.problemsOf(c.reason)
		if len(found) != 1 || found[0].Reason != c.reason || !strings.Contains(found[0].Message, c.contains) {
			t.Errorf("%s: %+v, want a message with %q", name, found, c.contains)
		}
	}
}

// A request that fails in another way than before is not written again. A refusal is.
func TestProblemsOfRequestsAreKept(t *testing.T) {
	failed := func(status int) error {
		return &idv.Error{Operation: idv.OpRetrieveApplication, Kind: idv.KindServer, Status: status}
	}
	refused := func(status int) error {
		return &idv.Error{Operation: idv.OpCompleteApplication, Outcome: idv.Refused, Kind: idv.KindConflict, Status: status}
	}
	ctx := log.IntoContext(t.Context(), logr.Discard())
	r := connected(&Reconciler{}, scope{mandate: situated(func(*v1alpha1.Mandate) {})}, nil)
	status := &r.mandate.Status
	says := func(reason, text string) {
		t.Helper()
		r.showProblems(status, reason)
		if len(status.Problems) != 1 || !strings.Contains(status.Problems[0].Message, text) {
			t.Errorf("%s: the status says %+v, want %s", reason, status.Problems, text)
		}
	}
	r.requestFailed(ctx, failed(500), v1alpha1.ReasonReadFailed)
	says(v1alpha1.ReasonReadFailed, "HTTP 500")
	r.requestFailed(ctx, failed(502), v1alpha1.ReasonReadFailed)
	says(v1alpha1.ReasonReadFailed, "HTTP 500")
	r.callFailedWith(v1alpha1.CallComplete, v1alpha1.AnswerRefused, refused(409))
	says(v1alpha1.ReasonDecisionRefused, "HTTP 409")
	r.facts.problems, status.Problems = problemFacts{}, nil // a write failed
	says(v1alpha1.ReasonDecisionRefused, "HTTP 409")
	r.callFailedWith(v1alpha1.CallComplete, v1alpha1.AnswerRefused, refused(422))
	says(v1alpha1.ReasonDecisionRefused, "HTTP 422")
	r.showProblems(status, v1alpha1.ReasonAccepted)
	if len(status.Problems) != 0 {
		t.Errorf("what is solved is still there: %+v", status.Problems)
	}
}
