package operator_test

import (
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/test/testenv"
)

// An admission policy denies every update of the ledger. After some creates whose ids cannot be recorded, no other
// application is created; Mandates that have one are served; and all is well once the policy is gone.
func TestLedgerRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{})
	address := testenv.FreeAddress(t)
	w.connect()
	w.start("--metrics-bind-address=" + address)
	w.mandate("existing", "{}")
	existing := w.ready("existing")
	allow := w.deny("applicationrecords", "false")
	const mandates = 30
	name := func(i int) string { return fmt.Sprintf("acme-%d", i) }
	for i := range mandates {
		w.mandate(name(i), "{}")
	}
	reasons := map[string]int{}
	for i := range mandates {
		m := w.until(name(i), "RecordPending or LedgerUnavailable", func(m *v1alpha1.Mandate) bool {
			reason := readyReason(m)
			return reason == v1alpha1.ReasonRecordPending || reason == v1alpha1.ReasonLedgerUnavailable
		})
		reasons[readyReason(m)]++
	}
	for i := range mandates {
		m := w.get(name(i))
		if readyReason(m) != v1alpha1.ReasonRecordPending {
			continue
		}
		w.checkProblems(name(i), notRecorded(w.applicationID(w.namespace+"."+name(i))),
			refusedBy("ApplicationRecord", v1alpha1.ReasonRecordPending, "write the ApplicationRecord"))
		w.events(name(i), v1alpha1.ReasonRecordPending)
	}
	// The ten that are created at the same time may all see that nine are not recorded.
	if sent := reasons[v1alpha1.ReasonRecordPending]; sent < 10 || sent > 19 {
		t.Errorf("%d applications were created that cannot be recorded, want 10 to 19", sent)
	}
	w.emails(1 + reasons[v1alpha1.ReasonRecordPending])
	metric := fmt.Sprintf(`idv_unrecorded_attempts{kind="Mandate"} %d`, reasons[v1alpha1.ReasonRecordPending])
	if text := w.scrape(address); !strings.Contains(text, metric+"\n") {
		t.Errorf("the metrics lack %s", metric)
	}

	w.play(existing, control.ResultPass)
	w.request("mandate/existing", "a slot is free")
	w.until("existing", "read again", func(m *v1alpha1.Mandate) bool {
		return m.Status.Progress != existing.Status.Progress
	})

	allow()
	for i := range mandates {
		w.ready(name(i))
	}
	w.emails(1 + mandates)
	w.checkApplications(1 + mandates)
}

// An admission policy denies the begin of a decision and of an action. Their statuses say so, nothing is sent, and both
// are carried out once the policy is gone.
func TestCallsRefused(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("globex", "{}")
	w.ready("globex")
	w.mandate("acme", "{}")
	w.play(w.ready("acme"), control.ResultPass)
	w.inReview("acme")
	allow := w.deny("applicationrecords", "false")
	w.action("resend", "{type: ResendInvite, mandateRef: {name: globex}}")
	w.decide("acme", v1alpha1.DecisionComplete)
	w.cannot("acme", "ApplicationRecord", v1alpha1.ReasonReadFailed, "write the ApplicationRecord")
	w.actionCannot("resend", "ApplicationRecord", v1alpha1.ReasonRetrying, "write the ApplicationRecord")
	if sent := w.requests(control.CompleteApplication) + w.requests(control.ResendInvites); sent != 0 {
		t.Errorf("%d calls were sent that are not recorded", sent)
	}
	w.emails(2)
	allow()
	w.condition("acme", v1alpha1.ConditionCompleted, metav1.ConditionTrue, string(v1alpha1.OutcomeCompleted))
	w.actionCompletes("resend")
	w.checkEmailed(control.Resend, 1)
}

// An id that cannot be recorded is recorded during a shutdown, if that is possible by then.
func TestUnrecordedAtShutdown(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("existing", "{}")
	w.ready("existing")
	allow := w.deny("applicationrecords", "false")
	w.mandate("acme", "{}")
	w.condition("acme", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonRecordPending)
	stopped := make(chan error, 1)
	go func() { stopped <- w.operator.Stop() }()
	_, err := w.operator.WaitForLog(t.Context(), regexp.MustCompile("Stopping and waiting for leader election runnables"))
	w.check(err)
	allow()
	w.check(<-stopped)
	record := &v1alpha1.ApplicationRecord{}
	w.check(w.Get(t.Context(), w.key("acme"), record))
	if record.Spec.ApplicationID == nil {
		t.Error("the id is not recorded")
	}
	w.start()
	w.ready("acme")
	w.emails(2)
}

// An id that is not recorded when the operator is killed stays in the status, until somebody adopts the application.
func TestUnrecordedAtKill(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("existing", "{}")
	w.ready("existing")
	allow := w.deny("applicationrecords", "false")
	w.mandate("acme", "{}")
	w.condition("acme", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonRecordPending)
	w.kill()
	allow()
	w.start()
	w.stalled("acme", v1alpha1.ReasonOutcomeUnknown)
	id := w.applicationID(w.namespace + ".acme")
	w.checkProblems("acme", notRecorded(id))
	w.mandate("acme", fmt.Sprintf("{adopt: {applicationID: %d}}", id))
	if m := w.ready("acme"); *m.Status.ApplicationID != id || hasProblems(m) {
		t.Errorf("the status is %+v", m.Status)
	}
	w.emails(2)
}

// What became of an action cannot be recorded. One of another Mandate is carried out meanwhile, though there is one
// worker and one slot, and the first ends as soon as the API server admits it.
func TestActionResultRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{})
	w.connect()
	w.start("--max-concurrent-reconciles=1")
	w.mandate("acme", "{}")
	w.mandate("globex", "{}")
	w.ready("acme")
	w.ready("globex")
	w.fault(slowed(control.ResendInvites, 2*time.Second))
	w.action("first", resend)
	w.eventually(func() (bool, string) { return w.callOf("first") != nil, "the call is not recorded" })
	allow := w.deny("applicationrecords", `object.metadata.name != "acme"`)
	w.action("second", "{type: ResendInvite, mandateRef: {name: globex}}")
	w.actionCompletes("second")
	if w.callOf("first").Result != "" || w.getAction("first").Status.CompletedTime != nil {
		t.Error("the policy was not in force")
	}
	w.actionCannot("first", "ApplicationRecord", v1alpha1.ReasonRecordPending, "write the ApplicationRecord")
	allow()
	w.actionCompletes("first")
	w.checkEmailed(control.Resend, 2)
}

// An admission policy denies what the operator writes to a Mandate itself. The status says what it is, nothing is sent
// that needs it, and all goes on once the policy is gone.
func TestMetadataRefused(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{}")
	w.ready("acme")
	w.mandate("going", "{deletionPolicy: Delete}")
	w.ready("going")
	allow := w.deny("mandates", "object.spec != oldObject.spec")
	w.mandate("new", "{deletionPolicy: Delete}")
	w.mandate("acme", "{archived: true}")
	w.check(w.Delete(t.Context(), w.get("going")))
	const finalizers = "change the finalizers of the Mandate"
	w.cannot("new", "metadata.finalizers", v1alpha1.ReasonLedgerUnavailable, finalizers)
	w.cannot("going", "metadata.finalizers", v1alpha1.ReasonDeletionWaiting, finalizers)
	w.cannot("acme", "metadata.annotations", v1alpha1.ReasonReadFailed,
		"mark the Mandate, which comes before its archiving")
	w.condition("new", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonLedgerUnavailable)
	if sent := w.requests(control.ArchiveApplication); sent != 0 {
		t.Errorf("%d archivings were sent without the mark", sent)
	}
	w.emails(2)
	allow()
	w.ready("new")
	w.until("acme", "archived", func(m *v1alpha1.Mandate) bool { return m.Status.Archived })
	w.waitGone("going")
	w.emails(3)
}

// An admission policy denies the end of a create that the service has accepted, without an id. It is recorded once the
// policy is gone, and the application, which may take minutes, is not created again.
func TestAcceptanceRefused(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("existing", "{}")
	w.ready("existing")
	allow := w.deny("applicationrecords", "false")
	w.check(w.sandbox.SetDialects(t.Context(), map[string]string{"asyncWork": "never", "createBody": "empty"}))
	w.mandate("acme", "{}")
	w.condition("acme", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonRecordPending)
	allow()
	w.condition("acme", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonCreateAccepted)
	record := &v1alpha1.ApplicationRecord{}
	w.check(w.Get(t.Context(), w.key("acme"), record))
	if call := record.Spec.Calls[0]; call.Result != v1alpha1.CallAccepted {
		t.Errorf("the create has the result %q, want Accepted", call.Result)
	}
	w.checkCreates(2)
}

// What the API server does not record takes nothing of spec.creation, which a namespace may share with others.
func TestRefusedCallsTakeNoBudget(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{})
	w.connect()
	w.limit(`"maxPerHour":3,"maxPerDay":1000`) // one is reserved at a time
	w.start("--creation-hour=1h")
	w.mandate("globex", "{}")
	w.ready("globex")
	allow := w.deny("applicationrecords", "false", admissionv1.Create)
	w.mandate("acme", "{}")
	w.action("resend", "{type: ResendInvite, mandateRef: {name: globex}}")
	w.condition("acme", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonLedgerUnavailable)
	w.actionCannot("resend", "ApplicationRecord", v1alpha1.ReasonRetrying, "write the ApplicationRecord")
	w.emails(1)
	allow()
	w.ready("acme")
	w.actionCompletes("resend")
	w.checkApplications(2)
	w.checkEmailed(control.Resend, 1)
	if status := w.service("default").Status.Creation; status.LastHour != 3 {
		t.Errorf("%d requests count for this hour, want 3", status.LastHour)
	}
}

// A policy denies what the operator reserves in the status of the service. The action says so, and is done later.
func TestReservationRefused(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.mandate("acme", "{}")
	w.ready("acme")
	allow := w.deny("identityservices/status", "false")
	w.limit(`"maxPerHour":40,"maxPerDay":1000`) // what is reserved is not usable any more
	w.action("resend", resend)
	w.actionCannot("resend", "IdentityService", v1alpha1.ReasonRetrying, "reserve a request in status.creation")
	w.checkEmailed(control.Resend, 0)
	allow()
	w.actionCompletes("resend")
	w.checkEmailed(control.Resend, 1)
}

// refusedBy is the problem of a status whose operator cannot do what a policy denies.
func refusedBy(field, reason, what string) v1alpha1.Problem {
	return wrong(field, reason, "The operator cannot "+what+": the API server answered 422 Unprocessable Entity.")
}

// notRecorded is the problem of a Mandate whose application the API server does not let the operator record.
func notRecorded(id int64) v1alpha1.Problem {
	return wrong("spec.adopt.applicationID", "ApplicationNotRecorded", fmt.Sprintf("The service created application %d, "+
		"and the API server refuses to record that. Keep the operator running. If it ends, set "+
		"spec.adopt.applicationID to this id.", id))
}

// cannot waits until the status of a Mandate says what a policy denies.
func (w *world) cannot(name, field, reason, what string) {
	w.Helper()
	w.until(name, "that the operator cannot "+what, func(m *v1alpha1.Mandate) bool {
		return slices.Contains(m.Status.Problems, refusedBy(field, reason, what))
	})
}

// actionCannot is cannot for a MandateAction.
func (w *world) actionCannot(name, field, reason, what string) {
	w.Helper()
	w.untilAction(name, "that the operator cannot "+what, func(a *v1alpha1.MandateAction) bool {
		return slices.Contains(a.Status.Problems, refusedBy(field, reason, what))
	})
}

// deny has the API server deny updates of a resource of ours in the namespace, unless a CEL expression holds, until
// what it returns is called. It needs an object that is denied.
func (w *world) deny(resource, unless string, also ...admissionv1.OperationType) (allow func()) {
	w.Helper()
	name := w.namespace + "-" + strings.ReplaceAll(resource, "/", "-")
	policy := &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{
				RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: append(also, admissionv1.Update),
					Rule: admissionv1.Rule{
						APIGroups: []string{v1alpha1.SchemeGroupVersion.Group}, APIVersions: []string{"*"}, Resources: []string{resource},
					},
				},
			}}},
			Validations: []admissionv1.Validation{{Expression: unless, Message: "canary"}},
		},
	}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
			MatchResources: &admissionv1.MatchResources{NamespaceSelector: &metav1.LabelSelector{
				MatchLabels: map[string]string{"kubernetes.io/metadata.name": w.namespace},
			}},
		},
	}
	w.check(w.Create(w.Context(), policy))
	w.check(w.Create(w.Context(), binding))
	kind, subresource, _ := strings.Cut(resource, "/")
	w.eventually(func() (bool, string) {
		return w.denied(kind, subresource), "the policy is not in force"
	})
	return func() {
		w.check(w.Delete(w.Context(), binding))
		w.check(w.Delete(w.Context(), policy))
	}
}

// denied reports whether the API server denies an update of some object of a resource.
func (w *world) denied(resource, subresource string) bool {
	w.Helper()
	command := exec.CommandContext(w.Context(), w.env.Kubectl, "--kubeconfig", w.kubeconfig, "--namespace", w.namespace,
		"patch", resource, w.first(resource), "--subresource="+subresource, "--dry-run=server", "--type=merge",
		"--patch", `{"metadata": {"labels": {"denied": "true"}}}`)
	output, err := command.CombinedOutput()
	return err != nil && strings.Contains(string(output), "canary")
}

// first is the name of an object of a resource.
func (w *world) first(resource string) string {
	w.Helper()
	return w.kubectl("get", resource, "--output=jsonpath={.items[0].metadata.name}")
}
