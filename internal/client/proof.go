package client

import (
	"slices"
	"strconv"
	"strings"
)

// body is what a response holds, as far as it matters for what the response proves.
type body uint16

// The kinds of bodies. A response has one of them.
const (
	bodyNone          body = 1 << iota
	bodyProblem            // the service's own error body (interface: Errors): an object with a title or an exception
	bodyChallenge          // any other body of a 401 with a Bearer challenge (RFC 6750); what checks tokens sends it
	bodyContradiction      // a problem whose status contradicts the status line, such as a gateway's 400 about a 502
	bodyJSON               // other JSON; of a report, any file
	bodyFailure            // JSON that says that the request failed, such as {"success": false}
	bodyForeign            // HTML or other text
	bodyCutOff             // it did not arrive whole
	bodyTooLong            // it exceeds a limit
	bodyCreated            // an id beside the reference that a create sent
	bodyCandidate          // an id without that reference, in the body or in the header Location

	bodyAny  = bodyCandidate<<1 - 1
	bodyWord = bodyProblem | bodyChallenge // the service's own word
	// bodyEnough comes with the service's own word, and with any body of what may be sent again, whatever it proves.
	bodyEnough = bodyCandidate << 1
)

// rule is a line of the table of proof.
type rule struct {
	effects  []effect
	statuses string // such as "404 5xx"
	bodies   body
	outcome  Outcome
	kind     Kind // "" if the operation succeeded
}

var (
	everything = []effect{effectEmails, effectCreate, effectLasts, effectRepeatable, effectNone, effectLogin}
	changes    = []effect{effectEmails, effectLasts, effectRepeatable}
	create     = []effect{effectCreate}
	login      = []effect{effectLogin}
	harmless   = []effect{effectRepeatable, effectNone, effectLogin}
	reads      = []effect{effectNone}
)

// proofs is the one table of what a response proves; the first line that fits counts. Everybody who needs to know reads
// the outcome and the kind that it gives, and no status.
//
// That nothing was done is proved by the service alone: a 4xx with a problem body or, of a 401, with a Bearer
// challenge. A proxy may send any status after the service has done the work. So without such a body, the outcome of
// what e-mails people or lasts is Unknown. 408, 425, 499 and 5xx say that somebody gave up, perhaps while the service
// went on. That something was done is proved by a 2xx that is empty or JSON, and says nothing else; 202: accepted.
var proofs = []rule{
	{everything, "1xx", bodyAny, Unknown, KindUnreadable},

	{create, "202", bodyCreated, Accepted, ""},
	{create, "2xx", bodyCreated, Done, ""},
	{create, "2xx 3xx", bodyCreated | bodyCandidate, Candidate, KindUnreadable},
	{create, "202", bodyNone | bodyJSON, Accepted, KindUnreadable},
	{changes, "202", bodyNone | bodyJSON, Accepted, ""},
	{changes, "2xx", bodyNone | bodyJSON, Done, ""},
	{reads, "2xx", bodyNone | bodyJSON, Done, ""},
	{login, "2xx", bodyJSON, Done, ""},
	{login, "2xx", bodyProblem | bodyFailure, Refused, KindCredentials},
	{everything, "2xx", bodyCutOff, Unknown, KindConnection},
	{everything, "2xx", bodyTooLong, Unknown, KindTooLarge},
	{everything, "2xx 3xx", bodyAny, Unknown, KindUnreadable},

	{everything, "408 425 499 5xx 6xx 7xx 8xx 9xx", bodyAny, Unknown, KindServer},

	{login, "401", bodyAny, Refused, KindCredentials},
	{login, "400 402 403 422", bodyWord | bodyNone | bodyJSON | bodyFailure, Refused, KindCredentials},

	{everything, "401 403", bodyEnough, Forbidden, KindForbidden},
	{everything, "404 410", bodyWord, Refused, KindNotFound},
	{everything, "404 410", bodyEnough, Refused, KindUnproven},
	{everything, "405", bodyEnough, Refused, KindMethodNotAllowed},
	{everything, "409", bodyEnough, Refused, KindConflict},
	{everything, "400 422", bodyEnough, Refused, KindInvalid},
	{everything, "429", bodyEnough, Refused, KindRateLimited},
	{everything, "429", bodyAny, Unknown, KindRateLimited},
	{everything, "4xx", bodyEnough, Refused, KindRejected},
	{everything, "4xx", bodyAny, Unknown, KindUnproven},
}

func prove(of effect, status int, holds body) (Outcome, Kind) {
	for i := range proofs {
		if proofs[i].fits(of, status, holds) {
			return proofs[i].outcome, proofs[i].kind
		}
	}
	return Unknown, KindServer // a status that HTTP does not have
}

func (r *rule) fits(of effect, status int, holds body) bool {
	if holds&bodyWord != 0 || slices.Contains(harmless, of) {
		holds |= bodyEnough
	}
	return r.bodies&holds != 0 && slices.Contains(r.effects, of) &&
		slices.ContainsFunc(strings.Fields(r.statuses), func(name string) bool {
			return name == strconv.Itoa(status) || name == strconv.Itoa(status/100)+"xx"
		})
}

// refuses reports whether a status can say that nothing was done.
func refuses(status int) bool {
	outcome, _ := prove(effectEmails, status, bodyProblem)
	return outcome.NothingDone()
}
