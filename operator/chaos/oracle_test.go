package chaos_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/operator/ledger"
)

// Effects that the oracle knows by name.
const (
	createRequest = "service: POST applications"
	poll          = "service: GET applications/ID"
	subscribe     = "service: POST webhooks/subscribe"
	writeRecord   = "PATCH applicationrecords"
)

// The worst violations, which a campaign counts.
const (
	duplicateEmail = "DUPLICATE E-MAIL"
	silentlyLost   = "SILENTLY LOST"
)

// snapshot is the state of the service at one moment.
type snapshot struct {
	applications map[string]control.Application // by Mandate
	emails       map[string]map[string]int      // by Mandate, by kind and individual
}

func (s *scenario) observe(ctx context.Context) (snapshot, error) {
	seen := snapshot{map[string]control.Application{}, map[string]map[string]int{}}
	applications, err := s.sandbox.Applications(ctx)
	if err != nil {
		return seen, err
	}
	for i := range applications {
		seen.applications[strings.TrimPrefix(applications[i].Reference, s.namespace+".")] = applications[i]
	}
	emails, err := s.sandbox.Outbox(ctx)
	for i := range emails {
		mandate := strings.TrimPrefix(emails[i].Reference, s.namespace+".")
		if seen.emails[mandate] == nil {
			seen.emails[mandate] = map[string]int{}
		}
		individual := strings.TrimPrefix(emails[i].IndividualReference, s.namespace+".")
		seen.emails[mandate][string(emails[i].Kind)+" to "+individual]++
	}
	return seen, err
}

// differences describes how the state of the scenario differs from the expected one, "" if it does not.
func (s *scenario) differences(ctx context.Context) string {
	seen, err := s.observe(ctx)
	if err != nil {
		return err.Error()
	}
	var lines []string
	for _, mandate := range mandates {
		want := expected[mandate]
		if s.idUnknown(mandate) {
			want = s.unknownSummary(mandate, &seen)
		}
		if call := ledger.Open(s.record(ctx, mandate)); call != nil {
			lines = append(lines, fmt.Sprintf("%s: %s has no result in the log", mandate, call.Kind))
		}
		if got := s.mandateSummary(ctx, mandate, &seen); got != want {
			lines = append(lines, fmt.Sprintf("%s is\n  %s\nwant\n  %s", mandate, got, want))
		}
	}
	for action, mandate := range map[string]string{resend: plain, report: decided, reset: rejected} {
		want := []string{expected[action]}
		switch {
		case s.idUnknown(mandate):
			want = []string{"Reconciling=True/MandateStalled"}
		case action != report && s.actionMayBeLost(action):
			want = append(want, "Failed=True/OutcomeUnknown Stalled=True/OutcomeUnknown")
		}
		if got := s.actionSummary(ctx, action); !slices.Contains(want, got) {
			lines = append(lines, fmt.Sprintf("%s is\n  %s\nwant one of\n  %q", action, got, want))
		}
	}
	// Last: the service lists a state after a Mandate shows it.
	for _, missing := range []string{s.notConnected(ctx), s.serviceNotKept(ctx), s.stateNotListed(ctx)} {
		if missing != "" {
			lines = append(lines, missing)
		}
	}
	return strings.Join(lines, "\n")
}

// mandateSummary is one line with the status, record, application and e-mails of a Mandate.
func (s *scenario) mandateSummary(ctx context.Context, name string, seen *snapshot) string {
	words := []string{"gone"}
	m := s.mandate(name)
	if err := cluster.watched.Get(ctx, client.ObjectKeyFromObject(m), m); err == nil {
		words = s.statusWords(m)
	} else if !apierrors.IsNotFound(err) {
		return err.Error()
	}
	words = append(words, s.recordWords(ctx, name)...)
	if a, ok := seen.applications[name]; ok {
		words = append(words, fmt.Sprintf("| service: %s archived=%t", a.State, a.Archived))
		for _, i := range a.Individuals {
			words = append(words, i.State)
			for _, c := range i.Checks {
				words = append(words, c.Name+"="+c.State)
			}
		}
	}
	return strings.Join(append(words, emailWords(seen.emails[name])), " ")
}

func emailWords(emails map[string]int) string {
	words := "| e-mails:"
	for _, kind := range slices.Sorted(maps.Keys(emails)) {
		if strings.HasPrefix(kind, string(control.Invite)) { // an action sent the others
			words += fmt.Sprintf(" %s %d", kind, emails[kind])
		}
	}
	return words
}

func (s *scenario) statusWords(m *v1alpha1.Mandate) []string {
	status := &m.Status
	words := []string{
		conditionsText(status.Conditions), string(status.Outcome), status.State, status.Progress,
		fmt.Sprintf("archived=%t %v", status.Archived, m.Finalizers),
	}
	if status.ObservedGeneration != m.Generation {
		words = append(words, "outdated")
	}
	if status.ApplicationID != nil {
		words = append(words, "has the application of "+s.applicationOwner(*status.ApplicationID))
	}
	for i := range status.Individuals {
		individual := &status.Individuals[i]
		words = append(words, individual.Name)
		for _, c := range individual.Checks {
			words = append(words, fmt.Sprintf("%s=%s", c.Name, c.State.Name))
		}
	}
	for _, review := range status.Reviews {
		words = append(words, fmt.Sprintf("%s of %s of %s", review.Decision, review.Check, review.Individual))
	}
	return words
}

func (s *scenario) recordWords(ctx context.Context, mandate string) []string {
	record := s.record(ctx, mandate)
	if record == nil {
		return []string{"| no record"}
	}
	words := []string{"| record of " + record.Name}
	if create := ledger.CreateOf(record); create != nil { // logProblems looks at the other calls
		words = append(words, fmt.Sprintf("Create=%s%s", create.Result, create.Answer))
	}
	if id := record.Spec.ApplicationID; id != nil {
		words = append(words, "has the application of "+s.applicationOwner(*id))
	}
	return words
}

// applicationOwner is the Mandate whose create the service answered with an id.
func (s *scenario) applicationOwner(id int64) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.names.ids["applications"+strconv.FormatInt(id, 10)]
}

func (s *scenario) record(ctx context.Context, mandate string) *v1alpha1.ApplicationRecord {
	record := &v1alpha1.ApplicationRecord{}
	key := client.ObjectKey{Namespace: s.namespace, Name: mandate}
	if cluster.watched.Get(ctx, key, record) != nil {
		return nil
	}
	return record
}

func (s *scenario) actionSummary(ctx context.Context, name string) string {
	action := &v1alpha1.MandateAction{}
	if err := cluster.watched.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: name}, action); err != nil {
		return err.Error()
	}
	return conditionsText(action.Status.Conditions)
}

func conditionsText(conditions []metav1.Condition) string {
	words := make([]string, len(conditions))
	for i, c := range conditions {
		words[i] = fmt.Sprintf("%s=%s/%s", c.Type, c.Status, c.Reason)
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

// unknownSummary is the documented final state of a Mandate whose application's id was lost. It says so, has no id, and
// waits for a person. The application, if there is one, is as it was created.
func (s *scenario) unknownSummary(name string, seen *snapshot) string {
	words := "Completed=False/InProgress Created=Unknown/OutcomeUnknown Decided=False/NoDecision " +
		"Ready=False/OutcomeUnknown ResolvedRefs=True/Resolved Stalled=True/OutcomeUnknown    archived=false []"
	if name == deleted {
		words = "gone"
	}
	created := ledger.CreateOf(s.record(context.Background(), name))
	if created != nil {
		words += fmt.Sprintf(" | record of %s Create=%s%s", name, created.Result, created.Answer)
	}
	application, exists := seen.applications[name]
	if !exists {
		return words + " | e-mails:"
	}
	words += " | service: created archived=false"
	for _, i := range application.Individuals {
		words += " invited"
		for _, c := range i.Checks {
			words += " " + c.Name + "=pending"
		}
	}
	_, emails, _ := strings.Cut(expected[name], "| e-mails:")
	return words + " | e-mails:" + emails
}

// beginOf is the write with which an action begins its call.
var beginOf = map[string]effect{resend: {writeRecord, plain, 2}, reset: {writeRecord, rejected, 4}}

// actionMayBeLost reports whether the outcome of an action may be unknown: its request had no conclusive answer, or the
// operator that started it was killed.
func (s *scenario) actionMayBeLost(action string) bool {
	last, request := s.fleet.current(), requestOf[action]
	return slices.ContainsFunc(s.occurrences(), func(o occurrence) bool {
		begun := o.effect == beginOf[action] || o.effect.what == request
		return begun && o.epoch < last || o.effect.what == request && o.fault != ""
	})
}

// violations are the invariants that the final state breaks. They hold whatever the fault-free run shows.
func (s *scenario) violations(ctx context.Context) []string {
	var found []string
	if difference := s.differences(ctx); difference != "" {
		found = append(found, "the state has changed again: "+difference)
	}
	seen, err := s.observe(ctx)
	if err != nil {
		return append(found, err.Error())
	}
	found = append(found, s.countEmails(&seen)...)
	for _, mandate := range mandates {
		if s.idUnknown(mandate) && !s.idMayBeUnknown(ctx, mandate) {
			found = append(found, mandate+": "+silentlyLost+": a running operator received the application's id, "+
				"and the ledger does not have it")
		}
	}
	return slices.Concat(found, s.unrequested(), s.logProblems(ctx, mandates), s.excessRequests(), s.leaks(ctx))
}

func (s *scenario) countEmails(seen *snapshot) (found []string) {
	for mandate, emails := range seen.emails {
		for kind, n := range emails {
			if n > 1 {
				found = append(found, fmt.Sprintf("%s: %s: %s, %d times", mandate, duplicateEmail, kind, n))
			}
		}
	}
	if got := s.actionSummary(context.Background(), resend); got == expected[resend] && len(seen.emails[plain]) != 3 {
		found = append(found, fmt.Sprintf("the resend is complete, and the e-mails are %v", seen.emails[plain]))
	}
	return found
}

// idMayBeUnknown reports whether no running operator received the id, or the last attempt failed without a create.
func (s *scenario) idMayBeUnknown(ctx context.Context, mandate string) bool {
	create := ledger.CreateOf(s.record(ctx, mandate))
	if create == nil {
		return false
	}
	last, created := s.fleet.current(), false
	for _, o := range s.occurrences() {
		if o.effect.what != createRequest || o.effect.about != mandate || o.status/100 != 2 {
			continue
		}
		created = true
		if o.received && o.epoch == last {
			return false
		}
	}
	return created || create.Sends >= ledger.MaxSends(create.Kind)
}

// leaks searches everything that the operator wrote into the namespace for personal data.
func (s *scenario) leaks(ctx context.Context) (found []string) {
	var all struct {
		Mandates v1alpha1.MandateList
		Actions  v1alpha1.MandateActionList
		Records  v1alpha1.ApplicationRecordList
		Events   eventsv1.EventList
	}
	for _, list := range []client.ObjectList{&all.Mandates, &all.Actions, &all.Records, &all.Events} {
		if err := cluster.watched.List(ctx, list, client.InNamespace(s.namespace)); err != nil {
			return []string{err.Error()}
		}
	}
	for i := range all.Mandates.Items {
		all.Mandates.Items[i].Spec, all.Mandates.Items[i].ManagedFields = v1alpha1.MandateSpec{}, nil
	}
	content, err := json.Marshal(all)
	if err != nil {
		return []string{err.Error()}
	}
	if leak := leakIn(content); leak != "" {
		found = append(found, "an object contains personal data: "+leak)
	}
	if exists, err := s.secretExists(ctx, report); err != nil || !exists && !s.idUnknown(decided) {
		found = append(found, fmt.Sprintf("the report is not in its Secret (%v)", err))
	}
	return found
}
