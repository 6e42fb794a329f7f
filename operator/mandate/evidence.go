package mandate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"time"

	"k8s.io/utils/ptr"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/lifecycle"
	"github.com/mandate-io/idv/operator/evidence"
)

// checksState is how far the checks are that the service shows now.
type checksState int

const (
	checksUnknown checksState = iota // the record has to be read first: it has the key of the evidence
	checksOpen
	checksSettled // none waits for the individual or a review
	checksPassed  // they are settled, and all have passed, not only in a round before the last reset
)

// evidenceFacts is what decisions are compared with.
type evidenceFacts struct {
	checks checksState
	// shown is for the status. "" if the individuals are unmatched, or there is no record.
	shown string
	// reviewed is the same, with the checks that reviews of this spec have changed as their authors saw them. A review
	// and the decision may come with one commit.
	reviewed string
	// since is when this process first saw it so.
	since time.Time
}

// holds reports whether the evidence is what the author of a decision has seen.
func (e evidenceFacts) holds(seen string) bool {
	return seen != "" && (seen == e.shown || seen == e.reviewed)
}

// seenEvidence is what this process remembers of the evidence of a Mandate.
type seenEvidence struct {
	evidenceFacts
	content uint64 // of what the service shows, without the key
	states  uint64 // the same, without results
	// newRounds are the resets after which another round was read, by the names of the individuals. It is not changed,
	// but replaced.
	newRounds *newRounds
}

type newRounds map[string]string

// round is the evidence of the checks of one individual, in the order of the answer. digests are without the number of
// the change that made it so.
type round struct{ digests, checks []string }

var contentSeed = maphash.MakeSeed()

// valuesHash hashes the values that a function encodes. It is compared and never stored.
func valuesHash(values func(encode func(any))) uint64 {
	var digest maphash.Hash
	digest.SetSeed(contentSeed)
	encoder := json.NewEncoder(&digest)
	values(func(value any) { _ = encoder.Encode(value) }) // a hash takes all
	return digest.Sum64()
}

// contentOf is of all that evidence is of but resets, with the results of checks or without.
func contentOf(found []*idv.Individual, results bool) uint64 {
	return valuesHash(func(encode func(any)) {
		for _, individual := range found {
			if individual == nil {
				continue
			}
			encode(individual.ID)
			if len(individual.Checks) == 0 {
				encode(individual.State)
			}
			for _, c := range individual.Checks {
				encode([]any{c.ID, c.Name, c.State})
				if results {
					encode(c.Results.Reveal())
				}
			}
		}
	})
}

// content is of what evidence is of, as far as a status shows it.
func (p *projection) content() uint64 {
	return valuesHash(func(encode func(any)) {
		for i := range p.individuals {
			individual := &p.individuals[i]
			encode(individual.ID)
			if len(individual.Checks) == 0 {
				encode(individual.State)
			}
			for _, c := range individual.Checks {
				encode([]any{c.ID, c.Name, c.State, c.FailedFields})
			}
		}
		encode(p.digest) // of what it does not show
	})
}

// observeEvidence compares what the service shows with what the status and this process know. While nothing changes, by
// an action either, and nothing is to be decided, the evidence in the status is kept without a look into the record. A
// status that could not be written does not show what this process knows.
func (r *actor) observeEvidence() {
	state := r.local()
	e, seen := &r.facts.application.evidence, state.evidence
	content := contentOf(r.matching.Individuals, true)
	shown := r.mandate.Status.Evidence
	same := r.projection.content() == projectionOf(&r.mandate.Status).content()
	unchanged := same && shown != "" && seen.content == content && seen.shown == shown && !state.recordOutdated()
	switch {
	case r.facts.application.unmatched():
		*e = evidenceFacts{checks: checksOpen}
	case r.facts.record.read():
		r.computeEvidence()
	case unchanged && !r.needsEvidence():
		*e = evidenceFacts{checks: checksOpen, shown: shown}
		r.rememberEvidence(content)
	}
}

// needsEvidence reports whether something may be decided. That is done on what the record says at the time.
func (r *actor) needsEvidence() bool {
	spec := &r.mandate.Spec
	ordered := spec.Decision != nil || len(r.reviewed) < len(spec.CheckReviews)
	return !r.facts.final() && ordered || r.facts.requested || r.facts.observe.openCall
}

// computeEvidence makes the evidence from the application and the record, when both are read.
func (r *actor) computeEvidence() {
	a := &r.facts.application
	if r.application == nil || a.unmatched() {
		return
	}
	a.evidence = evidenceFacts{checks: checksOpen}
	if r.record == nil {
		return
	}
	r.rounds = make([]round, len(r.matching.Individuals))
	for i := range r.rounds {
		_, reset := evidence.LastReset(r.record, r.mandate.Spec.Individuals[i].Name)
		r.rounds[i].digests = r.digestsOf(i, reset)
	}
	number := r.changes()
	r.numberChecks(number)
	a.reviews = r.pendingReviews()
	now := r.applicationWith(func(i, c int) string { return r.rounds[i].digests[c] })
	before := r.applicationWith(func(i, c int) string { return cmp.Or(digestOf(r.seenBy(i, c)), r.rounds[i].digests[c]) })
	a.evidence.shown, a.evidence.reviewed = evidence.Number(now, number), evidence.Number(before, number)
	a.evidence.checks, a.resetSent = r.checksState(), r.resetAwaited()
	r.rememberEvidence(contentOf(r.matching.Individuals, true))
}

func digestOf(numbered string) string {
	digest, _ := evidence.Parse(numbered)
	return digest
}

// numberChecks numbers the evidence of each check by the change that made it so: a round that was left never comes
// back.
func (r *actor) numberChecks(number int) {
	for i := range r.rounds {
		round := &r.rounds[i]
		round.checks = make([]string, len(round.digests))
		for c, digest := range round.digests {
			shown := r.shownAt(i, c, r.matching.Individuals[i].Checks[c].ID)
			if digestOf(shown) != digest {
				shown = evidence.Number(digest, number)
			}
			round.checks[c] = shown
		}
	}
}

// changes is how often the evidence has changed, other than by reviews that the spec asks for: the status shows what it
// was before them, or after some of them. It shows no checks while individuals are unmatched, or if it would be too
// large: then it may be either.
func (r *actor) changes() int {
	digest, number := evidence.Parse(r.mandate.Status.Evidence)
	before := func(shown, seen string) bool { return shown == seen || shown == "" }
	after := func(shown, seen string) bool { return shown == seen }
	if digest != r.evidenceWithReviewed(before) && digest != r.evidenceWithReviewed(after) {
		number++
	}
	return max(number, 1)
}

// evidenceWithReviewed is the evidence now, but of some checks as authors of reviews saw them. Which ones depends on
// what the status shows of a check, and what the author saw.
func (r *actor) evidenceWithReviewed(asSeen func(shown, seen string) bool) string {
	return r.applicationWith(func(i, c int) string {
		shown, seen := r.shownAt(i, c, r.matching.Individuals[i].Checks[c].ID), r.seenBy(i, c)
		if seen != "" && asSeen(shown, seen) {
			return digestOf(seen)
		}
		return r.rounds[i].digests[c]
	})
}

// applicationWith is the evidence of all individuals, if that of their checks is this.
func (r *actor) applicationWith(check func(individual, check int) string) string {
	rounds := make([]string, len(r.rounds))
	for i := range rounds {
		checks := make([]string, len(r.rounds[i].digests))
		for c := range checks {
			checks[c] = check(i, c)
		}
		_, reset := evidence.LastReset(r.record, r.mandate.Spec.Individuals[i].Name)
		rounds[i] = r.key().Round(r.matching.Individuals[i], reset, checks)
	}
	return r.key().Application(rounds)
}

func (r *actor) key() evidence.Key {
	return evidence.Key(r.record.Spec.Salt).For(r.mandate.UID, r.record.UID)
}

// rememberEvidence keeps since when the evidence is what it is.
func (r *actor) rememberEvidence(content uint64) {
	e, states := &r.facts.application.evidence, contentOf(r.matching.Individuals, false)
	r.learn(func(s *localState) {
		seen := &s.evidence
		e.since = seen.since
		if seen.shown != e.shown || seen.checks != e.checks {
			e.since = r.facts.now
		}
		switch {
		case seen.content == 0, seen.content == content:
		case seen.states == states:
			s.unstable = s.unstable.again(r.changedCheck(), r.facts.now)
		default:
			s.unstable = nil
		}
		seen.evidenceFacts = *e
		seen.content, seen.states = content, states
	})
}

// changedCheck is the first check whose evidence is not the one that the status shows.
func (r *actor) changedCheck() string {
	for i := range r.rounds {
		for c, now := range r.rounds[i].checks {
			if id := r.matching.Individuals[i].Checks[c].ID; r.shownAt(i, c, id) != now {
				return fmt.Sprintf("status.individuals[%s].checks[%d]", r.mandate.Spec.Individuals[i].Name, id)
			}
		}
	}
	return "status.evidence"
}

// instability is how evidence changes while no state does. It is not changed, but replaced.
type instability struct {
	field   string      // which changed last
	changes []time.Time // the last ones
}

// maxUnstable is how many changes of that kind within an hour are not worth a word.
const maxUnstable = 3

func (i *instability) again(field string, now time.Time) *instability {
	changes := []time.Time{now}
	if i != nil {
		changes = append(changes, i.changes[:min(len(i.changes), maxUnstable)]...)
	}
	return &instability{field: field, changes: changes}
}

// problems name what makes decisions outdated that nobody could have made in time.
func (i *instability) problems(now time.Time) []v1alpha1.Problem {
	if i == nil || len(i.changes) <= maxUnstable || now.Sub(i.changes[maxUnstable]) >= time.Hour {
		return nil
	}
	return []v1alpha1.Problem{problem(i.field, v1alpha1.ProblemEvidenceUnstable,
		"The service shows other results of the check again and again, although its state stays. Decisions and reviews "+
			"on evidence are soon outdated: make them at the service.")}
}

// showEvidence writes it into a status that shows the application.
func (r *actor) showEvidence(status *v1alpha1.MandateStatus) {
	// While individuals are unmatched, it stays: nothing is decided then, and it has the number of changes.
	status.Evidence = cmp.Or(r.facts.application.evidence.shown, status.Evidence)
	for i := range status.Individuals {
		checks := status.Individuals[i].Checks
		for c := range checks {
			switch {
			case r.rounds != nil:
				checks[c].Evidence = r.rounds[i].checks[c]
			case status.Evidence != "":
				checks[c].Evidence = r.shownAt(i, c, checks[c].ID)
			}
		}
	}
}

// shownAt is the evidence of a check that the status shows already; "" if it shows none. A service may show checks in
// any order.
func (r *actor) shownAt(individual, c int, id int64) string {
	shown := r.mandate.Status.Individuals
	if individual >= len(shown) {
		return ""
	}
	checks := shown[individual].Checks
	at := slices.IndexFunc(checks, func(check v1alpha1.CheckStatus) bool { return check.ID == id })
	if id == 0 {
		at = c
	}
	if at < 0 || at >= len(checks) || checks[at].ID != id {
		return ""
	}
	return checks[at].Evidence
}

func (r *actor) checksState() checksState {
	switch settled, passed := r.checksSettled(), r.allChecksPassed(); {
	case passed:
		return checksPassed
	case settled:
		return checksSettled
	default:
		return checksOpen
	}
}

// checksSettled reports whether there are checks, and none waits for the individual or a review.
func (r *actor) checksSettled() bool {
	for _, individual := range r.matching.Individuals {
		if len(individual.Checks) == 0 || individual.ChecksPending > 0 || individual.ChecksInReview > 0 {
			return false
		}
	}
	return true
}

// allChecksPassed is the rule of the same name: every individual has checks, all of them have passed or were accepted
// manually, the counters do not say otherwise, and it is not the round that the last reset ended.
func (r *actor) allChecksPassed() bool {
	all := r.checksSettled()
	for i, individual := range r.matching.Individuals {
		all = r.isNewRound(i) && passed(individual, r.session.Connection.States) && all
	}
	return all
}

func passed(individual *idv.Individual, names lifecycle.Names) bool {
	manual := 0
	for _, c := range individual.Checks {
		if !names.Passed(c.State) {
			return false
		}
		if c.State.Is("manually_accepted") {
			manual++
		}
	}
	counted := int(individual.ChecksPassed) // 0 if the service does not count
	return counted == 0 || counted >= len(individual.Checks)-manual
}

// resetAwaited is when the last reset was sent of which nobody knows whether the service still carries it out: it did
// not say that it has, and no other round was read since. The zero time if there is none.
func (r *actor) resetAwaited() (sent time.Time) {
	for i := range r.matching.Individuals {
		reset, _ := evidence.LastReset(r.record, r.mandate.Spec.Individuals[i].Name)
		if reset != nil && reset.Result != v1alpha1.CallDone && !r.isNewRound(i) && reset.StartedTime.After(sent) {
			sent = reset.StartedTime.Time
		}
	}
	return sent
}

// isNewRound reports whether another round was read since the last reset of an individual.
func (r *actor) isNewRound(i int) bool {
	name := r.mandate.Spec.Individuals[i].Name
	reset, key := evidence.LastReset(r.record, name)
	known := ptr.Deref(r.local().evidence.newRounds, nil)
	if reset == nil || known[name] == key {
		return true
	}
	round, _ := evidence.Key(r.record.Spec.Salt).Individual(r.matching.Individuals[i], "")
	if reset.Evidence == "" || reset.Evidence == round {
		return false
	}
	r.learn(func(s *localState) {
		rounds := newRounds{}
		maps.Copy(rounds, known)
		rounds[name] = key
		s.evidence.newRounds = &rounds
	})
	return true
}
