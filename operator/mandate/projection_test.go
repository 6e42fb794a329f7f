package mandate

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/lifecycle"
	"github.com/mandate-io/idv/internal/printable"
)

// hugeAnswer is about as much as an answer can hold, in characters that JSON writes with six.
func hugeAnswer() (*v1alpha1.Mandate, *idv.Application) {
	long := strings.Repeat("<", 300)
	m, application := &v1alpha1.Mandate{}, &idv.Application{State: idv.State{ID: 1, Name: long}}
	for range 500 {
		application.Actions = append(application.Actions, idv.Action{Name: long, Title: long})
	}
	for i := range 50 {
		m.Spec.Individuals = append(m.Spec.Individuals, v1alpha1.Individual{Name: fmt.Sprintf("%063d", i)})
		individual := idv.Individual{ID: 1 << 60, State: idv.State{ID: 1 << 60, Name: long}, ChecksPassed: 90}
		for c := range 90 {
			individual.Checks = append(individual.Checks, idv.Check{
				ID: int64(1000*i + c + 1), Name: fmt.Sprint(c) + long, Title: long, State: idv.State{ID: 1 << 60, Name: long},
			})
			individual.CompletedActions = append(individual.CompletedActions, idv.Action{Name: long})
		}
		application.Individuals = append(application.Individuals, individual)
	}
	return m, application
}

func projectionFor(m *v1alpha1.Mandate, application *idv.Application) *projection {
	var found []*idv.Individual
	for i := range application.Individuals {
		found = append(found, &application.Individuals[i])
	}
	return project(m, found, application, lifecycle.Names{})
}

func projected(m *v1alpha1.Mandate, application *idv.Application) *v1alpha1.MandateStatus {
	status := &v1alpha1.MandateStatus{}
	projectionFor(m, application).show(status)
	return status
}

// TestStatusIsBounded: no answer makes a status that the API server refuses, and the status says that it is not all.
func TestStatusIsBounded(t *testing.T) {
	m, application := hugeAnswer()
	status := projected(m, application)
	encoded, err := json.Marshal(status)
	if err != nil || len(encoded) > maxProjectionBytes {
		t.Errorf("the status takes %d KiB, %v", len(encoded)>>10, err)
	}
	if !status.Truncated || status.Digest == "" || len(status.Individuals) != 50 || status.Progress != "4500/4500" {
		t.Errorf("truncated %t, digest %q, %d individuals, progress %s",
			status.Truncated, status.Digest, len(status.Individuals), status.Progress)
	}
	for i, individual := range status.Individuals {
		if individual.State == nil || *individual.ChecksPassed != 90 || !individual.Truncated || individual.ID != 0 ||
			individual.State.ID != 0 {
			t.Errorf("individual %d is shown as %+v", i, individual)
		}
	}
	if diff := cmp.Diff(status, projected(m, application)); diff != "" {
		t.Errorf("the same answer makes another status:\n%s", diff)
	}
}

// What a usual application has is shown in full: fifty individuals with a dozen checks each.
func TestStatusIsComplete(t *testing.T) {
	m, application := &v1alpha1.Mandate{}, &idv.Application{State: idv.State{ID: 1, Name: "in review"}}
	for i := range 50 {
		m.Spec.Individuals = append(m.Spec.Individuals, v1alpha1.Individual{Name: fmt.Sprintf("applicant-%d", i)})
		individual := idv.Individual{ID: int64(i + 1), State: idv.State{ID: 2, Name: "invited"}}
		for c := range 12 {
			individual.Checks = append(individual.Checks, idv.Check{
				ID: int64(100*i + c + 1), Name: "document_verification", Title: "Verification of the document",
				State: idv.State{ID: 4, Name: "manually_accepted"},
			})
		}
		application.Individuals = append(application.Individuals, individual)
	}
	status := projected(m, application)
	checks := 0
	for _, individual := range status.Individuals {
		checks += len(individual.Checks)
	}
	if status.Truncated || status.Digest != "" || checks != 600 || status.Individuals[49].Truncated {
		t.Errorf("%d checks are shown, truncated %t, digest %q", checks, status.Truncated, status.Digest)
	}
}

// TestHiddenChangesAreNoticed: a decision that the service refused is tried again when anything changes, also in what
// the status does not show.
func TestHiddenChangesAreNoticed(t *testing.T) {
	m, application := hugeAnswer()
	before := projectionFor(m, application).hash()
	last := &application.Individuals[49]
	for what, change := range map[string]func(){
		"state of the last check": func() { last.Checks[len(last.Checks)-1].State.Name += "x" },
		"id of the last check":    func() { last.Checks[len(last.Checks)-1].ID++ },
		"one check less":          func() { last.Checks = last.Checks[:80] },
		"a completed action":      func() { last.CompletedActions[89].Name += "x" },
		"state of an individual":  func() { last.State.Name += "x" },
		"state of all":            func() { application.State.Name += "x" },
	} {
		change()
		after := projectionFor(m, application).hash()
		if after == before {
			t.Errorf("the digest does not change with: %s", what)
		}
		before = after
	}
}

// Nothing that a terminal would obey, or that changes how other text reads, gets into a status.
func TestStatusIsPrintable(t *testing.T) {
	const hostile = "\x1b[31mx\u202ey\u009b"
	m := &v1alpha1.Mandate{}
	m.Spec.Individuals = []v1alpha1.Individual{{Name: "jane"}}
	state, action := idv.State{Name: hostile}, idv.Action{Name: hostile, Title: hostile}
	application := &idv.Application{
		State: state, Actions: []idv.Action{action}, MandateType: idv.Reference{Name: hostile, Code: hostile},
		Individuals: []idv.Individual{{
			State: state, CompletedActions: []idv.Action{action},
			Checks: []idv.Check{{Name: hostile, Title: hostile, State: state}},
		}},
	}
	status := projected(m, application)
	encoded, err := json.Marshal(status)
	if err != nil {
		t.Fatal(err)
	}
	shown := printable.Text(hostile)
	if strings.ContainsAny(string(encoded), "\u202e\u009b") || strings.Contains(string(encoded), `\u001b`) ||
		strings.Count(string(encoded), shown) != 10 {
		t.Errorf("the status is %s", encoded)
	}
	if !status.Truncated {
		t.Error("the status does not say that it shows something else")
	}
}

// TestStatusNamesNobody: a service may write people's names into its texts, and the status shows none of them. A check
// is still there, and addressed by its id. What is decided, and what evidence is of, stays the same.
func TestStatusNamesNobody(t *testing.T) {
	const about = "Liveness of Jane Doe <jane@example.com>"
	m := &v1alpha1.Mandate{}
	m.Name, m.Spec.Individuals = "acme", []v1alpha1.Individual{{Name: "director"}}
	state, action := idv.State{ID: 35, Name: "waiting for Jane Doe"}, idv.Action{ID: 8, Name: "remind-Doe", Title: about}
	application := &idv.Application{
		Name: idv.Hide("acme"), State: state, Actions: []idv.Action{action},
		MandateType: idv.Reference{ID: 3, Name: "KYC of Jane", Code: "acme"},
		Individuals: []idv.Individual{{
			ID: 7, Reference: idv.Hide("director"), Email: idv.Hide("jane@example.com"),
			Personal: []idv.Secret{idv.Hide("Jane"), idv.Hide("Doe"), idv.Hide("1990-02-28")},
			State:    idv.State{ID: 5, Name: "invited"}, CompletedActions: []idv.Action{action},
			Checks: []idv.Check{
				{ID: 101, Name: "liveness_jane", Title: about, State: state, FailedFields: []string{"face", "born 1990-02-28"}},
				{ID: 102, Name: "director", Title: "Document", State: idv.State{ID: 36, Name: "passed"}},
			},
		}},
	}
	status := projected(m, application)
	encoded, err := json.Marshal(status)
	if err != nil {
		t.Fatal(err)
	}
	for _, personal := range []string{"jane", "doe", "@", "1990"} {
		if strings.Contains(strings.ToLower(string(encoded)), personal) {
			t.Errorf("the status has %s: %s", personal, encoded)
		}
	}
	if status.State != "35" || status.Truncated || status.MandateType.Code != "acme" ||
		status.Individuals[0].CompletedActions[0] != "8" {
		t.Errorf("the status is %s", encoded)
	}
	want := []v1alpha1.CheckStatus{
		{ID: 101, State: &v1alpha1.ServiceState{ID: 35}, FailedFields: []string{"face"}},
		{ID: 102, Name: "director", Title: "Document", State: &v1alpha1.ServiceState{ID: 36, Name: "passed"}},
	}
	if diff := cmp.Diff(want, status.Individuals[0].Checks); diff != "" {
		t.Errorf("checks:\n%s", diff)
	}
	if projectionFor(m, application).content() != projectionOf(status).content() {
		t.Error("what the status shows is not what was read")
	}
}
