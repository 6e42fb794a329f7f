// Package erasure removes the personal data that is inline in the spec of a Mandate, once the Mandate has an outcome.
package erasure

import (
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/engine"
)

// IsDue reports whether a Mandate has inline personal data that it, or its service by default, wants to be erased after
// the outcome.
func IsDue(m *v1alpha1.Mandate, byDefault v1alpha1.RetentionPolicy) bool {
	policy := m.Spec.Retention.AfterOutcome
	if policy == "" {
		policy = byDefault
	}
	if policy != v1alpha1.RetentionErase {
		return false
	}
	for i := range m.Spec.Individuals {
		if m.Spec.Individuals[i].HasInline() {
			return true
		}
	}
	return false
}

// operation is one of a JSON Patch. Its values are no personal data, unlike those of a merge patch, which would repeat
// the individuals that stay.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// Of gives the patch that erases the inline personal data of a live Mandate; nil if there is nothing to erase. It
// leaves what another field manager applies, and says so: that one would apply it again, and the API server would
// refuse all that it applies.
func Of(live *v1alpha1.Mandate) (patch []byte, left []v1alpha1.Problem) {
	operations := []operation{{"replace", "/metadata/resourceVersion", live.ResourceVersion}}
	managers := appliers(live)
	for i := range live.Spec.Individuals {
		individual := &live.Spec.Individuals[i]
		manager, applied := managers[individual.Name]
		switch {
		case !individual.HasInline():
		case applied:
			left = append(left, v1alpha1.Problem{
				Field: "spec.individuals[" + individual.Name + "]", Reason: v1alpha1.ProblemErasedDataInGit,
				Message: fmt.Sprintf("%s applies personal data of this individual, so the operator does not erase it. Replace it "+
					"there by erased: true.", engine.ShowText(manager)),
			})
		default:
			erased := individual.WithoutInline()
			erased.Erased = true
			operations = append(operations, operation{"replace", fmt.Sprint("/spec/individuals/", i), erased})
		}
	}
	if len(operations) == 1 {
		return nil, left
	}
	patch, _ = json.Marshal(operations) // it always encodes
	return patch, left
}

// appliers are those who apply inline personal data, by the name of the individual: managers of server-side apply, and
// what the annotation of kubectl apply is of, which Argo CD sets, too.
func appliers(live *v1alpha1.Mandate) map[string]string {
	managers := map[string]string{}
	var applied v1alpha1.Mandate // as much of it as can be read
	_ = json.Unmarshal([]byte(live.Annotations[corev1.LastAppliedConfigAnnotation]), &applied)
	for i := range applied.Spec.Individuals {
		if individual := &applied.Spec.Individuals[i]; individual.HasInline() {
			managers[individual.Name] = "kubectl apply, or a tool that works like it,"
		}
	}
	for _, entry := range live.ManagedFields {
		if entry.Operation != metav1.ManagedFieldsOperationApply || entry.FieldsV1 == nil {
			continue
		}
		for _, name := range inlineIn(entry.FieldsV1.GetRawBytes()) {
			managers[name] = entry.Manager
		}
	}
	return managers
}

// inlineIn are the names of the individuals of which a set of managed fields has inline personal data.
func inlineIn(fields []byte) (names []string) {
	var owned struct {
		Spec struct {
			Individuals map[string]map[string]json.RawMessage `json:"f:individuals"`
		} `json:"f:spec"`
	}
	_ = json.Unmarshal(fields, &owned) // the API server wrote it
	for key, fields := range owned.Spec.Individuals {
		var named struct{ Name string }
		if json.Unmarshal([]byte(strings.TrimPrefix(key, "k:")), &named) != nil {
			continue
		}
		for _, field := range []string{".", "f:name", "f:detailsSecretRef", "f:erased"} {
			delete(fields, field)
		}
		if len(fields) > 0 {
			names = append(names, named.Name)
		}
	}
	return names
}
