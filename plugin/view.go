package plugin

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/printable"
)

// attention says who has to do something about a Mandate. Its order is that of the table.
type attention string

const (
	needsPerson    attention = "NeedsPerson"    // nothing moves until somebody acts
	operatorWorks  attention = "OperatorWorks"  // the operator has something to do, or tries again
	waitsForPeople attention = "WaitsForPeople" // the individuals, or who decides
	isDone         attention = "Done"           // there is an outcome
)

var attentions = []attention{needsPerson, operatorWorks, waitsForPeople, isDone}

// A view is all that status shows of one Mandate, as text and as JSON. It takes names, ids and states from the spec and
// status, and no detail of a person.
type view struct {
	Namespace string    `json:"-"` // they are in the metadata of what is printed
	Name      string    `json:"-"`
	Attention attention `json:"attention"`

	Ready     conditionView `json:"ready"`
	Completed conditionView `json:"completed,omitzero"`
	Decided   conditionView `json:"decided,omitzero"`
	// Conditions are all of them in short, such as Ready=False/Retrying.
	Conditions []string `json:"conditions,omitempty"`

	ApplicationID *int64 `json:"applicationID,omitempty"`
	Reference     string `json:"reference,omitempty"`
	State         string `json:"state,omitempty"`
	Outcome       string `json:"outcome,omitempty"`
	Progress      string `json:"progress,omitempty"`
	Archived      bool   `json:"archived,omitempty"`

	CreationTime time.Time    `json:"creationTime"`
	ExpiryTime   *metav1.Time `json:"expiryTime,omitempty"`
	LastReadTime *metav1.Time `json:"lastReadTime,omitempty"`

	// What the spec asks for.
	Decision string `json:"decision,omitempty"`
	// Evidence is what a decision has to name.
	Evidence string `json:"evidence,omitempty"`
	Suspend  bool   `json:"suspend,omitempty"`
	Deletion string `json:"deletion,omitempty"`

	// Problems are those of the status.
	Problems []v1alpha1.Problem `json:"problems,omitempty"`

	Individuals []v1alpha1.IndividualStatus `json:"individuals,omitempty"`
	Service     serviceView                 `json:"service"`
	Record      *recordView                 `json:"record,omitempty"`
	Actions     []actionView                `json:"actions,omitempty"`
	Next        []advice                    `json:"next,omitempty"`
}

type conditionView struct {
	Status  string    `json:"status"`
	Reason  string    `json:"reason"`
	Message string    `json:"message"`
	Since   time.Time `json:"since,omitzero"`
}

type serviceView struct {
	Kind  string        `json:"kind"`
	Name  string        `json:"name"`
	Ready conditionView `json:"ready"`
	// Problems are the reasons of its conditions that need somebody, Ready first.
	Problems []conditionView `json:"problems,omitempty"`
	// StatusProblems are those of the status.
	StatusProblems []v1alpha1.Problem `json:"statusProblems,omitempty"`

	Stalled bool `json:"stalled,omitempty"`
}

type recordView struct {
	ApplicationID *int64 `json:"applicationID,omitempty"`
	Reference     string `json:"reference"`
	ServiceURL    string `json:"serviceURL"`
	// Create is absent if the application was adopted.
	Create *callView `json:"create,omitempty"`
	// LastCall is the one that began last, if that is not the create.
	LastCall *callView `json:"lastCall,omitempty"`
}

// callView is a call of a record.
type callView struct {
	Seq        int32  `json:"seq"`
	Kind       string `json:"kind"`
	Action     string `json:"action,omitempty"` // the name of the MandateAction
	Individual string `json:"individual,omitempty"`
	Check      int64  `json:"check,omitempty"`
	// Evidence is what the author of a decision or review had seen, or what its rule was applied to.
	Evidence string `json:"evidence,omitempty"`
	// RequestedBy is the user name of the author, if the object named one.
	RequestedBy string    `json:"requestedBy,omitempty"`
	Started     time.Time `json:"startedTime"`
	// Sends is how many requests may have been carried out.
	Sends int32 `json:"sends"`
	// Result is empty while a request may be under way.
	Result string `json:"result,omitempty"`
	Answer string `json:"answer,omitempty"`
}

type actionView struct {
	Name       string        `json:"name"`
	Type       string        `json:"type"`
	Individual string        `json:"individual"`
	Result     string        `json:"result"`
	Condition  conditionView `json:"condition"`
	// Problems are those of the status.
	Problems []v1alpha1.Problem `json:"problems,omitempty"`
	Secret   string             `json:"secret,omitempty"`
}

// facts are the objects that a view is made of.
type facts struct {
	mandate *v1alpha1.Mandate
	service service // nil: it does not exist, or may not be read
	record  *v1alpha1.ApplicationRecord
	actions []v1alpha1.MandateAction
}

// printable are the facts with texts that can be shown.
func (f facts) printable() facts {
	f.mandate = printableCopy(f.mandate)
	if f.service != nil {
		f.service = printableCopy(f.service)
	}
	f.record = printableCopy(f.record)
	f.actions = slices.Clone(f.actions)
	for i := range f.actions {
		f.actions[i] = *printableCopy(&f.actions[i])
	}
	return f
}

func newView(f facts) view {
	f = f.printable()
	m := f.mandate
	v := view{
		Namespace: m.Namespace, Name: m.Name,
		Ready:         viewOf(m.Status.Conditions, v1alpha1.ConditionReady),
		Completed:     viewOf(m.Status.Conditions, v1alpha1.ConditionCompleted),
		Decided:       viewOf(m.Status.Conditions, v1alpha1.ConditionDecided),
		ApplicationID: m.Status.ApplicationID, Reference: m.Status.Reference, State: m.Status.State,
		Outcome: string(m.Status.Outcome), Progress: m.Status.Progress, Archived: m.Status.Archived,
		CreationTime: m.CreationTimestamp.Time, ExpiryTime: m.Status.ExpiryTime, LastReadTime: m.Status.LastReadTime,
		Decision: decisionText(m.Spec.Decision), Evidence: m.Status.Evidence, Suspend: m.Spec.Suspend,
		Problems: m.Status.Problems, Individuals: m.Status.Individuals, Service: newServiceView(m, f.service),
	}
	if m.DeletionTimestamp != nil {
		v.Deletion = string(m.Spec.DeletionPolicy)
	}
	for _, c := range m.Status.Conditions {
		v.Conditions = append(v.Conditions, c.Type+"="+string(c.Status)+"/"+c.Reason)
	}
	if f.record != nil {
		v.Record = newRecordView(&f.record.Spec)
	}
	for i := range f.actions {
		v.Actions = append(v.Actions, newActionView(&f.actions[i]))
	}
	slices.SortStableFunc(v.Actions, func(a, b actionView) int { return b.Condition.Since.Compare(a.Condition.Since) })
	v.Attention = attentionOf(m, &v)
	v.Next = adviceFor(&v)
	return v
}

// saysCompleted reports whether the condition Completed says something that Ready does not.
func (v *view) saysCompleted() bool {
	return v.Completed.Reason != v.Ready.Reason && v.Completed.Reason != v1alpha1.ReasonInProgress
}

// viewOf is a condition; all of it is empty if the object does not have it.
func viewOf(conditions []metav1.Condition, kind string) conditionView {
	c := meta.FindStatusCondition(conditions, kind)
	if c == nil {
		return conditionView{}
	}
	return conditionView{
		Status: string(c.Status), Reason: printable.Text(c.Reason), Message: printable.Text(c.Message),
		Since: c.LastTransitionTime.Time,
	}
}

func newServiceView(m *v1alpha1.Mandate, s service) serviceView {
	shown := serviceView{Kind: string(m.Spec.ServiceRef.Kind), Name: m.Spec.ServiceRef.Name}
	if s == nil {
		return shown
	}
	conditions := s.ServiceStatus().Conditions
	shown.Ready = viewOf(conditions, v1alpha1.ConditionReady)
	shown.StatusProblems = s.ServiceStatus().Problems
	shown.Stalled = meta.IsStatusConditionTrue(conditions, v1alpha1.ConditionStalled)
	if shown.Ready.Status != "" && shown.Ready.Reason != v1alpha1.ReasonConnected {
		shown.Problems = append(shown.Problems, shown.Ready)
	}
	for _, kind := range []string{
		v1alpha1.ConditionAccountChanged, v1alpha1.ConditionApplicationsMissing, v1alpha1.ConditionInUse,
		v1alpha1.ConditionNotificationsUnavailable, v1alpha1.ConditionCreationSuspended,
		v1alpha1.ConditionCreationBudgetReached,
	} {
		if meta.IsStatusConditionTrue(conditions, kind) {
			shown.Problems = append(shown.Problems, viewOf(conditions, kind))
		}
	}
	if meta.IsStatusConditionFalse(conditions, v1alpha1.ConditionStatesUnderstood) {
		shown.Problems = append(shown.Problems, viewOf(conditions, v1alpha1.ConditionStatesUnderstood))
	}
	return shown
}

func newRecordView(spec *v1alpha1.ApplicationRecordSpec) *recordView {
	shown := &recordView{ApplicationID: spec.ApplicationID, Reference: spec.Reference, ServiceURL: spec.ServiceURL}
	if len(spec.Calls) == 0 {
		return shown
	}
	isCreate := func(c v1alpha1.Call) bool { return c.Kind == v1alpha1.CallCreate }
	if i := slices.IndexFunc(spec.Calls, isCreate); i >= 0 {
		shown.Create = newCallView(&spec.Calls[i])
	}
	last := slices.MaxFunc(spec.Calls, func(a, b v1alpha1.Call) int { return a.StartedTime.Compare(b.StartedTime.Time) })
	if !isCreate(last) {
		shown.LastCall = newCallView(&last)
	}
	return shown
}

func newCallView(c *v1alpha1.Call) *callView {
	return &callView{
		Seq: c.Seq, Kind: string(c.Kind), Action: c.Name, Individual: c.Individual, Check: c.Check,
		Evidence: c.Evidence, RequestedBy: c.RequestedBy, Started: c.StartedTime.Time,
		Sends: c.Sends, Result: string(c.Result), Answer: string(c.Answer),
	}
}

func newActionView(a *v1alpha1.MandateAction) actionView {
	shown := actionView{
		Name: a.Name, Type: string(a.Spec.Type), Individual: a.Spec.Individual, Result: "Pending",
		Problems: a.Status.Problems,
	}
	for _, kind := range []string{
		v1alpha1.ConditionReconciling, v1alpha1.ConditionComplete, v1alpha1.ConditionFailed,
	} {
		if !meta.IsStatusConditionTrue(a.Status.Conditions, kind) {
			continue
		}
		shown.Condition = viewOf(a.Status.Conditions, kind)
		if kind != v1alpha1.ConditionReconciling {
			shown.Result = kind
		}
	}
	if a.Spec.ReportSecretRef != nil && shown.Result == v1alpha1.ConditionComplete {
		shown.Secret = a.Spec.ReportSecretRef.Name
	}
	return shown
}

func attentionOf(m *v1alpha1.Mandate, v *view) attention {
	conditions := m.Status.Conditions
	switch {
	case meta.IsStatusConditionTrue(conditions, v1alpha1.ConditionStalled), v.Suspend:
		return needsPerson
	case v.Service.Stalled && v.Outcome == "":
		return needsPerson
	case isUnobserved(m), m.DeletionTimestamp != nil,
		meta.IsStatusConditionTrue(conditions, v1alpha1.ConditionReconciling):
		return operatorWorks
	case v.Outcome != "":
		return isDone
	default:
		return waitsForPeople
	}
}

// printed is what -o prints of a Mandate.
func (v *view) printed() printed { return printed{kindMandate, v.Namespace, v.Name, v} }

// isUnobserved reports whether the operator has not seen the last edit yet.
func isUnobserved(m *v1alpha1.Mandate) bool { return m.Status.ObservedGeneration != m.Generation }
