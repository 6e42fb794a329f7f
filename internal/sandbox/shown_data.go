package sandbox

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

// shownData is the part of a dialect that decides what responses show of applications, individuals and checks. The zero
// value shows everything, as documented.
type shownData struct {
	applicationReference, reference, email, order, entries, checks, checkStateNames string
}

func shownDataOf(d dialect.Dialect) shownData {
	return shownData{
		applicationReference: d.ApplicationReference, reference: d.IndividualReference, email: d.IndividualEmail,
		order: d.IndividualOrder, entries: d.IndividualEntries, checks: d.Checks, checkStateNames: d.CheckStateNames,
	}
}

// rewrite changes every application, individual and check of a tree. It recognises them by their members.
func (s shownData) rewrite(tree any) any {
	switch node := tree.(type) {
	case []any:
		for i, child := range node {
			node[i] = s.rewrite(child)
		}
	case map[string]any:
		for name, child := range node {
			node[name] = s.rewrite(child)
		}
		if _, isApplication := node["available_actions"]; isApplication {
			s.application(node)
		}
		if _, isIndividual := node["checks_in_review"]; isIndividual {
			s.individual(node)
		}
		if _, isCheck := node["instance"]; isCheck {
			s.check(node)
		}
	}
	return tree
}

func (s shownData) application(node map[string]any) {
	if s.applicationReference == dialect.ApplicationReferenceHidden {
		delete(node, "reference")
	}
	people, _ := node["individuals"].([]any)
	switch s.order {
	case dialect.IndividualsNewestFirst:
		slices.Reverse(people)
	case dialect.IndividualsByName:
		slices.SortStableFunc(people, func(a, b any) int { return cmp.Compare(sortName(a), sortName(b)) })
	}
	for i, person := range people {
		if s.checks == dialect.ChecksIndividualOnly {
			delete(person.(map[string]any), "checks") //nolint:forcetypeassert // it is one of our own
		}
		if s.entries == dialect.IndividualEntriesWrapped {
			people[i] = map[string]any{"individual": person}
		}
	}
}

func sortName(person any) string {
	node, _ := person.(map[string]any)
	return fmt.Sprint(node["last_name"], " ", node["first_name"])
}

func (s shownData) individual(node map[string]any) {
	if s.reference == dialect.IndividualReferenceHidden {
		delete(node, "reference")
	}
	switch email, _ := node["email"].(string); s.email {
	case dialect.IndividualEmailHidden:
		delete(node, "email")
	case dialect.IndividualEmailMasked:
		if local, host, found := strings.Cut(email, "@"); found {
			first := []rune(local + "*")[:1]
			node["email"] = string(first) + "***@" + host
		}
	}
	if list, isList := node["checks"].([]any); isList && s.checks == dialect.ChecksByKind {
		kinds := map[string]any{}
		for _, one := range list {
			check, _ := one.(map[string]any)
			name := fmt.Sprint(check["name"])
			kind, _ := kinds[name].([]any)
			kinds[name] = append(kind, one)
		}
		node["checks"] = kinds
	}
}

// checkStateNames are names of the states of a check other than the sandbox's own. The interface documents the manual
// ones.
var checkStateNames = map[string]map[any]string{
	dialect.CheckStateNamesClear: {
		"pending": "awaiting", "in review": "needs attention", "passed": "clear", "failed": "consider",
	},
	dialect.CheckStateNamesApproved: {
		"pending": "queued", "in review": "manual review", "passed": "approved", "failed": "rejected",
	},
}

func (s shownData) check(node map[string]any) {
	status, _ := node["status"].(map[string]any)
	if name, renamed := checkStateNames[s.checkStateNames][status["status"]]; renamed {
		status["status"] = name
	}
}
