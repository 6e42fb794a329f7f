package config

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// With watchNamespaces, the operator has access to them only, the policy of records lets it write there, and the
// policies of the operator and of reports are about its own account.
func TestChartForSomeNamespaces(t *testing.T) {
	c := in(t, env)
	c.withRecordPolicy(false)
	here, there := env.Namespace(t), env.Namespace(t)
	manifests := c.render("narrow", "--set=reports.enabled=true,roles.create=false,watchNamespaces={"+here+"}")
	output, err := c.tryKubectl(manifests, "apply", "--server-side", "--filename=-")
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	const policy = "narrow-mandate-operator.record.idv.mandate.io"
	defer c.kubectl("delete", "validatingadmissionpolicies,validatingadmissionpolicybindings", policy,
		"narrow-mandate-operator.operator.idv.mandate.io")
	account := "system:serviceaccount:" + operatorNamespace + ":narrow-mandate-operator"
	c.waitForAccess(here, account, "watch", "mandates")
	if c.may(there, account, "get", "mandates") {
		t.Error("the operator has access to another namespace")
	}
	operator := c.as(account)
	c.eventually(func() (bool, string) {
		err := c.as(writer).Create(t.Context(), record(t, here, "forged"), client.DryRunAll)
		return apierrors.IsForbidden(err) && strings.Contains(err.Error(), policy), fmt.Sprintf("%s: %v", policy, err)
	})
	m := mandate(t, here, "{}")
	c.check(c.Create(t.Context(), m))
	observed := client.RawPatch(types.MergePatchType, []byte(`{"status":{"observedGeneration":1}}`))
	for _, err := range []error{
		operator.Create(t.Context(), record(t, here, "acme")), operator.Status().Patch(t.Context(), m, observed),
	} {
		if err != nil {
			t.Errorf("the operator cannot write: %v", err)
		}
	}
	c.eventually(func() (bool, string) {
		err := c.tryPatch(account, m, "{spec: {suspend: true}}")
		refused := apierrors.IsForbidden(err) && strings.Contains(err.Error(), "spec can change only with the verb update")
		return refused, fmt.Sprintf("the policy does not refuse a change of a spec: %v", err)
	})
	if err := c.tryPatch(account, m, "{metadata: {finalizers: ["+v1alpha1.ApplicationFinalizer+"]}}"); err != nil {
		t.Errorf("the operator cannot set its finalizer: %v", err)
	}
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
