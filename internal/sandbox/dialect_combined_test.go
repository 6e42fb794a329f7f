package sandbox_test

import (
	"net/http"
	"testing"

	"pgregory.net/rapid"

	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

// numbers are the values to try of the switches that take any number.
var numbers = map[string][]string{
	"tokenLifetime": {"0", "1"}, "tokensPerHour": {"0", "4"}, "rateLimit": {"0", "0", "30"},
	"readLag": {"0", "1", "3"}, "uniquenessGap": {"0", "1"}, "asyncDelay": {"0", "1"},
}

// Every combination of readings is a service that answers: no request closes the connection or finds an error of the
// sandbox. Where it can be read, what was created before is there.
func TestCombinedDialects(t *testing.T) {
	s := startSandbox(t, sandbox.Options{})
	rapid.Check(t, func(r *rapid.T) {
		noError(t, s.Reset(t.Context()))
		s.token = s.login()
		prepared := s.calls()
		chosen := map[string]string{}
		for _, one := range (dialect.Dialect{}).Switches() {
			values := one.Values
			if one.Number {
				values = numbers[one.Name]
			}
			chosen[one.Name] = rapid.SampledFrom(values).Draw(r, one.Name)
		}
		noError(t, s.SetDialects(t.Context(), chosen))
		if token := s.login(); token != "" {
			s.token = token
		}
		for _, one := range append(prepared, prepared...) {
			got, err := s.try(one.method, one.path, one.body)
			if err != nil || got.status >= http.StatusInternalServerError {
				r.Errorf("%s: %d %s %v", one.op, got.status, got.body, err)
			}
		}
		_, err := s.SetState(t.Context(), control.StateChange{Reference: "read", State: "cancelled"})
		noError(t, err)
		applications, err := s.Applications(t.Context())
		noError(t, err)
		if len(applications) < 4 {
			r.Errorf("%d applications are left", len(applications))
		}
	})
}
