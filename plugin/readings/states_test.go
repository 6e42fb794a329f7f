package readings_test

import (
	"slices"
	"testing"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
	"github.com/mandate-io/idv/plugin/readings"
)

// The list has the names that the operator has seen and those that are read now, as the suggested settings explain
// them.
func TestStates(t *testing.T) {
	s := newService(t, dialect.Dialect{StateNames: dialect.StateNamesOther})
	options := s.options()
	options.States = []v1alpha1.StateStatus{
		{Name: "under review", Stage: "Unknown"}, {Name: "created", Stage: "Open"}, {Name: "closed", Stage: "Unknown"},
	}
	options.Settings.States.Completed = []string{"Closed"}
	check := func(want ...string) {
		t.Helper()
		var got []string
		for _, state := range s.run(options).States {
			got = append(got, state.Name+" "+string(state.Stage))
		}
		if !slices.Equal(got, want) {
			t.Errorf("the states are %q, want %q", got, want)
		}
	}
	check("closed Completed", "created Open", "under review Unknown")
	options.Applications[0].Meaning = readings.InReview
	check("closed Completed", "created Open", "under review InReview")
	options.States = nil
	check("under review InReview")
}
