package plan

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/reference"
	"github.com/mandate-io/idv/operator/action"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/evidence"
	"github.com/mandate-io/idv/operator/ledger"
	"github.com/mandate-io/idv/operator/mandate"
)

// applicationKey names an application at a service.
type applicationKey struct {
	url string
	id  int64
}

// application is one as far as a plan knows it.
type application struct {
	shown      idv.Application // without personal data
	suppressed bool            // its individuals get no e-mails
	gone       bool
	service    connection.Key     // of its Mandate
	account    connection.Account // "" if it is not known
	inPlan     bool               // the plan creates or adopts it, with the account that the service has now
	// unknown: no status shows it, so its checks and its state are not known. record is the one that has it.
	unknown bool
	record  *v1alpha1.ApplicationRecord
}

// standIn is a service that carries out everything, and e-mails nobody. It shows what statuses show.
type standIn struct {
	mandate.ServiceClient // the methods that a plan does not need
	actions

	plan *planner
	key  connection.Key
	url  string
}

// actions has what only MandateActions need.
type actions interface {
	IndividualReport(ctx context.Context, individualID, limit int64) (*idv.Report, error)
}

var _ action.ServiceClient = standIn{}

// Prepare grants everything at once.
func (standIn) Prepare(context.Context, idv.Operation) (*idv.Permit, error) {
	return &idv.Permit{}, nil
}

// RetrieveReferences answers: the service works.
func (standIn) RetrieveReferences(context.Context) (*idv.References, error) {
	return &idv.References{}, nil
}

// RetrieveApplication shows an application.
func (s standIn) RetrieveApplication(_ context.Context, id int64) (*idv.Application, error) {
	found := s.find(id)
	switch {
	case found.gone:
		return nil, &idv.Error{Operation: idv.OpRetrieveApplication, Outcome: idv.Refused, Kind: idv.KindNotFound}
	case found.unknown:
		s.plan.current.assume(assumedApplication)
	}
	shown := found.shown
	shown.Individuals = slices.Clone(shown.Individuals)
	for i := range shown.Individuals {
		shown.Individuals[i].Checks = slices.Clone(shown.Individuals[i].Checks)
	}
	return &shown, nil
}

// find is an application that a Mandate or a record has, or that spec.adopt names.
func (s standIn) find(id int64) *application {
	key := applicationKey{s.url, id}
	asked := s.plan.current.mandate
	if known := s.plan.applications[key]; known != nil {
		if known.record != nil && len(known.shown.Individuals) == 0 {
			known.shown.Individuals = recordedIndividuals(asked, known.record)
		}
		return known
	}
	adopted := &application{service: s.key, inPlan: true, unknown: true, shown: idv.Application{
		ID: id, Reference: s.plan.referenceOf(asked), Individuals: sentIndividuals(asked, s.plan.referenceOf(asked)),
	}}
	s.plan.applications[key] = adopted
	return adopted
}

// CreateApplication creates an application, unless another one has its reference.
func (s standIn) CreateApplication(_ context.Context, asked idv.NewApplication) (*idv.Application, error) {
	for key, other := range s.plan.applications {
		if !strings.EqualFold(other.shown.Reference, asked.Reference) {
			continue
		}
		same, remains := s.hasMade(other), !other.gone && !other.shown.Archived && !s.plan.deletes(key.id)
		switch {
		case !same && key.url != s.url:
			continue
		case !same:
			s.plan.current.assume(assumedAccount)
			continue
		case !remains, other.shown.Reference != asked.Reference:
			s.plan.current.assume(assumedReference)
			continue
		}
		return nil, &idv.Error{
			Operation: idv.OpCreateApplication, Outcome: idv.Refused, Kind: idv.KindDuplicateReference,
		}
	}
	s.plan.created++
	id := v1alpha1.MaxID - s.plan.created
	made := &application{
		service: s.key, inPlan: true, suppressed: asked.SuppressEmailNotification, shown: idv.Application{
			ID: id, Reference: asked.Reference,
			Individuals: sentIndividuals(s.plan.current.mandate, asked.Reference),
		},
	}
	s.plan.applications[applicationKey{s.url, id}] = made
	if !made.suppressed {
		s.plan.current.Emails += len(asked.Individuals)
	}
	return &made.shown, nil
}

// hasMade reports whether an application is certainly one of the account of this service: references are of an account,
// and several can have one URL.
func (s standIn) hasMade(a *application) bool {
	used, _ := s.plan.connections.Get(s.key) // none: nothing is known
	own := a.service == s.key && (a.inPlan || used.Vouched && a.account != "")
	return own || used.IsSame(a.account)
}

// deletes reports whether the change deletes an application, before or after what else it does.
func (p *planner) deletes(id int64) bool {
	return slices.ContainsFunc(p.items, func(i *planned) bool {
		return i.Change == Pruned && i.key.Kind == kindMandate && i.mandate != nil &&
			i.mandate.Spec.DeletionPolicy == v1alpha1.DeletionPolicyDelete && ptr.Deref(i.mandate.Status.ApplicationID, 0) == id
	})
}

// ArchiveApplication archives.
func (s standIn) ArchiveApplication(_ context.Context, id int64) (*idv.Change, error) {
	s.find(id).shown.Archived = true
	return &idv.Change{}, nil
}

// CompleteApplication completes.
func (s standIn) CompleteApplication(_ context.Context, id int64, _ idv.State) (*idv.Change, error) {
	undecided := func(i idv.Individual) bool { return i.ChecksPending > 0 || i.ChecksInReview > 0 }
	if slices.ContainsFunc(s.find(id).shown.Individuals, undecided) {
		s.plan.current.assume(assumedUndecided)
	}
	return s.decide(id, "completed")
}

// RejectApplication rejects.
func (s standIn) RejectApplication(_ context.Context, id int64, _ idv.State) (*idv.Change, error) {
	return s.decide(id, "rejected")
}

func (s standIn) decide(id int64, state string) (*idv.Change, error) {
	decided := s.find(id)
	if decided.shown.Archived {
		s.plan.current.assume(assumedArchived)
	}
	decided.shown.State = idv.State{Name: state}
	return &idv.Change{}, nil
}

// DeleteApplication deletes.
func (s standIn) DeleteApplication(_ context.Context, id int64) (*idv.Change, error) {
	s.find(id).gone = true
	return &idv.Change{}, nil
}

// AcceptCheck accepts.
func (s standIn) AcceptCheck(_ context.Context, id int64, _ idv.CheckReview) (*idv.Change, error) {
	return s.review(id, "manually_accepted")
}

// RejectCheck rejects.
func (s standIn) RejectCheck(_ context.Context, id int64, _ idv.CheckReview) (*idv.Change, error) {
	return s.review(id, "manually_rejected")
}

func (s standIn) review(id int64, state string) (*idv.Change, error) {
	for key, about := range s.plan.applications {
		for i := range about.shown.Individuals {
			individual := &about.shown.Individuals[i]
			c := slices.IndexFunc(individual.Checks, func(c idv.Check) bool { return c.ID == id })
			if key.url == s.url && c >= 0 {
				individual.Checks[c].State = idv.State{Name: state}
				individual.ChecksInReview = max(individual.ChecksInReview-1, 0)
			}
		}
	}
	return &idv.Change{}, nil
}

// ResendInvites e-mails an individual.
func (s standIn) ResendInvites(_ context.Context, individual int64) (*idv.Change, error) {
	return s.emailIndividual(individual)
}

// ResetIndividual e-mails an individual.
func (s standIn) ResetIndividual(_ context.Context, individual int64) (*idv.Change, error) {
	return s.emailIndividual(individual)
}

func (s standIn) emailIndividual(id int64) (*idv.Change, error) {
	for key, about := range s.plan.applications {
		has := slices.ContainsFunc(about.shown.Individuals, func(i idv.Individual) bool { return i.ID == id })
		if key.url != s.url || !has || about.shown.Reference != s.plan.current.reference {
			continue
		}
		s.plan.current.Emails++
		if about.suppressed {
			s.plan.current.assume(assumedSuppressed)
		}
		if m := s.plan.current.mandate; m.Status.Outcome != "" {
			s.plan.current.assume(assumedOutcome)
		}
		break
	}
	return &idv.Change{}, nil
}

// sentIndividuals are those of a Mandate as a service shows them after a create.
func sentIndividuals(m *v1alpha1.Mandate, applicationReference string) (shown []idv.Individual) {
	for i := range m.Spec.Individuals {
		individual := &m.Spec.Individuals[i]
		sent := cmp.Or(individual.Reference, reference.Individual(applicationReference, individual.Name))
		shown = append(shown, idv.Individual{ID: int64(i) + 1, Reference: idv.Hide(sent)})
	}
	return shown
}

// recordedIndividuals are those of an application that only a record has.
func recordedIndividuals(m *v1alpha1.Mandate, record *v1alpha1.ApplicationRecord) []idv.Individual {
	shown := sentIndividuals(m, record.Spec.Reference)
	for _, recorded := range record.Spec.Individuals {
		named := func(i v1alpha1.Individual) bool { return i.Name == recorded.Name }
		if i := slices.IndexFunc(m.Spec.Individuals, named); i >= 0 {
			shown[i].ID = recorded.ID
		}
	}
	return shown
}

// ofStatus is the application that a status shows.
func ofStatus(m *v1alpha1.Mandate) *application {
	status := &m.Status
	shown := idv.Application{
		ID: *status.ApplicationID, Reference: status.Reference, State: idv.State{Name: status.State},
		Archived: status.Archived,
	}
	if t := status.MandateType; t != nil {
		shown.MandateType = idv.Reference{ID: t.ID, Name: t.Name, Code: t.Code}
	}
	if readyReason(m) != v1alpha1.ReasonIndividualsUnmatched {
		for i := range status.Individuals {
			shown.Individuals = append(shown.Individuals, ofIndividualStatus(&status.Individuals[i]))
		}
	}
	missing := []string{
		string(v1alpha1.OutcomeDeleted), string(v1alpha1.OutcomeExpired), v1alpha1.ReasonConfirming,
		v1alpha1.ReasonApplicationMissing,
	}
	return &application{
		service: connection.KeyOf(m), shown: shown, suppressed: m.Spec.SuppressEmailNotification,
		unknown: status.Progress == "" || status.Truncated,
		gone:    slices.Contains(missing, string(status.Outcome)) || slices.Contains(missing, readyReason(m)),
	}
}

// isOlder reports whether a status shows checks as they were before a reset that the record has.
func isOlder(m *v1alpha1.Mandate, record *v1alpha1.ApplicationRecord) bool {
	shown, _ := evidence.Parse(m.Status.Evidence)
	key, rounds := evidence.Key(record.Spec.Salt).For(m.UID, record.UID), []string{}
	for i := range m.Status.Individuals {
		status := &m.Status.Individuals[i]
		individual, checks := ofIndividualStatus(status), []string(nil)
		for _, check := range status.Checks {
			digest, _ := evidence.Parse(check.Evidence)
			checks = append(checks, digest)
		}
		_, reset := evidence.LastReset(record, status.Name)
		rounds = append(rounds, key.Round(&individual, reset, checks))
	}
	return shown != "" && !m.Status.Truncated && key.Application(rounds) != shown
}

func ofIndividualStatus(shown *v1alpha1.IndividualStatus) idv.Individual {
	individual := idv.Individual{
		ID: shown.ID, State: ofState(shown.State), TermsAccepted: ptr.Deref(shown.TermsAccepted, false),
		ChecksInReview: int32(ptr.Deref(shown.ChecksInReview, 0)), //nolint:gosec // the operator has it of an int32
		ChecksPending:  int32(ptr.Deref(shown.ChecksPending, 0)),  //nolint:gosec // likewise
		ChecksPassed:   int32(ptr.Deref(shown.ChecksPassed, 0)),   //nolint:gosec // likewise
	}
	for _, name := range shown.CompletedActions {
		individual.CompletedActions = append(individual.CompletedActions, idv.Action{Name: name})
	}
	for _, c := range shown.Checks {
		individual.Checks = append(individual.Checks, idv.Check{
			ID: c.ID, Name: c.Name, Title: c.Title, State: ofState(c.State), FailedFields: c.FailedFields,
		})
	}
	return individual
}

func ofState(shown *v1alpha1.ServiceState) idv.State {
	known := ptr.Deref(shown, v1alpha1.ServiceState{})
	return idv.State{ID: known.ID, Name: known.Name}
}

// ofRecord is an application that no status shows. The log of its calls says how it ended, if it did.
func ofRecord(record *v1alpha1.ApplicationRecord) *application {
	a := &application{
		unknown: true, record: record, account: connection.AccountOf(record),
		service: connection.KeyOfReference(record.Spec.ServiceRef, record.Namespace),
		shown:   idv.Application{ID: *record.Spec.ApplicationID, Reference: record.Spec.Reference},
	}
	ended := map[v1alpha1.CallKind]func(){
		v1alpha1.CallComplete: func() { a.shown.State.Name = "completed" },
		v1alpha1.CallReject:   func() { a.shown.State.Name = "rejected" },
		v1alpha1.CallArchive:  func() { a.shown.Archived = true },
		v1alpha1.CallDelete:   func() { a.gone = true },
	}
	for kind, apply := range ended {
		done := func(c *v1alpha1.Call) bool { return c.Kind == kind && c.Result == v1alpha1.CallDone }
		if ledger.Find(record, done) != nil {
			apply()
		}
	}
	return a
}

// standInOf gives the stand-in of a service.
func (p *planner) standInOf(key connection.Key) standIn {
	return standIn{plan: p, key: key, url: p.urls[key]}
}
