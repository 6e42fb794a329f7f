package client

import "slices"

// body is what a response holds, as far as it matters for what the response proves.
type body uint16

// The kinds of bodies. A response has one of them.
const (
	bodyNone body = 1 << iota
	// bodyProblem is the service's own error body (interface: Errors): an object with a title or an exception.
	bodyProblem
	// bodyChallenge is any other body of a 401 with a Bearer challenge (RFC 6750). What checks tokens sends it.
	bodyChallenge
	// bodyContradiction is a problem whose status contradicts the status line, such as a gateway's 400 about a 502.
	bodyContradiction
	// bodyJSON is other JSON; of a report, any file.
	bodyJSON
	// bodyFailure is JSON that says that the request failed, such as {"success": false}.
	bodyFailure
	// bodyForeign is HTML or other text.
	bodyForeign
	bodyCutOff  // it did not arrive whole
	bodyTooLong // it exceeds a limit
	// bodyCreated shows an id beside the reference that a create sent.
	bodyCreated
	// bodyCandidate shows an id without that reference, in the body or in the header Location.
	bodyCandidate

	bodyAny  = bodyCandidate<<1 - 1
	bodyWord = bodyProblem | bodyChallenge // the service's own word
)

// rule is a line of the table of proof.
type rule struct {
	effects  []effect
	from, to int // statuses
	bodies   body
	outcome  Outcome
	kind     Kind // "" if the operation succeeded
}

var (
	everything = []effect{effectEmails, effectCreate, effectLasts, effectRepeatable, effectNone, effectLogin}
	changes    = []effect{effectEmails, effectLasts, effectRepeatable}
	create     = []effect{effectCreate}
	login      = []effect{effectLogin}
	// harmless may be sent again, whatever a response proves.
	harmless = []effect{effectRepeatable, effectNone, effectLogin}
	reads    = []effect{effectNone}
)

// proofs is the one table of what a response proves; the first line that fits counts. Everybody who needs to know reads
// the outcome and the kind that it gives, and no status.
//
// That nothing was done is proved by the service alone: a 4xx with a problem body or, of a 401, with a Bearer
// challenge. A proxy may send any status after the service has done the work. So without such a body, the outcome of
// what e-mails people or lasts is Unknown. 408, 425, 499 and 5xx say that somebody gave up, perhaps while the service
// went on. That something was done is proved by a 2xx that is empty or JSON, and says nothing else. A 202 says that it
// is accepted.
var proofs = []rule{
	{everything, 100, 199, bodyAny, Unknown, KindUnreadable},

	{create, 202, 202, bodyCreated, Accepted, ""},
	{create, 200, 299, bodyCreated, Done, ""},
	{create, 200, 399, bodyCreated | bodyCandidate, Candidate, KindUnreadable},
	{create, 202, 202, bodyNone | bodyJSON, Accepted, KindUnreadable},
	{changes, 202, 202, bodyNone | bodyJSON, Accepted, ""},
	{changes, 200, 299, bodyNone | bodyJSON, Done, ""},
	{reads, 200, 299, bodyNone | bodyJSON, Done, ""},
	{login, 200, 299, bodyJSON, Done, ""},
	{login, 200, 299, bodyProblem | bodyFailure, Refused, KindCredentials},
	{everything, 200, 299, bodyCutOff, Unknown, KindConnection},
	{everything, 200, 299, bodyTooLong, Unknown, KindTooLarge},
	{everything, 200, 399, bodyAny, Unknown, KindUnreadable},

	{everything, 408, 408, bodyAny, Unknown, KindServer},
	{everything, 425, 425, bodyAny, Unknown, KindServer},
	{everything, 499, 499, bodyAny, Unknown, KindServer},
	{everything, 500, 999, bodyAny, Unknown, KindServer},

	{login, 401, 401, bodyAny, Refused, KindCredentials},
	{login, 400, 403, bodyWord | bodyNone | bodyJSON | bodyFailure, Refused, KindCredentials},
	{login, 422, 422, bodyWord | bodyNone | bodyJSON | bodyFailure, Refused, KindCredentials},

	{everything, 401, 401, bodyWord, Forbidden, KindForbidden},
	{harmless, 401, 401, bodyAny, Forbidden, KindForbidden},
	{everything, 403, 403, bodyWord, Forbidden, KindForbidden},
	{harmless, 403, 403, bodyAny, Forbidden, KindForbidden},
	{everything, 404, 404, bodyWord, Refused, KindNotFound},
	{harmless, 404, 404, bodyAny, Refused, KindUnproven},
	{everything, 410, 410, bodyWord, Refused, KindNotFound},
	{harmless, 410, 410, bodyAny, Refused, KindUnproven},
	{everything, 405, 405, bodyWord, Refused, KindMethodNotAllowed},
	{harmless, 405, 405, bodyAny, Refused, KindMethodNotAllowed},
	{everything, 409, 409, bodyWord, Refused, KindConflict},
	{harmless, 409, 409, bodyAny, Refused, KindConflict},
	{everything, 400, 400, bodyWord, Refused, KindInvalid},
	{harmless, 400, 400, bodyAny, Refused, KindInvalid},
	{everything, 422, 422, bodyWord, Refused, KindInvalid},
	{harmless, 422, 422, bodyAny, Refused, KindInvalid},
	{everything, 429, 429, bodyWord, Refused, KindRateLimited},
	{harmless, 429, 429, bodyAny, Refused, KindRateLimited},
	{everything, 429, 429, bodyAny, Unknown, KindRateLimited},
	{everything, 400, 499, bodyWord, Refused, KindRejected},
	{harmless, 400, 499, bodyAny, Refused, KindRejected},
	{everything, 400, 499, bodyAny, Unknown, KindUnproven},
}

func prove(of effect, status int, holds body) (Outcome, Kind) {
	i := slices.IndexFunc(proofs, func(r rule) bool {
		return r.from <= status && status <= r.to && r.bodies&holds != 0 && slices.Contains(r.effects, of)
	})
	if i < 0 { // a status that HTTP does not have
		return Unknown, KindServer
	}
	return proofs[i].outcome, proofs[i].kind
}

// refuses reports whether a status can say that nothing was done.
func refuses(status int) bool {
	outcome, _ := prove(effectEmails, status, bodyProblem)
	return outcome.NothingDone()
}
