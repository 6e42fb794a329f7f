package client_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

// reading is the value of every switch of the sandbox.
type reading map[string]string

func documented() reading {
	chosen := reading{}
	for _, s := range (dialect.Dialect{}).Switches() {
		chosen[s.Name] = s.Value
	}
	return chosen
}

// String lists the switches that are not set as the document has them.
func (r reading) String() string {
	usual := documented()
	var others []string
	for _, name := range slices.Sorted(maps.Keys(r)) {
		if r[name] != usual[name] {
			others = append(others, name+"="+r[name])
		}
	}
	return strings.Join(others, " ")
}

// with is the reading with some switches, written name=value, set otherwise.
func (r reading) with(assignments ...string) reading {
	changed := maps.Clone(r)
	for _, assignment := range assignments {
		name, value, _ := strings.Cut(assignment, "=")
		changed[name] = value
	}
	return changed
}

// has reports whether all of these switches, written name=value, are set so.
func (r reading) has(assignments []string) bool {
	return !slices.ContainsFunc(assignments, func(assignment string) bool {
		name, value, _ := strings.Cut(assignment, "=")
		return r[name] != value
	})
}

// numbers are the values to try of the switches that take any number. With a tokenLifetime, tokens end between
// reads, not by the clock: see world.expire.
var numbers = map[string][]string{
	"tokenLifetime": {"0", "600"},
	"rateLimit":     {"0", "30"},
	"readLag":       {"0", "1", "3"},
	"uniquenessGap": {"0", "5"},
	"tokensPerHour": {"0", "1000"},
	"asyncDelay":    {"0", "1"},
}

// values are those of a switch that the tests try, the default first.
func values(t *testing.T, s control.Switch) []string {
	t.Helper()
	if s.Number {
		if numbers[s.Name] == nil {
			t.Fatalf("%s takes any number; say in numbers which ones to try", s.Name)
		}
		return numbers[s.Name]
	}
	return s.Values
}

// unreliable are switches of services that a story cannot be told about: what they answer says little of what they did.
// TestContractOfUnreliableServices is about them.
var unreliable = []string{
	"changeAnswer", "changeWork", "readAnswer", "asyncWork", "asyncOperations", "asyncDelay", "ingress404", "ingressBody",
	"forbiddenOperation", "forbiddenObject", "forbiddenMandateType", "forbiddenBody", "forbiddenStatus", "forbiddenAnswer",
	"createRefusal", "trailingSlash",
}

// rare are switches that end a story early, or slow it down: few combinations have them. (rapid prefers small numbers.)
var rare = map[string]bool{"apiPermission": true, "rateLimit": true, "tokenLifetime": true}

func combinations(t *testing.T) *rapid.Generator[reading] {
	t.Helper()
	switches := (dialect.Dialect{}).Switches()
	choices := map[string][]string{}
	for _, s := range switches {
		choices[s.Name] = values(t, s)
	}
	return rapid.Custom(func(t *rapid.T) reading {
		chosen := reading{}
		for _, s := range switches {
			from := choices[s.Name]
			if slices.Contains(unreliable, s.Name) {
				from = from[:1]
			}
			if rare[s.Name] && rapid.IntRange(0, 15).Draw(t, s.Name+" if 13") != 13 {
				from = from[:1]
			}
			chosen[s.Name] = rapid.SampledFrom(from).Draw(t, s.Name)
		}
		if chosen["grantType"] == "client_credentials" { // which sends the client pair alone
			chosen["credentials"] = "client"
		}
		return chosen
	})
}

// refusal is a step of the story that a service with such a reading does not let succeed, whatever a client does.
type refusal struct {
	step    string
	when    []string // all of these; none: always
	outcome client.Outcome
	kinds   []client.Kind
	reason  string
}

var (
	invalid   = []client.Kind{client.KindInvalid}
	conflict  = []client.Kind{client.KindConflict}
	duplicate = []client.Kind{client.KindDuplicateReference}
	rejected  = []client.Kind{client.KindRejected}
	// denied is what a service says of a request that the state does not allow: see transitionRefusal.
	denied     = []client.Kind{"denied"}
	stranger   = []client.Kind{client.KindCredentials}
	forbidden  = []client.Kind{client.KindForbidden}
	notFound   = []client.Kind{client.KindNotFound}
	unproven   = []client.Kind{client.KindUnproven}
	unreadable = []client.Kind{client.KindUnreadable}
)

// refusals is the one place that says what cannot work. Of several refusals that apply the first counts; a step without
// a refusal must succeed. All errors are the service's own: see without for those that are not.
func refusals() []refusal {
	var refusals []refusal
	add := func(step, when string, outcome client.Outcome, kinds []client.Kind, reason string) {
		refusals = append(refusals, refusal{step, strings.Fields(when), outcome, kinds, reason})
	}
	for _, value := range []string{"login_400", "login_401", "login_403"} {
		add("login", "apiPermission="+value, client.Refused, stranger, "the service does not let this user in")
		add("use", "apiPermission="+value, client.NotSent, stranger, "there is no token")
		add("send", "apiPermission="+value, client.NotSent, stranger, "there is no token")
	}
	add("use", "apiPermission=401", client.Forbidden, forbidden, "the service gives a token that it does not take")
	add("send", "apiPermission=401", client.NotSent, forbidden, "no read shows that the token is good")
	for _, step := range []string{"use", "send"} {
		add(step, "apiPermission=403", client.Forbidden, forbidden, "the service gives a token that it does not take")
	}

	add("create", "createStatus=202 createBody=empty", client.Accepted, unreadable,
		"it is created, and nothing says its id")
	for _, body := range []string{"location", "location_303"} {
		add("create", "createBody="+body, client.Candidate, unreadable, "nothing says whose the id is")
	}
	for _, reading := range []string{"createStatus=204", "createBody=empty"} {
		add("create", reading, client.Unknown, unreadable, "the application exists, and nothing says its id")
	}
	for _, reading := range []string{
		"createBody=job", "createBody=no_reference", "createBody=null_reference", "applicationReference=hidden",
	} {
		add("create", reading, client.Candidate, unreadable, "nothing says whose the id is")
	}
	add("duplicate", "", client.Refused, duplicate, "interface: Errors")
	add("duplicate in other letters", "referenceCase=ignored", client.Refused, duplicate, "it is the same reference")
	add("duplicate individual", "individualReferences=account", client.Refused, invalid, "interface: Errors")
	for _, value := range []string{"reserved", "freed_by_expiry"} {
		add("reuse of a deleted reference", "deletedReferences="+value, client.Refused, duplicate, "it stays reserved")
	}
	add("wrong type", "unknownMandateType=404", client.Refused, notFound, "there is no such type")
	add("wrong type", "", client.Refused, invalid, "there is no such type")

	add("resend when concluded", "", client.Refused, denied, "nobody is invited to what is over")
	add("decide early", "checkReference=required", client.Refused, invalid,
		"the service wants the id of the check as reference")
	add("decide early", "decidableChecks=in_review", client.Refused, denied, "the check waits for the individual")
	add("decide", "checkReference=required", client.Refused, invalid, "as decide early")
	add("decide again", "repeatedDecision=refused", client.Refused, denied, "the check is decided")
	add("complete early", "", client.Refused, denied, "the people are not done")
	add("complete undecided", "undecidedChecks=block", client.Refused, denied, "checks wait for a decision")
	add("complete undecided", "undecidedChecks=block_409", client.Refused, conflict, "checks wait for a decision")
	add("complete again", "repeatedTransition=refused", client.Refused, denied, "it is completed")
	add("reject when archived", "archivedTransition=refused", client.Refused, denied, "it is archived")
	add("archive again", "repeatedArchive=refused", client.Refused, denied, "it is archived")
	for value, kind := range map[string]client.Kind{
		"400": client.KindInvalid, "404": client.KindNotFound, "409": client.KindConflict,
		"processing_200": client.KindNotReady, "202": client.KindNotReady,
	} {
		add(
			"report early", "reportNotReady="+value, client.Refused, []client.Kind{kind},
			"interface: only of individuals who completed their checks",
		)
	}
	add("report early", "reportNotReady=html_200", client.Unknown, unreadable, "a page is no report")
	for _, step := range []string{"resend when gone", "what is gone", "change what is gone"} {
		add(step, "goneAnswer=403", client.Forbidden, forbidden, "the service does not say that it is gone")
		if step != "what is gone" {
			add(step, "", client.Refused, notFound, "interface: 404 Not Found")
		}
	}
	add("what never was", "", client.Refused, notFound, "interface: 404 Not Found")
	for _, value := range []string{"404", "410"} {
		add("what is gone", "goneAnswer="+value, client.Refused, notFound, "interface: 404 Not Found")
	}

	for _, step := range []string{"subscribe", "subscribe again"} {
		for _, value := range []string{"get_challenge", "post_validation"} {
			add(step, "subscribeHandshake="+value, client.Refused, invalid, "nobody answers at the URL")
			add("find webhook", "subscribeHandshake="+value, client.Refused, notFound, "there is none")
		}
	}
	add("subscribe again", "subscribeTwice=refused", client.Refused, denied, "there is one of this URL")
	add("find webhook", "retrieveWebhook=404", client.Refused, notFound, "the service shows no webhooks")
	add(
		"find webhook", "subscribeApplication=refused", client.Refused, notFound,
		"it belongs to no application, and each shows its own only",
	)
	return refusals
}

// in is a refusal as a service with a reading says it, to a request of an operation.
func (r refusal) in(chosen reading, op control.Operation) refusal {
	isTransition := op == control.CompleteApplication || op == control.RejectApplication
	if slices.Equal(r.kinds, denied) {
		r.kinds = invalid
		switch chosen["transitionRefusal"] {
		case "403":
			r.outcome, r.kinds = client.Forbidden, forbidden
		case "404":
			r.kinds = notFound
			if isTransition { // it is told apart from a method that the service does not have, if that is possible
				r.kinds = []client.Kind{client.KindRejected, client.KindMethodNotAllowed}
			}
		case "409":
			r.kinds = conflict
		case "402", "423", "428":
			r.kinds = rejected
		}
	}
	if slices.Equal(r.kinds, stranger) && (chosen["errorBody"] == "html" || chosen["errorBody"] == "text") {
		switch chosen["apiPermission"] { // a page is not about the credentials
		case "login_400":
			r.kinds = invalid
		case "login_403":
			r.kinds = forbidden
			if op == control.Token {
				r.outcome = client.Forbidden
			}
		}
	}
	if !chosen.problemless() || !r.outcome.NothingDone() || r.outcome == client.NotSent || op == control.Token {
		return r
	}
	// Without the service's own words, nothing is proved of what may e-mail people, because anybody could have sent them,
	// and a 404 is none otherwise.
	switch {
	case isTransition:
		r.outcome = client.Unknown
		r.kinds = []client.Kind{client.KindUnproven, client.KindRejected, client.KindMethodNotAllowed}
	case emailing[op] || op == control.SubscribeWebhook:
		r.outcome, r.kinds = client.Unknown, unproven
	case slices.Equal(r.kinds, notFound):
		r.kinds = unproven
	}
	return r
}

// problemless reports whether errors have no problem as their body.
func (r reading) problemless() bool {
	return slices.Contains([]string{"html", "text", "empty", "message"}, r["errorBody"])
}

// refusalOf gives the refusal of a step, nil if it must succeed.
func (r reading) refusalOf(step string) *refusal {
	for _, refusal := range refusals() {
		if refusal.step == step && r.has(refusal.when) {
			return &refusal
		}
	}
	return nil
}

// holds compares the result of a step with the table, and reports whether the step succeeded.
func (w *world) holds(step string, err error) bool {
	w.t.Helper()
	expected := w.chosen.refusalOf(step)
	if expected != nil {
		expected = new(expected.in(w.chosen, w.op))
	}
	switch {
	case expected == nil && err != nil:
		w.t.Errorf("%s: %v", step, err)
	case expected == nil:
	case err == nil:
		w.t.Errorf("%s: succeeded, although %s", step, expected.reason)
	case client.OutcomeOf(err) != expected.outcome || !slices.Contains(expected.kinds, client.KindOf(err)):
		w.t.Errorf(
			"%s: %v %s (%v), want %v %v: %s", step, client.OutcomeOf(err), client.KindOf(err), err, expected.outcome,
			expected.kinds, expected.reason,
		)
	}
	return err == nil
}
