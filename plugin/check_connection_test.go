package plugin_test

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/config"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
	"github.com/mandate-io/idv/internal/test/testenv"
	"github.com/mandate-io/idv/plugin"
)

// TestCredentials takes them from each source, and never from an argument.
func TestCredentials(t *testing.T) {
	w := newWorld(t, sandbox.Options{})
	w.clearEnvironment()
	pair := "username=" + sandbox.DefaultUsername + "\npassword=" + sandbox.DefaultPassword + "\n"
	w.contains(w.examine(1, "", "--base-url", w.url), "credentials: missing in the environment")
	w.contains(w.examine(0, pair, "--base-url", w.url, "--credentials-file", "-"),
		"Sending the credentials of the file - to "+w.url, "What the reads showed", "before real use, nothing shows it",
		"kind: IdentityService", `provider "idv" {`, "Nothing was created or changed")
	w.examine(0, "IDV_PASSWORD: "+sandbox.DefaultPassword+"\nIDV_USERNAME: "+sandbox.DefaultUsername+"\n",
		"--base-url", w.url, "--credentials-file", "-")
	w.contains(w.examine(0, "", "--base-url", w.url, "--secret", "idv"), "name: idv")
	t.Setenv("IDV_USERNAME", sandbox.DefaultUsername)
	t.Setenv("IDV_PASSWORD", "wrong")
	w.contains(w.examine(3, "", "--base-url", w.url), "the credentials are wrong")
	t.Setenv("IDV_PASSWORD", sandbox.DefaultPassword)
	t.Setenv("IDV_BASE_URL", "https://idv.example.com")
	w.contains(w.examine(1, "", "--base-url", w.url), "of the environment belong to another service than "+w.url)
	w.contains(w.examine(1, "IDV_BASE_URL=https://idv.example.com\n"+pair, "--base-url", w.url, "--credentials-file", "-"),
		"of the file - belong to another service")
	t.Setenv("IDV_BASE_URL", w.url)
	w.examine(0, "")
	w.contains(w.examine(1, pair, "--credentials-file", "-"), "base URL: missing")
	w.contains(w.examine(1, "", "--application", "acme"), "use ID, or ID=inReview")
	w.contains(w.examine(1, "", "--application", "4711=done"), "use ID or NAME alone, or with one of [inReview")
	w.contains(w.examine(1, "", "--base-url", "http://idv.example.com", "--secret", "idv"), "must begin with https://")
	w.contains(w.examine(1, "", "--token-authorization", "basic"), "token authorization: must be")
	if strings.Contains(w.output.String(), sandbox.DefaultPassword) {
		t.Errorf("the password in the output:\n%s", w.output.String())
	}
}

func (w *world) clearEnvironment() {
	w.Helper()
	for _, variable := range []string{"BASE_URL", "USERNAME", "PASSWORD", "CLIENT_ID", "CLIENT_SECRET", "CA_FILE"} {
		w.Setenv("IDV_"+variable, "")
	}
}

// examine runs check-connection, confirmed.
func (w *world) examine(want int, input string, arguments ...string) string {
	w.Helper()
	return w.run(input, want, append([]string{"check-connection", "--yes"}, arguments...)...)
}

// TestCredentialsStayAtHome points the command at an object of somebody else's, whose host must get nothing.
func TestCredentialsStayAtHome(t *testing.T) {
	w := newWorld(t, sandbox.Options{})
	w.clearEnvironment()
	t.Setenv("IDV_USERNAME", "administrator")
	t.Setenv("IDV_PASSWORD", "exported-password")
	var requests atomic.Int32
	hostile := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests.Add(1) }))
	defer hostile.Close()
	w.secret("empty", map[string]string{"other": "value"})
	object := &v1alpha1.IdentityService{ObjectMeta: w.named("hostile")}
	object.Spec.BaseURL, object.Spec.CredentialsSecretRef.Name = hostile.URL, "empty"
	w.check(w.Create(t.Context(), object))
	missing := "credentials: missing in the Secret " + w.namespace + "/empty"
	w.contains(w.examine(1, "", "--identityservice", "hostile"), missing)
	w.contains(w.examine(1, "", "--identityservice", "hostile", "--base-url", w.url), missing)
	w.contains(w.examine(1, "", "--secret", "absent", "--base-url", hostile.URL), `"absent" not found`)
	w.connect()
	w.contains(w.examine(1, "", "--identityservice", "default", "--base-url", hostile.URL), "belong to another service")
	w.contains(w.run("", 5, "check-connection", "--base-url", hostile.URL), "Send the credentials of the environment to "+
		hostile.URL+"?", "Add --yes")
	w.contains(w.run("no\n", 5, "check-connection", "--identityservice", "default"), "Add --yes")
	if n := requests.Load(); n != 0 {
		t.Errorf("%d requests to the host of another", n)
	}
}

// TestSecretOfAnObject: who names a Secret in an object, and the host, may not be allowed to read it. So it must say
// that it is for credentials. Who runs the command may name any Secret.
func TestSecretOfAnObject(t *testing.T) {
	w := newWorld(t, sandbox.Options{})
	w.clearEnvironment()
	var requests atomic.Int32
	host := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests.Add(1) }))
	defer host.Close()
	const kind = "idv.mandate.io/credentials"
	for name, c := range map[string]struct {
		kind, uses string // no label, if uses is ""
		sent       bool
	}{
		"registry": {}, "basic-auth": {kind: "kubernetes.io/basic-auth"}, "typed": {kind: kind, sent: true},
		"labeled": {uses: "individual.credentials", sent: true}, "of-a-person": {kind: kind, uses: "individual"},
		"similar": {uses: "credentials2"},
	} {
		secret := &corev1.Secret{ObjectMeta: w.named(name), Type: corev1.SecretType(c.kind), StringData: map[string]string{
			"username": "somebody", "password": "of-another-service",
		}}
		if c.uses != "" {
			secret.Labels = map[string]string{v1alpha1.SecretUseLabel: c.uses}
		}
		w.check(w.Create(t.Context(), secret))
		object := &v1alpha1.IdentityService{ObjectMeta: w.named(name)}
		object.Spec.BaseURL, object.Spec.CredentialsSecretRef.Name = host.URL, name
		w.check(w.Create(t.Context(), object))
		shared := &v1alpha1.ClusterIdentityService{ObjectMeta: metav1.ObjectMeta{Name: w.namespace + "-" + name}}
		shared.Spec.BaseURL, shared.Spec.NamespaceSelector = host.URL, &metav1.LabelSelector{}
		shared.Spec.CredentialsSecretRef = v1alpha1.NamespacedSecretReference{Namespace: w.namespace, Name: name}
		w.create(shared)
		for flag, named := range map[string]string{"identityservice": name, "clusteridentityservice": shared.Name} {
			requests.Store(0)
			want, says := 1, "run: kubectl label secret -n "+w.namespace+" "+name+" idv.mandate.io/use=credentials"
			if c.sent {
				want, says = 3, "Sending the credentials of the Secret "+w.namespace+"/"+name
			}
			w.contains(w.examine(want, "", "--"+flag, named), says)
			if got := requests.Load() > 0; got != c.sent {
				t.Errorf("%s of %s: sent %t, want %t", name, flag, got, c.sent)
			}
		}
	}
	w.examine(3, "", "--secret", "registry", "--base-url", host.URL)
	if requests.Load() == 0 {
		t.Error("the Secret that the user names is not used")
	}
}

// TestJob runs what the Job of the page runs: the API server takes the Job, and its arguments and environment work.
func TestJob(t *testing.T) {
	w := newWorld(t, sandbox.Options{})
	w.clearEnvironment()
	_, text, _ := strings.Cut(rootFile(t, "docs/first-contact.md"), "```yaml\napiVersion: batch/v1\n")
	text, _, _ = strings.Cut("apiVersion: batch/v1\n"+text, "```")
	job := &batchv1.Job{}
	w.check(yaml.UnmarshalStrict([]byte(text), job))
	if *job.Spec.BackoffLimit != 0 {
		t.Error("the Job repeats a refused login")
	}
	container := job.Spec.Template.Spec.Containers[0]
	values := map[string]string{
		"username": sandbox.DefaultUsername, "password": sandbox.DefaultPassword,
		"client_id": sandbox.DefaultClientID, "client_secret": sandbox.DefaultClientSecret,
	}
	for _, variable := range container.Env {
		if variable.ValueFrom == nil {
			t.Setenv(variable.Name, w.url)
		} else {
			t.Setenv(variable.Name, values[variable.ValueFrom.SecretKeyRef.Key])
		}
	}
	w.isRestricted(&job.Spec.Template.Spec)
	out := &bytes.Buffer{}
	streams := plugin.Streams{In: strings.NewReader(""), Out: out, ErrOut: out}
	if code := plugin.Run(t.Context(), streams, "test", container.Args); code != 0 {
		t.Fatalf("exit code %d\n%s", code, out)
	}
	w.contains(out.String(), "Sending the credentials of the environment to "+w.url, "namespace: onboarding")
}

// isRestricted checks that the namespace of the operator admits a Pod: that has the restricted Pod Security standard.
func (w *world) isRestricted(spec *corev1.PodSpec) {
	w.Helper()
	namespace := &corev1.Namespace{}
	w.check(w.Get(w.Context(), client.ObjectKey{Name: w.namespace}, namespace))
	namespace.Labels["pod-security.kubernetes.io/enforce"] = "restricted"
	w.check(w.Update(w.Context(), namespace))
	pod := &corev1.Pod{ObjectMeta: w.named("check-connection"), Spec: *spec}
	w.check(w.Create(w.Context(), pod, client.DryRunAll))
	pod.Spec.SecurityContext = nil
	pod.ResourceVersion, pod.UID = "", ""
	if err := w.Create(w.Context(), pod, client.DryRunAll); !apierrors.IsForbidden(err) {
		w.Errorf("without its security context, the Pod gets %v", err)
	}
}

// TestSandboxFile prints a file that a sandbox takes, and nothing but that on the standard output.
func TestSandboxFile(t *testing.T) {
	w := newWorld(t, sandbox.Options{Dialect: dialect.Dialect{CompleteMethod: dialect.MethodPost}})
	out, _ := w.separate(0, "check-connection", "--yes", "--base-url", w.url, "--secret", "idv", "-o", "sandbox")
	file, err := config.Parse([]byte(out))
	w.check(err)
	if got := file.Accounts[0]; got.Dialect.CompleteMethod != dialect.MethodPost || len(got.MandateTypes) != 3 {
		t.Errorf("%+v", got)
	}
	w.secret("wrong", map[string]string{"username": "nobody", "password": "wrong"})
	for name, baseURL := range map[string]string{"wrong": w.url, "idv": "https://127.0.0.1:1"} {
		out, said := w.separate(3, "check-connection", "--yes", "--base-url", baseURL, "--secret", name, "-o", "sandbox")
		w.contains(said, "the connection does not work yet")
		if out != "" {
			t.Errorf("without a login, a file as of a service that was seen:\n%s", out)
		}
	}
}

// TestMandate reads the application of a Mandate, with what its status says.
func TestMandate(t *testing.T) {
	testenv.SkipIfShort(t)
	w := newWorld(t, sandbox.Options{Dialect: dialect.Dialect{
		IndividualOrder: dialect.IndividualsNewestFirst, StateNames: dialect.StateNamesCodes,
	}})
	w.connect()
	w.start()
	m := &v1alpha1.Mandate{ObjectMeta: w.named("first")}
	m.Spec.MandateType.Code = "kyc"
	m.Spec.ServiceRef = v1alpha1.IdentityServiceReference{Kind: v1alpha1.ServiceKindIdentityService, Name: "default"}
	m.Spec.Individuals = []v1alpha1.Individual{{Name: "me", Email: email}, {Name: "myself", Email: "second@example.com"}}
	w.check(w.Create(t.Context(), m))
	w.run("", 0, "wait", "first", "--timeout=60s")
	w.contains(w.examine(0, "", "--identityservice", "default", "--mandate", "first"), "the reference tells people apart",
		"individualOrder=newest_first", "applicationReference=shown", "States of applications\n  S12 ",
		`Unknown: if it means in review, set states: {inReview: ["S12"]}`)
	object := &v1alpha1.IdentityService{}
	w.check(w.Get(t.Context(), client.ObjectKey{Namespace: w.namespace, Name: "default"}, object))
	if states := object.Status.States; len(states) != 1 || states[0].Name != "S12" || states[0].Stage != "Unknown" {
		t.Errorf("the service shows the states %+v", states)
	}
	w.contains(w.examine(1, "", "--identityservice", "default", "--mandate", "second"), `"second" not found`)
	if strings.Contains(w.output.String(), email) || strings.Contains(w.output.String(), "second@example.com") {
		t.Errorf("personal data in the output:\n%s", w.output.String())
	}
}

// TestClusterIdentityService prints the object that exists, with what was found, and without what is in the CA file
// besides certificates.
func TestClusterIdentityService(t *testing.T) {
	w := newWorld(t, sandbox.Options{Dialect: dialect.Dialect{CompleteMethod: dialect.MethodPost}})
	shared := &v1alpha1.ClusterIdentityService{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}
	shared.Spec.BaseURL, shared.Spec.ReferencePrefix = w.url, "prefix-"
	shared.Spec.CredentialsSecretRef = v1alpha1.NamespacedSecretReference{Namespace: w.namespace, Name: "idv"}
	shared.Spec.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"identity": "on"}}
	w.create(shared)
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	pair := server.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	w.check(err)
	file := filepath.Join(t.TempDir(), "ca.pem")
	w.check(os.WriteFile(file, append(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}),
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]})...), 0o600))
	out := w.examine(0, "", "--clusteridentityservice", w.namespace, "--ca-file", file)
	_, text, _ := strings.Cut(out, "ClusterIdentityService with these settings\n")
	text, _, _ = strings.Cut(text, "\nProvider block")
	got := &v1alpha1.ClusterIdentityService{}
	w.check(yaml.UnmarshalStrict([]byte(text), got))
	want := *shared.Spec.DeepCopy()
	want.CABundle = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]}))
	if got.Kind != "ClusterIdentityService" || got.Name != w.namespace || !reflect.DeepEqual(got.Spec, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if strings.Contains(out, "PRIVATE KEY") {
		t.Errorf("the key of the CA file in:\n%s", out)
	}
}
