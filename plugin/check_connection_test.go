package plugin_test

import (
	"crypto/x509"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

// TestCredentials takes them from each source, and never from an argument.
func TestCredentials(t *testing.T) {
	w := newWorld(t, sandbox.Options{})
	for _, variable := range []string{"BASE_URL", "USERNAME", "PASSWORD", "CLIENT_ID", "CLIENT_SECRET", "CA_FILE"} {
		t.Setenv("IDV_"+variable, "")
	}
	pair := "username=" + sandbox.DefaultUsername + "\npassword=" + sandbox.DefaultPassword + "\n"
	w.contains(w.run("", 2, "check-connection", "--base-url", w.url), "credentials: missing")
	w.contains(w.run(pair, 0, "check-connection", "--base-url", w.url, "--credentials-file", "-"),
		"What the reads showed", "kind: IdentityService", `provider "idv" {`, "Nothing was created or changed")
	w.run("IDV_PASSWORD: "+sandbox.DefaultPassword+"\nIDV_USERNAME: "+sandbox.DefaultUsername+"\n", 0,
		"check-connection", "--base-url", w.url, "--credentials-file", "-")
	w.contains(w.run("", 0, "check-connection", "--base-url", w.url, "--secret", "idv"), "name: idv")
	t.Setenv("IDV_USERNAME", sandbox.DefaultUsername)
	t.Setenv("IDV_PASSWORD", "wrong")
	w.contains(w.run("", 3, "check-connection", "--base-url", w.url), "the credentials are wrong")
	t.Setenv("IDV_PASSWORD", sandbox.DefaultPassword)
	t.Setenv("IDV_BASE_URL", "https://idv.example.com")
	w.contains(w.run("", 2, "check-connection", "--base-url", w.url), "IDV_BASE_URL, which is another service")
	t.Setenv("IDV_BASE_URL", w.url)
	w.run("", 0, "check-connection")
	w.contains(w.run("", 2, "check-connection", "--application", "acme"), "use ID, ID=inReview")
	w.contains(w.run("", 2, "check-connection", "--base-url", "http://idv.example.com", "--secret", "idv"),
		"must begin with https://")
	if strings.Contains(w.output.String(), sandbox.DefaultPassword) {
		t.Errorf("the password in the output:\n%s", w.output.String())
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
	out := w.run("", 0, "check-connection", "--clusteridentityservice", w.namespace, "--ca-file", file)
	_, text, _ := strings.Cut(out, "ClusterIdentityService with these settings\n")
	text, _, _ = strings.Cut(text, "\nProvider block")
	got := &v1alpha1.ClusterIdentityService{}
	w.check(yaml.UnmarshalStrict([]byte(text), got))
	want := *shared.Spec.DeepCopy()
	want.CABundle = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]}))
	want.Transitions.CompleteMethod = v1alpha1.TransitionMethodPOST
	if got.Kind != "ClusterIdentityService" || got.Name != w.namespace || !reflect.DeepEqual(got.Spec, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if strings.Contains(out, "PRIVATE KEY") {
		t.Errorf("the key of the CA file in:\n%s", out)
	}
}
