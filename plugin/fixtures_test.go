package plugin

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// factsFor are objects in which a reason occurs: a Mandate with it, or one whose service or action has it.
func factsFor(t *testing.T, e *explanation) facts {
	t.Helper()
	switch e.Kind {
	case kindService:
		f := mandateFacts(t, v1alpha1.ReasonAccepted)
		status := f.service.ServiceStatus()
		status.Conditions = with(status.Conditions, e.Reason, firstSentence(e), e.Conditions...)
		return f
	case kindAction:
		f := mandateFacts(t, mandateOfAction[e.Reason])
		f.actions = []v1alpha1.MandateAction{actionWith(e)}
		if e.Reason == v1alpha1.ReasonOutcomeUnknown {
			addCall(&f, v1alpha1.Call{
				Kind: v1alpha1.CallResendInvite, Name: f.actions[0].Name, Individual: f.actions[0].Spec.Individual,
				Sends: 1, Result: v1alpha1.CallUnknown,
			})
		}
		if e.Reason == v1alpha1.ReasonRecordNotFound {
			f.record = nil
		}
		return f
	}
	return mandateFacts(t, e.Reason)
}

// mandateOfAction has the reason of the Mandate that an action waits for, or fails because of. Others are Accepted.
var mandateOfAction = map[string]string{
	v1alpha1.ReasonMandateNotReady:           v1alpha1.ReasonRetrying,
	v1alpha1.ReasonMandateStalled:            v1alpha1.ReasonRefused,
	v1alpha1.ReasonIndividualsUnmatched:      v1alpha1.ReasonIndividualsUnmatched,
	v1alpha1.ReasonSuspended:                 v1alpha1.ReasonSuspended,
	v1alpha1.ReasonIdentityServiceNotFound:   v1alpha1.ReasonIdentityServiceNotFound,
	v1alpha1.ReasonIdentityServiceNotReady:   v1alpha1.ReasonIdentityServiceNotReady,
	v1alpha1.ReasonIdentityServiceNotAllowed: v1alpha1.ReasonIdentityServiceNotAllowed,
	v1alpha1.ReasonApplicationGone:           string(v1alpha1.OutcomeDeleted),
}

// actionWith is an action with a reason: the download of a report if only that can have it, else a resend.
func actionWith(e *explanation) v1alpha1.MandateAction {
	a := v1alpha1.MandateAction{}
	a.Name = "acme-resend-1"
	a.Spec.MandateRef.Name, a.Spec.Individual = "acme", "director"
	a.Spec.Type = v1alpha1.MandateActionResendInvite
	if strings.HasPrefix(e.Reason, "Report") || strings.HasPrefix(e.Reason, "Secret") {
		a.Name, a.Spec.Type = "acme-report-1", v1alpha1.MandateActionDownloadReport
		a.Spec.ReportSecretRef = &v1alpha1.SecretReference{Name: "director-report"}
	}
	a.Status.Conditions = with(nil, e.Reason, firstSentence(e), e.Conditions...)
	return a
}

// firstSentence is in place of the operator's message of a service or an action, which docs/status.md does not list.
func firstSentence(e *explanation) string {
	sentence, _, _ := strings.Cut(strings.ReplaceAll(e.Meaning, "\n", " "), ". ")
	return strings.TrimSuffix(sentence, ".") + "."
}

// mandateFacts are a Mandate with a reason, as the operator reports it by docs/status.md, and what belongs to it.
func mandateFacts(t *testing.T, reason string) facts {
	t.Helper()
	page := readStatusPage(t)
	line := page.line(cmp.Or(situations[reason], reason))
	m := newMandate()
	f := facts{mandate: m, service: &v1alpha1.IdentityService{}}
	f.service.ServiceStatus().Conditions = with(nil, v1alpha1.ReasonConnected, "The connection works.", "Ready=True")
	for i, kind := range []string{"Ready", "Created", "Completed"} {
		status, reason, _ := strings.Cut(line[1+i], ", ")
		m.Status.Conditions = with(m.Status.Conditions, reason, page.message[reason], kind+"="+status)
	}
	ready := meta.FindStatusCondition(m.Status.Conditions, "Ready")
	if line[4] != "" {
		m.Status.Conditions = with(m.Status.Conditions, ready.Reason, ready.Message, line[4]+"=True")
	}
	refs, refsReason := "ResolvedRefs=True", v1alpha1.ReasonResolved
	e, _ := explanationOf(kindMandate, ready.Reason)
	if i := slices.IndexFunc(e.Conditions, func(c string) bool { return strings.HasPrefix(c, "ResolvedRefs=") }); i >= 0 {
		refs, refsReason = e.Conditions[i], ready.Reason
	}
	m.Status.Conditions = with(m.Status.Conditions, refsReason, page.message[refsReason], refs)
	for _, c := range m.Status.Conditions {
		if c.Message == "" {
			t.Fatalf("docs/status.md has no message of %s", c.Reason)
		}
	}
	f.record = recordOf(m)
	if meta.IsStatusConditionTrue(m.Status.Conditions, "Created") {
		addApplication(m)
	}
	setDecided(m, reason, page)
	if change := changes[reason]; change != nil {
		change(&f)
	}
	return f
}

// setDecided adds the condition Decided, with a reason if it is one of that condition.
func setDecided(m *v1alpha1.Mandate, reason string, page *statusPage) {
	e, _ := explanationOf(kindMandate, reason)
	i := slices.IndexFunc(e.Conditions, func(c string) bool { return strings.HasPrefix(c, "Decided=") })
	shown := "Decided=False"
	if i < 0 {
		reason = v1alpha1.ReasonNoDecision
	} else {
		shown = e.Conditions[i]
	}
	m.Status.Conditions = with(m.Status.Conditions, reason, page.message[reason], shown)
}

// situations of docs/status.md in which reasons of the condition Decided occur. Others occur while it waits for people.
var situations = map[string]string{v1alpha1.ReasonDecided: "completed", v1alpha1.ReasonDecidedOtherwise: "rejected"}

// changes are what a Mandate with a reason has besides its conditions.
var changes = map[string]func(*facts){
	string(v1alpha1.OutcomeCompleted): func(f *facts) { decided(f.mandate, "completed", "2/2", "passed") },
	string(v1alpha1.OutcomeRejected):  func(f *facts) { decided(f.mandate, "rejected", "1/2", "failed") },
	string(v1alpha1.OutcomeDeleted):   func(f *facts) { f.mandate.Status.Outcome = v1alpha1.OutcomeDeleted },
	string(v1alpha1.OutcomeExpired): func(f *facts) {
		m, age := f.mandate, 57*24*time.Hour
		m.CreationTimestamp = metav1.NewTime(fixedNow().Add(-age))
		f.record.Spec.Calls[0].StartedTime = metav1.NewMicroTime(fixedNow().Add(-age))
		m.Status.ExpiryTime = new(metav1.NewTime(fixedNow().Add(-24 * time.Hour)))
		m.Status.Outcome = v1alpha1.OutcomeExpired
	},
	v1alpha1.ReasonSecretInvalid: func(f *facts) {
		f.mandate.Status.Problems = []v1alpha1.Problem{{
			Field: "spec.individuals[director].detailsSecretRef", Reason: v1alpha1.ReasonSecretInvalid,
			Message: "The key email of the Secret director is missing, or not an e-mail address.",
		}}
	},
	v1alpha1.ReasonNoDecision:      func(f *facts) { inReview(f.mandate) },
	v1alpha1.ReasonDecisionWaiting: func(f *facts) { f.mandate.Spec.Decision = byRule() },
	v1alpha1.ReasonDecisionForbidden: func(f *facts) {
		decidedInReview(f, seen)
		addCall(f, v1alpha1.Call{Kind: v1alpha1.CallComplete, Result: v1alpha1.CallForbidden})
	},
	v1alpha1.ReasonDecisionOutdated: func(f *facts) { decidedInReview(f, "0c35d5ae-2") },
	v1alpha1.ReasonDecisionRefused: func(f *facts) {
		decidedInReview(f, seen)
		addCall(f, v1alpha1.Call{Kind: v1alpha1.CallComplete, Result: v1alpha1.CallRefused})
	},
	v1alpha1.ReasonDecisionUnknown: func(f *facts) {
		decidedInReview(f, seen)
		addCall(f, v1alpha1.Call{Kind: v1alpha1.CallComplete, Sends: 2, Result: v1alpha1.CallUnknown})
	},
	v1alpha1.ReasonStateUnknown: func(f *facts) {
		decided(f.mandate, "awaiting decision", "2/2", "passed")
		f.mandate.Status.Outcome, f.mandate.Spec.Decision = "", byRule()
	},
	v1alpha1.ReasonReviewOutdated: func(f *facts) { inReview(f.mandate) },
	v1alpha1.ReasonReviewRefused: func(f *facts) {
		inReview(f.mandate)
		addCall(f, v1alpha1.Call{
			Kind: v1alpha1.CallAcceptCheck, Individual: "director", Sends: 1, Result: v1alpha1.CallUnknown,
			Answer: v1alpha1.AnswerRefused,
		})
	},
	v1alpha1.ReasonDecided: func(f *facts) {
		decided(f.mandate, "completed", "2/2", "passed")
		f.mandate.Spec.Decision = byRule()
	},
	v1alpha1.ReasonDecidedOtherwise: func(f *facts) {
		decided(f.mandate, "rejected", "1/2", "failed")
		f.mandate.Spec.Decision = byRule()
	},
	v1alpha1.ReasonSuspended: func(f *facts) { f.mandate.Spec.Suspend = true },
	v1alpha1.ReasonReadFailed: func(f *facts) {
		f.mandate.Status.LastReadTime = new(metav1.NewTime(fixedNow().Add(-20 * time.Minute)))
	},
	v1alpha1.ReasonIdentityServiceNotFound: func(f *facts) { f.service = nil },
	v1alpha1.ReasonIdentityServiceNotReady: unreachable,
	v1alpha1.ReasonIdentityServiceNotAllowed: func(f *facts) {
		f.mandate.Spec.ServiceRef.Kind = v1alpha1.ServiceKindClusterIdentityService
	},
	v1alpha1.ReasonAdopted: func(f *facts) { f.record.Spec.Calls = nil },
	v1alpha1.ReasonApplicationExists: func(f *facts) {
		f.record.Spec.ApplicationID, f.record.Spec.Calls[0].Result = new(int64(4711)), v1alpha1.CallDone
	},
	v1alpha1.ReasonRefused:           func(f *facts) { refused(f, v1alpha1.CallRefused, v1alpha1.AnswerRefused) },
	v1alpha1.ReasonReferenceConflict: func(f *facts) { refused(f, v1alpha1.CallRefused, v1alpha1.AnswerDuplicate) },
	v1alpha1.ReasonRetrying:          func(f *facts) { refused(f, v1alpha1.CallNotSent, v1alpha1.AnswerNotSent) },
	v1alpha1.ReasonOutcomeUnknown: func(f *facts) {
		create := &f.record.Spec.Calls[0]
		create.Sends = 2
		create.Result, create.Answer = v1alpha1.CallUnknown, v1alpha1.AnswerDuplicate
	},
	v1alpha1.ReasonDeletionWaiting: func(f *facts) {
		deleting(f.mandate)
		unreachable(f)
	},
	v1alpha1.ReasonDeletionRefused: func(f *facts) { deleting(f.mandate) },
	v1alpha1.ReasonNotArchived: func(f *facts) {
		f.mandate.Spec.Archived = true
		addCall(f, v1alpha1.Call{Kind: v1alpha1.CallArchive, Sends: 1})
	},
}

// addCall adds a call to the record, ten minutes ago.
func addCall(f *facts, call v1alpha1.Call) {
	call.Seq, call.StartedTime = 2, metav1.NewMicroTime(fixedNow().Add(-10*time.Minute))
	f.record.Spec.Calls = append(f.record.Spec.Calls, call)
}

func newMandate() *v1alpha1.Mandate {
	m := &v1alpha1.Mandate{}
	m.Namespace, m.Name = "onboarding", "acme"
	m.Generation = 1
	m.CreationTimestamp = metav1.NewTime(fixedNow().Add(-50 * time.Hour))
	m.Spec.ServiceRef = v1alpha1.IdentityServiceReference{Kind: v1alpha1.ServiceKindIdentityService, Name: "default"}
	m.Spec.Name = secret
	m.Spec.Individuals = []v1alpha1.Individual{{
		Name: "director", Email: secret, FirstName: secret, LastName: secret, Reference: secret, DateOfBirth: secret,
	}}
	m.Spec.CheckReviews = []v1alpha1.CheckReview{{
		Individual: "director", Check: "liveness", Evidence: "41aa90c2", Comment: secret,
	}}
	m.Status.ObservedGeneration, m.Status.Reference = 1, "onboarding.acme"
	return m
}

// addApplication has the status show an application, whose individual has one check to do.
func addApplication(m *v1alpha1.Mandate) {
	s := &m.Status
	s.ApplicationID = new(int64(4711))
	s.State, s.Progress = "created", "1/2"
	s.Evidence = seen
	s.ExpiryTime = new(metav1.NewTime(fixedNow().Add(54 * 24 * time.Hour)))
	s.Individuals = []v1alpha1.IndividualStatus{{
		Name: "director", ID: 91, State: &v1alpha1.ServiceState{Name: "in progress"}, TermsAccepted: new(true),
		ChecksPending: new(int64(1)), ChecksPassed: new(int64(1)),
		Checks: []v1alpha1.CheckStatus{
			{ID: 1, Name: "identity_document", State: &v1alpha1.ServiceState{Name: "passed"}, Evidence: "5bd0f6e1"},
			{ID: 2, Name: "liveness", State: &v1alpha1.ServiceState{Name: "pending"}, Evidence: "41aa90c2"},
		},
	}}
}

func decided(m *v1alpha1.Mandate, state, progress, check string) {
	m.Status.State, m.Status.Progress = state, progress
	m.Status.Outcome = v1alpha1.Outcome(strings.ToUpper(state[:1]) + state[1:])
	director := &m.Status.Individuals[0]
	director.State.Name, director.Checks[1].State.Name = "completed", check
	director.ChecksPending = nil
	if check == "passed" {
		director.ChecksPassed = new(int64(2))
	} else {
		director.Checks[1].FailedFields = []string{"face", "movement"}
	}
}

// seen is the evidence that the status of a Mandate shows.
const seen = "7d9f2c41-3"

func byRule() *v1alpha1.Decision {
	return &v1alpha1.Decision{Outcome: v1alpha1.DecisionComplete, When: v1alpha1.DecisionRuleAllChecksPassed}
}

func decidedInReview(f *facts, evidence string) {
	inReview(f.mandate)
	f.mandate.Spec.Decision = &v1alpha1.Decision{Outcome: v1alpha1.DecisionComplete, Evidence: evidence}
}

func inReview(m *v1alpha1.Mandate) {
	director := &m.Status.Individuals[0]
	m.Status.State = "in review"
	director.State.Name, director.Checks[1].State.Name = "in review", "in review"
	director.ChecksPending, director.ChecksInReview = nil, new(int64(1))
}

func unreachable(f *facts) {
	e, _ := explanationOf(kindService, v1alpha1.ReasonUnreachable)
	status := f.service.ServiceStatus()
	status.Conditions = with(status.Conditions, e.Reason, firstSentence(&e), e.Conditions...)
	f.mandate.Spec.ServiceRef.Name = "partner"
}

func deleting(m *v1alpha1.Mandate) {
	m.DeletionTimestamp = new(metav1.NewTime(fixedNow().Add(-10 * time.Minute)))
	m.Spec.DeletionPolicy = v1alpha1.DeletionPolicyDelete
}

// refused is a record of a create that created nothing.
func refused(f *facts, result v1alpha1.CallResult, answer v1alpha1.CallAnswer) {
	f.record = newRecord()
	create := &f.record.Spec.Calls[0]
	create.Sends = 0
	create.Result, create.Answer = result, answer
}

// recordOf is the record that belongs to what the condition Created says; nil if nothing was sent.
func recordOf(m *v1alpha1.Mandate) *v1alpha1.ApplicationRecord {
	record := newRecord()
	switch meta.FindStatusCondition(m.Status.Conditions, "Created").Status {
	case metav1.ConditionTrue:
		record.Spec.ApplicationID = new(int64(4711))
		record.Spec.Calls[0].Result = v1alpha1.CallDone
	case metav1.ConditionFalse:
		return nil
	}
	return record
}

func newRecord() *v1alpha1.ApplicationRecord {
	record := &v1alpha1.ApplicationRecord{}
	record.Spec.Reference = "onboarding.acme"
	record.Spec.Calls = []v1alpha1.Call{{
		Seq: 1, Kind: v1alpha1.CallCreate, Sends: 1, StartedTime: metav1.NewMicroTime(fixedNow().Add(-49 * time.Hour)),
	}}
	return record
}

// with adds conditions such as Ready=False, or replaces those of the same type.
func with(conditions []metav1.Condition, reason, message string, added ...string) []metav1.Condition {
	for _, condition := range added {
		kind, status, _ := strings.Cut(condition, "=")
		meta.SetStatusCondition(&conditions, metav1.Condition{
			Type: kind, Status: metav1.ConditionStatus(status), Reason: reason, Message: message,
			LastTransitionTime: metav1.NewTime(fixedNow().Add(-10 * time.Minute)),
		})
	}
	return conditions
}

// A statusPage is docs/status.md, which a test of the operator writes: what it reports, and its messages by reason.
type statusPage struct {
	lines   [][]string
	message map[string]string
}

var messageLine = regexp.MustCompile("(?m)^- `(\\w+)`(?: \\([^)]*Ready[^)]*\\))?: (.*)$")

func readStatusPage(t *testing.T) *statusPage {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "docs", "status.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := &statusPage{message: map[string]string{}}
	for _, match := range messageLine.FindAllStringSubmatch(string(content), -1) {
		page.message[match[1]] = match[2]
	}
	mandates, _, _ := strings.Cut(string(content), "## Messages")
	for line := range strings.Lines(mandates) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if len(cells) == 8 && !strings.Contains(cells[0], "seen yet") {
			page.lines = append(page.lines, cells)
		}
	}
	return page
}

// line is that of a reason, or the first one with it, or that of a Mandate that waits for people.
func (p *statusPage) line(reason string) []string {
	for _, fits := range []func(cells []string) bool{
		func(cells []string) bool { return cells[0] == reason },
		func(cells []string) bool {
			return slices.ContainsFunc(cells[1:4], func(c string) bool { return strings.HasSuffix(c, ", "+reason) })
		},
		func(cells []string) bool { return cells[0] == "waits for people" },
	} {
		if i := slices.IndexFunc(p.lines, fits); i >= 0 {
			return p.lines[i]
		}
	}
	return nil
}
