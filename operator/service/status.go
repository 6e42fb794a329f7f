package service

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/budget"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
)

// messages of the condition Ready, one a reason: no text of the service, no value.
var messages = map[string]string{
	v1alpha1.ReasonConnected: "The service accepted the credentials and returned its reference data.",
	v1alpha1.ReasonReferencesForbidden: "The service works, but does not let this user read the reference data. Select " +
		"mandate types by id (spec.mandateType.id), or ask for the permission.",
	v1alpha1.ReasonSecretNotFound: "The Secret that spec.credentialsSecretRef names does not exist. Create it, or " +
		"correct the name.",
	v1alpha1.ReasonSecretForbidden: "The operator may not read the Secret that spec.credentialsSecretRef names. Bind " +
		"the operator's ClusterRole in the Secret's namespace, or move the Secret.",
	v1alpha1.ReasonSecretNotForThis: "The Secret that spec.credentialsSecretRef names is not for credentials. If it is " +
		"meant for this service, run: kubectl label secret NAME idv.mandate.io/use=credentials",
	v1alpha1.ReasonSecretInvalid: "The Secret that spec.credentialsSecretRef names lacks keys. Set username and " +
		"password, client_id and client_secret, or all four, as tokenAuthorization and tokenRequest need them.",
	v1alpha1.ReasonBaseURLNotAllowed: "The operator's flags --allowed-hosts and --allow-loopback-http do not allow " +
		"spec.baseURL, so it sends nothing. Correct spec.baseURL, or ask the operator's administrator.",
	v1alpha1.ReasonCABundleInvalid: "spec.caBundle holds no certificate that can be read. Set it to the certificate " +
		"authority's certificates in PEM.",
	v1alpha1.ReasonNamespaceSelectorInvalid: "spec.namespaceSelector is invalid, so it selects no namespace. Correct " +
		"its label keys, operators and values.",
	v1alpha1.ReasonCredentialsInvalid: "The service refused the login, or permits this user nothing that was asked for. " +
		"Correct the Secret, or grant the API permission; the operator notices both.",
	v1alpha1.ReasonUnreachable: "The operator cannot reach the service: no connection, no answer in time, or an " +
		"untrusted certificate. Check spec.baseURL, spec.caBundle and the network.",
	v1alpha1.ReasonIdentityServiceError: "The service did not return its reference data, or took too long. Check " +
		"spec.baseURL; the operator tries again.",
	v1alpha1.ReasonLoginFailing: "The service answered the login with an error. Check spec.baseURL; the operator tries " +
		"again, at least every two minutes.",
	v1alpha1.ReasonReadsFailing: "The service fails to return applications, or takes too long. All Mandates wait; the " +
		"operator tests one read, at least every two minutes.",
	v1alpha1.ReasonWritesFailing: "The service fails to create or change applications, or takes too long. All Mandates " +
		"wait; the operator tests one change, at least every two minutes.",
}

// stalledReasons are those that only a person can correct: what the spec or the Secret says is wrong. GitOps tools fail
// on them at once. What is missing may still be applied, and what fails may work again.
var stalledReasons = []string{
	v1alpha1.ReasonSecretInvalid, v1alpha1.ReasonSecretNotForThis, v1alpha1.ReasonCABundleInvalid,
	v1alpha1.ReasonNamespaceSelectorInvalid, v1alpha1.ReasonCredentialsInvalid, v1alpha1.ReasonBaseURLNotAllowed,
}

const (
	// maxMandateTypes is what the CRD allows.
	maxMandateTypes = 500
	// maxShown bounds in JSON what the status shows of them. typeOverhead is what is around their texts.
	maxShown, typeOverhead = 64 << 10, 60
)

// reasonFor says what fails, and how.
func reasonFor(class connection.Class, kind idv.Kind) string {
	refused := kind == idv.KindCredentials || kind == idv.KindForbidden // a login, or all that was asked for
	return cmp.Or(
		engine.If(refused, v1alpha1.ReasonCredentialsInvalid),
		engine.If(kind == idv.KindUnreachable, v1alpha1.ReasonUnreachable),
		engine.If(class == connection.Read, v1alpha1.ReasonReadsFailing),
		engine.If(class == connection.Write, v1alpha1.ReasonWritesFailing),
		engine.If(kind == idv.KindConnection || kind == idv.KindTimeout, v1alpha1.ReasonUnreachable),
		engine.If(class == connection.Login, v1alpha1.ReasonLoginFailing),
		v1alpha1.ReasonIdentityServiceError,
	)
}

// shownReason is the reason to show: what keeps everybody from a service that works comes first.
func shownReason(service connection.Service, reason string) string {
	if shared, ok := service.(*v1alpha1.ClusterIdentityService); ok && reason == v1alpha1.ReasonConnected {
		if _, err := connection.NamespaceSelector(shared); err != nil {
			return v1alpha1.ReasonNamespaceSelectorInvalid
		}
	}
	return reason
}

// writeStatus is the only place that writes the status of services. needed is how many Mandates hold up the deletion.
func (r *Reconciler) writeStatus(
	ctx context.Context, service connection.Service, e *entry, reason string, found dependents,
) error {
	updated, ok := service.DeepCopyObject().(connection.Service)
	if !ok {
		return nil // it is one of the kinds that NewService makes
	}
	status, generation := updated.ServiceStatus(), service.GetGeneration()
	status.ObservedGeneration = generation
	if request := engine.ReconcileRequest(service); request != "" && e.probe == nil {
		status.LastHandledReconcileAt = request
	}
	showNotifications(service, status, e.receiving, found.notified)
	if e.references != nil {
		status.MandateTypes, status.Truncated = mandateTypes(e.references)
	}
	setProgress(status, generation, reason)
	status.Problems = e.problems(service, reason)
	remains := engine.If(blocksDeletion(service, found.needed), v1alpha1.ReasonMandatesRemain)
	setWarning(status, generation, v1alpha1.ConditionInUse, remains, remainingMessage(found.needed))
	setShared(status, generation, v1alpha1.ConditionApplicationsMissing, found.confirming >= manyMissing)
	change := e.account.change(status, found)
	setWarning(status, generation, v1alpha1.ConditionAccountChanged, change, sharedMessages[change])
	setShared(status, generation, v1alpha1.ConditionCreationSuspended, service.Settings().Creation.Suspend)
	setShared(status, generation, v1alpha1.ConditionCreationBudgetReached, found.waiting > 0)
	if creation := status.Creation; creation != nil {
		r.config.Budgets.Show(creation, budget.LimitsOf(service), found.waiting)
	}
	key := connection.KeyOfService(service)
	showAccount(status, e.made.account, r.config.Connections.Proofs(key))
	showStates(status, namesOf(service), r.config.Connections.States(key))
	setStatesUnderstood(status, generation, found.unknown == 0)
	if equality.Semantic.DeepEqual(status, service.ServiceStatus()) {
		return nil
	}
	if err := r.config.Status.Patch(ctx, updated, client.MergeFrom(service)); err != nil {
		return err
	}
	e.written, e.writtenFrom = updated, service.GetResourceVersion()
	for kind, action := range announced {
		c := meta.FindStatusCondition(status.Conditions, kind)
		if c != nil && isWarning(c) && c.Reason != engine.ReasonOf(service.ServiceStatus().Conditions, kind) &&
			c.Reason != v1alpha1.ReasonApplicationsOfOtherAccount { // those Mandates have events of their own
			r.config.Events.Eventf(service, nil, corev1.EventTypeWarning, c.Reason, action, "%s", c.Message)
		}
	}
	suspended := meta.IsStatusConditionTrue(service.ServiceStatus().Conditions, v1alpha1.ConditionCreationSuspended)
	if suspended && !service.Settings().Creation.Suspend {
		r.config.Events.Eventf(service, nil, corev1.EventTypeNormal, eventCreationResumed, engine.ActionReconcile, "%s",
			"spec.creation.suspend is false again. The operator creates and e-mails what has waited.")
	}
	return nil
}

// eventCreationResumed is the reason of the event that somebody has set spec.creation.suspend to false.
const eventCreationResumed = "CreationResumed"

// isWarning reports whether a condition tells of something that is not as it should be.
func isWarning(c *metav1.Condition) bool {
	wrong := metav1.ConditionTrue
	if c.Type == v1alpha1.ConditionReady || c.Type == v1alpha1.ConditionStatesUnderstood {
		wrong = metav1.ConditionFalse
	}
	return c.Status == wrong
}

// problems are what is wrong for a reason of Ready: the keys of the Secret, or why a request failed. The first failure
// stays while the reason does: the next one may be another, and is not written each time.
func (e *entry) problems(service connection.Service, reason string) []v1alpha1.Problem {
	field, cause := "spec.baseURL", cmp.Or(e.breaker.Cause(), e.cause)
	switch reason {
	case v1alpha1.ReasonSecretInvalid:
		found := v1alpha1.Problem{Field: "spec.credentialsSecretRef", Reason: reason}
		found.Message = fmt.Sprintf("The Secret %s cannot be used: %s.", service.CredentialsSecret().Name, e.keys)
		return []v1alpha1.Problem{found}
	case v1alpha1.ReasonCredentialsInvalid:
		field = "spec.credentialsSecretRef"
	case v1alpha1.ReasonUnreachable, v1alpha1.ReasonIdentityServiceError, v1alpha1.ReasonLoginFailing,
		v1alpha1.ReasonReadsFailing, v1alpha1.ReasonWritesFailing, v1alpha1.ReasonReferencesForbidden:
	default:
		return nil
	}
	if cause == "" {
		return engine.ProblemsOf(service.ServiceStatus().Problems, reason)
	}
	found := []v1alpha1.Problem{engine.FailedProblem(field, reason, cause)}
	return engine.KeptProblems(service.ServiceStatus().Problems, found, reason)
}

// announced are the conditions of which an event tells when they say that something is wrong, and the actions of these
// events. Stalled has the reason of Ready.
var announced = map[string]string{
	v1alpha1.ConditionReady: engine.ActionReconcile, v1alpha1.ConditionNotificationsUnavailable: engine.ActionReconcile,
	v1alpha1.ConditionInUse: engine.ActionDelete, v1alpha1.ConditionApplicationsMissing: engine.ActionObserve,
	v1alpha1.ConditionAccountChanged: engine.ActionObserve, v1alpha1.ConditionCreationSuspended: engine.ActionReconcile,
	v1alpha1.ConditionCreationBudgetReached: engine.ActionReconcile,
	v1alpha1.ConditionStatesUnderstood:      engine.ActionObserve,
}

// setProgress sets Ready, and Stalled while a person must act.
func setProgress(status *v1alpha1.IdentityServiceStatus, generation int64, reason string) {
	ready := metav1.Condition{
		Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: reason, Message: messages[reason],
		ObservedGeneration: generation,
	}
	if reason == v1alpha1.ReasonConnected || reason == v1alpha1.ReasonReferencesForbidden {
		ready.Status = metav1.ConditionTrue
	}
	meta.SetStatusCondition(&status.Conditions, ready)
	stalled := engine.If(slices.Contains(stalledReasons, reason), reason)
	setWarning(status, generation, v1alpha1.ConditionStalled, stalled, ready.Message)
}

// setWarning sets a condition that is there only while it is True, or removes it without a reason.
func setWarning(status *v1alpha1.IdentityServiceStatus, generation int64, kind, reason, message string) {
	if reason == "" {
		meta.RemoveStatusCondition(&status.Conditions, kind)
		return
	}
	meta.SetStatusCondition(&status.Conditions, metav1.Condition{
		Type: kind, Status: metav1.ConditionTrue, Reason: reason, Message: message, ObservedGeneration: generation,
	})
}

func mandateTypes(references *idv.References) (types []v1alpha1.MandateType, truncated bool) {
	budget := engine.NewStatusBudget(maxShown, &engine.Personal{})
	for i, t := range references.MandateTypes {
		shown := v1alpha1.MandateType{ID: budget.ID(t.ID), Name: budget.Text(t.Name), Code: budget.Text(t.Code)}
		if i == maxMandateTypes || !budget.Fits(typeOverhead, shown.Name, shown.Code) {
			return types, true
		}
		types = append(types, shown)
	}
	return types, budget.Truncated
}
