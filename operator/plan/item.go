package plan

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/engine"
)

// Action is what would be done for an object.
type Action string

// The actions. Wait and Refuse say why nothing is sent now: Refuse needs a person.
const (
	Create  Action = "create"
	Bind    Action = "bind"
	Resend  Action = "resend"
	Reset   Action = "reset"
	Decide  Action = "decide"
	Review  Action = "review"
	Archive Action = "archive"
	Delete  Action = "delete"
	Refuse  Action = "refuse"
	Wait    Action = "wait"
	Nothing Action = "nothing"
)

// actionOf is the action that a call is.
var actionOf = map[v1alpha1.CallKind]Action{
	v1alpha1.CallCreate: Create, v1alpha1.CallComplete: Decide, v1alpha1.CallReject: Decide,
	v1alpha1.CallAcceptCheck: Review, v1alpha1.CallRejectCheck: Review, v1alpha1.CallArchive: Archive,
	v1alpha1.CallDelete: Delete, v1alpha1.CallResendInvite: Resend, v1alpha1.CallResetIndividual: Reset,
}

// Change is how the manifests differ from the cluster.
type Change string

// The changes.
const (
	New       Change = "new"
	Changed   Change = "changed"
	Unchanged Change = "unchanged"
	Pruned    Change = "pruned"
)

// Plan is what the operator would do after a change. It has no personal data.
type Plan struct {
	Items []Item `json:"items"`
	// Emails is how many e-mails are sent, if nothing that is unknown says otherwise.
	Emails int `json:"emails"`
	// Sends reports whether anything would be sent to a service that acts on people or cannot be undone, or may be for
	// Mandates that the plan could not read.
	Sends bool `json:"sends"`
}

// Item is what a Plan says of one object.
type Item struct {
	Kind      string   `json:"kind"`
	Namespace string   `json:"namespace"`
	Name      string   `json:"name"`
	Change    Change   `json:"change"`
	Actions   []Action `json:"actions"`
	Emails    int      `json:"emails"`
	Calls     []Call   `json:"calls,omitempty"`
	// Reason and Message are those of the condition that the object would show.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Warnings are about what is easily overlooked, such as a rename.
	Warnings []string `json:"warnings,omitempty"`
	// Unknown is what the plan takes for granted: it may be otherwise.
	Unknown []string `json:"unknown,omitempty"`
	// Decisions are what decisions and reviews of the manifest are based on.
	Decisions []Decision `json:"decisions,omitempty"`
}

// Call is a request that would be sent.
type Call struct {
	Kind       v1alpha1.CallKind `json:"kind"`
	Individual string            `json:"individual,omitempty"`
	Check      int64             `json:"check,omitempty"`
	Evidence   string            `json:"evidence,omitempty"`
}

// Decision is a decision, or the review of a check, and the checks that it is about as the status shows them now.
type Decision struct {
	Decision string `json:"decision"`
	// Evidence is what its author has seen; When is its rule instead. Shown is what the status shows.
	Evidence string `json:"evidence,omitempty"`
	When     string `json:"when,omitempty"`
	Shown    string `json:"shown,omitempty"`
	// Current reports whether the status shows that very evidence.
	Current bool    `json:"current"`
	State   string  `json:"state,omitempty"`
	Checks  []Check `json:"checks,omitempty"`
}

// Check is one that the status shows.
type Check struct {
	Individual string `json:"individual"`
	Name       string `json:"name"`
	State      string `json:"state,omitempty"`
	Evidence   string `json:"evidence,omitempty"`
}

// sends reports whether the actions of an item are requests to a service.
func (i *Item) sends() bool {
	return slices.ContainsFunc(i.Actions, func(a Action) bool {
		return !slices.Contains([]Action{Bind, Refuse, Wait, Nothing}, a)
	})
}

func (i *Item) warn(warning string) {
	i.Warnings = withNew(i.Warnings, warning)
}

// assume records what a plan takes for granted.
func (i *Item) assume(unknown string) {
	i.Unknown = withNew(i.Unknown, unknown)
}

// withNew adds what a list does not have yet.
func withNew[T comparable](list []T, value T) []T {
	if slices.Contains(list, value) {
		return list
	}
	return append(list, value)
}

// What a plan takes for granted.
const (
	assumedApplication = "The application is as the spec asks for; no status shows it. What else is sent depends on it."
	assumedReference   = "The service takes the reference, which an archived or deleted application has, or had."
	assumedAccount     = "The service takes the reference, which an application has there, perhaps of another account."
	assumedUndecided   = "The service completes an application with checks that are not decided."
	assumedArchived    = "The service completes or rejects an archived application."
	assumedSuppressed  = "The service sends this e-mail, although e-mails of the application are suppressed."
	assumedOutcome     = "The service carries that out for an application that has an outcome."
	assumedPruned      = "The action is carried out before the Mandate is deleted, which the same change does."
	assumedReset       = "The decision is sent before an action of the same change makes the checks other ones."
	assumedOldStatus   = "The status shows the checks as they were before the last reset. Plan again in a minute."
	assumedIndividual  = "The service takes the references of the individuals, which another Mandate has, too."
	assumedOpenCall    = "The request that had no answer created nothing. If it did, nobody is e-mailed again."
	assumedType        = "The service has the mandate type; the status of the service does not show all types."
)

// What is not known of a ClusterIdentityService, or of a namespace. What nobody may read may be sent.
const (
	UnreadService = "The ClusterIdentityService exists, allows this namespace, and is as the ApplicationRecords say; " +
		"you may not read it."
	UnreadNamespace = "The ClusterIdentityService allows this namespace; you may not read the namespace."
	UnreadMandates  = "Mandates that you may not read may wait for this. What would be sent for them is not in the plan."
)

// appliedTwice warns of an object that the manifests have several times.
const appliedTwice = "The manifests have this object more than once. They are applied one after another."

func assumedSecret(name string) string {
	return "The Secret " + name + " exists and is valid, as when its application was created; a plan reads no Secrets."
}

// decisionsOf are the decision and the reviews of a Mandate that the change brings, and what its status shows. Texts
// about people are left out: the status of an earlier version and a manifest may have them.
func decisionsOf(m *v1alpha1.Mandate, personal *engine.Personal) (decisions []Decision) {
	for i := range m.Spec.CheckReviews {
		review := &m.Spec.CheckReviews[i]
		d, name := Decision{Evidence: review.Evidence}, personal.Shown(review.Check)
		for _, status := range m.Status.Individuals {
			for c := range status.Checks {
				check := &status.Checks[c]
				if status.Name == review.Individual && (check.Evidence == review.Evidence || check.Name == review.Check) {
					shown := checkOf(personal, status.Name, check)
					d.Checks, name = append(d.Checks, shown), cmp.Or(name, shown.Name)
					d.Shown, d.Current = check.Evidence, d.Current || check.Evidence == review.Evidence
				}
			}
		}
		d.Decision = string(review.Decision) + " " + cmp.Or(name, "a check")
		decisions = append(decisions, d)
	}
	if wanted := m.Spec.Decision; wanted != nil {
		decisions = append(decisions, Decision{
			Decision: string(wanted.Outcome), Evidence: wanted.Evidence, When: string(wanted.When),
			Shown: m.Status.Evidence, Current: wanted.Evidence != "" && wanted.Evidence == m.Status.Evidence,
			State: personal.Shown(m.Status.State), Checks: checksOf(m, personal),
		})
	}
	return decisions
}

func checksOf(m *v1alpha1.Mandate, personal *engine.Personal) (checks []Check) {
	for i := range m.Status.Individuals {
		for c := range m.Status.Individuals[i].Checks {
			checks = append(checks, checkOf(personal, m.Status.Individuals[i].Name, &m.Status.Individuals[i].Checks[c]))
		}
	}
	return checks
}

// checkOf is a check with its id in place of a name that is not shown.
func checkOf(personal *engine.Personal, individual string, c *v1alpha1.CheckStatus) Check {
	return Check{
		Individual: individual, Name: cmp.Or(personal.Shown(c.Name), fmt.Sprint(c.ID)),
		State: personal.Shown(ofState(c.State).Name), Evidence: c.Evidence,
	}
}
