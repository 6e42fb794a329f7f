package lifecycle

import (
	"testing"

	"github.com/mandate-io/idv/internal/client"
)

func TestStages(t *testing.T) {
	more := Names{
		InReview:  []string{"Under Examination", "rejection proposed"},
		Completed: []string{"approved"},
		Rejected:  []string{"refused"},
	}
	// Each list has the interface's names for the other stages: stored before they were refused, or by another means.
	others := Names{
		InReview:  []string{"COMPLETED", "Rejected", "rejected by staff", "declined"},
		Completed: []string{"in review", "rejected", "Rejected by staff", "declined", "rejection proposed"},
		Rejected:  []string{"In_Review", "completed"},
	}
	for name, want := range map[string]struct{ known, more, others Stage }{
		"in review":            {InReview, InReview, InReview},
		"IN_REVIEW":            {InReview, InReview, InReview},
		"inReview":             {InReview, InReview, InReview},
		"in.review":            {Unknown, Unknown, Unknown},
		"completed":            {Completed, Completed, Completed},
		"Completed":            {Completed, Completed, Completed},
		"rejected":             {Rejected, Rejected, Rejected},
		"Rejected by staff":    {Rejected, Rejected, Rejected},
		"DECLINED":             {Rejected, Rejected, Rejected},
		"rejection proposed":   {Rejected, InReview, Rejected},
		"refused":              {Unknown, Rejected, Unknown},
		"approved":             {Unknown, Completed, Unknown},
		"under-examination":    {Unknown, InReview, Unknown},
		"not completed":        {Unknown, Unknown, Unknown},
		"created":              {Open, Open, Open},
		"Pending":              {Open, Open, Open},
		"draft":                {Open, Open, Open},
		"AWAITING-INDIVIDUALS": {Open, Open, Open},
		"in_progress":          {Open, Open, Open},
		"21":                   {Unknown, Unknown, Unknown},
		"":                     {Open, Open, Open},
	} {
		if got := (Names{}).Stage(client.State{Name: name}); got != want.known {
			t.Errorf("%q: %v, want %v", name, got, want.known)
		}
		if got := more.Stage(client.State{Name: name}); got != want.more {
			t.Errorf("%q with more names: %v, want %v", name, got, want.more)
		}
		if got := others.Stage(client.State{Name: name}); got != want.others {
			t.Errorf("%q with names of other stages: %v, want %v", name, got, want.others)
		}
	}
	twice := Names{InReview: []string{"done"}, Completed: []string{"Done"}, Rejected: []string{"DONE"}}
	if got := twice.Stage(client.State{Name: "done"}); got != InReview {
		t.Errorf("a name of all stages: %v, want that nobody has decided", got)
	}
	if (client.State{}).Is("") {
		t.Error("no name is not an empty name")
	}
}

func TestCheckPassed(t *testing.T) {
	more := Names{
		CheckPassed: []string{"Clear", "Failed", "both", "manually rejected"},
		CheckFailed: []string{"needs attention", "passed", "BOTH"},
	}
	for name, want := range map[string]struct{ known, more bool }{
		"manually_accepted": {true, true},
		"Manually Accepted": {true, true},
		"accepted":          {true, true},
		"PASSED":            {true, true},
		"manually-rejected": {false, false},
		"rejected":          {false, false},
		"failed":            {false, false},
		"clear":             {false, true},
		"NEEDS_ATTENTION":   {false, false},
		"both":              {false, false},
		"in review":         {false, false},
		"not passed":        {false, false},
		"passed.":           {false, false},
		"":                  {false, false},
	} {
		if got := (Names{}).Passed(client.State{Name: name}); got != want.known {
			t.Errorf("%q: %v, want %v", name, got, want.known)
		}
		if got := more.Passed(client.State{Name: name}); got != want.more {
			t.Errorf("%q with more names: %v, want %v", name, got, want.more)
		}
	}
}

func TestIsKnown(t *testing.T) {
	names := Names{
		Closed: []string{"withdrawn"}, CheckFailed: []string{"refused"}, CheckPassed: []string{"refused", "fine"},
	}
	for text, want := range map[string]bool{
		"": true, "In_Review": true, "completed": true, "Rejected": true, "declined": true, "created": true, "passed": true,
		"manually_rejected": true, "Withdrawn": true, "refused": true, "fine": true,
		"rejected: Jane Doe": false, "declined Jane": false, "invited": false, "21": false,
	} {
		if got := names.IsKnown(text); got != want {
			t.Errorf("%q is known: %t, want %t", text, got, want)
		}
	}
}
