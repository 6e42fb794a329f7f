package mandate

import (
	"fmt"
	"hash/maphash"
	"maps"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// move is a kind of thing that can happen, and that a scenario allows a number of times.
type move int

const (
	crash     move = iota // a process dies, and another one starts
	lose                  // an answer is lost, or comes too late
	fail                  // a request fails
	refuse                // the service refuses a create
	deny                  // it refuses one for a reason that may pass
	imply                 // it answers a create without a proof
	half                  // half of the settle delay passes
	hang                  // it passes in a step, before its request or before the answer
	confirm               // the confirmation delay passes
	weeks                 // seven weeks go by
	aDay                  // a day passes
	days                  // six days go by
	reword                // a user edits the reference
	touch                 // a user edits something else that is sent
	replace               // a user deletes the Mandate and applies it again
	succeed               // a user deletes the Mandate and applies another one of its name
	remove                // a user deletes the Mandate
	adopt                 // a user sets spec.adopt
	point                 // a user points the IdentityService at another account
	exchange              // a user puts the credentials of another account into the Secret, or the right ones again
	swap                  // what is behind the URL is exchanged: the same user has other applications
	alias                 // a user puts other credentials of the same account into the Secret, or the first ones again
	prefix                // a user edits the IdentityService's referencePrefix
	expire                // the service deletes what is eight weeks old
	purge                 // a person deletes an application at the service that the ledger knows
	backup                // the API server is backed up
	restore               // the Mandate comes back without status, with another uid, under records that are still there
	rewind                // the same, with the records of the backup
	wipe                  // the same, without any record
	reinstate             // a tool makes the records of the backup anew
	attest                // a person says that such a record lacks nothing
	vouch                 // a person says that a create without an answer created nothing, and is right
	reset                 // the individual is reset: the checks begin again
	checkPass             // the check passes by itself
	act                   // an action resets the individual, and the checks stay as they are
	assess                // a user adds a review of the check to the spec, or changes its decision
	retract               // a user removes the review
	another               // a user deletes the Mandate and applies it again, for another person
	present               // the service shows individuals in another way
	hide                  // a user deletes a Secret with details, or restores it
	erase                 // a user removes the individual's details, once there is an outcome
	unread                // the API server does not answer
	choose                // a user sets the decision to Complete or Reject, or removes it
	shelve                // a user sets archived
	halt                  // a user suspends the Mandate, or ends that
	repolicy              // a user edits deletionPolicy
	deliver               // a notification names an application, or a number that is none
	moves
)

// movesLeft is how often each may still happen.
type movesLeft [moves]uint8

func (b movesLeft) part() part { return part{hash: maphash.Bytes(seed, b[:])} }

// moves finds everything that can happen next.
func (x *explorer) moves(s *state, found func(after state, wrong string)) {
	for i := range s.ops {
		x.operatorMoves(s, i, found)
	}
	spend := func(m move, what string, change func(*state)) {
		if s.budget[m] == 0 {
			return
		}
		after := s.then(what)
		after.budget[m]--
		change(&after)
		found(after, "")
	}
	x.timeMoves(s, spend)
	x.hangMoves(s, spend, found)
	serviceMoves(s, spend, func(what string, change func(*state)) {
		after := s.then(what)
		change(&after)
		found(after, "")
	}, x.scenario.racy)
	for _, name := range sorted(s.world.mandates) {
		userMoves(s, name, spend)
		specMoves(s, name, spend)
		if s.world.sites[s.world.site()].checks {
			reviewMoves(s, name, spend)
		}
	}
	restoreMoves(s, spend)
	x.reinstateMoves(s, spend)
	vouchMoves(s, spend)
	individualMoves(s, spend)
	actionMoves(s, spend)
	notificationMoves(s, spend)
}

// spender makes a move that there is still a budget for.
type spender func(m move, what string, change func(*state))

// operatorMoves are the steps of one operator, with everything that can go wrong in them.
func (x *explorer) operatorMoves(s *state, i int, found func(state, string)) {
	o, label := s.ops[i], "operator "+string(rune('A'+i))
	if i > 0 && x.scenario.lone || o.hangs() {
		return
	}
	try := func(name string, f fault, m move) {
		if f != faultNone && s.budget[m] == 0 {
			return
		}
		made := x.take(s.world, o, name, f)
		if f != faultNone && !made.hit {
			return
		}
		after := s.then(label + " " + made.what)
		after.world, after.ops[i] = made.world, made.operator
		if f != faultNone {
			after.budget[m]--
		}
		found(after, made.violation)
	}
	for _, name := range x.scenario.mandates {
		if o.current != nil && o.current.mandate.Name != name {
			continue
		}
		try(name, faultNone, 0)
		try(name, faultError, fail)
		try(name, faultLost, lose)
		try(name, faultLate, lose)
		try(name, faultRefused, refuse)
		try(name, faultMissing, lose)
		try(name, faultUnread, unread)
		if !o.sendsNext() {
			try(name, faultSlow, hang)
		}
		for _, f := range passing {
			try(name, f, deny)
		}
		for _, f := range creates {
			try(name, f, imply)
		}
	}
	if s.budget[crash] > 0 {
		after := s.then(label + " dies, and starts anew")
		after.budget[crash]--
		after.world, after.ops[i] = excuse(s.world, o), x.started(s.world)
		found(after, "")
	}
	if o.stale(s.world) {
		after := s.then(label + " sees the Mandates as they are")
		after.ops[i] = x.seen(o, s.world, "Mandates", (*operator).seeMandates)
		found(after, "")
	}
	if o.connection.Generation != o.service.Generation || o.connection.Credentials != s.world.credentials {
		after := s.then(label + " connects to the service that the IdentityService names")
		after.ops[i] = x.seen(o, s.world, "connection", (*operator).connect)
		found(after, "")
	}
	if o.service.Generation != s.world.service.Generation {
		after := s.then(label + " sees the IdentityService as it is")
		after.ops[i] = x.seen(o, s.world, "IdentityService", (*operator).seeService)
		found(after, "")
	}
}

func (o *operator) stale(w *world) bool {
	if len(o.mandates) != len(w.mandates) {
		return true
	}
	for name, m := range w.mandates {
		if o.mandates[name] == nil || o.mandates[name].ResourceVersion != m.ResourceVersion {
			return true
		}
	}
	return false
}

// excuse is for the id that a process takes to its grave.
func excuse(w *world, o *operator) *world {
	if o.current == nil || o.current.facts.attempt.id == 0 {
		return w
	}
	c := w.clone()
	c.changeSite(siteOfConnection(&o.current.session.Connection), func(s *site) {
		for i := range s.applications {
			if s.applications[i].id == o.current.facts.attempt.id {
				s.applications[i].excused = true
			}
		}
	})
	return c
}

// timeMoves advance the clock. A reconciliation may be delayed for as long as a process is stopped, but not for weeks.
func (x *explorer) timeMoves(s *state, spend spender) {
	for _, pause := range []struct {
		move move
		by   time.Duration
	}{{half, settle / 2}, {confirm, 10 * minPoll}, {aDay, missingGracePeriod}, {weeks, 49 * 24 * time.Hour},
		{days, 6 * 24 * time.Hour}} {
		if pause.move != half && (s.ops[0].current != nil || s.ops[1].current != nil) {
			continue
		}
		spend(pause.move, pause.by.String()+" go by", func(after *state) { x.aged(after, pause.by) })
	}
}

func userMoves(s *state, name string, spend spender) {
	m := s.world.mandates[name]
	edit := func(kind move, what string, change func(*v1alpha1.MandateSpec)) {
		// What was sent cannot change once the application exists: the API server sees to it. adopt can.
		if (m.Status.ApplicationID == nil || kind == adopt) && m.DeletionTimestamp == nil {
			spend(kind, "a user "+what+" of "+name, changed(func(w *world) { w.edit(name, change) }))
		}
	}
	edit(reword, "edits the reference", func(s *v1alpha1.MandateSpec) { s.Reference = "another-reference" })
	edit(touch, "edits an individual", func(s *v1alpha1.MandateSpec) { s.Individuals[0].Email += "x" })
	edit(
		adopt,
		"names the wrong application in adopt",
		func(s *v1alpha1.MandateSpec) { s.Adopt = &v1alpha1.Adoption{ApplicationID: foreignID} },
	)
	if m.Spec.Adopt != nil {
		edit(adopt, "removes adopt", func(s *v1alpha1.MandateSpec) { s.Adopt = nil })
	}
	for _, a := range s.world.sites[s.world.site()].applications {
		if a.mandate != "" {
			edit(
				adopt,
				"names application "+strconv.FormatInt(a.id, 10)+" in adopt",
				func(s *v1alpha1.MandateSpec) { s.Adopt = &v1alpha1.Adoption{ApplicationID: a.id} },
			)
		}
	}
	spend(
		replace,
		"a user deletes "+name+" and applies it again",
		changed(func(w *world) {
			w.remove(name)
			w.reapply(name, m, nil)
		}),
	)
	spend(succeed, "a user deletes "+name+" and applies another one of its name", changed(func(w *world) {
		w.remove(name)
		w.reapply(name, m, func(s *v1alpha1.MandateSpec) { s.Reference = "another-reference" })
	}))
	spend(remove, "a user deletes "+name, changed(func(w *world) { w.remove(name) }))
	spend(point, "a user points the IdentityService at another account", changed(func(w *world) {
		w.service = w.service.DeepCopy()
		w.service.Generation++
		w.service.Spec.BaseURL = strings.NewReplacer(firstURL, otherURL, otherURL, firstURL).Replace(w.service.Spec.BaseURL)
		w.accountChanges()
	}))
	spend(exchange, "a user exchanges the credentials", changed(func(w *world) { w.exchange(ofAnotherAccount) }))
	spend(swap, "what is behind the URL is exchanged", changed(func(w *world) { w.exchange(inAnotherPlace) }))
	spend(alias, "a user exchanges the user name", changed(func(w *world) { w.exchange(byAnotherName) }))
	spend(prefix, "a user edits the referencePrefix", changed(func(w *world) {
		w.service = w.service.DeepCopy()
		w.service.Generation++
		w.service.Spec.ReferencePrefix += "eu-"
	}))
}

// specMoves are the edits of what the spec asks to be done to an application. They are allowed at any time.
func specMoves(s *state, name string, spend spender) {
	m := s.world.mandates[name]
	edit := func(kind move, what string, change func(*v1alpha1.MandateSpec)) {
		spend(kind, "a user "+what, changed(func(w *world) { w.edit(name, change) }))
	}
	for _, policy := range []v1alpha1.DeletionPolicy{
		v1alpha1.DeletionPolicyRetain, v1alpha1.DeletionPolicyArchive, v1alpha1.DeletionPolicyDelete,
	} {
		if m.Spec.DeletionPolicy != policy {
			edit(repolicy, "sets deletionPolicy to "+string(policy), func(s *v1alpha1.MandateSpec) { s.DeletionPolicy = policy })
		}
	}
	if m.DeletionTimestamp != nil {
		return // nothing else matters any more
	}
	decisionMoves(s, m, spend)
	if !m.Spec.Archived {
		edit(shelve, "archives it", func(s *v1alpha1.MandateSpec) { s.Archived = true })
	}
	edit(halt, "sets suspend to "+strconv.FormatBool(!m.Spec.Suspend),
		func(s *v1alpha1.MandateSpec) { s.Suspend = !s.Suspend })
}

// decisionMoves are the edits of spec.decision. Its author names what the status shows, or a rule.
func decisionMoves(s *state, m *v1alpha1.Mandate, spend spender) {
	choices := []*v1alpha1.Decision{nil, {Outcome: v1alpha1.DecisionComplete, When: v1alpha1.DecisionRuleAllChecksPassed}}
	if seen := m.Status.Evidence; seen != "" {
		choices = append(choices, &v1alpha1.Decision{Outcome: v1alpha1.DecisionComplete, Evidence: seen},
			&v1alpha1.Decision{Outcome: v1alpha1.DecisionReject, Evidence: seen})
	}
	for _, decision := range choices {
		if decision != nil && decision.When != "" && !s.world.sites[s.world.url()].checks ||
			equality.Semantic.DeepEqual(decision, m.Spec.Decision) {
			continue
		}
		spend(choose, fmt.Sprintf("a user sets the decision to %+v", ptr.Deref(decision, v1alpha1.Decision{})),
			changed(func(w *world) {
				w.edit(m.Name, func(s *v1alpha1.MandateSpec) { s.Decision = decision })
				w.shownFor(m)
			}))
	}
}

// shownFor notes what the evidence of a status is of.
func (w *world) shownFor(m *v1alpha1.Mandate) {
	shown := maps.Clone(w.shown)
	if shown == nil {
		shown = map[string]string{}
	}
	shown[m.Status.Evidence] = checksIn(m.Status.Individuals)
	w.shown = shown
}

func checksIn(individuals []v1alpha1.IndividualStatus) (all string) {
	for _, individual := range individuals {
		for _, c := range individual.Checks {
			all += fmt.Sprintf("%d %s;", c.ID, c.State.Name)
		}
	}
	return all
}

// reviewMoves are the edits of spec.checkReviews.
func reviewMoves(s *state, name string, spend spender) {
	reviews, seen := s.world.mandates[name].Spec.CheckReviews, s.world.shownEvidence(name)
	put := func(what string, decision v1alpha1.CheckDecision) {
		spend(assess, "a user "+what, changed(func(w *world) {
			w.edit(name, func(spec *v1alpha1.MandateSpec) { spec.CheckReviews = reviewOf(decision, seen) })
			w.reviews = append(w.reviews, userReview{since: w.mandates[name].Generation, seen: w.shownRound(name)})
		}))
	}
	switch {
	case seen == "":
	case len(reviews) == 0:
		put("accepts the check", v1alpha1.CheckDecisionAccept)
	case reviews[0].Evidence != seen:
		put("accepts the check as it is now", v1alpha1.CheckDecisionAccept)
	case reviews[0].Decision == v1alpha1.CheckDecisionAccept:
		put("rejects the check instead", v1alpha1.CheckDecisionReject)
	default:
		put("accepts the check instead", v1alpha1.CheckDecisionAccept)
	}
	if len(reviews) == 0 {
		return
	}
	spend(retract, "a user removes the review", changed(func(w *world) {
		w.edit(name, func(spec *v1alpha1.MandateSpec) { spec.CheckReviews = nil })
	}))
}

// reviewedCheck is the name of the check of an application.
const reviewedCheck = "liveness"

func reviewOf(decision v1alpha1.CheckDecision, evidence string) []v1alpha1.CheckReview {
	return []v1alpha1.CheckReview{{Individual: "jane", Check: reviewedCheck, Evidence: evidence, Decision: decision}}
}

// shownEvidence is what the status shows of the check of jane; "" if it shows none.
func (w *world) shownEvidence(name string) string {
	for _, individual := range w.mandates[name].Status.Individuals {
		if individual.Name == "jane" && len(individual.Checks) > 0 {
			return individual.Checks[0].Evidence
		}
	}
	return ""
}

// shownRound is the round of the check that the status shows; 0 if it shows none, or if the id does not tell.
func (w *world) shownRound(name string) int {
	for _, individual := range w.mandates[name].Status.Individuals {
		for _, c := range individual.Checks {
			if individual.Name == "jane" && !w.sites[w.site()].keepsChecks {
				return int(c.ID%checksApart) + 1
			}
		}
	}
	return 0
}

// remove deletes a Mandate. One with a finalizer is deleted when that is removed.
func (w *world) remove(name string) {
	m := w.mandates[name]
	if len(m.Finalizers) == 0 {
		delete(w.mandates, name)
		return
	}
	m = m.DeepCopy()
	if m.DeletionTimestamp == nil {
		m.DeletionTimestamp = new(metav1.NewTime(now))
		m.Generation++
	}
	w.store(m)
}

// reapply applies the manifest of a Mandate that is gone, changed by change.
func (w *world) reapply(name string, was *v1alpha1.Mandate, change func(*v1alpha1.MandateSpec)) {
	if w.mandates[name] != nil {
		return
	}
	w.apply(name, func(m *v1alpha1.Mandate) {
		m.Namespace = was.Namespace
		m.Spec = *was.Spec.DeepCopy()
		if change != nil {
			change(&m.Spec)
		}
	})
}

func restoreMoves(s *state, spend spender) {
	spend(backup, "the API server is backed up", changed(func(w *world) { w.backup = w.records }))
	spend(restore, "the Mandates are restored from their manifests", changed((*world).applyAnew))
	lost := func(records func(w *world) map[string]*v1alpha1.ApplicationRecord) func(*state) {
		return changed(func(w *world) {
			w.applyAnew()
			w.forgotten = true
			restored := records(w)
			w.records = map[string]*v1alpha1.ApplicationRecord{}
			for _, name := range sorted(restored) {
				w.storeRecord(restored[name].DeepCopy())
			}
		})
	}
	if !s.world.canTell() {
		return
	}
	if s.world.backup != nil {
		spend(
			rewind,
			"the API server is restored from the backup",
			lost(func(w *world) map[string]*v1alpha1.ApplicationRecord { return w.backup }),
		)
	}
	spend(
		wipe,
		"the Mandates are applied to an empty cluster",
		lost(func(*world) map[string]*v1alpha1.ApplicationRecord { return nil }),
	)
}
