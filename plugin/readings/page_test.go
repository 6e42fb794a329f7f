package readings_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mandate-io/idv/internal/sandbox/dialect"
	"github.com/mandate-io/idv/plugin/readings"
)

var update = flag.Bool("update", false, "Write the section of docs/first-contact.md about what shows what.")

const (
	page    = "docs/first-contact.md"
	heading = "## What shows what\n"
)

// conditions are when check-connection shows a point, if that is not always the case with an application.
var conditions = map[string]string{
	"tokenBasic": "step 1, with a client pair", "credentials": "step 1, with both pairs",
	"olderTokens": "step 1, with both pairs", "tokenRefusal": "step 1, if new tokens revoke older ones",
	"loginRefusal": "step 1, if a login is refused", "trailingSlash": "step 1, which fails then",
	"readAnswer": ifThen, "rateLimitAnswer": ifThen, "ingress404": ifThen, "ingressBody": ifThen,
	"forbiddenOperation": "steps 1 and 5 for reads, steps 4 to 8 for what they do",
	"forbiddenObject":    ifForbidden, "forbiddenStatus": ifForbidden, "forbiddenAnswer": ifForbidden,
	"completeMethod": ifNamed, "rejectMethod": ifNamed, "wrongMethod": "step 1, of complete and reject",
	"stateNames":      "step 5, for the states whose meaning you give",
	"individualOrder": "step 5, with two individuals", "referenceFormat": "steps 4 and 5",
	"reportFormat": "step 5, with --report", "reportNotReady": "step 5, with --report",
	"noWebhooks": "step 5", "retrieveWebhook": "step 8, with step 5 again", "subscribeFields": "step 8, with step 5 again",
	"goneAnswer": "step 7", "checkStateNames": "step 5, for the states that it sees",
}

const (
	ifThen      = "steps 1 and 5, if it happens then"
	ifForbidden = "steps 1 and 5, if a read is forbidden"
	ifNamed     = "step 1, if OPTIONS names one method; else step 6"
)

// TestWhatShowsWhat holds the last section of the page equal to the table of the points that no read shows, and to the
// switches of the sandbox: each point that the interface leaves open has one.
func TestWhatShowsWhat(t *testing.T) {
	file := filepath.Join("..", "..", page)
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	steps, _, _ := strings.Cut(string(content), heading)
	s := newService(t, dialect.Dialect{})
	options := s.options()
	withApplication := s.run(options)
	options.Applications = nil
	want := steps + heading + whatShowsWhat(t, s.run(options), withApplication)
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(content) != want {
		t.Errorf("%s is not what the points say; run make update", page)
	}
	for _, one := range readings.Laters {
		if one.Step > 0 && !strings.Contains(steps, fmt.Sprintf("\n## %d. ", one.Step)) {
			t.Errorf("%s: the page has no step %d", one.Point, one.Step)
		}
	}
}

func whatShowsWhat(t *testing.T, without, with *readings.Result) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("\nA test generates this section. Each open point is a [switch of the sandbox](sandbox.md#switches). " +
		"These points stay\nunknown until they occur:\n\n| point | what to know about it | switches |\n|---|---|---|\n")
	shown := maps.Clone(conditions)
	for _, one := range readings.Laters {
		names := strings.Fields(one.Switches)
		for _, name := range names {
			shown[name] = fmt.Sprintf("step %d", one.Step)
			if one.Step == 0 {
				shown[name] = "nothing: " + one.Point
			}
		}
		if one.Step == 0 {
			fmt.Fprintf(&b, "| %s | %s | `%s` |\n", one.Point, one.Text, strings.Join(names, "`, `"))
		}
	}
	b.WriteString("\nStep 2 shows what step 1 shows, and step 7 what step 5 shows.\n\n" +
		"| what is open | switch | shown by |\n|---|---|---|\n")
	for _, s := range (dialect.Dialect{}).Switches() {
		switch {
		case shown[s.Name] != "":
		case without.Find(s.Name).Reading != "":
			shown[s.Name] = "step 1"
		case with.Find(s.Name).Reading != "":
			shown[s.Name] = "step 5"
		default:
			t.Errorf("%s: nothing says what shows it", s.Name)
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s |\n", s.Meaning, s.Name, shown[s.Name])
	}
	return b.String()
}
