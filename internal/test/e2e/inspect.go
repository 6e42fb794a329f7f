package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// restricted is what the kernel says of a process with the least privileges. Seccomp 2 is a filter.
var restricted = map[string]string{
	"Uid": "65532 65532 65532 65532", "Gid": "65532 65532 65532 65532", "Groups": "65532",
	"CapInh": noCapabilities, "CapPrm": noCapabilities, "CapEff": noCapabilities, "CapBnd": noCapabilities,
	"CapAmb": noCapabilities, "NoNewPrivs": "1", "Seccomp": "2",
}

const noCapabilities = "0000000000000000"

// inspectContainers compares what the manifests ask for with what the kernel does.
func (s *scenario) inspectContainers(ctx context.Context) (string, error) {
	pods := &corev1.PodList{}
	if err := s.cluster.List(ctx, pods, client.InNamespace(operatorNamespace)); err != nil {
		return "", err
	}
	if len(pods.Items) != replicas {
		return "", fmt.Errorf("%d Pods, want %d", len(pods.Items), replicas)
	}
	var wrong []error
	for i := range pods.Items {
		pod := &pods.Items[i]
		processes, err := processesOf(pod)
		if err != nil {
			return "", err
		}
		if len(processes) != 1 {
			return "", fmt.Errorf("%d processes in %s, want one", len(processes), pod.Name)
		}
		for field, want := range restricted {
			if got := processes[0].status[field]; got != want {
				wrong = append(wrong, fmt.Errorf("%s of %s is %q, want %q", field, pod.Name, got, want))
			}
		}
		if !processes[0].readOnly {
			wrong = append(wrong, fmt.Errorf("the root of %s can be written", pod.Name))
		}
		if restarts := pod.Status.ContainerStatuses[0].RestartCount; restarts > 0 {
			wrong = append(wrong, fmt.Errorf("%s was restarted %d times", pod.Name, restarts))
		}
	}
	return fmt.Sprintf("%d processes: uid and gid 65532, no capabilities, seccomp, read-only root", replicas),
		errors.Join(wrong...)
}

// refusePrivileged tries to run a privileged Pod beside the operator, in a namespace that enforces the standard as
// docs/install.md has it. The Pods of the steps that follow must meet it.
func (s *scenario) refusePrivileged(ctx context.Context) (string, error) {
	label := "pod-security.kubernetes.io/enforce=restricted"
	if _, err := s.kubectl(ctx, "label", "namespace", operatorNamespace, "--overwrite", label); err != nil {
		return "", err
	}
	// Admission sees a label a moment after it is stored.
	err := until(ctx, "the API server refuses a privileged Pod", func(ctx context.Context) (bool, string) {
		_, err := s.kubectl(ctx, "run", "privileged", "--image=e2e.invalid/none", "--privileged", "-n", operatorNamespace,
			"--dry-run=server")
		return err != nil && strings.Contains(err.Error(), `violates PodSecurity "restricted`), fmt.Sprint(err)
	})
	if err != nil {
		return "", err
	}
	policies, err := s.kubectl(ctx, "get", "networkpolicies", "-n", operatorNamespace, "-o", "name")
	if err == nil && policies == "" {
		err = errors.New("there is no NetworkPolicy")
	}
	return "the NetworkPolicy is there, but nothing enforces it here", err
}

// checkLogs returns an error if the operator has logged an address of a person.
func (s *scenario) checkLogs() error {
	files := 0
	err := filepath.WalkDir(s.podLogs(), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.Contains(path, operatorNamespace+"_") {
			return err
		}
		files++
		content, err := os.ReadFile(path) //nolint:gosec // the kubelet writes it
		for _, host := range []string{emailHost, "@example.com"} {
			if strings.Contains(string(content), host) {
				err = errors.Join(err, fmt.Errorf("%s has an e-mail address", path))
			}
		}
		return err
	})
	if files == 0 {
		err = errors.Join(err, errors.New("no log of the operator was found"))
	}
	return err
}
