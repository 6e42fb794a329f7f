// The contract of this package: the client against a service that reads its own documentation in every way that the
// sandbox knows.
package client_test

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

// TestContract runs the whole story once with each value of each switch, and with each combination that the table of
// refusals names.
func TestContract(t *testing.T) {
	ran := map[string]bool{}
	run := func(name string, chosen reading) {
		if !ran[name] {
			ran[name] = true
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				story(t, chosen, false)
			})
		}
	}
	run("documented", documented())
	for _, s := range (dialect.Dialect{}).Switches() {
		if slices.Contains(unreliable, s.Name) {
			continue
		}
		for _, value := range values(t, s)[1:] {
			run(s.Name+"="+value, documented().with(s.Name+"="+value))
		}
	}
	for _, refusal := range refusals() {
		if len(refusal.when) > 1 {
			run(strings.Join(refusal.when, ","), documented().with(refusal.when...))
		}
	}
}

// TestContractCombined runs it with all switches set by chance, over HTTP/1.1 and HTTP/2. It prints the seed when it
// fails, and -rapid.seed takes it again; -rapid.checks says how many combinations.
func TestContractCombined(t *testing.T) {
	readings := combinations(t)
	if checks := flag.Lookup("rapid.checks"); checks.Value.String() == checks.DefValue {
		_ = checks.Value.Set("25") // rapid's own number takes more than its share of a minute
	}
	for _, secure := range []bool{false, true} {
		t.Run(fmt.Sprintf("secure=%v", secure), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				drawn := readings.Draw(t, "reading")
				t.Logf("%s", drawn)
				story(t, drawn, secure)
			})
		})
	}
}
