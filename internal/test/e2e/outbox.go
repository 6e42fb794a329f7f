package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// checkApplications returns an error unless every Mandate has the one application of its own, everybody has one e-mail,
// and no log of the operator has an address.
func (s *scenario) checkApplications(ctx context.Context) error {
	mandates, err := s.mandates(ctx)
	if err != nil {
		return err
	}
	applications, err := s.sandbox.Applications(ctx)
	if err != nil {
		return err
	}
	return errors.Join(ownApplications(mandates, applications), s.checkEmails(ctx), s.checkLogs())
}

// ownApplications returns an error unless each Mandate has an application with its reference, and there are no others.
func ownApplications(mandates []v1alpha1.Mandate, applications []control.Application) error {
	byID := map[int64]string{}
	for i := range applications {
		byID[applications[i].ID] = applications[i].Reference
	}
	var wrong []error
	for i := range mandates {
		status := &mandates[i].Status
		if status.ApplicationID == nil || byID[*status.ApplicationID] != status.Reference {
			wrong = append(wrong, fmt.Errorf("%s is not bound to its application", mandates[i].Name))
		}
	}
	if len(applications) != len(mandates) {
		wrong = append(wrong, fmt.Errorf("%d applications for %d Mandates", len(applications), len(mandates)))
	}
	return errors.Join(wrong...)
}

// checkEmails returns an error unless the service has sent as many e-mails as there are people, each of them one.
func (s *scenario) checkEmails(ctx context.Context) error {
	emails, err := s.sandbox.Outbox(ctx)
	return errors.Join(err, oneEach(emails, s.people))
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
