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
	for _, example := range operationExamples() {
		operation := operations[example.op]
		yes := map[bool]string{true: "yes", false: "no"}
		retry := map[retryClass]string{
			retryNever:         "never",
			retryIfNotExecuted: "faults that prove that nothing was done",
			retrySafe:          "any transient fault",
		}
		method := operation.method
		limit := fmt.Sprintf("%d KiB", operation.maxBody>>10)
		deadline := "`RequestTimeout`"
		if method == "" {
			method = "PATCH, POST or PUT"
		}
		if operation.deadline > 0 {
			deadline = operation.deadline.String()
		}
		if example.op == OpIndividualReport {
			limit = "the caller's"
		}
		fmt.Fprintf(&b, "| %s | %s `%s` | %s | %s | %s | %s | %s |\n", example.op, method, operation.path,
			yes[operation.mutates], yes[operation.emailsPeople], retry[operation.retry], limit, deadline)
	}
	return b.String()
}

func TestGuideListsEveryOperation(t *testing.T) {
	guide, err := os.ReadFile("../../docs/client.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := guarantees(); !strings.Contains(string(guide), want) {
		t.Errorf("docs/client.md does not hold these rows:\n%s", want)
	}
}
