package plugin

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/printable"
	"github.com/mandate-io/idv/operator/plan"
)

// worthShowing are the items of a plan that are more than an object that stays as it is.
func worthShowing(made *plan.Plan) []plan.Item {
	return slices.DeleteFunc(slices.Clone(made.Items), func(i plan.Item) bool {
		return i.Change == plan.Unchanged && slices.Equal(i.Actions, []plan.Action{plan.Nothing}) && len(i.Warnings) == 0
	})
}

// plan writes a plan as a table, with what is to be known of each line below it.
func (p *printer) plan(made *plan.Plan) {
	shown := worthShowing(made)
	lines := [][]string{{"PLAN", "E-MAILS", "KIND", "NAMESPACE", "NAME", "CHANGE", "REASON"}}
	for i := range shown {
		item := &shown[i]
		lines = append(lines, orDashes(actionsOf(item), strconv.Itoa(item.Emails), item.Kind,
			printable.Text(item.Namespace), printable.Text(item.Name), string(item.Change), printable.Text(item.Reason)))
	}
	if len(shown) > 0 {
		p.columns(lines)
		p.line()
	}
	for i := range shown {
		details := detailsOf(&shown[i])
		if len(details) == 0 {
			continue
		}
		p.line(p.styled(bold, printable.Text(shown[i].Kind)+" "+objectName(&shown[i])))
		for _, line := range details {
			p.wrap("  ", "  ", line)
		}
		p.line()
	}
	unchanged := len(made.Items) - len(shown)
	p.line(totalOf(made), " ", plural(int64(unchanged), "object"), " with nothing to do.")
}

func actionsOf(i *plan.Item) string {
	texts := make([]string, len(i.Actions))
	for n, action := range i.Actions {
		texts[n] = string(action)
	}
	return strings.Join(texts, ", ")
}

func objectName(i *plan.Item) string {
	name := cmp.Or(printable.Text(i.Name), "-")
	if i.Namespace == "" {
		return name
	}
	return printable.Text(i.Namespace) + "/" + name
}

// detailsOf are the sentences about an item, and the checks that its decisions are based on.
func detailsOf(i *plan.Item) (lines []string) {
	for _, warning := range i.Warnings {
		lines = append(lines, "Warning: "+printable.Text(warning))
	}
	for _, call := range i.Calls {
		lines = append(lines, printable.Text(sentenceOf(i, &call)))
	}
	if i.Message != "" {
		lines = append(lines, printable.Text(i.Message))
	}
	for _, unknown := range i.Unknown {
		lines = append(lines, "Unknown: "+printable.Text(unknown))
	}
	for n := range i.Decisions {
		lines = append(lines, decisionLines(&i.Decisions[n])...)
	}
	return lines
}

// sentenceOf says what a call does.
func sentenceOf(i *plan.Item, c *plan.Call) string {
	switch c.Kind {
	case v1alpha1.CallCreate:
		return "Creates an application, and e-mails " + plural(int64(i.Emails), "individual") + "."
	case v1alpha1.CallResendInvite:
		return "Sends " + c.Individual + " a new invite."
	case v1alpha1.CallResetIndividual:
		return "Discards what " + c.Individual + " has done, and sends a new code."
	case v1alpha1.CallAcceptCheck, v1alpha1.CallRejectCheck:
		verb := map[v1alpha1.CallKind]string{v1alpha1.CallAcceptCheck: "Accepts", v1alpha1.CallRejectCheck: "Rejects"}
		return fmt.Sprintf("%s the check %d of %s.", verb[c.Kind], c.Check, c.Individual)
	default: // Complete, Reject, Archive, Delete
		return string(c.Kind) + "s the application."
	}
}

func decisionLines(d *plan.Decision) (lines []string) {
	basis := "evidence " + d.Evidence
	switch {
	case d.When != "":
		basis = "the rule " + d.When
	case d.Current:
		basis += ", which the status shows now"
	case d.Shown == "":
		basis += "; the status shows none"
	default:
		basis += "; the status shows " + d.Shown + " now"
	}
	lines = append(lines, printable.Text(d.Decision+" on "+basis+"."))
	if d.State != "" {
		lines = append(lines, "State of the application: "+printable.Text(d.State))
	}
	for _, check := range d.Checks {
		lines = append(lines, printable.Text(fmt.Sprintf("%s %s: %s (%s)", check.Individual, check.Name, check.State,
			check.Evidence)))
	}
	return lines
}

// totalOf is one sentence about a plan.
func totalOf(made *plan.Plan) string {
	counts := map[plan.Action]int64{}
	for i := range made.Items {
		for _, action := range made.Items[i].Actions {
			counts[action]++
		}
	}
	var parts []string
	for _, action := range []plan.Action{
		plan.Create, plan.Bind, plan.Resend, plan.Reset, plan.Decide, plan.Review, plan.Archive, plan.Delete, plan.Refuse,
		plan.Wait,
	} {
		if counts[action] > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", action, counts[action]))
		}
	}
	switch {
	case len(parts) == 0 && made.Sends: // for Mandates that the plan could not read
		return "What would be sent is not known."
	case len(parts) == 0:
		return "Nothing would be sent."
	}
	return fmt.Sprintf("%s. Objects: %s.", plural(int64(made.Emails), "e-mail"), strings.Join(parts, ", "))
}

// markdownOf is a plan for a pull request.
func markdownOf(made *plan.Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### Mandates: %s\n\n", totalOf(made))
	shown := worthShowing(made)
	if len(shown) == 0 {
		return b.String()
	}
	b.WriteString("| plan | e-mails | object | change | why |\n|---|---|---|---|---|\n")
	for i := range shown {
		item := &shown[i]
		why := make([]string, 0, len(item.Warnings)+1)
		for _, line := range detailsOf(item) {
			why = append(why, markdownText(line))
		}
		fmt.Fprintf(&b, "| %s | %d | %s %s | %s | %s |\n", actionsOf(item), item.Emails, markdownText(item.Kind),
			markdownText(objectName(item)), item.Change, strings.Join(why, "<br>"))
	}
	b.WriteString("\nThe plan is that of the operator for the cluster as it is now. It has no personal data.\n")
	return b.String()
}

// What Markdown and HTML take for marks. An @ would tell a person or a team.
var (
	markdownMark = regexp.MustCompile("[\\\\`*_{}\\[\\]()#|!~]")
	htmlMarks    = strings.NewReplacer("<", "&lt;", ">", "&gt;", "&", "&amp;", "@", "&#64;")
)

// markdownText is a text as Markdown shows it, whatever it has.
func markdownText(text string) string {
	return htmlMarks.Replace(markdownMark.ReplaceAllString(printable.Text(text), `\$0`))
}
