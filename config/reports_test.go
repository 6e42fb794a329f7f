package config

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// reportSecret is what the operator creates.
func reportSecret(namespace string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: "report",
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "idv.mandate.io/v1alpha1", Kind: "MandateAction", Name: "report", UID: "1", Controller: new(true),
			}},
		},
		Data: map[string][]byte{"report": []byte("%PDF-"), "content_type": []byte("application/pdf")},
	}
}

// With config/reports, the operator's account creates reports and no other Secret. Others are not concerned.
func TestReports(t *testing.T) {
	c := in(t, env)
	installed(c)
	c.withoutReports()
	namespace := env.Namespace(t)
	operator := c.asOperator()
	create := func(secret *corev1.Secret) error { return operator.Create(t.Context(), secret, client.DryRunAll) }
	if err := create(reportSecret(namespace)); !apierrors.IsForbidden(err) {
		t.Errorf("error %v, want one that forbids a report without config/reports", err)
	}
	c.apply("--kustomize", "config/reports")
	c.waitForSecrets(true)
	c.eventually(func() (bool, string) { return create(tokenSecret(namespace)) != nil, "the policy is not in force" })

	owner := func(change func(*metav1.OwnerReference)) func(*corev1.Secret) {
		return func(s *corev1.Secret) { change(&s.OwnerReferences[0]) }
	}
	cases := map[string]struct {
		change func(*corev1.Secret)
		want   string // what the refusal says; empty: it is created
	}{
		"a report":            {change: func(*corev1.Secret) {}},
		"with its type":       {change: func(s *corev1.Secret) { s.Type = corev1.SecretTypeOpaque }},
		"labels of a webhook": {change: func(s *corev1.Secret) { s.Labels = map[string]string{"team": "a"} }},
		"a token": {
			func(s *corev1.Secret) {
				s.Type, s.Annotations = corev1.SecretTypeServiceAccountToken, tokenSecret("").Annotations
			},
			"of the type Opaque",
		},
		"annotations of a token": {
			func(s *corev1.Secret) { s.Annotations = tokenSecret("").Annotations },
			"annotations of a ServiceAccount",
		},
		"a bootstrap token":     {func(s *corev1.Secret) { s.Type = corev1.SecretTypeBootstrapToken }, "of the type Opaque"},
		"a type of a tool":      {func(s *corev1.Secret) { s.Type = "helm.sh/release.v1" }, "of the type Opaque"},
		"no owner":              {func(s *corev1.Secret) { s.OwnerReferences = nil }, "owner is a MandateAction"},
		"another kind of owner": {owner(func(o *metav1.OwnerReference) { o.Kind = "Mandate" }), "owner is a MandateAction"},
		"an owner of another group": {
			owner(func(o *metav1.OwnerReference) { o.APIVersion = "idv.mandate.io.example.com/v1" }), "owner is a MandateAction",
		},
		"an owner that does not control it": {
			owner(func(o *metav1.OwnerReference) { o.Controller = nil }), "owner is a MandateAction",
		},
		"two owners": {
			func(s *corev1.Secret) {
				second := s.OwnerReferences[0]
				second.UID, second.Controller = "2", nil
				s.OwnerReferences = append(s.OwnerReferences, second)
			},
			"owner is a MandateAction",
		},
		"credentials of another controller": {
			func(s *corev1.Secret) { s.Data["server"] = []byte("https://example.com") }, "with the keys",
		},
		"credentials as text": {
			func(s *corev1.Secret) { s.StringData = map[string]string{"password": "x"} }, "with the keys",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			secret := reportSecret(namespace)
			tc.change(secret)
			err := create(secret.DeepCopy())
			if tc.want == "" && err != nil ||
				tc.want != "" && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("error = %v, want one that says %q", err, tc.want)
			}
			if err := in(t, env).as("").Create(t.Context(), secret, client.DryRunAll); err != nil {
				t.Errorf("an administrator is refused: %v", err)
			}
		})
	}
	c.writesNoOther(operator, namespace)
}

// writesNoOther tries to change Secrets: to create is all that config/reports grants.
func (c *cluster) writesNoOther(operator client.Client, namespace string) {
	c.Helper()
	ctx, own := c.Context(), reportSecret(namespace)
	c.check(operator.Create(ctx, own))
	theirs := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "theirs"}}
	c.check(c.Create(ctx, theirs))
	for _, secret := range []*corev1.Secret{own, theirs} {
		adopt := client.MergeFrom(secret.DeepCopy())
		secret.OwnerReferences = reportSecret("").OwnerReferences
		secret.Data = nil
		for what, err := range map[string]error{
			"update": operator.Update(ctx, secret.DeepCopy()),
			"patch":  operator.Patch(ctx, secret.DeepCopy(), adopt),
			"delete": operator.Delete(ctx, secret.DeepCopy()),
			"list":   operator.List(ctx, &corev1.SecretList{}, client.InNamespace(namespace)),
		} {
			if !apierrors.IsForbidden(err) {
				c.Errorf("%s the Secret %s: error %v, want one that forbids it", what, secret.Name, err)
			}
		}
	}
}
