package config

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// With watchNamespaces, the operator has access to them only, and the policy of reports is about its own account.
func TestChartForSomeNamespaces(t *testing.T) {
	c := in(t, env)
	c.apply("--filename", "config/manager/namespace.yaml")
	here, there := env.Namespace(t), env.Namespace(t)
	manifests := c.render("narrow", "--set=reports.enabled=true,roles.create=false,watchNamespaces={"+here+"}")
	output, err := c.tryKubectl(manifests, "apply", "--server-side", "--filename=-")
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	account := "system:serviceaccount:" + operatorNamespace + ":narrow-mandate-operator"
	c.waitForAccess(here, account, "watch", "mandates")
	if c.may(there, account, "get", "mandates") {
		t.Error("the operator has access to another namespace")
	}
	operator := c.as(account)
	c.eventually(func() (bool, string) {
		err := operator.Create(t.Context(), tokenSecret(here), client.DryRunAll)
		refused := apierrors.IsForbidden(err) && strings.Contains(err.Error(), "of the type Opaque only")
		return refused, "the policy does not refuse a token"
	})
	if err := operator.Create(t.Context(), reportSecret(here), client.DryRunAll); err != nil {
		t.Errorf("a report is refused: %v", err)
	}
	if err := operator.Create(t.Context(), reportSecret(there), client.DryRunAll); !apierrors.IsForbidden(err) {
		t.Errorf("a report in another namespace: error %v, want one that forbids it", err)
	}
}
