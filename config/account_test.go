package config

import (
	"context"
	"slices"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// operatorConfig connects with a token of the operator's ServiceAccount, as an attacker would who has stolen it.
func (c *cluster) operatorConfig() *rest.Config {
	c.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", c.serviceAccount())
	c.check(err)
	return config
}

func (c *cluster) asOperator() client.WithWatch {
	c.Helper()
	operator, err := client.NewWithWatch(c.operatorConfig(), client.Options{})
	c.check(err)
	return operator
}

// withoutReports removes what lets the operator create Secrets, in case that another test has applied it.
func (c *cluster) withoutReports() {
	c.Helper()
	c.kubectl("delete", "--ignore-not-found", "--kustomize", "config/reports")
	c.waitForSecrets(false)
}

// waitForSecrets waits until the operator may create Secrets, or may not any more.
func (c *cluster) waitForSecrets(want bool) {
	c.Helper()
	operator := c.asOperator()
	c.eventually(func() (bool, string) {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: "default", Verb: "create", Resource: "secrets"},
		}}
		c.check(operator.Create(c.Context(), review))
		return review.Status.Allowed == want, "the permission to create Secrets has not changed"
	})
}

// With the default manifests, the operator's token gets no further credentials, by whatever way Kubernetes offers, but
// for Secrets whose names somebody knows.
func TestStolenToken(t *testing.T) {
	c := in(t, env)
	installed(c)
	c.withoutReports()
	namespace := env.Namespace(t)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "theirs"}}
	c.check(c.Create(t.Context(), secret))
	operator, ctx := c.asOperator(), t.Context()
	if err := operator.Get(ctx, client.ObjectKeyFromObject(secret), secret); err != nil {
		t.Errorf("a Secret that a service names cannot be read: %v", err)
	}

	own := metav1.ObjectMeta{Namespace: operatorNamespace, Name: "mandate-operator"}
	team := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	inNamespace, name := client.InNamespace(namespace), metav1.ObjectMeta{Namespace: namespace, Name: "new"}
	annotate := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"a":"b"}}}`))
	watch := func(options ...client.ListOption) error {
		w, err := operator.Watch(ctx, &corev1.SecretList{}, options...)
		if err == nil {
			w.Stop()
		}
		return err
	}
	impersonated := c.operatorConfig()
	impersonated.Impersonate.UserName = "admin"
	admin, err := client.New(impersonated, client.Options{})
	c.check(err)
	for what, err := range map[string]error{
		"list the Secrets of the cluster":    operator.List(ctx, &corev1.SecretList{}),
		"list the Secrets of a namespace":    operator.List(ctx, &corev1.SecretList{}, inNamespace),
		"watch the Secrets of the cluster":   watch(),
		"watch the Secrets of a namespace":   watch(inNamespace),
		"create a Secret":                    operator.Create(ctx, &corev1.Secret{ObjectMeta: name}),
		"create a Secret with a token":       operator.Create(ctx, tokenSecret(namespace)),
		"update a Secret":                    operator.Update(ctx, secret),
		"patch a Secret":                     operator.Patch(ctx, secret.DeepCopy(), annotate),
		"delete a Secret":                    operator.Delete(ctx, secret.DeepCopy()),
		"delete all Secrets of a namespace":  operator.DeleteAllOf(ctx, &corev1.Secret{}, inNamespace),
		"request a token":                    requestToken(ctx, operator, own),
		"impersonate somebody":               admin.Get(ctx, client.ObjectKeyFromObject(secret), secret.DeepCopy()),
		"run a Pod":                          operator.Create(ctx, &corev1.Pod{ObjectMeta: name}),
		"grant permissions in a namespace":   operator.Create(ctx, &rbacv1.RoleBinding{ObjectMeta: name}),
		"grant permissions in the cluster":   operator.Create(ctx, &rbacv1.ClusterRoleBinding{ObjectMeta: name}),
		"make somebody use another account":  operator.Create(ctx, &corev1.ServiceAccount{ObjectMeta: name}),
		"read what is in no Secret":          operator.List(ctx, &corev1.ConfigMapList{}, inNamespace),
		"label a namespace":                  operator.Patch(ctx, team, annotate),
		"create a Mandate, and so e-mail":    operator.Create(ctx, mandate(t, namespace, "{}")),
		"create an action, and so e-mail":    operator.Create(ctx, action(t, namespace)),
		"delete a Mandate with its evidence": operator.Delete(ctx, mandate(t, namespace, "{}")),
	} {
		if !apierrors.IsForbidden(err) {
			t.Errorf("the operator's token can %s: error %v, want one that forbids it", what, err)
		}
	}
	c.grantsNoWildcard(operator, namespace)
}

// grantsNoWildcard looks at all that the API server says that the operator may do.
func (c *cluster) grantsNoWildcard(operator client.Client, namespace string) {
	c.Helper()
	review := &authorizationv1.SelfSubjectRulesReview{
		Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: namespace},
	}
	c.check(operator.Create(c.Context(), review))
	secrets := false
	for _, rule := range review.Status.ResourceRules {
		for _, names := range [][]string{rule.APIGroups, rule.Resources, rule.Verbs} {
			if slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, "*") }) {
				c.Errorf("a wildcard cannot be reviewed: %+v", rule)
			}
		}
		if slices.Contains(rule.Resources, "secrets") {
			secrets = true
			if !slices.Equal(rule.Verbs, []string{"get"}) {
				c.Errorf("the operator may %q Secrets, want get only", rule.Verbs)
			}
		}
	}
	if !secrets || review.Status.Incomplete {
		c.Errorf("the API server does not say everything: %+v", review.Status)
	}
}

func requestToken(ctx context.Context, c client.Client, account metav1.ObjectMeta) error {
	request := &authenticationv1.TokenRequest{}
	return c.SubResource("token").Create(ctx, &corev1.ServiceAccount{ObjectMeta: account}, request)
}

// tokenSecret is one that Kubernetes fills with a token of a ServiceAccount.
func tokenSecret(namespace string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: "token", Annotations: map[string]string{corev1.ServiceAccountNameKey: "admin"},
		},
		Type: corev1.SecretTypeServiceAccountToken,
	}
}
