package plugin

import (
	"fmt"
	"slices"
	"strings"
)

// table writes a line for each Mandate, those that need a person first.
func (p *printer) table(views []view, namespaces, wide bool, now clock) {
	headings := []string{"", "NAME", "READY", "REASON", "STATE", "CHECKS", "OUTCOME", "AGE"}
	if namespaces {
		headings = slices.Insert(headings, 1, "NAMESPACE")
	}
	if wide {
		headings = append(headings, "APPLICATION", "REFERENCE", "EXPIRES", "SERVICE")
	}
	lines := [][]string{headings}
	for i := range views {
		lines = append(lines, columns(&views[i], namespaces, wide, now))
	}
	for i, line := range aligned(lines) {
		colour := bold
		if i > 0 {
			colour = styleOf[views[i-1].Attention]
		}
		p.line(p.styled(colour, strings.TrimRight(line, " ")))
	}
	p.line()
	p.totals(views)
}

// attentionMarks are how the first column shows an attention without colours.
var attentionMarks = map[attention]string{needsPerson: "!", operatorWorks: "~", waitsForPeople: " ", isDone: " "}

func columns(v *view, namespaces, wide bool, now clock) []string {
	cells := []string{
		attentionMarks[v.Attention], v.Name, v.Ready.Status, v.Ready.Reason, v.State, v.Progress, v.Outcome,
		now.age(v.CreationTime),
	}
	if namespaces {
		cells = slices.Insert(cells, 1, v.Namespace)
	}
	if wide {
		expires := ""
		if v.ExpiryTime != nil {
			expires = now.until(v.ExpiryTime.Time)
		}
		cells = append(cells, idText(v.ApplicationID), v.Reference, expires, v.Service.Name)
	}
	return orDashes(cells...)
}

// totals counts, says which services are not Ready, and names the next command.
func (p *printer) totals(views []view) {
	counts, problems := map[attention]int{}, map[string]int64{}
	for i := range views {
		v := &views[i]
		counts[v.Attention]++
		for _, problem := range v.Service.Problems {
			problems[fmt.Sprintf("%s %s: %s", v.Service.Kind, v.Service.Name, problem.Reason)]++
		}
	}
	p.line(fmt.Sprintf("Need a person (!): %d. The operator works on (~): %d. Wait for people: %d. Have an outcome: %d.",
		counts[needsPerson], counts[operatorWorks], counts[waitsForPeople], counts[isDone]))
	for _, problem := range sortedKeys(problems) {
		p.line(p.styled(red, problem+", "+plural(problems[problem], "Mandate")))
	}
	if len(views) > 0 && views[0].Attention == needsPerson {
		p.line("Next: kubectl mandate status -n ", views[0].Namespace, " ", views[0].Name)
	}
}
