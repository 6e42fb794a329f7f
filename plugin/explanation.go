package plugin

import (
	"regexp"
	"slices"
	"strings"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/docs"
)

// The kinds. In docs/conditions.md, a ClusterIdentityService has the reasons of an IdentityService.
const (
	kindService        = string(v1alpha1.ServiceKindIdentityService)
	kindClusterService = string(v1alpha1.ServiceKindClusterIdentityService)
	kindMandate        = "Mandate"
	kindAction         = "MandateAction"
	kindRecord         = "ApplicationRecord"
)

// An explanation is the section of docs/conditions.md about one reason of one kind.
type explanation struct {
	Kind   string `json:"objectKind"`
	Reason string `json:"reason"`
	// Conditions have the reason, such as Ready=False.
	Conditions []string `json:"conditions"`
	Meaning    string   `json:"meaning"`
	Operator   string   `json:"operator"`
	// Steps are what a person does; none if nothing is to be done.
	Steps []string `json:"steps,omitempty"`
}

// explanations are those of all reasons, in the order of the page.
var explanations = parseExplanations(docs.Conditions)

// explanationOf returns the explanation of a reason, if there is one.
func explanationOf(kind, reason string) (explanation, bool) {
	i := slices.IndexFunc(explanations, func(e explanation) bool { return e.Kind == kind && e.Reason == reason })
	if i < 0 {
		return explanation{}, false
	}
	return explanations[i], true
}

var (
	kindHeading   = regexp.MustCompile(`(?m)^## (\w+).*$`)
	reasonHeading = regexp.MustCompile(`(?m)^### (\w+)$`)
	step          = regexp.MustCompile(`(?m)^\d+\. `)
	condition     = regexp.MustCompile("`(\\w+=\\w+)`")
)

func parseExplanations(page string) []explanation {
	var all []explanation
	for _, chapter := range sections(page, kindHeading) {
		for _, section := range sections(chapter.body, reasonHeading) {
			all = append(all, parseExplanation(chapter.title, section))
		}
	}
	return all
}

func parseExplanation(kind string, s section) explanation {
	conditions, rest, _ := strings.Cut(s.body, "**What it means:**")
	meaning, rest, _ := strings.Cut(rest, "**What the operator does:**")
	operator, steps, _ := strings.Cut(rest, "**What to do:**")
	e := explanation{Kind: kind, Reason: s.title, Meaning: plainText(meaning), Operator: plainText(operator)}
	for _, match := range condition.FindAllStringSubmatch(conditions, -1) {
		e.Conditions = append(e.Conditions, match[1])
	}
	for _, text := range step.Split(steps, -1)[1:] {
		e.Steps = append(e.Steps, plainText(text))
	}
	return e
}

// A section of a page has a heading and what follows, up to the next heading of the same rank.
type section struct{ title, body string }

func sections(page string, heading *regexp.Regexp) []section {
	var found []section
	bodies := heading.Split(page, -1)[1:]
	for i, match := range heading.FindAllStringSubmatch(page, -1) {
		found = append(found, section{title: match[1], body: bodies[i]})
	}
	return found
}

var (
	link      = regexp.MustCompile(`\[([^\]]+)\]\([^)]*\)`)
	codeFence = regexp.MustCompile("(?s)```\\w*\n(.*?)```")
	paragraph = regexp.MustCompile(`\n\s*\n|\n\s*- `)
)

// plainText removes the marks of Markdown. Lines of a paragraph are joined; list entries and code keep theirs.
func plainText(markdown string) string {
	markdown = codeFence.ReplaceAllStringFunc(markdown, func(block string) string {
		return "\n\n" + strings.TrimSpace(codeFence.FindStringSubmatch(block)[1]) + "\n\n"
	})
	markdown = link.ReplaceAllStringFunc(markdown, func(linked string) string {
		return strings.Join(strings.Fields(link.FindStringSubmatch(linked)[1]), " ")
	})
	markdown = strings.TrimSpace(markdown)
	var plain strings.Builder
	marks := paragraph.FindAllString(markdown, -1)
	for i, part := range paragraph.Split(markdown, -1) {
		if i > 0 {
			plain.WriteString("\n" + strings.TrimLeft(marks[i-1], "\n\t "))
		}
		plain.WriteString(strings.Join(strings.Fields(part), " "))
	}
	return strings.ReplaceAll(plain.String(), "`", "")
}
