package plugin_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clientauthv1 "k8s.io/client-go/pkg/apis/clientauthentication/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/test/testenv"
)

// TestKubectlRunsThePlugin finds the binary on the PATH of the real kubectl, with the completion of
// docs/kubectl-plugin.md.
func TestKubectlRunsThePlugin(t *testing.T) {
	testenv.SkipIfShort(t)
	w := newWorld(t, sandbox.Options{})
	w.mandate("acme")
	binary, err := env.BuildPlain("./cmd/kubectl-mandate")
	w.check(err)
	dir := t.TempDir()
	completion := "#!/bin/sh\nexec kubectl-mandate __complete \"$@\"\n"
	w.contains(rootFile(t, "docs/kubectl-plugin.md"), strings.ReplaceAll(completion, "\n", `\n`))
	w.check(os.WriteFile(filepath.Join(dir, "kubectl_complete-mandate"), []byte(completion), 0o700))
	t.Setenv("PATH", filepath.Dir(binary)+":"+dir+":"+os.Getenv("PATH"))
	t.Setenv("KUBECONFIG", w.kubeconfig)
	kubectl := func(arguments ...string) string {
		output, err := exec.CommandContext(t.Context(), env.Kubectl, arguments...).CombinedOutput()
		if err != nil {
			t.Fatalf("kubectl %v: %v\n%s", arguments, err, output)
		}
		return string(output)
	}
	w.contains(kubectl("mandate", "--version"), "kubectl-mandate ")
	w.contains(kubectl("mandate", "status", "-n", w.namespace), "acme", "The operator works on (~): 1.")
	w.contains(kubectl("__complete", "mandate", "status", "-n", w.namespace, ""), "acme\n")
	w.contains(kubectl("mandate", "status", "-n", w.namespace, "-o", "name"), "mandate.idv.mandate.io/acme\n")
	w.contains(kubectl("mandate", "options"), "--as-group", "--token", "--request-timeout")
	w.contains(w.withAuthProvider(binary), "No valid id-token")
	w.withExecPlugin()
	w.contains(kubectl("mandate", "status", "-n", w.namespace), "acme")
	command := exec.CommandContext(t.Context(), env.Kubectl, "mandate", "status", "-n", w.namespace, "--as", "nobody")
	output, err := command.CombinedOutput()
	if err == nil || !strings.Contains(string(output), `User "nobody" cannot list`) {
		t.Errorf("as nobody: %v\n%s", err, output)
	}
}

// TestPlanMergesAsKubectl plans what kubectl apply merges itself, and then applies it.
func TestPlanMergesAsKubectl(t *testing.T) {
	testenv.SkipIfShort(t)
	w := newWorld(t, sandbox.Options{})
	kubectl := func(stdin string, arguments ...string) {
		arguments = append(arguments, "--kubeconfig", w.kubeconfig, "--namespace", w.namespace)
		command := exec.CommandContext(t.Context(), env.Kubectl, arguments...)
		command.Stdin = strings.NewReader(stdin)
		if output, err := command.CombinedOutput(); err != nil {
			t.Fatalf("kubectl %v: %v\n%s", arguments, err, output)
		}
	}
	suspend := func(value string) { // as somebody else
		patch := `{"spec":{"suspend":` + value + `}}`
		kubectl("", "patch", "mandate", "acme", "--type=merge", "--field-manager=another", "-p", patch)
	}
	plain, m := mandateYAML("acme", ""), &v1alpha1.Mandate{ObjectMeta: w.named("acme")}
	kubectl(mandateYAML("acme", ", suspend: true"), "apply", "-f", "-")
	suspend("false")
	for _, change := range []string{"changed", "unchanged"} { // what kubectl applied last has suspend, and then has not
		suspend("true")
		w.contains(w.run(plain, 0, "plan", "-f", "-", "-o", "json"), `"change": "`+change+`"`)
		kubectl(plain, "apply", "-f", "-")
		w.check(w.Get(w.Context(), client.ObjectKeyFromObject(m), m))
		if m.Spec.Suspend != (change == "unchanged") {
			t.Errorf("planned %s, and suspend is %t", change, m.Spec.Suspend)
		}
	}
}

// withExecPlugin has kubectl and the plugin get their credentials from a program, as those of cloud providers do.
func (w *world) withExecPlugin() {
	w.Helper()
	config, err := clientcmd.LoadFromFile(w.kubeconfig)
	w.check(err)
	credential, err := json.Marshal(clientauthv1.ExecCredential{
		TypeMeta: metav1.TypeMeta{APIVersion: clientauthv1.SchemeGroupVersion.String(), Kind: "ExecCredential"},
		Status: &clientauthv1.ExecCredentialStatus{
			ClientCertificateData: string(env.Config.CertData), ClientKeyData: string(env.Config.KeyData),
			Token: env.Config.BearerToken,
		},
	})
	w.check(err)
	dir := w.TempDir()
	w.check(os.WriteFile(filepath.Join(dir, "credential.json"), credential, 0o600))
	for name := range config.AuthInfos {
		config.AuthInfos[name] = &clientcmdapi.AuthInfo{Exec: &clientcmdapi.ExecConfig{
			APIVersion: clientauthv1.SchemeGroupVersion.String(), Command: "cat",
			Args: []string{filepath.Join(dir, "credential.json")}, InteractiveMode: clientcmdapi.NeverExecInteractiveMode,
		}}
	}
	file := filepath.Join(dir, "kubeconfig")
	w.check(clientcmd.WriteToFile(*config, file))
	w.Setenv("KUBECONFIG", file)
}

// withAuthProvider is what the binary says with a kubeconfig that names an authentication of client-go's own.
func (w *world) withAuthProvider(binary string) string {
	w.Helper()
	file := filepath.Join(w.TempDir(), "kubeconfig")
	w.check(os.WriteFile(file, []byte(`
apiVersion: v1
kind: Config
current-context: oidc
contexts: [{name: oidc, context: {cluster: closed, user: oidc}}]
clusters: [{name: closed, cluster: {server: "https://127.0.0.1:1"}}]
users:
- name: oidc
  user: {auth-provider: {name: oidc, config: {client-id: kubectl, idp-issuer-url: "https://127.0.0.1:1"}}}
`), 0o600))
	output, err := exec.CommandContext(w.Context(), binary, "--kubeconfig", file, "status").CombinedOutput()
	if err == nil {
		w.Error("nothing answers at this address")
	}
	return string(output)
}

// applyAs applies a manifest of the Mandate acme as a tool does, with a spec in YAML.
func (w *world) applyAs(manager, spec string) {
	w.Helper()
	manifest := &unstructured.Unstructured{}
	w.check(yaml.Unmarshal([]byte("apiVersion: idv.mandate.io/v1alpha1\nkind: Mandate\nspec:\n"+spec), &manifest.Object))
	manifest.SetNamespace(w.namespace)
	manifest.SetName("acme")
	manifest.SetLabels(map[string]string{"kustomize.toolkit.fluxcd.io/name": "apps"})
	w.check(w.Apply(w.Context(), client.ApplyConfigurationFromUnstructured(manifest), client.ForceOwnership,
		client.FieldOwner(manager)))
}

// TestDecisionOfAGitOpsTool lets a tool alone that does not have the decision, and refuses, with what to commit, what a
// tool would take back.
func TestDecisionOfAGitOpsTool(t *testing.T) {
	const flux = "kustomize-controller"
	spec := "  mandateType: {code: kyc}\n  individuals: [{name: jane, email: " + email + "}]\n"
	w := newWorld(t, sandbox.Options{})
	w.applyAs(flux, spec)
	w.shows("acme", "7d9f2c41-3")
	reject := []string{"decide", "acme", "Reject", "--yes", "--refresh=false"}
	w.contains(w.run("", 5, "decide", "acme", "Reject", "--refresh=false"), "no checks are known")
	w.run("", 0, reject...)
	w.applyAs(flux, spec)
	want := v1alpha1.Decision{Outcome: v1alpha1.DecisionReject, Evidence: "7d9f2c41-3"}
	if got := w.decision("acme"); got != want {
		t.Errorf("the tool has changed the decision to %+v", got)
	}
	w.applyAs(flux, spec+"  decision: {outcome: Complete, when: AllChecksPassed}\n")
	out := w.run("", 3, reject...)
	w.contains(out, "Flux applies this object (Kustomization apps) and reverts spec.decision", "Nothing was changed")
	_, manifest, _ := strings.Cut(out, "Commit this:\n")
	committed := &v1alpha1.Mandate{}
	w.check(yaml.UnmarshalStrict([]byte(manifest), committed))
	if now := w.decision("acme"); now.When == "" || committed.Name != "acme" || *committed.Spec.Decision != want {
		t.Errorf("decision %+v, in the manifest %+v", now, committed.Spec.Decision)
	}
}
