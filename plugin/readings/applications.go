package readings

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/client/wire"
	"github.com/mandate-io/idv/internal/lifecycle"
	"github.com/mandate-io/idv/internal/printable"
)

// applications reads those that the options name.
func (c *check) applications(ctx context.Context) {
	for _, wanted := range c.options.Applications {
		application, a := read(ctx, c, func() (*client.Application, error) {
			return c.client.RetrieveApplication(ctx, wanted.ID)
		})
		switch {
		case wanted.Meaning == Deleted:
			c.gone(wanted, application, a)
		case a.err != nil:
			c.unreadable(a)
		case c.first == nil:
			c.first = application
			c.application(ctx, wanted, a.json)
			fallthrough
		default:
			c.stateName(wanted, application.State)
		}
	}
	if c.first == nil {
		c.unknown("applications", "ids, states, people and webhooks need an application that exists: repeat with "+
			"--application ID or --mandate NAME after the first create")
	}
}

// unreadable says why the client cannot read an application.
func (c *check) unreadable(a answer) {
	c.notRead("applications", a)
	if client.IsUnprovenNotFound(a.err) {
		c.saw("ingress404", "applications")
		c.saw("ingressBody", kind(a.Exchange))
	} else if id := a.json.Unwrap("application", "mandate").Get("id"); !id.IsNull() {
		c.see("ids", id.Raw())
	}
}

// gone compares the answer about an application that was deleted with what the client takes for gone.
func (c *check) gone(wanted Application, application *client.Application, a answer) {
	switch {
	case client.IsNotFound(a.err), client.IsForbidden(a.err):
		c.saw("goneAnswer", fmt.Sprint(a.Status))
	case a.err == nil:
		c.stateName(Application{ID: wanted.ID, Meaning: Closed}, application.State)
		c.saw("goneAnswer", "state_deleted")
	default:
		c.unknown("goneAnswer", "the operator does not take this answer about a deleted application for gone: %s", a.err)
	}
}

// application looks at the first application.
func (c *check) application(ctx context.Context, wanted Application, whole wire.Value) {
	o := whole.Unwrap("application", "mandate")
	c.see("wrap", whole.Raw())
	c.see("ids", o.Get("id").Raw())
	c.see("idSize", o.Get("id").Raw())
	c.see("statusShape", o.Get("status", "state").Raw())
	c.see("statusCase", alwaysSnake.ReplaceAllString(whole.Raw(), ""))
	c.see("absentValues", whole.Raw())
	c.see("referenceFormat", o.Get("reference").Raw())
	c.see("applicationReference", o.Get("reference").Raw())
	if wanted.Reference != "" && wanted.Reference != c.first.Reference {
		c.unknown("reference", "the application does not show the reference of the Mandate: it is another one, or the "+
			"service hides or changes references")
	}
	var actions []string
	for _, action := range c.first.Actions {
		actions = append(actions, action.Name)
	}
	c.list("availableActions", "the application offers this user", actions)
	c.individuals(ctx, wanted, o)
	c.webhook(ctx, wanted.ID)
}

// alwaysSnake matches the names that the interface itself writes so, beside others with spaces.
var alwaysSnake = regexp.MustCompile("manually_(accepted|rejected)")

// list shows names of the service. A text that has an @, or is long, may be about a person.
func (c *check) list(point, what string, names []string) {
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return name == "" || printable.MayHaveAddress(name) || len(name) > 50
	})
	slices.Sort(names)
	if len(names) > 0 {
		c.found(point, "shown", "%s: %s", what, strings.Join(slices.Compact(names), ", "))
	}
}

// stages are what the client makes of a state, by what a person says about it.
var stages = map[Meaning]lifecycle.Stage{
	InReview: lifecycle.InReview, Completed: lifecycle.Completed, Rejected: lifecycle.Rejected,
	Closed: lifecycle.Closed,
}

// stateName compares the state of an application with what it means, and with what the client knows.
func (c *check) stateName(application Application, state client.State) {
	known := lifecycle.Names{}.Stage(state)
	isKnown := known != lifecycle.Open && known != lifecycle.Unknown
	c.sawState(state.Name)
	switch wanted, said := stages[application.Meaning]; {
	case state.Name == "":
		c.unknown("stateNames", "the application %d shows no state", application.ID)
	case said && known != wanted && isKnown:
		c.unknown("stateNames", "%q means %s here, and something else to the client; no setting changes that",
			state.Name, application.Meaning)
	case isKnown:
		c.see("stateNames", state.Name)
	case said:
		c.result.Suggestion.addState(application.Meaning, state.Name)
		c.see("stateNames", state.Name)
		c.found("states", "named", "%q means %s: it is in spec.states below", state.Name, application.Meaning)
	default:
		c.unknown("stateNames", "the application %d is %q, which is no outcome for the client; if it is in review, "+
			"completed, rejected or closed, repeat with --application %[1]d=inReview and so on", application.ID, state.Name)
	}
}

// maxStateName is how much of the name of a state is shown, as in a status.
const maxStateName = 256

// sawState lists the name of a state, if it is new.
func (c *check) sawState(name string) {
	shown := v1alpha1.StateStatus{Name: printable.Cut(name, maxStateName), LastSeenTime: metav1.Now()}
	states := &c.result.States
	*states = slices.DeleteFunc(*states, func(s v1alpha1.StateStatus) bool { return s.Name == shown.Name })
	if name != "" {
		*states = append(*states, shown)
	}
}

// explainStates says what the listed names mean with the settings that are suggested.
func (c *check) explainStates() {
	names, states := lifecycle.Names(c.result.Suggestion.Settings.States), c.result.States
	for i := range states {
		states[i].Stage = v1alpha1.StateStage(names.Stage(client.State{Name: states[i].Name}).String())
	}
	slices.SortFunc(states, func(a, b v1alpha1.StateStatus) int { return strings.Compare(a.Name, b.Name) })
}
