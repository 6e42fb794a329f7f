package main

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// allReady waits until all people have a Mandate that is Ready.
func (s *scenario) allReady(ctx context.Context) error {
	return until(ctx, "all Mandates are Ready", func(ctx context.Context) (bool, string) {
		mandates, err := s.mandates(ctx)
		if err != nil {
			return false, err.Error()
		}
		waiting := notReady(mandates)
		return len(mandates) == s.people && len(waiting) == 0, fmt.Sprintf("%d Mandates, waiting %q", len(mandates), waiting)
	})
}

func (s *scenario) mandates(ctx context.Context) ([]v1alpha1.Mandate, error) {
	list := &v1alpha1.MandateList{}
	err := s.cluster.List(ctx, list, client.InNamespace(readmeNamespace))
	return list.Items, err
}

// notReady has the names and reasons of Mandates that are not Ready, or not bound to an application.
func notReady(mandates []v1alpha1.Mandate) []string {
	var names []string
	for i := range mandates {
		m := &mandates[i]
		ready := meta.FindStatusCondition(m.Status.Conditions, v1alpha1.ConditionReady)
		if ready == nil || ready.Status != "True" || m.Status.ApplicationID == nil {
			reason := "none"
			if ready != nil {
				reason = ready.Reason
			}
			names = append(names, m.Name+": "+reason)
		}
	}
	return names
}
