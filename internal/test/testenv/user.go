package testenv

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// OperatorUser is the operator's ServiceAccount in config/rbac, as a user.
const OperatorUser = "system:serviceaccount:" + operatorNamespace + ":" + operatorAccount

const (
	operatorNamespace = "mandate-operator-system"
	operatorAccount   = "mandate-operator"
)

// tokenLifetime is longer than any test or benchmark runs.
const tokenLifetime = 24 * time.Hour

// GrantOperatorRole applies config/rbac, config/admission and config/reports: OperatorUser gets the permissions of the
// operator, and the API server the policies that limit them and those of others.
func (e *Environment) GrantOperatorRole(ctx context.Context) error {
	kubeconfig := filepath.Join(e.Dir, "kubeconfig-rbac")
	if err := e.WriteKubeconfig(kubeconfig); err != nil {
		return err
	}
	for _, source := range []string{
		"--filename=config/manager/namespace.yaml", "--kustomize=config/rbac", "--kustomize=config/admission",
		"--kustomize=config/reports",
	} {
		command := exec.CommandContext(ctx, e.Kubectl, //nolint:gosec // our kubectl
			"--kubeconfig="+kubeconfig, "--cache-dir="+filepath.Join(e.Dir, "kubectl-cache"), "apply", "--server-side", source)
		command.Dir = e.Root
		if output, err := command.CombinedOutput(); err != nil {
			return fmt.Errorf("kubectl apply %s: %w\n%s", source, err, output)
		}
	}
	return nil
}

// WriteOperatorKubeconfig writes a kubeconfig with a token of OperatorUser to a file that only its owner can read. The
// ServiceAccount must exist, as after GrantOperatorRole.
func (e *Environment) WriteOperatorKubeconfig(ctx context.Context, path string) error {
	c, err := client.New(e.Config, client.Options{})
	if err != nil {
		return err
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: operatorAccount}}
	request := &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(tokenLifetime.Seconds()))},
	}
	if err := c.SubResource("token").Create(ctx, account, request); err != nil {
		return err
	}
	config := clientcmdapi.NewConfig()
	config.Clusters["test"] = &clientcmdapi.Cluster{Server: e.Config.Host, CertificateAuthorityData: e.Config.CAData}
	config.AuthInfos["operator"] = &clientcmdapi.AuthInfo{Token: request.Status.Token}
	config.Contexts["test"] = &clientcmdapi.Context{Cluster: "test", AuthInfo: "operator"}
	config.CurrentContext = "test"
	return clientcmd.WriteToFile(*config, path)
}
