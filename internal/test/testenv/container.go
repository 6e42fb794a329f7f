package testenv

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// ContainerEnvironment is what a kubelet makes of the environment of a container: fixed values, references to earlier
// variables, and the memory limit.
func ContainerEnvironment(container *corev1.Container) []string {
	var environment, references []string
	for _, variable := range container.Env {
		value := variable.Value
		if from := variable.ValueFrom; from != nil && from.ResourceFieldRef != nil {
			limit, divisor := container.Resources.Limits.Memory().Value(), from.ResourceFieldRef.Divisor.Value()
			value = strconv.FormatInt((limit+divisor-1)/divisor, 10)
		}
		value = strings.NewReplacer(references...).Replace(value)
		references = append(references, "$("+variable.Name+")", value)
		environment = append(environment, variable.Name+"="+value)
	}
	return environment
}
