package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
)

const (
	receiver      = "the-receiver"
	receiverToken = "a-token-of-the-sender-of-notifications"
)

// grantReceiver gives a user the permissions of the receiver, and no others.
func (c *cluster) grantReceiver() {
	c.Helper()
	c.bind("", receiver, "mandate-operator-receiver")
	c.waitForAccess("", receiver, "patch", "mandates")
	c.waitForAccess("", receiver, "notify", "identityservices")
}

// The receiver sets two annotations, and changes nothing else of what it may patch.
func TestReceiverChangesTwoAnnotations(t *testing.T) {
	c := in(t, env)
	c.withOperatorPolicy(true)
	c.grantReceiver()
	edit := func(member, name, value string) string {
		return fmt.Sprintf("{metadata: {%s: {%s: %s}}}", member, name, value)
	}
	for resource, object := range c.ownedObjects(c.Namespace(t)) {
		for _, allowed := range []string{
			edit("annotations", v1alpha1.ReconcileRequestAnnotation, "notification/1"),
			edit("annotations", v1alpha1.UnknownIDsAnnotation, "'4711'"),
			edit("annotations", v1alpha1.UnknownIDsAnnotation, "null"),
		} {
			if err := c.tryPatch(receiver, object, allowed); err != nil {
				t.Errorf("the receiver cannot patch %s with %s: %v", resource, allowed, err)
			}
		}
		archiving := edit("annotations", v1alpha1.ArchivingAnnotation, "'true'")
		refused(t, "the receiver", c.tryPatch(receiver, object, archiving), "metadata.annotations can change only")
		for field, forbidden := range map[string]string{
			"metadata.annotations": edit("annotations", v1alpha1.CandidateAnnotation, "'4711'"),
			"metadata.finalizers":  "{metadata: {finalizers: [example.com/theirs, " + v1alpha1.ApplicationFinalizer + "]}}",
			"metadata.labels":      edit("labels", "a", "b"),
			"spec":                 specEdits[resource][0],
		} {
			refused(t, "the receiver", c.tryPatch(receiver, object, forbidden), field+" can change only with the verb update")
		}
		observed := mergePatch(t, "{status: {observedGeneration: 1}}")
		if err := c.as(receiver).Status().Patch(t.Context(), object, observed); !apierrors.IsForbidden(err) {
			t.Errorf("the receiver can write the status of %s: %v", resource, err)
		}
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "theirs"}}
	if err := c.as(receiver).Get(t.Context(), client.ObjectKeyFromObject(secret), secret); !apierrors.IsForbidden(err) {
		t.Errorf("the receiver can read a Secret: error %v", err)
	}
	if err := c.as(receiver).List(t.Context(), &corev1.SecretList{}); !apierrors.IsForbidden(err) {
		t.Errorf("the receiver can list Secrets: error %v", err)
	}
	for _, resource := range []string{"applicationrecords", "mandateactions"} {
		if c.may("", receiver, "get", resource) || c.may("", receiver, "list", resource) {
			t.Errorf("the receiver may read %s", resource)
		}
	}
}

// The receiver runs with the arguments of its Deployment and with its permissions alone, and what a delivery names gets
// onto the objects.
func TestReceiverAsDeployed(t *testing.T) {
	c, namespace := in(t, env), env.Namespace(t)
	c.withOperatorPolicy(true)
	c.apply("--kustomize", "config/manager")
	c.grantReceiver()
	service := parse(t, `
apiVersion: idv.mandate.io/v1alpha1
kind: IdentityService
metadata: {name: default}
spec:
  baseURL: "https://127.0.0.1:1"
  credentialsSecretRef: {name: none}
  notifications: {secretRef: {name: none}}
`)
	sum := sha256.Sum256([]byte(receiverToken))
	known, lost := mandate(t, namespace, "{}"), mandate(t, namespace, "{}")
	known.SetName("known")
	lost.SetName("lost")
	service.SetNamespace(namespace)
	for object, status := range map[*unstructured.Unstructured]string{
		service: fmt.Sprintf("{notifications: {tokenDigests: [%s]}}", hex.EncodeToString(sum[:])),
		known:   "{applicationID: 4711}",
		lost: "{conditions: [{type: Created, status: Unknown, reason: OutcomeUnknown, message: '', " +
			"lastTransitionTime: '2026-01-01T00:00:00Z'}]}",
	} {
		c.check(c.Create(t.Context(), object))
		c.check(c.Status().Patch(t.Context(), object, mergePatch(t, "{status: "+status+"}")))
	}
	deployment, name := &appsv1.Deployment{}, "mandate-operator-receiver"
	c.check(c.Get(t.Context(), client.ObjectKey{Namespace: operatorNamespace, Name: name}, deployment))
	portsOf(t, deployment)
	arguments, listens := c.onLoopback(deployment.Spec.Template.Spec.Containers[0].Args)
	kubeconfig, err := clientcmd.LoadFromFile(c.kubeconfig)
	c.check(err)
	for _, user := range kubeconfig.AuthInfos {
		user.Impersonate = receiver
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	c.check(clientcmd.WriteToFile(*kubeconfig, path))
	c.startOperator(path, arguments...)
	url := fmt.Sprintf("http://%s/notifications/%s/default/%s", listens[":8082"], namespace, receiverToken)
	c.eventually(func() (bool, string) {
		delivery, err := http.NewRequestWithContext(
			t.Context(), http.MethodPost, url, strings.NewReader(`[{"id": 4711}, {"id": 4712}]`))
		c.check(err)
		response, err := http.DefaultTransport.RoundTrip(delivery) //nolint:forbidigo // a sender is not our client
		if err != nil {
			return false, err.Error()
		}
		response.Body.Close()
		c.check(c.Get(t.Context(), client.ObjectKeyFromObject(known), known))
		c.check(c.Get(t.Context(), client.ObjectKeyFromObject(service), service))
		request := known.GetAnnotations()[v1alpha1.ReconcileRequestAnnotation]
		unknown := service.GetAnnotations()[v1alpha1.UnknownIDsAnnotation]
		return request != "" && unknown == "4712",
			fmt.Sprintf("%s: request %q, unknown ids %q", response.Status, request, unknown)
	})
	_, denied, err := c.UsedPermissions(receiver)
	c.check(err)
	if len(denied) > 0 {
		t.Errorf("the receiver tried to %q and was refused", denied)
	}
}
