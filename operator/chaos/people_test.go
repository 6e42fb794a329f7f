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

// canary is in everything that is personal, and in the password.
const canary = "canary"

// The Mandates of a life, and the orders.
const (
	plain    = "plain"    // two people, one of them in a Secret
	archived = "archived" // it is archived, and goes on
	decided  = "decided"  // a check is reviewed, and the application completed
	deleted  = "deleted"  // it is deleted, and the application with it

	resend = "resend" // e-mails somebody of plain once more
	report = "report" // downloads the report on somebody of decided
)

var (
	mandates = []string{plain, archived, decided, deleted}
	orders   = []string{resend, report}
)

// connection is what people apply first, and documents what they apply then, and when.
const (
	connection = `
apiVersion: v1
kind: Secret
metadata: {name: idv}
stringData: {username: ` + sandbox.DefaultUsername + `, password: $PASSWORD}
---
kind: IdentityService
metadata: {name: default}
spec:
  baseURL: $URL
  credentialsSecretRef: {name: idv}
  requestsPerSecond: 100
  polling: {minIntervalSeconds: 1, maxIntervalSeconds: 1}
`
	subjects = `
apiVersion: v1
kind: Secret
metadata: {name: john}
stringData: {email: canary-john@example.com, title: canary-title, first_name: canary-first, last_name: canary-last, reference: canary-reference}
---
kind: Mandate
metadata: {name: plain}
spec:
  mandateType: {code: identity}
  individuals:
  - {name: jane, email: canary-jane@example.com, firstName: canary-first, middleName: canary-middle, lastName: canary-last, gender: canary-gender}
  - {name: john, detailsSecretRef: {name: john}}
---
kind: Mandate
metadata: {name: archived}
spec: {mandateType: {code: address}, individuals: [{name: jane, email: canary-jane@example.com}], archived: true}
---
kind: Mandate
metadata: {name: decided}
spec: {mandateType: {code: address}, individuals: [{name: jane, email: canary-jane@example.com}], decision: Complete}
---
kind: Mandate
metadata: {name: deleted}
spec: {mandateType: {code: address}, individuals: [{name: jane, email: canary-jane@example.com}], deletionPolicy: Delete}
`
	resending = `
kind: MandateAction
metadata: {name: resend}
spec: {mandateRef: {name: plain}, individual: jane, type: ResendInvite}
`
	reporting = `
kind: MandateAction
metadata: {name: report}
spec: {mandateRef: {name: decided}, individual: jane, type: DownloadReport, reportSecretRef: {name: report}}
`
	reviews = `{"spec":{"checkReviews":[{"individual":"jane","check":"address","decision":"Accept","comment":"canary-comment"}]}}`
)

// stages are what people do in a life, each when the one before is through.
func (l *life) stages() []func(context.Context) error {
	return []func(context.Context) error{l.connect, l.begin, l.resend, l.review, l.delete, l.report}
}

// live is a life, and tells what is wrong in the end.
func (l *life) live(ctx context.Context) []string {
	for _, stage := range append(l.stages(), l.converge, l.rest) {
		if err := stage(ctx); err != nil {
			return []string{err.Error()}
		}
	}
	return l.violations(ctx)
}

// connect waits for the connection, so that what follows is the same in every life, unless it is the connection that is
// disturbed.
func (l *life) connect(ctx context.Context) error {
	if err := l.apply(ctx, connection); err != nil {
		return err
	}
	if slices.ContainsFunc(l.plans, func(p plan) bool { return p.lane() == everybody }) {
		return nil
	}
	return l.until(ctx, func() string { return l.connected(ctx) })
}

func (l *life) connected(ctx context.Context) string {
	service := &v1alpha1.IdentityService{}
	if err := world.watched.Get(ctx, client.ObjectKey{Namespace: l.namespace, Name: "default"}, service); err != nil {
		return err.Error()
	}
	if holds(service.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonConnected) {
		return ""
	}
	return "the IdentityService is not Ready: " + conditionsText(service.Status.Conditions)
}

// kept tells whether the IdentityService stays for the Mandates that go on to need it, in the end of every life.
func (l *life) kept(ctx context.Context) string {
	service := &v1alpha1.IdentityService{}
	if err := world.watched.Get(ctx, client.ObjectKey{Namespace: l.namespace, Name: "default"}, service); err != nil {
		return err.Error()
	}
	if slices.Contains(service.Finalizers, v1alpha1.ServiceFinalizer) {
		return ""
	}
	return "the IdentityService would go though Mandates need it"
}

func (l *life) begin(ctx context.Context) error { return l.apply(ctx, subjects) }

func (l *life) apply(ctx context.Context, manifests string) error {
	text := strings.NewReplacer("$PASSWORD", l.password, "$URL", l.service.URL).Replace(manifests)
	for document := range strings.SplitSeq(text, "---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
			return err
		}
		if object.GetAPIVersion() == "" {
			object.SetAPIVersion(v1alpha1.SchemeGroupVersion.String())
		}
		object.SetNamespace(l.namespace)
		if err := world.Create(ctx, object); err != nil {
			return err
		}
	}
	return nil
}

func (l *life) resend(ctx context.Context) error {
	if _, err := l.settled(ctx, plain); err != nil {
		return err
	}
	return l.apply(ctx, resending)
}

func (l *life) report(ctx context.Context) error {
	known, err := l.settled(ctx, decided)
	if err != nil {
		return err
	}
	err = l.until(ctx, func() string {
		m := l.mandate(decided)
		if err := world.watched.Get(ctx, client.ObjectKeyFromObject(m), m); err != nil {
			return err.Error()
		}
		if !known || m.Status.Outcome != "" {
			return ""
		}
		return "decided has no outcome: " + conditionsText(m.Status.Conditions)
	})
	return errors.Join(err, l.apply(ctx, reporting))
}

// review plays the person of decided, whose check is left to be decided, and decides it. That cannot be done where nobody
// knows the application.
func (l *life) review(ctx context.Context) error {
	known, err := l.settled(ctx, decided)
	if err != nil || !known {
		return err
	}
	_, err = l.sandbox.Play(ctx, control.Play{Reference: l.reference(decided), Result: control.Review})
	return errors.Join(err, world.Patch(ctx, l.mandate(decided), client.RawPatch(types.MergePatchType, []byte(reviews))))
}

func (l *life) delete(ctx context.Context) error {
	if _, err := l.settled(ctx, deleted); err != nil {
		return err
	}
	return world.Delete(ctx, l.mandate(deleted))
}

func (l *life) mandate(name string) *v1alpha1.Mandate {
	return &v1alpha1.Mandate{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: name}}
}

// settled waits until a Mandate has an application that is known, or one of which nobody can tell.
func (l *life) settled(ctx context.Context, name string) (known bool, err error) {
	err = l.until(ctx, func() string {
		m := l.mandate(name)
		if err := world.watched.Get(ctx, client.ObjectKeyFromObject(m), m); err != nil {
			return err.Error()
		}
		known = holds(m.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAccepted)
		if known || holds(m.Status.Conditions, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonOutcomeUnknown) {
			return ""
		}
		return fmt.Sprintf("%s is not settled: %s", name, conditionsText(m.Status.Conditions))
	})
	return known, err
}

func holds(conditions []metav1.Condition, conditionType string, status metav1.ConditionStatus, reason string) bool {
	c := meta.FindStatusCondition(conditions, conditionType)
	return c != nil && c.Status == status && c.Reason == reason
}

// converge waits until everything is as it ought to be.
func (l *life) converge(ctx context.Context) error {
	return l.until(ctx, func() string { return l.differences(ctx) })
}

// rest lets the operator look at what has converged a few times more. It has nothing left to write, but for events, which it
// sends when it gets to it, and repeats rather than loses.
func (l *life) rest(ctx context.Context) error {
	from := len(l.happened())
	err := l.until(ctx, func() string {
		polls, polled := map[string]int{}, false
		for _, h := range l.happened()[from:] {
			if h.effect.what == poll && h.status/100 == 2 {
				polls[h.effect.about]++
				polled = polled || polls[h.effect.about] >= 3
			}
		}
		if polled || l.unknown(plain) && l.unknown(archived) { // the others are not looked at any more
			return ""
		}
		return "nothing is read any more"
	})
	for _, h := range l.happened()[from:] {
		if h.effect.what == "PATCH applicationrecords" && h.effect.about == deleted {
			continue // an operator that has just started notes since when the Mandate of a record is gone
		}
		if writes := !strings.HasPrefix(h.effect.what, "service: ") && !strings.HasSuffix(h.effect.what, " events"); writes && h.status/100 == 2 {
			return fmt.Errorf("something was written although nothing was new: %s", h.String())
		}
	}
	return err
}

// unknown tells whether the ledger knows no id of a Mandate's application.
func (l *life) unknown(mandate string) bool {
	record := l.record(context.Background(), mandate)
	return record == nil || record.Spec.ApplicationID == nil
}

// leakIn shows where a canary is.
func leakIn(content []byte) string {
	if i := bytes.Index(content, []byte(canary)); i >= 0 {
		return fmt.Sprintf("...%s...", content[max(0, i-200):min(len(content), i+50)])
	}
	return ""
}

// secretExists asks the API server itself.
func (l *life) secretExists(ctx context.Context, name string) (bool, error) {
	secret := &corev1.Secret{}
	err := world.Get(ctx, client.ObjectKey{Namespace: l.namespace, Name: name}, secret)
	return err == nil, client.IgnoreNotFound(err)
}
