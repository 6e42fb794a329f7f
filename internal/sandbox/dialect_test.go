package sandbox_test

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

// cases maps switch values, written name=value, to checks of their effect.
type cases map[string]func(t *testing.T, s *testService)

// dialectCases has every value of every switch. It includes the defaults, so that a switch without effect fails.
func dialectCases() cases {
	all := cases{}
	for _, group := range []cases{
		authenticationCases, responseCases, encodingCases, refusalCases, applicationCases, retentionCases,
		transitionCases, individualCases, shownCases, checkCases, webhookCases, deliveryCases, permissionCases, proxyCases,
	} {
		maps.Copy(all, group)
	}
	return all
}

func TestDialects(t *testing.T) {
	for assignment, check := range dialectCases() {
		t.Run(assignment, func(t *testing.T) {
			name, value, _ := strings.Cut(assignment, "=")
			check(t, withDialect(t, name, value))
		})
	}
}

func TestEveryDialectHasACase(t *testing.T) {
	all := dialectCases()
	for _, s := range (dialect.Dialect{}).Switches() {
		tested := 0
		for name := range all {
			if strings.HasPrefix(name, s.Name+"=") {
				tested++
			}
		}
		if s.Number && tested < 2 {
			t.Errorf("%s has %d cases", s.Name, tested)
		}
		for _, value := range s.Values {
			if name := s.Name + "=" + value; all[name] == nil && !s.Number {
				t.Errorf("%s has no case", name)
			}
		}
	}
}

func TestDialectsChangeWhileRunning(t *testing.T) {
	s := startSandbox(t, sandbox.Options{})
	ctx := t.Context()
	value := func(name string) string {
		all, err := s.Dialects(ctx)
		noError(t, err)
		for _, one := range all {
			if one.Name == name {
				return one.Value
			}
		}
		return "none"
	}
	noError(t, s.SetDialect(ctx, "references", "flat"))
	wantReference("mandate_type", 0, "type")(t, s)
	wantEqual(t, "value", "flat", value("references"))

	var refused *control.Error
	err := s.SetDialects(ctx, map[string]string{"references": "map", "ids": "roman"})
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), "number, string") {
		t.Errorf("a wrong value: %v", err)
	}
	wantEqual(t, "value after a wrong one beside it", "flat", value("references"))

	noError(t, s.ResetDialects(ctx))
	wantEqual(t, "value after the reset", "lists", value("references"))
}

func created(s *testService) response {
	s.t.Helper()
	return s.must(http.MethodPost, "/ext/applications", mandate("acme", "jane"))
}

// person returns the path of the first individual of an application.
func (s *testService) person(application string) string {
	s.t.Helper()
	return fmt.Sprintf("/ext/individuals/%v", s.must("GET", application, nil).at("individuals", 0, "id"))
}

// check returns the path of the first check of the first individual.
func (s *testService) check(application string) string {
	s.t.Helper()
	return fmt.Sprintf("/check/%v", s.must("GET", application, nil).at("individuals", 0, "checks", 0, "id"))
}
