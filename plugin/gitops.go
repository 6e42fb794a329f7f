package plugin

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/operator/plan"
)

// What marks an object that Flux or Argo CD applies.
const (
	fluxLabel    = "kustomize.toolkit.fluxcd.io/name"
	fluxHelm     = "helm.toolkit.fluxcd.io/name"
	argoTracking = "argocd.argoproj.io/tracking-id"
)

// gitOpsWarning says that a change of a field of the spec does not last, because a GitOps tool applies the object; ""
// if it does.
//
// A tool reverts the fields that it has set. Others it leaves as they are, because of the name of our field manager.
func gitOpsWarning(object metav1.Object, field string) string {
	const advice = " Change it in Git."
	owners := plan.FieldOwners(object, field).Delete(fieldManager)
	switch name := object.GetLabels()[fluxLabel]; {
	case owners.Has("kustomize-controller"):
		return fmt.Sprintf("Flux applies this object (Kustomization %s) and reverts spec.%s at its next reconciliation.%s",
			name, field, advice)
	case owners.Has("helm-controller"), object.GetLabels()[fluxHelm] != "" && owners.Has("helm"):
		return fmt.Sprintf("Flux's helm-controller has set spec.%s and sets it again with the next release.%s", field, advice)
	}
	for owner := range owners {
		if strings.HasPrefix(owner, "argocd") {
			return fmt.Sprintf("Argo CD has set spec.%s and reverts it at its next sync, at once with selfHeal.%s",
				field, advice)
		}
	}
	if object.GetAnnotations()[argoTracking] != "" && len(owners) > 0 {
		return fmt.Sprintf("Argo CD applies this object and may have set spec.%s; then it reverts it.%s", field, advice)
	}
	return ""
}

// warnGitOps prints the warning, before the change: a patch takes the field away from its owners.
func (s *session) warnGitOps(object metav1.Object, field string) {
	if warning := gitOpsWarning(object, field); warning != "" {
		s.warn("%s", warning)
	}
}
