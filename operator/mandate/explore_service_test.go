package mandate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/client/wire"
	"github.com/mandate-io/idv/operator/ledger"
)

// fakeService is the service behind the connection of a reconciliation. Its errors are what the real client makes of
// what the real service may do: internal/client has the tests of that.
type fakeService struct {
	*environment
}

func failure(op idv.Operation, outcome idv.Outcome, kind idv.Kind) error {
	return &idv.Error{Operation: op, Outcome: outcome, Kind: kind}
}

// Prepare waits for nothing.
func (fakeService) Prepare(context.Context, idv.Operation) (*idv.Permit, error) { return nil, nil }

// CreateApplication creates an application, unless its reference is taken.
func (s fakeService) CreateApplication(_ context.Context, asked idv.NewApplication) (*idv.Application, error) {
	const op = idv.OpCreateApplication
	s.checkPost(asked.Reference)
	s.checkCall(op, liveRead.open)
	switch s.fault {
	case faultError:
		s.hit = true
		return nil, failure(op, idv.NotSent, idv.KindUnreachable)
	case faultRefused:
		s.hit = true
		return nil, failure(op, idv.Refused, idv.KindInvalid)
	case faultForbidden:
		s.hit = true
		return nil, failure(op, idv.Forbidden, idv.KindForbidden)
	case faultForNow:
		s.hit = true
		return nil, failure(op, idv.Refused, idv.KindRejected)
	case faultLate, faultDeferred:
		s.hit, s.dirty = true, true
		s.world.changeSite(s.site(), func(here *site) {
			here.underWay = append(here.underWay, s.request(asked))
		})
		if s.fault == faultDeferred {
			return nil, failure(op, idv.Accepted, idv.KindUnproven)
		}
		return nil, failure(op, idv.Unknown, idv.KindTimeout)
	}
	id := s.carryOut(asked)
	switch {
	case id == 0:
		return nil, &idv.Error{Operation: op, Outcome: idv.Refused, Kind: idv.KindDuplicateReference, Problem: &idv.Problem{
			Errors: []idv.FieldError{{Path: idv.Path{{Field: "reference", Index: -1}}}},
		}}
	case s.fault == faultLost:
		s.hit = true
		return nil, failure(op, idv.Unknown, idv.KindTimeout)
	case s.fault == faultAccepted:
		s.hit = true
		return nil, failure(op, idv.Accepted, idv.KindUnproven)
	case s.fault == faultCandidate, s.fault == faultMisnamed:
		s.hit = true
		if s.fault == faultMisnamed {
			id = foreignID
		}
		return nil, &idv.Error{Operation: op, Outcome: idv.Candidate, Kind: idv.KindUnproven, Candidate: id}
	}
	return &idv.Application{ID: id, Reference: asked.Reference}, nil
}

// answered is the answer to a request that changes something. With some faults, the service only accepts it.
func (s fakeService) answered(err error) (*idv.Change, error) {
	if err != nil {
		return nil, err
	}
	return &idv.Change{Accepted: s.hit && (s.fault == faultAccepted || s.fault == faultDeferred)}, nil
}

// request is a create for the Mandate that is reconciled.
func (s fakeService) request(asked idv.NewApplication) request {
	of := s.current.mandate
	r := request{reference: asked.Reference, mandate: of.UID, name: of.Name, sent: now}
	for _, one := range asked.Individuals {
		r.people = append(r.people, person{one.Reference.Reveal(), one.Email.Reveal()})
	}
	return r
}

// carryOut creates; 0 if the reference is taken.
func (s fakeService) carryOut(asked idv.NewApplication) (id int64) {
	here := s.world.sites[s.site()]
	if here.has(asked.Reference) {
		return 0
	}
	s.dirty = true
	s.world.changeSite(s.site(), func(here *site) {
		made := here.create(s.request(asked))
		made.learned = s.fault != faultLost && !slices.Contains(creates, s.fault)
		id = made.id
	})
	return id
}

// checkPost checks that every create is recorded before it is sent.
func (s fakeService) checkPost(reference string) {
	record := s.world.records[s.current.mandate.Name]
	switch {
	case s.world.forgotten: // a restore has removed the record of an attempt in progress
	case s.unlogged(v1alpha1.CallCreate) != "":
		s.violation = s.unlogged(v1alpha1.CallCreate)
	case record.Spec.Reference != reference || record.Spec.ServiceURL != s.url():
		s.violation = "a create is sent for another reference or service than the recorded one"
	case s.world.outdated[record.Name]:
		s.violation = "a create is sent for a spec or service that was replaced before the claim"
	}
}

// unlogged (I8) says what is wrong if a call is sent that the log does not have as open, by its sender. The answer to a
// create can come while another process sends it again. The reference is the same, so that creates nothing.
func (s *environment) unlogged(kind v1alpha1.CallKind) string {
	entry := ledger.Find(s.world.records[s.current.mandate.Name], func(c *v1alpha1.Call) bool {
		return c.Nonce == s.current.nonce
	})
	switch {
	case s.world.forgotten:
		return ""
	case entry == nil:
		return fmt.Sprintf("I8: %s is sent, and the log does not have it", kind)
	case kind == v1alpha1.CallCreate && entry.Kind == kind && entry.Sends > 1 && entry.Result == v1alpha1.CallDone:
		return ""
	case entry.Kind != kind || entry.Result != "" || entry.Sends < 1:
		return fmt.Sprintf("I8: %s is sent, and the log has a call that has ended, or another one", kind)
	default:
		return ""
	}
}

// RetrieveApplication shows an application.
func (s fakeService) RetrieveApplication(_ context.Context, id int64) (*idv.Application, error) {
	const op = idv.OpRetrieveApplication
	s.gets++
	if s.read() != nil {
		return nil, failure(op, idv.Unknown, idv.KindServer)
	}
	here := s.world.sites[s.site()]
	switch {
	case here.refusesOthers && id == foreignID:
		return nil, failure(op, idv.Forbidden, idv.KindForbidden)
	case here.refusesOthers && id == forgedID:
		return nil, failure(op, idv.Unknown, idv.KindServer)
	}
	i := here.find(id)
	if i >= 0 && s.fault == faultMissing && now.Sub(here.applications[i].created) <= settle {
		s.hit, i = true, -1
	}
	if i < 0 {
		return nil, failure(op, idv.Refused, idv.KindNotFound)
	}
	found := here.applications[i]
	shown := &idv.Application{
		ID:        id,
		Reference: found.reference,
		State:     idv.State{Name: cmp.Or(found.stage, "created")},
		Archived:  found.archived,
	}
	as := here.shown
	if here.silent {
		shown.Reference, as = "", showsWithoutReferences
	}
	shown.Individuals = found.individuals(as)
	return shown, nil
}

// AcceptCheck accepts the check of an application.
func (s fakeService) AcceptCheck(_ context.Context, id int64, _ idv.CheckReview) (*idv.Change, error) {
	s.checkCall(idv.OpAcceptCheck, func(l liveRead) bool { return l.reviews(v1alpha1.CheckDecisionAccept) })
	return s.answered(s.decide(idv.OpAcceptCheck, id, "manually_accepted"))
}

// RejectCheck rejects the check of an application.
func (s fakeService) RejectCheck(_ context.Context, id int64, _ idv.CheckReview) (*idv.Change, error) {
	s.checkCall(idv.OpRejectCheck, func(l liveRead) bool { return l.reviews(v1alpha1.CheckDecisionReject) })
	return s.answered(s.decide(idv.OpRejectCheck, id, "manually_rejected"))
}

// decide decides a check, which must be of the round that the review was made for.
func (s fakeService) decide(op idv.Operation, id int64, state string) error {
	here := s.world.sites[s.site()]
	ofAnother := func(a application) bool { return a.check != 0 && a.check+checksApart == id && !a.gone }
	if slices.ContainsFunc(here.applications, ofAnother) {
		s.violation = "I12: a review reaches another individual than the spec names"
	}
	i := slices.IndexFunc(here.applications, func(a application) bool { return a.check == id && !a.gone })
	if i < 0 {
		return failure(op, idv.Refused, idv.KindNotFound)
	}
	if s.fault == faultRefused {
		s.hit = true
		return failure(op, idv.Refused, idv.KindInvalid)
	}
	err := s.write(func() error {
		s.violation = cmp.Or(s.violation, s.world.reviewed(s.current.mandate.Generation, here.applications[i].round))
		s.world.changeSite(s.site(), func(here *site) { here.applications[i].state = state })
		return nil
	})
	s.dirty = true // whatever becomes of the check, nobody can tell whether the request did it
	s.world.changeSite(s.site(), func(site *site) {
		site.applications[i].reviewed, site.applications[i].before = s.before.review.Evidence, here.applications[i].state
	})
	if err != nil {
		return failure(op, idv.Unknown, idv.KindServer)
	}
	return nil
}

// reviewed notes that the review of a generation of the Mandate decides a round of checks (I7: none that its author has
// not seen, and none after another one).
func (w *world) reviewed(generation int64, round int) (violation string) {
	for i := len(w.reviews) - 1; i >= 0; i-- {
		review := &w.reviews[i]
		switch {
		case review.since > generation:
			continue
		case review.sent != 0 && review.sent != round:
			return fmt.Sprintf("I7: a review that decided round %d of the checks decides round %d", review.sent, round)
		case review.seen != 0 && review.seen != round:
			return fmt.Sprintf("I7: a review of round %d of the checks decides round %d", review.seen, round)
		}
		review.sent = round
		return ""
	}
	return "I7: a review is sent that the spec does not have"
}

// RetrieveReferences shows that the service is there.
func (s fakeService) RetrieveReferences(context.Context) (*idv.References, error) {
	if s.read() != nil {
		return nil, failure(idv.OpRetrieveReferences, idv.Unknown, idv.KindServer)
	}
	return &idv.References{}, nil
}

// DeleteApplication deletes an application.
func (s fakeService) DeleteApplication(_ context.Context, id int64) (*idv.Change, error) {
	s.checkCall(idv.OpDeleteApplication, func(l liveRead) bool {
		return l.deleted && l.policy == v1alpha1.DeletionPolicyDelete
	})
	return s.answered(s.change(idv.OpDeleteApplication, id, func(a *application) { a.gone = true }))
}

// ArchiveApplication archives an application.
func (s fakeService) ArchiveApplication(_ context.Context, id int64) (*idv.Change, error) {
	s.checkCall(idv.OpArchiveApplication, func(l liveRead) bool {
		return l.open() && l.archived || l.deleted && l.policy == v1alpha1.DeletionPolicyArchive
	})
	return s.answered(s.change(idv.OpArchiveApplication, id, func(a *application) { a.archived = true }))
}

// CompleteApplication completes an application that is in review.
func (s fakeService) CompleteApplication(_ context.Context, id int64, _ idv.State) (*idv.Change, error) {
	return s.answered(s.conclude(idv.OpCompleteApplication, id, v1alpha1.DecisionComplete, stageCompleted))
}

// RejectApplication rejects an application that is in review.
func (s fakeService) RejectApplication(_ context.Context, id int64, _ idv.State) (*idv.Change, error) {
	return s.answered(s.conclude(idv.OpRejectApplication, id, v1alpha1.DecisionReject, stageRejected))
}

func (s fakeService) conclude(op idv.Operation, id int64, decision v1alpha1.DecisionOutcome, stage string) error {
	s.checkCall(op, func(l liveRead) bool { return l.open() && l.decision.Outcome == decision })
	here := s.world.sites[s.site()]
	if i := here.find(id); i >= 0 {
		s.violation = cmp.Or(s.violation, s.checkEvidence(op, &here.applications[i]), here.decidedTwice(op, id))
		if here.applications[i].resetting {
			s.violation = cmp.Or(s.violation, fmt.Sprintf("I23: %s is sent, and a reset may still be carried out", op))
		}
		if here.applications[i].stage != stageInReview {
			return failure(op, idv.Refused, idv.KindRejected)
		}
	}
	return s.change(op, id, func(a *application) { a.stage = stage })
}

// checkEvidence holds a decision to what its author has seen, but for what may come of a review of the same spec, once
// that was sent; or to its rule (I18). A check that has changed since it was last read cannot be known.
func (s fakeService) checkEvidence(op idv.Operation, a *application) string {
	d, read := s.before.decision, ""
	for _, individual := range s.current.application.Individuals {
		for _, c := range individual.Checks {
			if d.When != "" && !slices.Contains(decidedStates[v1alpha1.CheckDecisionAccept], wire.FoldName(c.State.Name)) {
				return fmt.Sprintf("I18: %s is sent by a rule, and a check is %q", op, c.State.Name)
			}
			state, review := c.State.Name, s.before.review
			if c.ID == a.check && a.reviewed != "" && a.reviewed == review.Evidence && isDecided(&c, review.Decision) {
				state = a.before
			}
			read += fmt.Sprintf("%d %s;", c.ID, state)
		}
	}
	if seen := s.world.shown[d.Evidence]; d.When == "" && seen != read {
		return fmt.Sprintf("I18: %s is sent about checks %q, and its author saw %q", op, read, seen)
	}
	return ""
}

func (s fakeService) change(op idv.Operation, id int64, change func(*application)) error {
	here := s.world.sites[s.site()]
	i := here.find(id)
	if i < 0 {
		return failure(op, idv.Refused, idv.KindNotFound)
	}
	if !s.mayTouch(here.applications[i]) {
		s.violation = string(op) + " of an application that is not this Mandate's"
	}
	if s.fault == faultRefused {
		s.hit = true
		return failure(op, idv.Refused, idv.KindRejected)
	}
	if s.fault == faultDeferred {
		s.hit, s.dirty = true, true
		s.world.changeSite(s.site(), func(here *site) {
			here.accepted = append(slices.Clone(here.accepted), acceptedChange{id, op, now})
		})
		return nil
	}
	s.hit = s.hit || s.fault == faultAccepted
	err := s.write(func() error {
		s.world.changeSite(s.site(), func(here *site) { change(&here.applications[i]) })
		return nil
	})
	if err != nil {
		return failure(op, idv.Unknown, idv.KindServer)
	}
	return nil
}

// acceptedChange is a change that the service has accepted, and carries out later, or never.
type acceptedChange struct {
	id    int64
	op    idv.Operation
	since time.Time
}

// accept has the service accept a decision about other checks than the application has now.
func (w *world) accept(name string) {
	record := w.records[name].DeepCopy()
	before := ledger.New(v1alpha1.CallComplete, now)
	before.Seq, before.Nonce = 2, "accepted"
	before.Evidence = "before-1"
	record.Spec.Calls = append(record.Spec.Calls, ledger.Ended(before, v1alpha1.CallAccepted, now))
	w.storeRecord(record)
	w.changeSite(w.site(), func(here *site) {
		here.accepted = []acceptedChange{{*record.Spec.ApplicationID, idv.OpCompleteApplication, now}}
	})
}

// decidedTwice says what is wrong with a decision while the service may still carry out another one (I22).
func (s *site) decidedTwice(op idv.Operation, id int64) string {
	for _, before := range s.accepted {
		decides := before.op == idv.OpCompleteApplication || before.op == idv.OpRejectApplication
		if decides && before.id == id && now.Sub(before.since) < acceptedPeriod {
			return fmt.Sprintf("I22: %s is sent, and the service has accepted %s", op, before.op)
		}
	}
	return ""
}

// effectOf is what an accepted change does to its application.
func effectOf(op idv.Operation) func(*application) {
	switch op {
	case idv.OpDeleteApplication:
		return func(a *application) { a.gone = true }
	case idv.OpArchiveApplication:
		return func(a *application) { a.archived = true }
	case idv.OpCompleteApplication:
		return func(a *application) { a.stage = stageCompleted }
	default:
		return func(a *application) { a.stage = stageRejected }
	}
}

// mayTouch: a Mandate may end what was created for its name and reference, or was adopted.
func (s fakeService) mayTouch(a application) bool {
	record := s.world.records[s.current.mandate.Name]
	known := record != nil && record.Spec.Reference == a.reference && record.Spec.ServiceURL == s.url()
	return known || s.world.forgotten && a.reference == s.current.reference
}

func (s fakeService) url() string { return s.current.session.Connection.URL }
