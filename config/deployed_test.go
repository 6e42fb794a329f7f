package config

import (
	"context"
	"net"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/internal/test/await"
	"github.com/mandate-io/idv/internal/test/testenv"
)

const operatorNamespace = "mandate-operator-system"

// runsAsDeployed runs the operator as the kubelet would: with the arguments of the Deployment, as its ServiceAccount.
// It becomes leader, answers the probes and the scraper, and works.
func (c *cluster) runsAsDeployed() {
	c.Helper()
	arguments, listens := c.onLoopback(c.deployment().Spec.Template.Spec.Containers[0].Args)
	// In a Pod, the namespace is that of the ServiceAccount.
	operator := c.startOperator(c.serviceAccount(), append(arguments, "--leader-election-namespace="+operatorNamespace)...)

	for _, path := range []string{"/readyz", "/healthz"} {
		c.check(operator.WaitForURL(await.Context(c.T), "http://"+listens[":8081"]+path))
	}
	c.servesMetrics(listens[":8443"])

	c.sees(c.Namespace(c.T))
	lease := &coordinationv1.Lease{}
	leaseKey := client.ObjectKey{Namespace: operatorNamespace, Name: "mandate-operator.idv.mandate.io"}
	c.check(c.Get(c.Context(), leaseKey, lease))
	if lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "" {
		c.Errorf("nobody leads: %+v", lease.Spec)
	}
	c.check(operator.Stop())
	c.usesItsRoles()
}

func (c *cluster) startOperator(kubeconfig string, arguments ...string) *testenv.Process {
	c.Helper()
	testenv.SkipIfShort(c.T)
	binary, err := c.Build("./cmd/mandate-operator")
	c.check(err)
	arguments = append(arguments, "--kubeconfig="+kubeconfig)
	command := exec.CommandContext(context.WithoutCancel(c.Context()), binary, arguments...)
	operator, err := c.Start("operator", command)
	c.check(err)
	c.Cleanup(func() { c.check(operator.Stop()) })
	return operator
}

// sees waits until the operator has looked at an IdentityService in a namespace, and for its Secret.
func (c *cluster) sees(namespace string) {
	c.Helper()
	service := parse(c.T, `
apiVersion: idv.mandate.io/v1alpha1
kind: IdentityService
metadata: {name: default}
spec: {baseURL: "https://127.0.0.1:1", credentialsSecretRef: {name: none}}
`)
	service.SetNamespace(namespace)
	c.check(c.Create(c.Context(), service))
	c.eventually(func() (bool, string) {
		reason := c.kubectl("get", "idsvc", "default", "--namespace", namespace,
			`--output=jsonpath={.status.conditions[?(@.type=="Ready")].reason}`)
		return reason == "SecretNotFound", "the IdentityService has the reason " + reason
	})
}

// With --watch-namespaces, a RoleBinding in each of them is enough, with the ClusterRoleBinding of the verb record.
func TestRoleBindingInsteadOfClusterRoleBinding(t *testing.T) {
	c := in(t, env)
	c.withRecordPolicy(true)
	here, there := env.Namespace(t), env.Namespace(t)
	c.bind(here, "narrow", "mandate-operator")
	c.waitForAccess(here, "narrow", "record", "applicationrecords")
	create := func(namespace string) error {
		return c.as("narrow").Create(t.Context(), record(t, namespace, "acme"), client.DryRunAll)
	}
	refused(t, "without the ClusterRoleBinding", create(here), "verb record")
	c.bind("", "narrow", "mandate-operator-record")
	c.waitForAccess("", "narrow", "record", "applicationrecords")
	if err := create(here); err != nil {
		t.Error(err)
	}
	if err := create(there); !apierrors.IsForbidden(err) || c.may(there, "narrow", "get", "mandates") {
		t.Fatalf("it has access to another namespace: error %v, want one of RBAC", err)
	}
	config, err := clientcmd.LoadFromFile(c.kubeconfig)
	c.check(err)
	for _, user := range config.AuthInfos {
		user.Impersonate = "narrow"
	}
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	c.check(clientcmd.WriteToFile(*config, kubeconfig))
	c.startOperator(kubeconfig, "--watch-namespaces="+here, "--health-probe-bind-address=0")
	c.sees(here)
}

var listenAddress = regexp.MustCompile(`^--[a-z-]+-bind-address=(:\d+)$`)

// onLoopback replaces the addresses to listen on, and gives those that they have instead.
func (c *cluster) onLoopback(arguments []string) (replaced []string, listens map[string]string) {
	c.Helper()
	listens = map[string]string{}
	for _, argument := range arguments {
		if match := listenAddress.FindStringSubmatch(argument); match != nil {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			c.check(err)
			listens[match[1]] = listener.Addr().String()
			argument = strings.TrimSuffix(argument, match[1]) + listener.Addr().String()
			c.check(listener.Close())
		}
		replaced = append(replaced, argument)
	}
	return replaced, listens
}

// serviceAccount writes a kubeconfig of the operator's ServiceAccount.
func (c *cluster) serviceAccount() (path string) {
	c.Helper()
	path = filepath.Join(c.TempDir(), "kubeconfig")
	c.check(c.WriteOperatorKubeconfig(c.Context(), path))
	return path
}

// usesItsRoles compares what the roles of leader election and of metrics grant with what was used of them. The
// ClusterRole is compared in the tests of the operator, which make it do more. Everybody may ask what they may do.
func (c *cluster) usesItsRoles() {
	c.Helper()
	role, metrics := &rbacv1.Role{}, &rbacv1.ClusterRole{}
	roleKey := client.ObjectKey{Namespace: operatorNamespace, Name: "mandate-operator-leader-election"}
	c.check(c.Get(c.Context(), roleKey, role))
	c.check(c.Get(c.Context(), client.ObjectKey{Name: "mandate-operator-metrics-auth"}, metrics))
	allowed, refused, err := c.UsedPermissions(testenv.OperatorUser)
	c.check(err)
	used := slices.DeleteFunc(allowed, func(p testenv.Permission) bool {
		return strings.Contains(string(p), ".idv.mandate.io") || strings.HasSuffix(string(p), " namespaces") ||
			p == "get secrets" || p == "create selfsubjectaccessreviews.authorization.k8s.io" ||
			strings.HasSuffix(string(p), " events.events.k8s.io")
	})
	granted := testenv.Permissions(append(role.Rules, metrics.Rules...))
	if diff := cmp.Diff(granted, used); diff != "" {
		c.Errorf("access of leader election and metrics (-granted +used):\n%s", diff)
	}
	if len(refused) > 0 {
		c.Errorf("the operator tried to %q and was refused", refused)
	}
}
