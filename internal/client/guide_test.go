package client

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const guide = "../../docs/client.md"

var update = flag.Bool("update", false, "write the generated tables of "+guide)

// guarantees writes the table of operations from the table that the client goes by.
func guarantees() string {
	var b strings.Builder
	b.WriteString("| operation | request, below `/api/v1` | effect | retried after | response limit | deadline |\n" +
		"|---|---|---|---|---|---|\n")
	names := map[effect]string{
		effectEmails: "may e-mail people", effectCreate: "creates, and e-mails people", effectLasts: "lasts",
		effectRepeatable: "can be repeated", effectNone: "none", effectLogin: "login",
	}
	retries := map[effect]string{
		effectLasts: "faults that prove that nothing was done", effectRepeatable: "faults that prove that nothing was done",
		effectNone: "any transient fault",
	}
	for _, example := range operationExamples() {
		operation := operations[example.op]
		bounds := effects[operation.effect]
		method, retry := operation.method, retries[operation.effect]
		limit, deadline := fmt.Sprintf("%d KiB", bounds.maxBody>>10), bounds.deadline.String()
		if method == "" {
			method = "PATCH, POST or PUT"
		}
		if retry == "" {
			retry = "never"
		}
		if bounds.deadline == 0 {
			deadline = "`RequestTimeout`"
		}
		if example.op == OpIndividualReport {
			limit, deadline = "the caller's", reportDeadline.String()
		}
		fmt.Fprintf(&b, "| %s | %s `%s` | %s | %s | %s | %s |\n",
			example.op, method, operation.path, names[operation.effect], retry, limit, deadline)
	}
	return b.String()
}

// proofTables writes the table of proof: for each kind of operation, a row for the statuses that prove the same, and a
// column for the bodies that do.
func proofTables() string {
	var b strings.Builder
	written := map[string]bool{}
	for _, group := range []struct {
		of    effect
		title string
	}{
		{effectCreate, "Create application"},
		{effectEmails, "Archive, complete, reject, accept and reject check, resend invites, reset, subscribe to webhook"},
		{effectLasts, "Subscribe to webhook"},
		{effectRepeatable, "Delete application"},
		{effectNone, "Reads"},
		{effectLogin, "Get access token"},
	} {
		if table := proofTable(group.of); !written[table] {
			written[table] = true
			fmt.Fprintf(&b, "\n### %s\n\n%s", group.title, table)
		}
	}
	return b.String()
}

func proofTable(of effect) string {
	cells := map[body][]string{} // by the kind of body: a cell for each status
	kinds := make([]body, 0, len(bodyNames))
	for _, kind := range bodyNames {
		if kind.body&(bodyCreated|bodyCandidate) != 0 && of != effectCreate {
			continue
		}
		kinds = append(kinds, kind.body)
		for status := 100; status <= 599; status++ {
			cells[kind.body] = append(cells[kind.body], cellOf(of, status, kind.body))
		}
	}
	// Bodies that prove the same with every status share a column.
	var columns [][]body
	for _, kind := range kinds {
		same := func(column []body) bool { return slices.Equal(cells[column[0]], cells[kind]) }
		if i := slices.IndexFunc(columns, same); i >= 0 {
			columns[i] = append(columns[i], kind)
		} else {
			columns = append(columns, []body{kind})
		}
	}
	statuses := map[string][]int{} // by what they prove
	for status := 100; status <= 599; status++ {
		var line strings.Builder
		for _, column := range columns {
			line.WriteString(" " + cells[column[0]][status-100] + " |")
		}
		statuses[line.String()] = append(statuses[line.String()], status)
	}
	var b strings.Builder
	b.WriteString("| status |")
	for _, column := range columns {
		b.WriteString(" " + strings.Join(columnNames(column), ", ") + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(columns)) + "\n")
	lines := slices.SortedFunc(maps.Keys(statuses), func(x, y string) int { // the rest of a hundred comes last
		last := func(line string) int { return slices.Max(statuses[line]) }
		return cmp.Or(cmp.Compare(last(x)/100, last(y)/100), cmp.Compare(len(statuses[x])/50, len(statuses[y])/50),
			cmp.Compare(statuses[x][0], statuses[y][0]))
	})
	for _, line := range lines {
		fmt.Fprintf(&b, "| %s |%s\n", namesOf(statuses[line]), line)
	}
	return b.String()
}

// cellOf is the outcome and, if the operation failed for a reason that the outcome does not say, its kind.
func cellOf(of effect, status int, holds body) string {
	outcome, kind := prove(of, status, holds)
	if kind == "" || string(kind) == outcome.String() {
		return outcome.String()
	}
	return outcome.String() + " " + string(kind)
}

func columnNames(column []body) []string {
	var names []string
	for _, kind := range bodyNames {
		if slices.Contains(column, kind.body) {
			names = append(names, kind.name)
		}
	}
	return names
}

// namesOf writes statuses as "408, 425, 5xx"; most of a hundred as "other 4xx".
func namesOf(statuses []int) string {
	var names []string
	for hundred := 1; hundred <= 5; hundred++ {
		of := slices.DeleteFunc(slices.Clone(statuses), func(status int) bool { return status/100 != hundred })
		switch {
		case len(of) == 100:
			names = append(names, fmt.Sprintf("%dxx", hundred))
		case len(of) > 50:
			names = append(names, fmt.Sprintf("other %dxx", hundred))
		default:
			for _, status := range of {
				names = append(names, strconv.Itoa(status))
			}
		}
	}
	return strings.Join(names, ", ")
}

// TestGuide holds the tables of the guide equal to those of the code, from which they are made.
func TestGuide(t *testing.T) {
	content, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	page := string(content)
	tables := map[string]string{"operations": guarantees(), "proof": proofTables()}
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		start, end := "<!-- BEGIN GENERATED "+name+" -->\n", "<!-- END GENERATED "+name+" -->\n"
		before, rest, found := strings.Cut(page, start)
		_, after, ended := strings.Cut(rest, end)
		if !found || !ended {
			t.Fatalf("%s has no table of %s", guide, name)
		}
		page = before + start + "\n" + strings.TrimPrefix(tables[name], "\n") + "\n" + end + after
	}
	if *update {
		if err := os.WriteFile(guide, []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if page != string(content) {
		t.Errorf("%s is not what the code says; run make update", guide)
	}
}
