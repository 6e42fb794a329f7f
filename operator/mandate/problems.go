package mandate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/lifecycle"
	"github.com/mandate-io/idv/operator/engine"
)

// Problems are for people who read statuses and no logs. Steps find them, and the status shows those that are about its
// reason. Their sentences are fixed, with names from the spec, of Secrets and of keys.

// problemFacts are the problems that steps have found. Nothing is decided by them. They are not changed, but replaced.
type problemFacts struct {
	inputs      []v1alpha1.Problem // with what the application is to be made from
	spec        []v1alpha1.Problem // with what it was made from
	individuals []v1alpha1.Problem // why they are unmatched
	reviews     []v1alpha1.Problem // why they are outdated
	erasure     []v1alpha1.Problem // what is not erased
	// request is what the last request came to. One without a reason is about the reason that the status has.
	request []v1alpha1.Problem
}

// refusal is what a call was refused with.
type refusal []v1alpha1.Problem

// said are the problems of a refusal; nil is none.
func (r *refusal) said() []v1alpha1.Problem {
	if r == nil {
		return nil
	}
	return *r
}

// reasonSubscriptionRefused is that of a problem, and of an event.
const reasonSubscriptionRefused = "SubscriptionRefused"

func problem(field, reason, message string, names ...any) v1alpha1.Problem {
	return v1alpha1.Problem{Field: field, Reason: reason, Message: fmt.Sprintf(message, names...)}
}

// showProblems writes what is wrong into a status that has its conditions.
func (r *reconciliation) showProblems(status *v1alpha1.MandateStatus, reason string) {
	found := slices.Concat(
		r.notRecordedProblems(status), r.problemsOf(reason), r.ruleProblems(status), r.subscriptionProblems(status),
		r.erasureProblems(), r.evidenceProblems(status),
	)
	status.Problems = found[:min(len(found), v1alpha1.MaxProblems)]
}

// problemsOf are those that a reason is about.
func (r *reconciliation) problemsOf(reason string) []v1alpha1.Problem {
	p := &r.facts.problems
	switch reason {
	case v1alpha1.ReasonAccepted: // what failed ends nothing
		return nil
	case v1alpha1.ReasonSecretNotFound, v1alpha1.ReasonSecretNotForThis, v1alpha1.ReasonSecretInvalid,
		v1alpha1.ReasonMandateTypeNotFound:
		return p.inputs
	case v1alpha1.ReasonSpecDiffers:
		return p.spec
	case v1alpha1.ReasonIndividualsUnmatched:
		return p.individuals
	case v1alpha1.ReasonReviewRefused:
		return slices.Concat(r.refusedReviews(), p.reviews)
	case v1alpha1.ReasonReviewOutdated:
		return p.reviews
	case v1alpha1.ReasonDecisionOutdated:
		return []v1alpha1.Problem{problem("spec.decision.evidence", reason,
			"It is not status.evidence. A check has changed, or an individual was reset, since its author looked.")}
	case v1alpha1.ReasonAdoptionRefused:
		return r.adoptionProblems()
	case v1alpha1.ReasonIdentityServiceMismatch:
		return r.mismatchProblems("spec.serviceRef", reason)
	}
	found := r.requestProblems(reason)
	if len(found) == 0 && reason == v1alpha1.ReasonDeletionRefused {
		return slices.Concat(r.mismatchProblems("spec.deletionPolicy", reason), p.spec)
	}
	return found
}

// requestProblems are what a request came to. What only its answer said is kept while the reason stays. So are those of
// requests that fail, which may fail in another way each time.
func (r *reconciliation) requestProblems(reason string) []v1alpha1.Problem {
	if refused := r.refusalProblems(reason); len(refused) > 0 {
		return refused
	}
	failed := engine.ProblemsOf(r.facts.problems.request, "")
	for i := range failed {
		failed[i].Reason = reason
	}
	return failed
}

// refusalProblems are those of a reason that the service just gave, or that the status has.
func (r *reconciliation) refusalProblems(reason string) []v1alpha1.Problem {
	for _, problems := range [][]v1alpha1.Problem{
		r.facts.problems.request, r.local().refused.said(), r.mandate.Status.Problems,
	} {
		if found := engine.ProblemsOf(problems, reason); len(found) > 0 {
			return found
		}
	}
	return nil
}

// failed takes over what a request came to. A refusal is remembered until a status says it.
func (r *scope) failed(problems ...v1alpha1.Problem) {
	r.facts.problems.request = problems
	if problems[0].Reason != "" {
		r.learn(func(s *localState) { s.refused = (*refusal)(&problems) })
	}
}

// refusedReasons are those of a status while a call is refused. Where there is none, the reason tells of a failure.
var refusedReasons = map[v1alpha1.CallKind]map[v1alpha1.CallAnswer]string{
	v1alpha1.CallCreate: {
		v1alpha1.AnswerRefused: v1alpha1.ReasonRefused, v1alpha1.AnswerDuplicate: v1alpha1.ReasonReferenceConflict,
		v1alpha1.AnswerForbidden: v1alpha1.ReasonForbidden, v1alpha1.AnswerRetryable: v1alpha1.ReasonRefusedForNow,
	},
	v1alpha1.CallComplete:    decisionReasons,
	v1alpha1.CallReject:      decisionReasons,
	v1alpha1.CallAcceptCheck: reviewReasons,
	v1alpha1.CallRejectCheck: reviewReasons,
	v1alpha1.CallArchive:     refusedWith(v1alpha1.ReasonNotArchived),
	v1alpha1.CallSubscribe:   refusedWith(reasonSubscriptionRefused),
}

var (
	reviewReasons   = refusedWith(v1alpha1.ReasonReviewRefused)
	deletionReasons = refusedWith(v1alpha1.ReasonDeletionRefused)
	decisionReasons = map[v1alpha1.CallAnswer]string{
		v1alpha1.AnswerRefused: v1alpha1.ReasonDecisionRefused, v1alpha1.AnswerForbidden: v1alpha1.ReasonDecisionForbidden,
	}
)

func refusedWith(reason string) map[v1alpha1.CallAnswer]string {
	return map[v1alpha1.CallAnswer]string{v1alpha1.AnswerRefused: reason, v1alpha1.AnswerForbidden: reason}
}

// callFailedWith takes over why a call failed, or was refused.
func (r *reconciliation) callFailedWith(kind v1alpha1.CallKind, answer v1alpha1.CallAnswer, err error) {
	reasons := refusedReasons[kind]
	if r.facts.deletion.requested {
		reasons = deletionReasons
	}
	if kind == v1alpha1.CallCreate {
		r.failed(r.createProblems(reasons[answer], err)...)
		return
	}
	r.failed(engine.ServiceProblem(r.callField(kind), reasons[answer], err))
}

// callField is what of the Mandate orders a call.
func (r *reconciliation) callField(kind v1alpha1.CallKind) string {
	switch {
	case kind == v1alpha1.CallCreate:
		return "spec"
	case r.facts.deletion.requested:
		return "spec.deletionPolicy"
	case kind == v1alpha1.CallArchive:
		return "spec.archived"
	case kind == v1alpha1.CallSubscribe:
		return "status.subscription"
	case kind == v1alpha1.CallComplete, kind == v1alpha1.CallReject:
		return "spec.decision"
	default:
		return r.reviewField(r.attempted())
	}
}

// createProblems names the fields of the spec that the service refused.
func (r *reconciliation) createProblems(reason string, err error) (found []v1alpha1.Problem) {
	if answered := idv.ProblemOf(err); answered != nil && idv.IsRefusal(err) {
		for _, refused := range answered.Errors {
			p := r.fieldProblem(reason, refused.Path, idv.StatusOf(err))
			if len(found) < v1alpha1.MaxProblems && !slices.Contains(found, p) {
				found = append(found, p)
			}
		}
	}
	if len(found) == 0 {
		return []v1alpha1.Problem{engine.ServiceProblem("spec", reason, err)}
	}
	return found
}

// fieldProblem is for a field of the request, which comes from the spec or the Secret of an individual.
func (r *scope) fieldProblem(reason string, path idv.Path, status int) v1alpha1.Problem {
	const refused = "The service refused this field: HTTP %d."
	top := path[0].Field
	known := slices.Contains([]string{"name", "reference", "mandate_type", "suppress_email_notification"}, top)
	switch {
	case known:
		return problem("spec."+inSpec(top), reason, refused, status)
	case top == "individuals" && len(path) > 1 && path[1].Index >= 0 && path[1].Index < len(r.mandate.Spec.Individuals):
	case top == "individuals":
		return problem("spec.individuals", reason, refused, status)
	default:
		return problem("spec", reason, "The service refused a field that its documentation does not name: HTTP %d.", status)
	}
	individual := &r.mandate.Spec.Individuals[path[1].Index]
	field := fmt.Sprintf("spec.individuals[%s]", individual.Name)
	if len(path) < 3 || path[2].Field == "" {
		return problem(field, reason, refused, status)
	}
	field += "." + inSpec(path[2].Field)
	if secret := individual.DetailsSecretRef; secret != nil {
		return problem(field, reason, refused+" It may come from the key %s of the Secret %s.",
			status, path[2].Field, secret.Name)
	}
	return problem(field, reason, refused, status)
}

// inSpec is the name that a field of the interface has in the spec.
func inSpec(field string) string {
	words := strings.Split(field, "_")
	for i, word := range words[1:] {
		words[i+1] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, "")
}

// mandateTypeProblem says why spec.mandateType selects nothing.
func (r *scope) mandateTypeProblem(selector v1alpha1.MandateTypeSelector) v1alpha1.Problem {
	const reason = v1alpha1.ReasonMandateTypeNotFound
	field := "spec.mandateType.code"
	if selector.Code == "" {
		field = "spec.mandateType.name"
	}
	switch {
	case r.session.Connection.References == nil:
		return problem(field, reason, "The service does not let the operator read its mandate types. Select one by its id.")
	case len(r.matchingTypes(selector)) > 1:
		return problem(field, reason, "The service has several mandate types of this kind. Select one by its id.")
	default:
		return problem(field, reason,
			"The service has no such mandate type. Choose one from status.mandateTypes of the IdentityService.")
	}
}

// differs takes over which fields are not what the application was made from.
func (r *observer) differs(fields []string) {
	fields = slices.Compact(slices.Sorted(slices.Values(fields)))
	r.facts.problems.spec = nil
	for _, field := range fields {
		if slices.ContainsFunc(fields, func(other string) bool { return strings.HasPrefix(other, field+".") }) {
			continue // the other one says it more exactly
		}
		message := "It is not what the application was created or adopted for. Restore it, also in its Secret."
		if field == "spec.individuals" {
			message = "Their number is another one than the application's, or the service shows too little to compare them."
		}
		found := problem(field, v1alpha1.ReasonSpecDiffers, "%s", message)
		r.facts.problems.spec = append(r.facts.problems.spec, found)
	}
	if r.isAdopted() {
		r.facts.problems.spec = append(r.facts.problems.spec, problem(adoptField, v1alpha1.ReasonSpecDiffers,
			"It was set before the status said what differs, and overrides nothing. Remove it, look, and set it again."))
	}
}

// reasonNotRecorded is that of a problem which a Mandate has until its application is bound.
const reasonNotRecorded = "ApplicationNotRecorded"

// notRecorded names an application whose id the API server refuses to record.
func notRecorded(id int64) v1alpha1.Problem {
	return problem(adoptField, reasonNotRecorded, "The service created application %d, and the API server refuses to "+
		"record that. Keep the operator running. If it ends, set spec.adopt.applicationID to this id.", id)
}

// notRecordedProblems are kept when the operator ends: after that, nothing else has the id.
func (r *reconciliation) notRecordedProblems(status *v1alpha1.MandateStatus) []v1alpha1.Problem {
	switch id := r.facts.attempt.id; {
	case status.ApplicationID != nil:
		return nil
	case id != 0:
		return []v1alpha1.Problem{notRecorded(id)}
	default:
		return engine.ProblemsOf(r.mandate.Status.Problems, reasonNotRecorded)
	}
}

// adoptField is the field by which a person says which application is the Mandate's.
const adoptField = "spec.adopt.applicationID"

// unmatched takes over which individuals are not found in an answer, and what is wrong with their Secrets.
func (r *observer) unmatched(names []string, secrets []v1alpha1.Problem) {
	found := slices.Clone(secrets)
	for _, name := range names {
		found = append(found, problem("spec.individuals["+name+"]", v1alpha1.ReasonIndividualsUnmatched,
			"No individual at the service is certainly this one. If its details changed, also in its Secret, restore them as "+
				"they were sent. Otherwise, ask the service's support."))
	}
	if len(found) == 0 {
		found = append(found, problem("spec.individuals", v1alpha1.ReasonIndividualsUnmatched,
			"The service shows more individuals than these. Ask its support whom the application has."))
	}
	r.facts.problems.individuals = found
}

func fieldOfReview(review v1alpha1.ReviewStatus) string {
	return fmt.Sprintf("spec.checkReviews[%s/%s]", review.Individual, engine.ShowText(review.Check))
}

// reviewField is the one of spec.checkReviews that orders a call.
func (r *scope) reviewField(call *v1alpha1.Call) string {
	for i := range r.mandate.Spec.CheckReviews {
		key := keyOf(&r.mandate.Spec.CheckReviews[i])
		if order := reviewOrder(key, call.Check); sameOrder(&order, call) {
			return fieldOfReview(key)
		}
	}
	return "spec.checkReviews"
}

// outdatedReview is one whose check is not found, or has other evidence.
func outdatedReview(review v1alpha1.ReviewStatus, found bool) v1alpha1.Problem {
	message := "The individual has no such check, or several. Correct spec.checkReviews[].check, or remove the review."
	if found {
		message = "The check has other evidence. Copy it from status.individuals if the review holds, or remove the review."
	}
	return problem(fieldOfReview(review), v1alpha1.ReasonReviewOutdated, "%s", message)
}

// refusedReviews are those that need a person.
func (r *reconciliation) refusedReviews() (found []v1alpha1.Problem) {
	const reason = v1alpha1.ReasonReviewRefused
	said := slices.Concat(r.facts.problems.request, r.local().refused.said(), r.mandate.Status.Problems)
	for i := range r.facts.application.reviews {
		review := &r.facts.application.reviews[i]
		if !needsPerson(stateOf(r.facts, review)) {
			continue
		}
		p := problem(r.reviewField(review), reason, "The service refused the review, or does not show it.")
		before := slices.IndexFunc(said, func(s v1alpha1.Problem) bool { return s.Field == p.Field && s.Reason == reason })
		if before >= 0 {
			p = said[before]
		}
		found = append(found, p)
	}
	return found
}

// adoptionProblems say why the application of spec.adopt is not bound.
func (r *reconciliation) adoptionProblems() []v1alpha1.Problem {
	f := &r.facts
	message := "The application is not this Mandate's."
	switch {
	case f.record.id != 0 && f.record.id != f.create.adopt:
		message = "The ApplicationRecord of the Mandate has another application."
	case f.create.adoptedByOther:
		message = "Another Mandate has this application."
	case f.application.missing():
		message = "The service does not have this application."
	case f.application.read() && f.application.reference == referenceOther:
		message = "The application has another reference at the service than status.reference."
	}
	return []v1alpha1.Problem{problem(adoptField, v1alpha1.ReasonAdoptionRefused, "%s", message)}
}

// mismatchProblems say why the service is not the one of the application, or why nothing is deleted there.
func (r *reconciliation) mismatchProblems(field, reason string) []v1alpha1.Problem {
	f := &r.facts
	var message string
	switch {
	case f.application.read() && f.application.reference == referenceOther:
		message = "At the service, the application with this id has another reference."
	case f.record.otherURL:
		message = "The ApplicationRecord is about another base URL than that of the service."
	case f.record.full:
		message = "The ApplicationRecord cannot hold another call."
	case forgotten(*f):
		message = "The ApplicationRecord is gone, and nothing shows that this account has the application."
	default:
		return nil
	}
	return []v1alpha1.Problem{problem(field, reason, "%s", message)}
}

// ruleProblems say what of spec.decision.when does not hold.
func (r *reconciliation) ruleProblems(status *v1alpha1.MandateStatus) (found []v1alpha1.Problem) {
	const reason = v1alpha1.ReasonDecisionWaiting
	waits := engine.ReasonOf(status.Conditions, v1alpha1.ConditionDecided) == reason
	switch {
	case !waits || r.facts.act.decision.When == "":
		return nil
	case r.application == nil, r.facts.application.unmatched(), r.facts.application.evidence.checks == checksUnknown:
		return engine.ProblemsOf(r.mandate.Status.Problems, reason)
	case r.facts.application.stage != lifecycle.InReview:
		found = append(found, problem("status.state", reason, "The application is not in review."))
	}
	for i, individual := range r.matching.Individuals {
		field := fmt.Sprintf("status.individuals[%s]", r.mandate.Spec.Individuals[i].Name)
		if len(individual.Checks) == 0 {
			found = append(found, problem(field, reason, "The individual has no checks."))
		}
		for _, check := range individual.Checks {
			if !r.session.Connection.States.Passed(check.State) {
				found = append(found, problem(fmt.Sprintf("%s.checks[%d]", field, check.ID), reason, "The check has not passed."))
			}
		}
	}
	if len(found) == 0 && r.facts.application.evidence.checks < checksPassed {
		found = append(found, problem("status.individuals", reason,
			"The service counts checks that wait, or shows the checks from before the last reset."))
	}
	return found
}

// evidenceProblems say that decisions are outdated before anybody can make them.
func (r *reconciliation) evidenceProblems(status *v1alpha1.MandateStatus) []v1alpha1.Problem {
	if status.Outcome != "" {
		return nil
	}
	return r.local().unstable.problems(r.facts.now)
}

// subscriptionProblems say why the service refused to subscribe the application.
func (r *reconciliation) subscriptionProblems(status *v1alpha1.MandateStatus) []v1alpha1.Problem {
	if status.Subscription != v1alpha1.SubscriptionRefused {
		return nil
	}
	return r.refusalProblems(reasonSubscriptionRefused)
}

var (
	writesRecord = engine.ServerRequest{Field: "ApplicationRecord", What: "write the ApplicationRecord"}
	marksMandate = engine.ServerRequest{
		Field: "metadata.annotations", What: "mark the Mandate, which comes before its archiving",
	}
	readsInputs = engine.ServerRequest{
		Field: "spec", What: "read the Mandate and its Secrets, or the ApplicationRecords",
	}
	erasesData = engine.ServerRequest{Field: "spec.individuals", What: "erase inline personal data in the Mandate"}
)

// serverRequests are those that do more than write the record.
var serverRequests = map[step]engine.ServerRequest{
	stepReadRecord: {Field: "ApplicationRecord", What: "read the ApplicationRecord"},
	stepFinalizer:  {Field: "metadata.finalizers", What: "change the finalizers of the Mandate"},
	stepResolve:    readsInputs,
	stepAdopt:      readsInputs,
	stepBind:       readsInputs,
	stepErase:      {Field: "spec", What: "read the Mandate"},
}

// stepFailed is for a step whose request to the API server has failed.
func (r *reconciliation) stepFailed(ctx context.Context, s step, err error) error {
	if _, ok := errors.AsType[*engine.UnrecordedError](err); ok { // which is tried again until it succeeds
		return err
	}
	return r.refused(ctx, cmp.Or(serverRequests[s], writesRecord), err)
}

// refused has the status say what the API server refuses.
func (r *scope) refused(ctx context.Context, request engine.ServerRequest, err error) error {
	problems := request.Refused(ctx, "", err)
	if problems == nil {
		return err
	}
	r.failed(problems...)
	switch {
	case r.facts.id != 0 || r.facts.deletion.requested:
		r.facts.failureReason = v1alpha1.ReasonReadFailed
	case request.Field == "spec": // it can be recorded
		r.facts.failureReason = v1alpha1.ReasonRetrying
	default:
		r.facts.failureReason = v1alpha1.ReasonLedgerUnavailable
	}
	return nil
}

// erasureProblems say what is not erased after the outcome, as they said it before where nobody looked again.
func (r *reconciliation) erasureProblems() []v1alpha1.Problem {
	if r.facts.erasure != erasureDue {
		return r.facts.problems.erasure
	}
	return engine.ProblemsOf(r.mandate.Status.Problems, v1alpha1.ProblemErasedDataInGit)
}
