package chaos_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// canary marks all personal data and the password, so that leaks are found.
const canary = "canary"

// The Mandates of a scenario, and the actions.
const (
	plain    = "plain"    // two individuals, one with details in a Secret
	archived = "archived" // its application is archived
	decided  = "decided"  // a check is reviewed, and the application completed
	deleted  = "deleted"  // the user deletes it, and the application with it
	rejected = "rejected" // a reset races with a review; then the new check and the application are rejected

	resend = "resend" // resends an invite of plain
	report = "report" // downloads a report of decided
	reset  = "reset"  // resets an individual of rejected
)

var (
	mandates = []string{plain, archived, decided, deleted, rejected}
	actions  = []string{resend, report, reset}
)

// The manifests of the steps.
const (
	connectionManifest = serviceManifest + `
  polling: {minIntervalSeconds: 1, maxIntervalSeconds: 1}
`
	// serviceManifest ends where further fields of the spec may follow.
	serviceManifest = `
apiVersion: v1
kind: Secret
metadata: {name: idv}
type: idv.mandate.io/credentials
stringData: {username: ` + sandbox.DefaultUsername + `, password: $PASSWORD}
---
kind: IdentityService
metadata: {name: default}
spec:
  baseURL: $URL
  credentialsSecretRef: {name: idv}
  requestsPerSecond: 100`
	mandateManifests = `
apiVersion: v1
kind: Secret
metadata: {name: john}
type: idv.mandate.io/individual
stringData:
  email: canary-john@example.com
  title: canary-title
  first_name: canary-first
  last_name: canary-last
  reference: canary-reference
---
kind: Mandate
metadata: {name: plain}
spec:
  mandateType: {code: identity}
  individuals:
  - name: jane
    email: canary-jane@example.com
    firstName: canary-first
    middleName: canary-middle
    lastName: canary-last
    gender: canary-gender
  - {name: john, detailsSecretRef: {name: john}}
---
kind: Mandate
metadata: {name: archived}
spec: {mandateType: {code: address}, individuals: [{name: jane, email: canary-jane@example.com}], archived: true}
---
kind: Mandate
metadata: {name: decided}
spec: {mandateType: {code: address}, individuals: [{name: jane, email: canary-jane@example.com}]}
---
kind: Mandate
metadata: {name: deleted}
spec:
  mandateType: {code: address}
  individuals: [{name: jane, email: canary-jane@example.com}]
  deletionPolicy: Delete
---
kind: Mandate
metadata: {name: rejected}
spec:
  mandateType: {code: address}
  individuals:
  - {name: john, email: canary-john@example.com}
  - {name: jane, email: canary-jane@example.com}
`
	resendManifest = `
kind: MandateAction
metadata: {name: resend}
spec: {mandateRef: {name: plain}, individual: jane, type: ResendInvite}
`
	reportManifest = `
kind: MandateAction
metadata: {name: report}
spec: {mandateRef: {name: decided}, individual: jane, type: DownloadReport, reportSecretRef: {name: report}}
`
	resetManifest = `
kind: MandateAction
metadata: {name: reset}
spec: {mandateRef: {name: rejected}, individual: jane, type: ResetIndividual}
`
)

// steps are the actions of users, in order. Each starts when the one before has finished.
func (s *scenario) steps() []func(context.Context) error {
	return []func(context.Context) error{
		s.connect, s.createMandates, s.resend, s.review, s.delete, s.report, s.resetDuringReview, s.reject,
	}
}

// run runs the scenario, and returns the violations of its final state.
func (s *scenario) run(ctx context.Context) []string {
	for _, step := range append(s.steps(), s.converge, s.checkQuiet) {
		if err := step(ctx); err != nil {
			return []string{err.Error()}
		}
	}
	return s.violations(ctx)
}

// connect waits for the connection, so that every run continues from the same state. It does not wait if a fault
// affects the connection itself.
func (s *scenario) connect(ctx context.Context) error {
	if err := s.apply(ctx, connectionManifest); err != nil {
		return err
	}
	if slices.ContainsFunc(s.plans, func(p plan) bool { return p.owner() == everyMandate }) {
		return nil
	}
	return s.until(ctx, func() string { return s.notConnected(ctx) })
}

// notConnected describes why the IdentityService is not Ready, "" if it is.
func (s *scenario) notConnected(ctx context.Context) string {
	service := &v1alpha1.IdentityService{}
	if err := cluster.watched.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: "default"}, service); err != nil {
		return err.Error()
	}
	if hasCondition(service.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonConnected) {
		return ""
	}
	return "the IdentityService is not Ready: " + conditionsText(service.Status.Conditions)
}

// serviceNotKept reports an IdentityService without the finalizer that keeps it for its Mandates.
func (s *scenario) serviceNotKept(ctx context.Context) string {
	service := &v1alpha1.IdentityService{}
	if err := cluster.watched.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: "default"}, service); err != nil {
		return err.Error()
	}
	if slices.Contains(service.Finalizers, v1alpha1.ServiceFinalizer) {
		return ""
	}
	return "the IdentityService has no finalizer although Mandates need it"
}

// stateNotListed reports the state of a Mandate that the status of the IdentityService does not list.
func (s *scenario) stateNotListed(ctx context.Context) string {
	service := &v1alpha1.IdentityService{}
	if err := cluster.watched.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: "default"}, service); err != nil {
		return err.Error()
	}
	listed := []string{""}
	for _, state := range service.Status.States {
		listed = append(listed, state.Name)
	}
	for _, name := range mandates {
		m := s.mandate(name) // without a state, if it is gone
		_ = cluster.watched.Get(ctx, client.ObjectKeyFromObject(m), m)
		if !slices.Contains(listed, m.Status.State) {
			return fmt.Sprintf("the IdentityService does not list the state %q of %s", m.Status.State, name)
		}
	}
	return ""
}

func (s *scenario) createMandates(ctx context.Context) error {
	s.permit(archived, []string{archive})
	s.permit(decided, []string{complete})
	return s.apply(ctx, mandateManifests)
}

func (s *scenario) apply(ctx context.Context, manifests string) error {
	text := strings.NewReplacer("$PASSWORD", s.password, "$URL", s.service.URL).Replace(manifests)
	for document := range strings.SplitSeq(text, "---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
			return err
		}
		if object.GetAPIVersion() == "" {
			object.SetAPIVersion(v1alpha1.SchemeGroupVersion.String())
		}
		object.SetNamespace(s.namespace)
		if err := cluster.Create(ctx, object); err != nil {
			return err
		}
	}
	return nil
}

func (s *scenario) resend(ctx context.Context) error {
	if _, err := s.waitSettled(ctx, plain); err != nil {
		return err
	}
	return s.apply(ctx, resendManifest)
}

func (s *scenario) report(ctx context.Context) error {
	known, err := s.waitSettled(ctx, decided)
	if err != nil {
		return err
	}
	err = s.until(ctx, func() string {
		m := s.mandate(decided)
		if err := cluster.watched.Get(ctx, client.ObjectKeyFromObject(m), m); err != nil {
			return err.Error()
		}
		if !known || m.Status.Outcome != "" {
			return ""
		}
		return "decided has no outcome: " + conditionsText(m.Status.Conditions)
	})
	return errors.Join(err, s.apply(ctx, reportManifest))
}

// review leaves a check of decided to be reviewed, and accepts it. It does nothing if the application's id was lost.
func (s *scenario) review(ctx context.Context) error {
	known, err := s.waitSettled(ctx, decided)
	if err != nil || !known {
		return err
	}
	_, err = s.sandbox.Play(ctx, control.Play{Reference: s.reference(decided), Result: control.ResultReview})
	return errors.Join(err, s.reviewCheck(ctx, decided, v1alpha1.CheckDecisionAccept))
}

func (s *scenario) delete(ctx context.Context) error {
	if _, err := s.waitSettled(ctx, deleted); err != nil {
		return err
	}
	return s.edit(deleted, []string{deletion}, func() error { return cluster.Delete(ctx, s.mandate(deleted)) })
}

// editSpec merges fields into a spec, which then asks for these requests.
func (s *scenario) editSpec(ctx context.Context, mandate, fields string, requests ...string) error {
	patch := client.RawPatch(types.MergePatchType, []byte(`{"spec": `+fields+`}`))
	return s.edit(mandate, requests, func() error { return cluster.Patch(ctx, s.mandate(mandate), patch) })
}

func (s *scenario) mandate(name string) *v1alpha1.Mandate {
	return &v1alpha1.Mandate{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}}
}

// waitSettled waits until the application of a Mandate is known, or its outcome is unknown for good. A review that was
// overtaken by a reset waits for its author, who knows the application.
func (s *scenario) waitSettled(ctx context.Context, name string) (known bool, err error) {
	err = s.until(ctx, func() string {
		m := s.mandate(name)
		if err := cluster.watched.Get(ctx, client.ObjectKeyFromObject(m), m); err != nil {
			return err.Error()
		}
		conditions := m.Status.Conditions
		known = hasCondition(conditions, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAccepted) ||
			hasCondition(conditions, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonReviewOutdated)
		if known || isOutcomeUnknown(conditions) {
			return ""
		}
		return fmt.Sprintf("%s is not settled: %s", name, conditionsText(m.Status.Conditions))
	})
	return known, err
}

func hasCondition(
	conditions []metav1.Condition, conditionType string, status metav1.ConditionStatus, reason string,
) bool {
	c := meta.FindStatusCondition(conditions, conditionType)
	return c != nil && c.Status == status && c.Reason == reason
}

func isOutcomeUnknown(conditions []metav1.Condition) bool {
	return hasCondition(conditions, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonOutcomeUnknown)
}

// converge waits until the scenario has its expected state.
func (s *scenario) converge(ctx context.Context) error {
	return s.until(ctx, func() string { return s.differences(ctx) })
}

// checkQuiet waits for a few more polls, during which the operator writes nothing. It excludes events, which the
// operator sends asynchronously, and repeats rather than loses.
func (s *scenario) checkQuiet(ctx context.Context) error {
	from := len(s.occurrences())
	err := s.until(ctx, func() string {
		polls, polled := map[string]int{}, false
		for _, o := range s.occurrences()[from:] {
			if o.effect.what == poll && o.status/100 == 2 {
				polls[o.effect.about]++
				polled = polled || polls[o.effect.about] >= 3
			}
		}
		if polled || s.idUnknown(plain) && s.idUnknown(archived) { // the other Mandates are not polled any more
			return ""
		}
		return "the operator has stopped polling"
	})
	for _, o := range s.occurrences()[from:] {
		if o.effect.what == "PATCH applicationrecords" && o.effect.about == deleted {
			continue // an operator that has just started records when the Mandate was first missing
		}
		if o.isWrite() && o.status/100 == 2 {
			return fmt.Errorf("the operator writes although nothing has changed: %s", o.String())
		}
	}
	return err
}

// isWrite reports whether an effect is a write to the API server other than an event.
func (o *occurrence) isWrite() bool {
	return !strings.HasPrefix(o.effect.what, "service: ") && !strings.HasSuffix(o.effect.what, " events")
}

// idUnknown reports whether the ledger has no id for the Mandate's application.
func (s *scenario) idUnknown(mandate string) bool {
	record := s.record(context.Background(), mandate)
	return record == nil || record.Spec.ApplicationID == nil
}

// leakIn returns the surroundings of a canary, "" if there is none.
func leakIn(content []byte) string {
	if i := bytes.Index(content, []byte(canary)); i >= 0 {
		return fmt.Sprintf("...%s...", content[max(0, i-200):min(len(content), i+50)])
	}
	return ""
}

// secretExists reads from the API server, not from the cache.
func (s *scenario) secretExists(ctx context.Context, name string) (bool, error) {
	secret := &corev1.Secret{}
	err := cluster.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: name}, secret)
	return err == nil, client.IgnoreNotFound(err)
}
