package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// checkEmails returns an error unless the service has sent as many e-mails as there are people, each of them one.
func (s *scenario) checkEmails(ctx context.Context, people int) error {
	emails, err := s.sandbox.Outbox(ctx)
	return errors.Join(err, oneEach(emails, people))
}

// oneEach returns an error unless the e-mails went to a number of people, one to each.
func oneEach(emails []control.Email, people int) error {
	count := map[string]int{}
	for i := range emails {
		count[emails[i].Address]++
	}
	var wrong []error
	for address, got := range count {
		if got != 1 {
			wrong = append(wrong, fmt.Errorf("%s got %d e-mails", address, got))
		}
	}
	if len(count) != people {
		wrong = append(wrong, fmt.Errorf("%d people got e-mails, want %d", len(count), people))
	}
	return errors.Join(wrong...)
}

// allReady waits until a namespace has a number of Mandates, each Ready and bound to an application.
func (s *scenario) allReady(ctx context.Context, namespace string, want int, timeout time.Duration) error {
	return s.until(timeout, fmt.Sprintf("%d Mandates are Ready", want), func(context.Context) (bool, string) {
		mandates, err := s.mandates(ctx, namespace)
		if err != nil {
			return false, err.Error()
		}
		waiting := notReady(mandates)
		return len(mandates) == want && len(waiting) == 0, fmt.Sprintf("%d Mandates, not Ready: %q", len(mandates), waiting)
	})
}

func (s *scenario) mandates(ctx context.Context, namespace string) ([]v1alpha1.Mandate, error) {
	list := &v1alpha1.MandateList{}
	err := s.cluster.List(ctx, list, client.InNamespace(namespace))
	return list.Items, err
}

// notReady has the names and reasons of Mandates that are not Ready.
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
