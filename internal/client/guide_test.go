package client

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// guarantees writes the rows of the guide's table from the table that the client goes by.
func guarantees() string {
	var b strings.Builder
	for _, call := range someCalls() {
		row := operations[call.op]
		yes := map[bool]string{true: "yes", false: "no"}
		retry := map[retryClass]string{retryNever: "never", retryIfNotExecuted: "if nothing was done", retrySafe: "any passing fault"}
		method, limit, deadline := row.method, fmt.Sprintf("%d KiB", row.maxBody>>10), "`RequestTimeout`"
		if method == "" {
			method = "PATCH, POST or PUT"
		}
		if row.deadline > 0 {
			deadline = row.deadline.String()
		}
		if call.op == OpIndividualReport {
			limit = "the caller's"
		}
		fmt.Fprintf(&b, "| %s | %s `%s` | %s | %s | %s | %s | %s |\n", call.op, method, row.path, yes[row.mutates], yes[row.emailsPeople], retry[row.retry], limit, deadline)
	}
	return b.String()
}

func TestTheGuideSaysWhatTheTableSays(t *testing.T) {
	guide, err := os.ReadFile("../../docs/client.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := guarantees(); !strings.Contains(string(guide), want) {
		t.Errorf("docs/client.md does not hold these rows:\n%s", want)
	}
}
