package argocd

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	crds     = "mandate-operator-crds"
	operator = "mandate-operator"
)

// chartRefuses applies the operator's Application alone.
func (w *world) chartRefuses() {
	_, manifest, found := strings.Cut(w.Files["platform/operator.yaml"], "\n---\n")
	if !found {
		w.Fatal("operator.yaml has no second document")
	}
	w.applyText(manifest)
	w.until(operator, "refused", func(a *application) bool {
		return slices.ContainsFunc(a.Status.Conditions, func(c condition) bool {
			return c.Type == "ComparisonError" && strings.Contains(c.Message, crds)
		})
	})
	w.Kubectl("delete", "application", operator, "--namespace", argocdNamespace)
}

// operator applies both Applications as a part of another one, which makes the waves count.
func (w *world) operator() {
	w.applyText(platform)
	isSynced := func(a *application) bool { return a.Status.Sync.Status == "Synced" }
	w.Eventually(func() (bool, string) {
		created := w.Kubectl("get", "applications", "--namespace", argocdNamespace, "--output=name")
		return strings.HasSuffix(created, "/platform") && strings.Contains(created, operator+"\n"), created
	})
	w.until(crds, "Synced", isSynced)
	second := w.until(operator, "Synced", isSynced)
	definitions := &metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{
		APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinitionList",
	}}
	w.Check(w.List(w.Context(), definitions))
	for _, d := range definitions.Items {
		if second.CreationTimestamp.Before(&d.CreationTimestamp) {
			w.Errorf("the operator comes at %s, before %s at %s", second.CreationTimestamp, d.Name, d.CreationTimestamp)
		}
	}
}

// platform is an Application of Applications.
const platform = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: platform, namespace: argocd}
spec:
  project: default
  source: {repoURL: "https://git.example.com/platform/onboarding.git", targetRevision: main, path: platform}
  destination: {server: "https://kubernetes.default.svc", namespace: argocd}
  syncPolicy:
    automated: {}
    retry: {limit: -1, backoff: {duration: 5s, factor: 1}}
`

// keepsCRDs deletes the Application of the CRDs, with its objects. With the CRDs, every ApplicationRecord would go.
func (w *world) keepsCRDs() {
	w.Kubectl("delete", "application", "platform", "--namespace", argocdNamespace)
	w.deleteApplication(crds)
	w.goneApplication(crds)
	w.CheckAllRestored(mandates...)
	w.CheckRecordsRemain()
}
