package config

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/internal/test/testenv"
)

// A standIn is the sandbox as examples/sandbox runs it in a Pod.
type standIn struct {
	url    string
	client *http.Client
}

// startSandbox installs examples/sandbox, and runs what its Pod would, which the connection of the namespace leads to.
func (c *cluster) startSandbox(namespace string) *standIn {
	c.Helper()
	const example = "examples/sandbox"
	c.helm("lint", "--strict", example)
	c.helm("install", "sandbox", example, "--namespace="+namespace)
	certificate := c.certificate(namespace)
	c.helm("upgrade", "sandbox", example, "--namespace="+namespace, "--set=image.tag=v2",
		`--set-json=config={"accounts": [{"username": "chart", "password": "of-the-chart"}]}`)
	if again := c.certificate(namespace); !bytes.Equal(again["tls.crt"], certificate["tls.crt"]) {
		c.Error("an upgrade of the sandbox changes its certificate, which its Pod has read already")
	}
	dir := c.TempDir()
	for _, mounted := range []string{"sandbox-tls", "sandbox-config"} {
		secret := &corev1.Secret{}
		c.check(c.Get(c.Context(), client.ObjectKey{Namespace: namespace, Name: mounted}, secret))
		for name, content := range secret.Data {
			c.check(os.WriteFile(filepath.Join(dir, name), content, 0o600))
		}
	}
	deployment := &appsv1.Deployment{}
	c.check(c.Get(c.Context(), client.ObjectKey{Namespace: namespace, Name: "sandbox"}, deployment))
	address := testenv.FreeAddress(c)
	c.isRestricted(namespace, deployment.Spec.Template.Spec)
	arguments := deployment.Spec.Template.Spec.Containers[0].Args
	for i, argument := range arguments {
		inPod := strings.NewReplacer("--listen=:6443", "--listen="+address, "/tls/", dir+"/", "/config/", dir+"/")
		arguments[i] = inPod.Replace(argument)
	}
	binary, err := c.Build("./cmd/idv-sandbox")
	c.check(err)
	process, err := c.Start("sandbox", exec.CommandContext(context.WithoutCancel(c.Context()), binary, arguments...))
	c.check(err)
	_, err = process.WaitForLog(c.Context(), regexp.MustCompile("listening on https://"+regexp.QuoteMeta(address)))
	c.check(err)
	c.kubectl("patch", "identityservice", "default", "--namespace="+namespace, "--type=merge",
		`--patch={"spec":{"baseURL":"https://`+address+`"}}`)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(certificate["tls.crt"])
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true}
	return &standIn{"https://" + address, &http.Client{Transport: transport}}
}

// isRestricted asks the API server whether a Pod meets the restricted Pod Security standard.
func (c *cluster) isRestricted(namespace string, spec corev1.PodSpec) {
	c.Helper()
	c.kubectl("create", "serviceaccount", "default", "--namespace="+namespace)
	c.kubectl("label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted")
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "pod"}, Spec: spec}
	c.check(c.Create(c.Context(), pod, client.DryRunAll))
}

// certificate is that of the sandbox, which its connection trusts.
func (c *cluster) certificate(namespace string) map[string][]byte {
	c.Helper()
	secret := &corev1.Secret{}
	c.check(c.Get(c.Context(), client.ObjectKey{Namespace: namespace, Name: "sandbox-tls"}, secret))
	trusted := c.kubectl("get", "identityservice", "default", "--namespace="+namespace,
		"--output=jsonpath={.spec.caBundle}")
	if strings.TrimSpace(trusted) != strings.TrimSpace(string(secret.Data["tls.crt"])) {
		c.Errorf("the connection trusts another certificate than that of the sandbox:\n%s", trusted)
	}
	return secret.Data
}

func (s *standIn) emails(c *cluster) (outbox []any) {
	c.Helper()
	request, err := http.NewRequestWithContext(c.Context(), http.MethodGet, s.url+"/sandbox/v1/outbox", http.NoBody)
	c.check(err)
	response, err := s.client.Do(request)
	c.check(err)
	defer response.Body.Close()
	c.check(json.NewDecoder(response.Body).Decode(&outbox))
	return outbox
}
