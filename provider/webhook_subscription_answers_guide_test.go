package provider

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

// answersGuide has the table of what a response of the service proves.
const answersGuide = "../docs/templates/guides/import.md.tmpl"

var answers = []*answer{
	&answerContainsIt, &answerListWithoutIt, &answerProblem, &answerEmpty, &answerOther, &answerPartOfList, &answerUnclear,
	&answerForeignNotFound, &answerNotJSON, &answerRedirect, &answerFailure,
}

// TestAnswersGuide compares the table in the guide with the code. With -update, it writes the table.
func TestAnswersGuide(t *testing.T) {
	lines := []string{"| Response of the service | Create | Refresh | Import |", "|---|---|---|---|"}
	for _, a := range answers {
		create := a.proves[forCreate].String()
		if a.foreign {
			create += ", nothing is sent"
		}
		lines = append(lines, fmt.Sprintf("| %s | %s | %v | %v |",
			a.description, create, a.proves[forRefresh], a.proves[forImport]))
	}
	raw, err := os.ReadFile(answersGuide)
	if err != nil {
		t.Fatal(err)
	}
	guide, table := string(raw), strings.Join(lines, "\n")
	if strings.Contains(guide, "\n"+table+"\n\n") {
		return
	}
	start := strings.Index(guide, lines[0])
	if update := flag.Lookup("update"); start < 0 || update.Value.String() != "true" {
		t.Fatalf("the table in %s differs; run make update:\n%s",
			answersGuide, table)
	}
	_, after, _ := strings.Cut(guide[start:], "\n\n")
	guide = guide[:start] + table + "\n\n" + after
	if err := os.WriteFile(answersGuide, []byte(guide), 0o600); err != nil {
		t.Fatal(err)
	}
}

// String returns the word of the guide.
func (s lookupStatus) String() string {
	return [...]string{lookupUnknown: "cannot tell", lookupFound: "present", lookupAbsent: "absent"}[s]
}
