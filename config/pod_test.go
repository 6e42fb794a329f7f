package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// loosened are Pods that have more than the operator needs, each with what the refusal names.
var loosened = map[string]struct {
	loosen func(pod *corev1.PodSpec, container *corev1.SecurityContext)
	want   string
}{
	"privileges to escalate": {
		func(_ *corev1.PodSpec, c *corev1.SecurityContext) { c.AllowPrivilegeEscalation = nil }, "allowPrivilegeEscalation",
	},
	"privileges": {
		func(_ *corev1.PodSpec, c *corev1.SecurityContext) {
			c.Privileged, c.AllowPrivilegeEscalation = new(true), new(true)
		}, "privileged",
	},
	"all capabilities": {
		func(_ *corev1.PodSpec, c *corev1.SecurityContext) { c.Capabilities = nil }, "capabilities",
	},
	"a capability": {
		func(_ *corev1.PodSpec, c *corev1.SecurityContext) {
			c.Capabilities.Add = []corev1.Capability{"NET_BIND_SERVICE"}
		}, "capabilities",
	},
	"root": {
		func(p *corev1.PodSpec, _ *corev1.SecurityContext) { p.SecurityContext.RunAsNonRoot = nil }, "runAsNonRoot",
	},
	"the user 0": {
		func(_ *corev1.PodSpec, c *corev1.SecurityContext) { c.RunAsUser = new(int64(0)) }, "runAsUser",
	},
	"the image's user": {
		func(p *corev1.PodSpec, _ *corev1.SecurityContext) { p.SecurityContext.RunAsUser = nil }, "runAsUser",
	},
	"the group 0": {
		func(_ *corev1.PodSpec, c *corev1.SecurityContext) { c.RunAsGroup = new(int64(0)) }, "runAsGroup",
	},
	"the runtime's group": {
		func(p *corev1.PodSpec, _ *corev1.SecurityContext) { p.SecurityContext.RunAsGroup = nil }, "runAsGroup",
	},
	"another group": {
		func(p *corev1.PodSpec, _ *corev1.SecurityContext) { p.SecurityContext.SupplementalGroups = []int64{0} },
		"supplementalGroups",
	},
	"a writable file system": {
		func(_ *corev1.PodSpec, c *corev1.SecurityContext) { c.ReadOnlyRootFilesystem = nil }, "readOnlyRootFilesystem",
	},
	"a volume": {
		func(p *corev1.PodSpec, _ *corev1.SecurityContext) {
			p.Volumes = []corev1.Volume{{
				Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}},
			}}
		}, "volumes",
	},
	"the node's files": {
		func(p *corev1.PodSpec, _ *corev1.SecurityContext) {
			p.Volumes = []corev1.Volume{{
				Name: "node", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}},
			}}
		}, "hostPath",
	},
	"system calls": {
		func(p *corev1.PodSpec, _ *corev1.SecurityContext) { p.SecurityContext.SeccompProfile = nil }, "seccompProfile",
	},
	"/proc": {
		func(p *corev1.PodSpec, c *corev1.SecurityContext) {
			c.ProcMount, p.HostUsers = new(corev1.UnmaskedProcMount), new(false)
		}, "procMount",
	},
	"the node's network": {
		func(p *corev1.PodSpec, _ *corev1.SecurityContext) { p.HostNetwork = true }, "hostNetwork",
	},
	"the node's processes": {
		func(p *corev1.PodSpec, _ *corev1.SecurityContext) { p.HostPID = true }, "hostPID",
	},
	"a port of the node": {
		func(p *corev1.PodSpec, _ *corev1.SecurityContext) { p.Containers[0].Ports[0].HostPort = 8080 }, "hostPort",
	},
	"a container beside it": {
		func(p *corev1.PodSpec, _ *corev1.SecurityContext) {
			p.Containers = append(p.Containers, corev1.Container{
				Name: "other", Image: "other", TerminationMessagePolicy: corev1.TerminationMessageReadFile,
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: new(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
			})
		}, "readOnlyRootFilesystem",
	},
	"all of the node's memory": {
		func(p *corev1.PodSpec, _ *corev1.SecurityContext) { p.Containers[0].Resources.Limits = nil }, "memory",
	},
}

// The namespace enforces the restricted Pod Security standard. The operator's Pod keeps to it, and has nothing else
// that it does not need: tooLoose refuses what the API server lets pass.
func TestPodIsRestricted(t *testing.T) {
	c := in(t, env)
	c.apply("--kustomize", "config/manager")
	template := c.deployment().Spec.Template
	refusals := func(t *testing.T, spec *corev1.PodSpec) []string {
		t.Helper()
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: "operator", Labels: template.Labels},
			Spec:       *spec,
		}
		found := tooLoose(spec)
		err := c.as("").Create(t.Context(), pod, client.DryRunAll)
		if err != nil && !apierrors.IsForbidden(err) {
			t.Fatal(err)
		}
		if err != nil {
			found = append(found, err.Error())
		}
		return found
	}
	if found := refusals(t, &template.Spec); len(found) > 0 {
		t.Errorf("the Pod has more than it needs: %q", found)
	}
	for name, tc := range loosened {
		t.Run(name, func(t *testing.T) {
			pod := template.Spec.DeepCopy()
			tc.loosen(pod, pod.Containers[0].SecurityContext)
			found := refusals(t, pod)
			if !slices.ContainsFunc(found, func(refusal string) bool { return strings.Contains(refusal, tc.want) }) {
				t.Errorf("refusals %q, want one that names %s", found, tc.want)
			}
		})
	}
}

// tooLoose names what a Pod has beyond the restricted standard, which allows it.
func tooLoose(pod *corev1.PodSpec) (found []string) {
	report := func(bad bool, field string) {
		if bad {
			found = append(found, field)
		}
	}
	report(len(pod.Volumes) > 0, "volumes")
	report(len(pod.InitContainers)+len(pod.EphemeralContainers) > 0, "further containers")
	group := pod.SecurityContext
	report(group.FSGroup != nil || len(group.SupplementalGroups) > 0, "fsGroup or supplementalGroups")
	for i := range pod.Containers {
		container := &pod.Containers[i]
		own := container.SecurityContext
		report(own == nil || own.ReadOnlyRootFilesystem == nil || !*own.ReadOnlyRootFilesystem,
			container.Name+": readOnlyRootFilesystem")
		if own == nil {
			own = &corev1.SecurityContext{}
		}
		report(isRoot(own.RunAsUser, group.RunAsUser), container.Name+": runAsUser")
		report(isRoot(own.RunAsGroup, group.RunAsGroup), container.Name+": runAsGroup")
		report(own.Capabilities != nil && len(own.Capabilities.Add) > 0, container.Name+": added capabilities")
		report(container.Resources.Limits.Memory().IsZero(), fmt.Sprintf("%s: no limit of memory", container.Name))
	}
	return found
}

// isRoot reports whether a user or a group may be 0. The container's own goes before the Pod's.
func isRoot(container, pod *int64) bool {
	if container == nil {
		container = pod
	}
	return container == nil || *container == 0
}
