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
	create = "service: POST applications"
	poll   = "service: GET applications/ID"
	send   = "service: POST individuals/ID/invites/resend"
	start  = "PATCH mandateactions/status"
)

// What must never be, as failures spell it.
const (
	duplicateEmail = "DUPLICATE E-MAIL"
	silentlyLost   = "SILENTLY LOST"
)

// scene is what can be seen of a life at one moment, but for what the API server shows.
type scene struct {
	applications map[string]control.Application // by Mandate
	emails       map[string]map[string]int      // by Mandate, by kind and individual
}

func (l *life) look(ctx context.Context) (scene, error) {
	s := scene{map[string]control.Application{}, map[string]map[string]int{}}
	applications, err := l.sandbox.Applications(ctx)
	if err != nil {
		return s, err
	}
	for i := range applications {
		s.applications[strings.TrimPrefix(applications[i].Reference, l.namespace+".")] = applications[i]
	}
	emails, err := l.sandbox.Outbox(ctx)
	for i := range emails {
		mandate := strings.TrimPrefix(emails[i].Reference, l.namespace+".")
		if s.emails[mandate] == nil {
			s.emails[mandate] = map[string]int{}
		}
		s.emails[mandate][string(emails[i].Kind)+" to "+strings.TrimPrefix(emails[i].IndividualReference, l.namespace+".")]++
	}
	return s, err
}

// differences tells in what the life is not as it ought to be now, "" if in nothing.
func (l *life) differences(ctx context.Context) string {
	s, err := l.look(ctx)
	if err != nil {
		return err.Error()
	}
	var lines []string
	for _, missing := range []string{l.connected(ctx), l.kept(ctx)} {
		if missing != "" {
			lines = append(lines, missing)
		}
	}
	for _, mandate := range mandates {
		want := ends[mandate]
		if l.unknown(mandate) {
			want = l.unknownEnd(mandate, &s)
		}
		if got := l.mandateEnd(ctx, mandate, &s); got != want {
			lines = append(lines, fmt.Sprintf("%s is\n  %s\nand should be\n  %s", mandate, got, want))
		}
	}
	for order, mandate := range map[string]string{resend: plain, report: decided} {
		want := []string{ends[order]}
		switch {
		case l.unknown(mandate):
			want = []string{"Reconciling=True/MandateStalled"}
		case order == resend && l.sendMayBeLost():
			want = append(want, "Failed=True/OutcomeUnknown Stalled=True/OutcomeUnknown")
		}
		if got := l.orderEnd(ctx, order); !slices.Contains(want, got) {
			lines = append(lines, fmt.Sprintf("%s is\n  %s\nand should be one of\n  %q", order, got, want))
		}
	}
	return strings.Join(lines, "\n")
}

// mandateEnd is all that counts of a Mandate, in one line: its status, its record, its application and its e-mails.
func (l *life) mandateEnd(ctx context.Context, name string, s *scene) string {
	words := []string{"gone"}
	m := l.mandate(name)
	if err := world.watched.Get(ctx, client.ObjectKeyFromObject(m), m); err == nil {
		words = l.statusWords(m)
	} else if !apierrors.IsNotFound(err) {
		return err.Error()
	}
	words = append(words, l.recordWords(ctx, name)...)
	if a, ok := s.applications[name]; ok {
		words = append(words, fmt.Sprintf("| service: %s archived=%t", a.State, a.Archived))
		for _, i := range a.Individuals {
			words = append(words, i.State)
			for _, c := range i.Checks {
				words = append(words, c.Name+"="+c.State)
			}
		}
	}
	return strings.Join(append(words, emailWords(s.emails[name])), " ")
}

func emailWords(emails map[string]int) string {
	words := "| e-mails:"
	for _, kind := range slices.Sorted(maps.Keys(emails)) {
		if !strings.HasPrefix(kind, string(control.Resend)) { // those are an order's
			words += fmt.Sprintf(" %s %d", kind, emails[kind])
		}
	}
	return words
}

func (l *life) statusWords(m *v1alpha1.Mandate) []string {
	status := &m.Status
	words := []string{conditionsText(status.Conditions), string(status.Outcome), status.State, status.Progress, fmt.Sprintf("archived=%t %v", status.Archived, m.Finalizers)}
	if status.ObservedGeneration != m.Generation {
		words = append(words, "behind")
	}
	if status.ApplicationID != nil {
		words = append(words, "has the application of "+l.whose(*status.ApplicationID))
	}
	for i := range status.Individuals {
		individual := &status.Individuals[i]
		words = append(words, individual.Name)
		for _, c := range individual.Checks {
			words = append(words, fmt.Sprintf("%s=%s %s", c.Name, c.State.Name, c.Reviewed))
		}
	}
	return words
}

func (l *life) recordWords(ctx context.Context, mandate string) []string {
	record := l.record(ctx, mandate)
	if record == nil {
		return []string{"| no record"}
	}
	words := []string{"| record of " + record.Spec.MandateRef.Name}
	if a := record.Spec.Attempt; a != nil {
		words = append(words, fmt.Sprintf("sent=%t %s", a.Sent, a.Verdict))
	}
	if id := record.Spec.ApplicationID; id != nil {
		words = append(words, "has the application of "+l.whose(*id))
	}
	return words
}

// whose application an id is, as the service's answers told.
func (l *life) whose(id int64) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.names.ids["applications"+strconv.FormatInt(id, 10)]
}

func (l *life) record(ctx context.Context, mandate string) *v1alpha1.ApplicationRecord {
	record := &v1alpha1.ApplicationRecord{}
	name := ledger.Name(ledger.NormalURL(l.service.URL), l.reference(mandate))
	if world.watched.Get(ctx, client.ObjectKey{Namespace: l.namespace, Name: name}, record) != nil {
		return nil
	}
	return record
}

func (l *life) orderEnd(ctx context.Context, name string) string {
	order := &v1alpha1.MandateAction{}
	if err := world.watched.Get(ctx, client.ObjectKey{Namespace: l.namespace, Name: name}, order); err != nil {
		return err.Error()
	}
	return conditionsText(order.Status.Conditions)
}

func conditionsText(conditions []metav1.Condition) string {
	words := make([]string, len(conditions))
	for i, c := range conditions {
		words[i] = fmt.Sprintf("%s=%s/%s", c.Type, c.Status, c.Reason)
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

// unknownEnd is the documented end of a Mandate whose application's id was lost: it says so, has no id, and a person must
// act. The application, if there is one, is as it was made.
func (l *life) unknownEnd(name string, s *scene) string {
	words := "Completed=False/InProgress Created=Unknown/OutcomeUnknown Ready=False/OutcomeUnknown ResolvedRefs=True/Resolved Stalled=True/OutcomeUnknown    archived=false []"
	record := l.record(context.Background(), name)
	verdict := ""
	if record != nil && record.Spec.Attempt != nil {
		verdict = string(record.Spec.Attempt.Verdict)
	}
	if name == deleted {
		words = "gone"
	}
	words += fmt.Sprintf(" | record of %s sent=true %s", name, verdict)
	if a, ok := s.applications[name]; ok {
		words += " | service: created archived=false"
		for _, i := range a.Individuals {
			words += " " + "invited"
			for _, c := range i.Checks {
				words += " " + c.Name + "=pending"
			}
		}
	}
	if _, ok := s.applications[name]; !ok {
		return words + " | e-mails:"
	}
	_, emails, _ := strings.Cut(ends[name], "| e-mails:")
	return words + " | e-mails:" + emails
}

// sendMayBeLost: the order's call had no answer that proves anything, or the operator that had begun it was killed.
func (l *life) sendMayBeLost() bool {
	last := l.crew.current()
	return slices.ContainsFunc(l.happened(), func(h happening) bool {
		begun := h.effect.what == start && h.effect.about == resend || h.effect.what == send
		return begun && h.epoch < last || h.effect.what == send && h.fault != ""
	})
}

// violations are the invariants that do not hold in the end. What is e-mailed and bound was compared with the calm run; this
// is what must hold whatever that showed.
func (l *life) violations(ctx context.Context) []string {
	var found []string
	if difference := l.differences(ctx); difference != "" {
		found = append(found, "it did not stay as it was: "+difference)
	}
	s, err := l.look(ctx)
	if err != nil {
		return append(found, err.Error())
	}
	found = append(found, l.countEmails(&s)...)
	for _, mandate := range mandates {
		if l.unknown(mandate) && !l.mayBeUnknown(ctx, mandate) {
			found = append(found, mandate+": "+silentlyLost+": the operator heard of the application's id, lived on, and the ledger does not have it")
		}
	}
	for _, h := range l.happened() {
		if destroys := strings.HasPrefix(h.effect.what, "service: DELETE"); destroys && h.effect.about != deleted {
			found = append(found, "an application was deleted that is not its own: "+h.String())
		}
	}
	return append(append(found, l.excess()...), l.leaks(ctx)...)
}

func (l *life) countEmails(s *scene) (found []string) {
	for mandate, emails := range s.emails {
		for kind, n := range emails {
			if n > 1 {
				found = append(found, fmt.Sprintf("%s: %s: %s, %d times", mandate, duplicateEmail, kind, n))
			}
		}
	}
	sent := 0
	for _, h := range l.happened() {
		if h.effect.what == send {
			sent++
		}
	}
	if sent > 1 && !l.repeatable() {
		found = append(found, fmt.Sprintf("an order was sent %d times", sent))
	}
	if end := l.orderEnd(context.Background(), resend); end == ends[resend] && len(s.emails[plain]) != 3 {
		found = append(found, fmt.Sprintf("an order is complete, and the e-mails are %v", s.emails[plain]))
	}
	return found
}

// repeatable: an order's call was turned away in a way that proves that nothing was done.
func (l *life) repeatable() bool {
	return slices.ContainsFunc(l.happened(), func(h happening) bool { return h.effect.what == send && h.fault == busy })
}

// mayBeUnknown: no operator that lives on was told the id, or none of as many attempts as there may be reached the service.
func (l *life) mayBeUnknown(ctx context.Context, mandate string) bool {
	const maxAttempts = 4
	record := l.record(ctx, mandate)
	if record == nil || record.Spec.Attempt == nil {
		return false
	}
	last, created := l.crew.current(), false
	for _, h := range l.happened() {
		if h.effect.what != create || h.effect.about != mandate || h.status/100 != 2 {
			continue
		}
		created = true
		if h.heard && h.epoch == last {
			return false
		}
	}
	return created || record.Spec.Attempt.Ordinal >= maxAttempts
}

// leaks looks for personal data in all that the operator has written into the namespace.
func (l *life) leaks(ctx context.Context) (found []string) {
	var all struct {
		Mandates v1alpha1.MandateList
		Orders   v1alpha1.MandateActionList
		Records  v1alpha1.ApplicationRecordList
		Events   eventsv1.EventList
	}
	for _, list := range []client.ObjectList{&all.Mandates, &all.Orders, &all.Records, &all.Events} {
		if err := world.watched.List(ctx, list, client.InNamespace(l.namespace)); err != nil {
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
		found = append(found, "the API server was given personal data: "+leak)
	}
	if exists, err := l.secretExists(ctx, report); err != nil || !exists && !l.unknown(decided) {
		found = append(found, fmt.Sprintf("the report was not stored (%v)", err))
	}
	return found
}
