package readings_test

import (
	"slices"
	"testing"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/client"
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

// manually_accepted is so in the interface: it does not show how a service writes the other names.
func TestNamesThatAreAlwaysSnake(t *testing.T) {
	for statusCase, want := range map[string]string{
		"plain": "", "snake": "", "kebab": "kebab", "upper": "upper", "title": "title",
	} {
		s := newService(t, dialect.Dialect{})
		s.newClient(func(c *client.Client) error {
			application, err := c.RetrieveApplication(t.Context(), s.applications[0].ID)
			s.check(err)
			for i := range application.Individuals {
				for _, check := range application.Individuals[i].Checks {
					_, err := c.AcceptCheck(t.Context(), check.ID, client.CheckReview{})
					s.check(err)
				}
			}
			_, err = c.CompleteApplication(t.Context(), application.ID, application.State)
			return err
		})
		s.check(s.control.SetDialect(t.Context(), "statusCase", statusCase))
		if got := s.run(s.options()).Find("statusCase").Reading; got != want {
			t.Errorf("%s: statusCase is %q, want %q", statusCase, got, want)
		}
	}
}

// What several readings have says nothing against what one of them has, in any order of the applications.
func TestOrderOfTheApplications(t *testing.T) {
	s := newService(t, dialect.Dialect{StateNames: dialect.StateNamesDeclined})
	s.newClient(func(c *client.Client) error {
		application, err := c.RetrieveApplication(t.Context(), s.applications[0].ID)
		s.check(err)
		_, err = c.RejectApplication(t.Context(), application.ID, application.State)
		return err
	})
	options := s.options()
	for range 2 {
		d, assignments := s.run(options).Dialect()
		if d.StateNames != dialect.StateNamesDeclined || !slices.Contains(assignments, "stateNames=declined") ||
			slices.Contains(assignments, "stateNames=documented") {
			t.Errorf("stateNames=%s, %q", d.StateNames, assignments)
		}
		slices.Reverse(options.Applications)
	}
}
