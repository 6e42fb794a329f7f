package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// connects has an edit of every field of an IdentityService that needs the verb connect, and free of every other one.
var (
	connects = map[string]string{
		"baseURL":              "https://other.example.com",
		"caBundle":             "-----BEGIN CERTIFICATE-----",
		"credentialsSecretRef": "{name: other}",
		"tokenAuthorization":   "Basic",
		"tokenRequest":         "{grantType: client_credentials}",
		"referencePrefix":      "other-",
		"states":               "{completed: [done]}",
		"notifications":        "{secretRef: {name: other}}",
		"creation":             "{maxPerHour: 501}",
	}
	free = map[string]string{
		"requestsPerSecond": "5",
		"polling":           "{minIntervalSeconds: 60}",
		"transitions":       "{completeMethod: PUT}",
		"creation":          "{suspend: true, maxPerHour: 100}",
		"retention":         "{afterOutcome: Erase}", // who edits Mandates may erase each, and delete it
	}
)

// Who may say where the credentials and the people of a namespace go, and what the answers mean.
func TestPolicyOfConnections(t *testing.T) {
	c, namespace := policed(t)
	for user, verb := range verbs {
		err := c.as(user).Create(t.Context(), identityService(t, namespace), client.DryRunAll)
		if verb != "connect" {
			refused(t, user, err, "spec.baseURL, spec.credentialsSecretRef", "verb connect on identityservices.idv.mandate.io")
		} else if err != nil {
			t.Errorf("%s is refused: %v", user, err)
		}
	}
	existing := identityService(t, namespace)
	c.check(c.Create(t.Context(), existing))
	for user, verb := range verbs {
		for field, value := range connects {
			err := c.as(user).Patch(t.Context(), existing.DeepCopy(),
				mergePatch(t, fmt.Sprintf("{spec: {%s: %s}}", field, value)), client.DryRunAll)
			if verb != "connect" {
				refused(t, user, err, "spec."+field+" can be set or changed", "verb connect on")
			} else if err != nil {
				t.Errorf("%s is refused to change %s: %v", user, field, err)
			}
		}
		for field, value := range free {
			err := c.as(user).Patch(t.Context(), existing.DeepCopy(),
				mergePatch(t, fmt.Sprintf("{spec: {%s: %s}}", field, value)), client.DryRunAll)
			if err != nil {
				t.Errorf("%s is refused to change %s: %v", user, field, err)
			}
		}
		vouch := mergePatch(t,
			fmt.Sprintf("{metadata: {annotations: {%s: 0123456789abcdef}}}", v1alpha1.SameAccountAnnotation))
		err := c.as(user).Patch(t.Context(), existing.DeepCopy(), vouch, client.DryRunAll)
		if verb != "connect" {
			refused(t, user, err, "the annotation idv.mandate.io/same-account can be set or changed", "verb connect on")
		} else if err != nil {
			t.Errorf("%s is refused to vouch for an account: %v", user, err)
		}
		unrelated := mergePatch(t, `{metadata: {annotations: {example.com/note: a}}}`)
		if err := c.as(user).Patch(t.Context(), existing.DeepCopy(), unrelated, client.DryRunAll); err != nil {
			t.Errorf("%s is refused another annotation: %v", user, err)
		}
		again := mergePatch(t, `{spec: {baseURL: "https://idv.example.com", credentialsSecretRef: {name: idv}}}`)
		if err := c.as(user).Patch(t.Context(), existing.DeepCopy(), again, client.DryRunAll); err != nil {
			t.Errorf("%s is refused to apply the same again: %v", user, err)
		}
		if err := c.as(user).Delete(t.Context(), existing.DeepCopy(), client.DryRunAll); err != nil {
			t.Errorf("%s is refused to delete: %v", user, err)
		}
	}
}

// Somebody who adds a field decides whether it needs the verb.
func TestPolicyKnowsEveryFieldOfAConnection(t *testing.T) {
	var known, fields []string
	for field := range connects {
		known = append(known, field)
	}
	for field := range free {
		known = append(known, field)
	}
	for _, spec := range []any{v1alpha1.IdentityServiceSpec{}, v1alpha1.ServiceSettings{}} {
		for field := range reflect.TypeOf(spec).Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name != "" { // it is not the settings as a whole
				fields = append(fields, name)
			}
		}
	}
	slices.Sort(known)
	known = slices.Compact(known) // spec.creation is in both: it needs the verb to allow more, and not to allow less
	slices.Sort(fields)
	if !slices.Equal(known, fields) {
		t.Errorf("the policy is tested with the fields %q, and there are %q", known, fields)
	}
}

// The operator has no verb of the policy, and needs none for status and finalizers.
func TestPolicyOfConnectionsLeavesTheOperatorAlone(t *testing.T) {
	policed(t)
	c := in(t, env)
	service := identityService(t, env.Namespace(t))
	c.check(c.Create(t.Context(), service))
	operator := c.as("system:serviceaccount:mandate-operator-system:mandate-operator")
	finalizer := mergePatch(t, "{metadata: {finalizers: [idv.mandate.io/in-use]}}")
	c.check(operator.Patch(t.Context(), service.DeepCopy(), finalizer))
	c.check(operator.Status().Patch(t.Context(), service.DeepCopy(), mergePatch(t, "{status: {observedGeneration: 1}}")))
	refused(t, "the operator", operator.Patch(t.Context(), service.DeepCopy(),
		mergePatch(t, `{spec: {baseURL: "https://other.example.com"}}`)), "spec") // config/admission refuses it, too
	c.check(operator.Patch(t.Context(), service.DeepCopy(), mergePatch(t, "{metadata: {finalizers: null}}")))
}

// Who may say where the service delivers, once somebody takes notifications.
func TestPolicyOfReceivers(t *testing.T) {
	c, namespace := policed(t)
	existing := identityService(t, namespace)
	c.check(c.Create(t.Context(), existing))
	c.check(c.Patch(t.Context(), existing, mergePatch(t, "{spec: {notifications: {secretRef: {name: tokens}}}}")))
	for user, verb := range verbs {
		for _, edit := range []string{
			"{url: https://other.example.com}", "{subscribe: Application, url: https://other.example.com}",
			"{events: [other]}", "{fieldNames: {url: other}}",
		} {
			err := c.as(user).Patch(t.Context(), existing.DeepCopy(),
				mergePatch(t, fmt.Sprintf("{spec: {notifications: %s}}", edit)), client.DryRunAll)
			if verb != "connect" {
				refused(t, user, err, "spec.notifications can be set or changed", "verb connect on")
			} else if err != nil {
				t.Errorf("%s is refused %s: %v", user, edit, err)
			}
		}
	}
}
