package chaos_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// The requests that act on people, beside the create. Each of them meets every fault.
const (
	complete        = "service: PATCH applications/ID/complete"
	reject          = "service: PATCH applications/ID/reject"
	archive         = "service: PATCH applications/ID/archive"
	deletion        = "service: DELETE applications/ID"
	acceptCheck     = "service: PATCH check/ID/accept"
	rejectCheck     = "service: PATCH check/ID/reject"
	resendInvite    = "service: POST individuals/ID/invites/resend"
	resetIndividual = "service: POST individuals/ID/reset"
)

// actingRequests are all of them, with what the summary calls them.
var actingRequests = map[string]string{
	acceptCheck: "reviews", rejectCheck: "reviews", complete: "completions", reject: "rejections", archive: "archivings",
	deletion: "deletions", resendInvite: "resends", resetIndividual: "resets",
}

var (
	reviewRequest = map[v1alpha1.CheckDecision]string{
		v1alpha1.CheckDecisionAccept: acceptCheck, v1alpha1.CheckDecisionReject: rejectCheck,
	}
	// requestOf is what an action sends.
	requestOf         = map[string]string{resend: resendInvite, reset: resetIndividual}
	requestsOfActions = map[string]string{resendInvite: resend, resetIndividual: reset}
)

// reviewOf is a decision on a check that a user has looked at.
type reviewOf struct{ what, target string }

// What an unrequested request does, which a campaign counts.
const (
	unseenEvidence    = "DECISION ON UNSEEN EVIDENCE"
	anotherIndividual = "ANOTHER INDIVIDUAL"
	repeatedAction    = "REPEATED ACTION"
)

var unrequestedProblems = []string{
	unseenEvidence, anotherIndividual, againstLiveSpec, repeatedAction, unloggedCall, unexplainedEntry,
}

// unrequested are the requests that act on people and were not asked for. What the service did with them does not
// matter.
func (s *scenario) unrequested() (found []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sent := map[string]int{} // by action, apart from what the service proved not to have done
	for _, o := range s.occurred {
		problem := ""
		switch what := o.effect.what; what {
		case acceptCheck, rejectCheck:
			if !s.reviewed[reviewOf{what, o.target}] {
				problem = s.unrequestedReview(o)
			}
		case resendInvite, resetIndividual:
			action := requestsOfActions[what]
			if s.names.individuals[o.target] != s.reference(o.effect.about)+".jane" || o.effect.owner() != owners[action] {
				problem = anotherIndividual
			}
			if o.fault != busy {
				sent[action]++
			}
			if sent[action] > 1 {
				problem = repeatedAction
			}
		}
		if problem == "" && actingRequests[o.effect.what] != "" && requestsOfActions[o.effect.what] == "" &&
			s.isAgainstSpec(o) {
			problem = againstLiveSpec
		}
		if problem != "" {
			found = append(found, fmt.Sprintf("%s: %s", problem, o))
		}
	}
	return found
}

// owners are the Mandates of the actions.
var owners = map[string]string{resend: plain, report: decided, reset: rejected}

// unrequestedReview says what is wrong with a review that nobody asked for. The caller holds mu.
func (s *scenario) unrequestedReview(o *occurrence) string {
	of := s.names.individuals[o.target]
	for asked := range s.reviewed {
		if s.names.individuals[asked.target] == of {
			return unseenEvidence
		}
	}
	return anotherIndividual
}

// countActing counts the requests that act on people, as the summary calls them.
func (s *scenario) countActing(counts map[string]int) {
	for _, o := range s.occurrences() {
		if name := actingRequests[o.effect.what]; name != "" {
			counts[name]++
		}
	}
}

func actingWords(counts map[string]int) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		words = append(words, fmt.Sprintf("%d %s", counts[name], name))
	}
	return strings.Join(words, ", ")
}
