package mandate

import (
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/lifecycle"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
	"github.com/mandate-io/idv/operator/engine"
	"github.com/mandate-io/idv/operator/individuals"
)

// renamed are the dialects that name states otherwise, and what a person then sets in spec.states.
var renamed = map[string]lifecycle.Names{
	"stateNames=other": {
		InReview: []string{"under review"}, Completed: []string{"closed"}, Rejected: []string{"refused"},
	},
	"stateNames=approved": {
		InReview: []string{"awaiting decision"}, Completed: []string{"approved"}, Rejected: []string{"denied"},
	},
	"stateNames=german": {
		InReview: []string{"in Prüfung"}, Completed: []string{"abgeschlossen"}, Rejected: []string{"abgelehnt"},
	},
	"stateNames=codes": {
		InReview: []string{"S21"}, Completed: []string{"S34"}, Rejected: []string{"S35"},
	},
	"statusShape=integer": {
		InReview: []string{"21"}, Completed: []string{"34"}, Rejected: []string{"35"},
	},
}

// unreadable are the dialects in which the client cannot read the application at all.
var unreadable = []string{
	"apiPermission", "credentials", "forbiddenObject", "forbiddenOperation", "grantType", "ids", "ingress404",
	"olderTokens", "readAnswer", "tokenBasic", "trailingSlash",
}

// In each dialect of the sandbox, nothing is said of a state before the individuals are done, nor of one that the
// client knows or a person has explained. Every other name is said as soon as they are.
func TestStatesOfEveryDialect(t *testing.T) {
	var read atomic.Int32
	t.Run("dialects", func(t *testing.T) {
		for _, s := range (dialect.Dialect{}).Switches() {
			for _, value := range s.Values {
				if s.Number {
					continue // it names no state
				}
				t.Run(s.Name+"="+value, func(t *testing.T) {
					t.Parallel()
					if newApplicationIn(t, s.Name, value).walk(s.Name + "=" + value) {
						read.Add(1)
					} else if !slices.Contains(unreadable, s.Name) {
						t.Error("the application cannot be read")
					}
				})
			}
		}
	})
	if n := read.Load(); n < 200 {
		t.Errorf("only %d dialects were read", n)
	}
}

// anApplication is one of two individuals, in a dialect of the sandbox, with what a status shows of it.
type anApplication struct {
	*testing.T
	client  *idv.Client
	control *control.Client
	id      int64
	mandate *v1alpha1.Mandate
	shown   v1alpha1.MandateStatus
}

// walk plays the individuals, step by step. It reports whether the application can be read.
func (a *anApplication) walk(dialect string) bool {
	a.Helper()
	if _, err := a.client.RetrieveApplication(a.Context(), a.id); err != nil {
		return false
	}
	explained, isRenamed := renamed[dialect]
	for _, step := range a.steps() {
		step.play()
		if a.waits(explained) {
			a.Errorf("%s: %q is not understood, and was explained", step.name, a.shown.State)
		}
		if got, want := a.waits(lifecycle.Names{}), isRenamed && step.done; got != want {
			a.Errorf("%s: it waits for the meaning of %q: %t, want %t", step.name, a.shown.State, got, want)
		}
	}
	return true
}

func newApplicationIn(t *testing.T, name, value string) *anApplication {
	t.Helper()
	options := sandbox.Options{Seed: 2}
	if strings.HasPrefix(name, "first") || strings.HasPrefix(name, "individual") {
		if err := options.Dialect.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	stand := sandbox.New(options)
	server := httptest.NewServer(stand)
	t.Cleanup(func() {
		stand.Close()
		server.Close()
	})
	a := &anApplication{T: t, control: control.New(server.URL), mandate: &v1alpha1.Mandate{}}
	var err error
	a.client, err = idv.New(idv.Config{
		BaseURL: server.URL, RequestsPerSecond: -1,
		Credentials: idv.Credentials{Username: sandbox.DefaultUsername, Password: idv.Hide(sandbox.DefaultPassword)},
	})
	a.check(err)
	t.Cleanup(a.client.Close)
	references, err := a.client.RetrieveReferences(t.Context())
	a.check(err)
	request := idv.NewApplication{
		Name: idv.Hide("Acme"), Reference: "team.acme", MandateTypeID: references.MandateTypes[0].ID,
	}
	for _, individual := range []string{"jane", "joe"} {
		a.mandate.Spec.Individuals = append(a.mandate.Spec.Individuals, v1alpha1.Individual{Name: individual})
		request.Individuals = append(request.Individuals, idv.NewIndividual{
			Email: idv.Hide(individual + "@example.com"), Reference: idv.Hide("team.acme." + individual),
		})
	}
	created, err := a.client.CreateApplication(t.Context(), request)
	a.check(err)
	a.id = created.ID
	a.check(a.control.SetDialect(t.Context(), name, value))
	return a
}

func (a *anApplication) check(err error) {
	a.Helper()
	if err != nil {
		a.Fatal(err)
	}
}

// A step is how far the application is.
type applicationStep struct {
	name string
	play func()
	done bool // all individuals are
}

func (a *anApplication) steps() []applicationStep {
	play := func(individual string, step control.Step, result control.Result) func() {
		return func() {
			_, err := a.control.Play(a.Context(), control.Play{
				ApplicationID: a.id, Individual: individual, Step: step, Result: result,
			})
			a.check(err)
		}
	}
	set := func(state string) func() {
		return func() {
			_, err := a.control.SetState(a.Context(), control.StateChange{ApplicationID: a.id, State: state})
			a.check(err)
		}
	}
	return []applicationStep{
		{"created", func() {}, false},
		{"begun", play("", control.AcceptTerms, ""), false},
		{"one is done", play("team.acme.jane", control.FinishChecks, control.ResultPass), false},
		{"in review", play("", control.FinishChecks, control.ResultReview), true},
		{"completed", set("completed"), true},
		{"rejected", set("rejected"), true},
	}
}

// waits reads the application as the operator does, and reports whether the Mandate waits for the meaning of its state.
func (a *anApplication) waits(names lifecycle.Names) bool {
	a.Helper()
	application, err := a.client.RetrieveApplication(a.Context(), a.id)
	a.check(err)
	expected := individuals.Known(a.mandate)
	for i := range expected {
		name := a.mandate.Spec.Individuals[i].Name
		expected[i].Reference, expected[i].Email = "team.acme."+name, name+"@example.com"
	}
	matching := individuals.Match(expected, application.Individuals)
	a.shown = v1alpha1.MandateStatus{ApplicationID: &a.id}
	project(a.mandate, matching.Individuals, application, lifecycle.Names{}).show(&a.shown)
	a.mandate.Status = a.shown
	return engine.WaitsForState(a.mandate, names)
}
