package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// upgrade rolls another image out during creates. The operator waits for its creates, so no answer is lost.
func (s *scenario) upgrade(ctx context.Context) (string, error) {
	before := s.people
	if err := s.startLoad(ctx); err != nil {
		return "", err
	}
	if err := s.helm(ctx, "upgrade", upgradeTag); err != nil {
		return "", err
	}
	found, err := s.settled(ctx)
	if err != nil {
		return "", err
	}
	if len(found) > 0 {
		return "", fmt.Errorf("the answers of %q were lost, although the operator could wait for them", found)
	}
	// A rollout is complete before the old Pods are gone: they have a minute to end.
	err = until(ctx, "all Pods have the new image", func(ctx context.Context) (bool, string) {
		pods := &corev1.PodList{}
		err := s.cluster.List(ctx, pods, client.InNamespace(operatorNamespace))
		var images []string
		for i := range pods.Items {
			images = append(images, pods.Items[i].Spec.Containers[0].Image)
		}
		isNew := func(image string) bool { return strings.HasSuffix(image, ":"+upgradeTag) }
		return len(images) == replicas && !slices.ContainsFunc(images, func(i string) bool { return !isNew(i) }),
			fmt.Sprint(images, err)
	})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d Mandates meanwhile, no answer lost, no second e-mail", s.people-before), nil
}

// remains has what must outlive the operator.
func (s *scenario) remains(ctx context.Context) (string, error) {
	return s.kubectl(ctx, "get", "crds,mandates,applicationrecords,identityservices", "-A",
		"-o", "custom-columns=KIND:.kind,NAMESPACE:.metadata.namespace,NAME:.metadata.name,UID:.metadata.uid", "--no-headers")
}

// uninstall removes the operator. What knows of applications remains.
func (s *scenario) uninstall(ctx context.Context) (string, error) {
	before, err := s.remains(ctx)
	if err != nil {
		return "", err
	}
	if _, err := s.execute(ctx, "", "helm", "uninstall", operatorName, "--namespace", operatorNamespace); err != nil {
		return "", err
	}
	err = until(ctx, "no Pod of the operator is left", func(ctx context.Context) (bool, string) {
		pods, err := s.kubectl(ctx, "get", "pods", "-n", operatorNamespace, "-o", "name")
		return err == nil && pods == "", fmt.Sprint(pods, err)
	})
	if err != nil {
		return "", err
	}
	after, err := s.remains(ctx)
	if err == nil && after != before {
		err = fmt.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	return fmt.Sprintf("%d objects stay", strings.Count(after, "\n")), err
}

// reinstall installs the operator again. It looks at every Mandate, and sends only what is new.
func (s *scenario) reinstall(ctx context.Context) (string, error) {
	if err := s.helm(ctx, "install", upgradeTag); err != nil {
		return "", err
	}
	mandates, err := s.mandates(ctx)
	if err != nil {
		return "", err
	}
	const request = "e2e"
	for i := range mandates {
		patch := client.MergeFrom(mandates[i].DeepCopy())
		if mandates[i].Annotations == nil {
			mandates[i].Annotations = map[string]string{}
		}
		mandates[i].Annotations[v1alpha1.ReconcileRequestAnnotation] = request
		if err := s.cluster.Patch(ctx, &mandates[i], patch); err != nil {
			return "", err
		}
	}
	err = until(ctx, "the operator has looked at every Mandate", func(ctx context.Context) (bool, string) {
		mandates, err := s.mandates(ctx)
		waiting := 0
		for i := range mandates {
			if mandates[i].Status.LastHandledReconcileAt != request {
				waiting++
			}
		}
		return err == nil && waiting == 0, fmt.Sprintf("%d wait, %v", waiting, err)
	})
	if err != nil {
		return "", err
	}
	detail := fmt.Sprintf("%d Mandates, nothing sent again", len(mandates))
	return detail, s.checkApplications(ctx)
}
