package plugin

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// styleOf an attention.
var styleOf = map[attention]style{needsPerson: red, operatorWorks: yellow, waitsForPeople: green, isDone: grey}

// A node is one line of a tree, with what is below it.
type node struct {
	text     string
	children []node
}

// tree writes all about one Mandate.
func (p *printer) tree(v *view, now clock) {
	p.line(p.styled(bold, "Mandate "+v.Namespace+"/"+v.Name), "  ", p.styled(styleOf[v.Attention], summary(v, now)))
	p.wrap("  ", "  ", v.Ready.Message)
	if v.saysCompleted() {
		p.wrap("  ", "  ", v.Completed.Message)
	}
	if slices.Contains(saidOfDecisions, v.Decided.Reason) {
		p.wrap("  ", "  ", v.Decided.Message)
	}
	for _, found := range v.Problems {
		p.wrap("  ", "  ", problemText(found))
	}
	p.wrap("  ", "  ", strings.Join(v.Conditions, "  "))
	below := []node{applicationNode(v, now), serviceNode(v), recordNode(v, now)}
	for i := range v.Individuals {
		below = append(below, individualNode(p, &v.Individuals[i]))
	}
	for i := range v.Actions {
		below = append(below, actionNode(p, &v.Actions[i], now))
	}
	p.children("", below)
	p.line()
	p.next(v)
}

// saidOfDecisions are reasons of the condition Decided that no other condition says.
var saidOfDecisions = []string{v1alpha1.ReasonDecisionWaiting, v1alpha1.ReasonDecidedOtherwise}

func problemText(p v1alpha1.Problem) string { return p.Field + ": " + p.Message }

// summary is the state of a Mandate in a few words.
func summary(v *view, now clock) string {
	ready := "not seen by the operator yet"
	if v.Ready.Reason != "" {
		ready = fmt.Sprintf("Ready=%s, %s, for %s", v.Ready.Status, v.Ready.Reason, now.age(v.Ready.Since))
	}
	switch {
	case v.Deletion != "":
		ready += ", being deleted with deletionPolicy " + v.Deletion
	case v.Outcome != "" && v.Outcome != v.Ready.Reason:
		ready += ", outcome " + v.Outcome
	}
	return ready
}

func (p *printer) children(prefix string, nodes []node) {
	for i, n := range nodes {
		branch, below := "├─ ", "│  "
		if i == len(nodes)-1 {
			branch, below = "└─ ", "   "
		}
		p.line(p.styled(grey, prefix+branch), n.text)
		p.children(prefix+below, n.children)
	}
}

// fields joins name and value pairs, without those that have no value.
func fields(pairs ...string) string {
	var shown []string
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			shown = append(shown, pairs[i]+pairs[i+1])
		}
	}
	return strings.Join(shown, ", ")
}

// idText is an id of the service; "" if none is known.
func idText(id *int64) string {
	if id == nil {
		return ""
	}
	return strconv.FormatInt(*id, 10)
}

func applicationNode(v *view, now clock) node {
	var expires, lastRead, archived string
	if v.ExpiryTime != nil && v.Outcome == "" {
		expires = now.until(v.ExpiryTime.Time)
	}
	if v.LastReadTime != nil && v.Ready.Reason == v1alpha1.ReasonReadFailed {
		lastRead = now.age(v.LastReadTime.Time) + " ago"
	}
	if v.Archived {
		archived = "yes"
	}
	return node{text: "Application " + cmp.Or(idText(v.ApplicationID), "none known") + "  " + fields(
		"reference ", v.Reference, "state ", v.State, "checks passed ", v.Progress, "evidence ", v.Evidence,
		"decision asked for: ", v.Decision, "archived: ", archived, "expires in ", expires, "last read ", lastRead,
	)}
}

func serviceNode(v *view) node {
	s := &v.Service
	text := s.Kind + " " + s.Name + "  "
	if s.Ready.Status == "" {
		return node{text: text + "does not exist, you may not read it, or the operator has not seen it yet"}
	}
	n := node{text: text + fmt.Sprintf("Ready=%s, %s", s.Ready.Status, s.Ready.Reason)}
	for _, problem := range s.Problems {
		n.children = append(n.children, node{text: problem.Reason + ": " + problem.Message})
	}
	for _, found := range s.StatusProblems {
		n.children = append(n.children, node{text: problemText(found)})
	}
	return n
}

func recordNode(v *view, now clock) node {
	r := v.Record
	switch {
	case r != nil:
	case v.ApplicationID != nil:
		return node{text: "ApplicationRecord  missing: restore it from a backup"}
	default:
		return node{text: "ApplicationRecord  none"}
	}
	id := "no application"
	if r.ApplicationID != nil {
		id = "application " + idText(r.ApplicationID)
	}
	reference := r.Reference
	if reference == v.Reference {
		reference = ""
	}
	create := "adopted"
	if c := r.Create; c != nil {
		create = "create " + callText(c, now)
		switch {
		case r.ApplicationID != nil:
		case c.Sends > 0:
			create += ", " + plural(int64(c.Sends), "request") + " may have created one"
		default:
			create += ", which created nothing"
		}
	}
	n := node{text: "ApplicationRecord  " + fields("", id, "reference ", reference, "", create)}
	if c := r.LastCall; c != nil {
		n.children = []node{{text: "last call " + fields("", c.Kind, "for ", c.Individual, "", callText(c, now))}}
	}
	return n
}

// callText says when a call began, and what became of it.
func callText(c *callView, now clock) string {
	answer := c.Answer
	if answer == c.Result {
		answer = ""
	}
	return fields("begun ", now.age(c.Started)+" ago", "", cmp.Or(c.Result, "no result yet"), "answer ", answer)
}

// stateName is the service's own word for a state; "" if it is not known.
func stateName(state *v1alpha1.ServiceState) string {
	return ptr.Deref(state, v1alpha1.ServiceState{}).Name
}

func individualNode(p *printer, i *v1alpha1.IndividualStatus) node {
	number := func(n *int64) string {
		if ptr.Deref(n, 0) == 0 {
			return ""
		}
		return idText(n)
	}
	terms := ""
	if i.TermsAccepted != nil && !*i.TermsAccepted {
		terms = "not accepted"
	}
	n := node{text: p.styled(bold, "Individual "+i.Name) + "  " + fields(
		"", stateName(i.State), "passed ", number(i.ChecksPassed), "pending ", number(i.ChecksPending),
		"in review ", number(i.ChecksInReview), "terms ", terms,
	)}
	for j := range i.Checks {
		check := &i.Checks[j]
		name := cmp.Or(check.Name, strconv.FormatInt(check.ID, 10))
		n.children = append(n.children, node{text: name + "  " + fields(
			"", stateName(check.State), "failed fields ", strings.Join(check.FailedFields, " "), "evidence ", check.Evidence,
		)})
	}
	return n
}

func actionNode(p *printer, a *actionView, now clock) node {
	colour := map[string]style{v1alpha1.ConditionComplete: green, v1alpha1.ConditionFailed: red}[a.Result]
	result := a.Result
	if a.Condition.Reason != "" {
		result += ", " + a.Condition.Reason
	}
	since := ""
	if !a.Condition.Since.IsZero() {
		since = now.age(a.Condition.Since) + " ago"
	}
	details := fields("", a.Type+" for "+a.Individual, "", p.styled(colour, result), "", since,
		"report in Secret ", a.Secret)
	n := node{text: p.styled(bold, "Action "+a.Name) + "  " + details}
	if a.Result != v1alpha1.ConditionComplete && a.Condition.Message != "" {
		n.children = []node{{text: a.Condition.Message}}
	}
	for _, found := range a.Problems {
		n.children = append(n.children, node{text: problemText(found)})
	}
	return n
}

// next writes what to do.
func (p *printer) next(v *view) {
	p.line(p.styled(bold, "What to do next"))
	if v.Attention == waitsForPeople && v.Ready.Reason == v1alpha1.ReasonAccepted {
		p.waiting(v)
	}
	for i := range v.Next {
		a := &v.Next[i]
		p.line("  ", a.Subject, ": ", p.styled(bold, a.Reason))
		p.wrap("    ", "    ", a.Meaning)
		p.steps("    ", a.Steps)
		for _, command := range a.Commands {
			p.line("       ", p.styled(grey, "$ "), command)
		}
	}
	switch {
	case v.Ready.Reason == "":
		p.wrap("  ", "  ", "Wait some seconds. If it lasts, check that the operator runs and watches this namespace.")
		p.line("       ", p.styled(grey, "$ "), findOperator)
	case len(v.Next) == 0 && v.Attention == isDone:
		p.line("  Nothing: there is an outcome.")
	case len(v.Next) == 0 && v.Attention == operatorWorks:
		p.line("  Wait: the operator works on it.")
	}
}

// waiting says whom the Mandate waits for.
func (p *printer) waiting(v *view) {
	waits := waitingFor(v)
	if len(waits) == 0 {
		p.wrap("  ", "  ",
			"Nothing now. When the application is in review, somebody decides, at the service or with this command:")
		p.line("       ", p.styled(grey, "$ "), "kubectl mandate decide -n ", v.Namespace, " ", v.Name, " Complete|Reject")
		return
	}
	p.wrap("  ", "  ", "Wait for people ("+strings.Join(waits, "; ")+"). To send an individual a new invite:")
	p.line("       ", p.styled(grey, "$ "), "kubectl mandate resend -n ", v.Namespace, " ", v.Name, " INDIVIDUAL")
}
