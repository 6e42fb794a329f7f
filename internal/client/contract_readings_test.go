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

// numbers are the values to try of the switches that take any number.
var numbers = map[string][]string{
	"tokenLifetime": {"0", "1"},
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
			if rare[s.Name] && rapid.IntRange(0, 15).Draw(t, s.Name+" if 13") != 13 {
				from = from[:1]
			}
			chosen[s.Name] = rapid.SampledFrom(from).Draw(t, s.Name)
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
	denied    = []client.Kind{client.KindInvalid, client.KindConflict}
	duplicate = []client.Kind{client.KindDuplicateReference}
	server    = []client.Kind{client.KindServer}
	stranger  = []client.Kind{client.KindCredentials}
	notFound  = []client.Kind{client.KindNotFound}
)

// refusals is the one place that says what cannot work. Of several refusals that apply the first counts; a step without
// a refusal must succeed.
func refusals() []refusal {
	var refusals []refusal
	add := func(step, when string, outcome client.Outcome, kinds []client.Kind, reason string) {
		refusals = append(refusals, refusal{step, strings.Fields(when), outcome, kinds, reason})
	}
	for _, value := range []string{"login_400", "login_401", "login_403"} {
		add("login", "apiPermission="+value, client.Refused, stranger, "the service does not let this user in")
		add("use", "apiPermission="+value, client.NotSent, stranger, "there is no token")
	}
	for _, value := range []string{"401", "403"} {
		add("use", "apiPermission="+value, client.Refused, stranger, "the service gives a token that it does not take")
	}

	for _, reading := range []string{"createStatus=204", "createBody=empty"} {
		add(
			"create", reading, client.Unknown, []client.Kind{client.KindUnreadable},
			"the application exists, and nothing says its id",
		)
	}
	for _, step := range []string{"duplicate", "duplicate in other letters", "duplicate individual",
		"reuse of a deleted reference", "wrong type"} {
		when, kinds := "", duplicate
		switch step {
		case "duplicate in other letters":
			when = "referenceCase=ignored "
		case "duplicate individual":
			when, kinds = "individualReferences=account ", invalid
		case "wrong type":
			kinds = invalid
		case "reuse of a deleted reference":
			for _, value := range []string{"reserved", "freed_by_expiry"} {
				addRefusedCreate(add, step, "deletedReferences="+value+" ", kinds)
			}
			continue
		}
		addRefusedCreate(add, step, when, kinds)
	}

	for _, body := range []string{"html", "text", "empty"} {
		for _, wanted := range []string{"empty", "empty_typed", "empty_untyped"} {
			for _, step := range []string{"resend", "reset", "resend when gone", "resend when concluded"} {
				add(
					step, "resendResetBody="+wanted+" errorBody="+body, client.Unknown, server,
					"the service wants another body, but a bare 400 could be anybody's and proves nothing about a mail",
				)
			}
		}
		for _, status := range []string{"400", "422"} {
			add("resend when concluded", "transitionRefusal="+status+" errorBody="+body, client.Unknown, server, "as resend")
		}
	}
	add(
		"resend when concluded", "transitionRefusal=409", client.Unknown, conflict,
		"a conflict could be about this very request",
	)
	add("resend when concluded", "", client.Refused, invalid, "nobody is invited to what is over")

	add("decide early", "decidableChecks=in_review", client.Refused, denied, "the check waits for the individual")
	add(
		"decide early", "checkReference=required", client.Refused, invalid, "the service wants the check's id as reference",
	)
	add("decide", "checkReference=required", client.Refused, invalid, "as decide early")
	add("decide again", "repeatedDecision=refused", client.Refused, denied, "the check is decided")
	add("complete early", "", client.Refused, denied, "the people are not done")
	add("complete undecided", "undecidedChecks=block", client.Refused, denied, "checks wait for a decision")
	add("complete undecided", "undecidedChecks=block_409", client.Refused, conflict, "checks wait for a decision")
	add("complete again", "repeatedTransition=refused", client.Refused, denied, "it is completed")
	add("reject when archived", "archivedTransition=refused", client.Refused, denied, "it is archived")
	add("archive again", "repeatedArchive=refused", client.Refused, denied, "it is archived")
	add(
		"report early", "", client.Refused, []client.Kind{client.KindInvalid, client.KindConflict, client.KindNotFound},
		"interface: only of individuals who completed their checks",
	)
	add("resend when gone", "", client.Refused, notFound, "interface: 404 Not Found")
	add("what is gone", "", client.Refused, notFound, "interface: 404 Not Found")

	add("subscribe again", "subscribeTwice=refused", client.Refused, denied, "there is one of this URL")
	add("find webhook", "retrieveWebhook=404", client.Refused, notFound, "the service shows no webhooks")
	add(
		"find webhook", "subscribeApplication=refused", client.Refused, notFound,
		"it belongs to no application, and each shows its own only",
	)
	return refusals
}

func addRefusedCreate(
	add func(step, when string, outcome client.Outcome, kinds []client.Kind, reason string),
	step, when string, kinds []client.Kind,
) {
	for _, body := range []string{"html", "text", "empty"} {
		add(
			step, when+"errorBody="+body, client.Unknown, server,
			"a bare 400 could be anybody's, and proves nothing about a request that e-mails people",
		)
	}
	add(step, when, client.Refused, kinds, "interface: Errors; our reading where it is silent")
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
	refusal := w.chosen.refusalOf(step)
	switch {
	case refusal == nil && err != nil:
		w.t.Errorf("%s: %v", step, err)
	case refusal == nil:
	case err == nil:
		w.t.Errorf("%s: succeeded, although %s", step, refusal.reason)
	case client.OutcomeOf(err) != refusal.outcome || !slices.Contains(refusal.kinds, client.KindOf(err)):
		w.t.Errorf(
			"%s: %v %s (%v), want %v %v: %s", step, client.OutcomeOf(err), client.KindOf(err), err, refusal.outcome,
			refusal.kinds, refusal.reason,
		)
	}
	return err == nil
}
