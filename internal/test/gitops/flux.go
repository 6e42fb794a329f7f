package gitops

import (
	"fmt"

	"cel.dev/cel-go/cel"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// FluxHealth compiles what a Flux Kustomization says about the health of a kind, in healthCheckExprs. The result
// returns the status that Flux gives to an object: InProgress, Failed or Current.
func FluxHealth(kustomization []byte, kind string) (func(object map[string]any) (string, error), error) {
	var parsed struct {
		Spec struct {
			HealthCheckExprs []struct{ Kind, Current, InProgress, Failed string } `json:"healthCheckExprs"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal(kustomization, &parsed); err != nil {
		return nil, err
	}
	for _, e := range parsed.Spec.HealthCheckExprs {
		if e.Kind == kind {
			return newEvaluator([]expression{
				{"InProgress", e.InProgress}, {"Failed", e.Failed}, {"Current", e.Current},
			})
		}
	}
	return nil, fmt.Errorf("the Kustomization has no healthCheckExprs for the kind %s", kind)
}

type expression struct{ status, text string }

// newEvaluator takes expressions in the order in which Flux evaluates them. The first that is true decides.
func newEvaluator(expressions []expression) (func(map[string]any) (string, error), error) {
	environment, err := cel.NewEnv(
		cel.Variable("spec", cel.DynType), cel.Variable("status", cel.DynType), cel.Variable("metadata", cel.DynType),
	)
	if err != nil {
		return nil, err
	}
	programs := make([]cel.Program, len(expressions))
	for i, e := range expressions {
		if e.text == "" {
			continue
		}
		ast, issues := environment.Compile(e.text)
		if issues.Err() != nil {
			return nil, fmt.Errorf("%s: %w", e.status, issues.Err())
		}
		if programs[i], err = environment.Program(ast); err != nil {
			return nil, fmt.Errorf("%s: %w", e.status, err)
		}
	}
	return func(object map[string]any) (string, error) {
		generation, _, _ := unstructured.NestedInt64(object, "metadata", "generation")
		observed, found, _ := unstructured.NestedInt64(object, "status", "observedGeneration")
		if found && observed != generation {
			return "InProgress", nil
		}
		for i, e := range expressions {
			if programs[i] == nil {
				continue
			}
			result, _, err := programs[i].Eval(object)
			if err != nil {
				return "", fmt.Errorf("%s: %w in %v", e.status, err, object)
			}
			if result.Value() == true {
				return e.status, nil
			}
		}
		return "InProgress", nil
	}, nil
}
