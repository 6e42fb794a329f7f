package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// expected has the outcome of each Mandate of examples/mandates, and how many people it e-mails.
var expected = map[string]struct {
	outcome v1alpha1.Outcome
	emails  int
}{
	"acme":     {v1alpha1.OutcomeCompleted, 2},
	"globex":   {v1alpha1.OutcomeRejected, 1},
	"initech":  {v1alpha1.OutcomeCompleted, 0},
	"umbrella": {v1alpha1.OutcomeCompleted, 2},
}

func (d *demo) checkOutcomes(ctx context.Context) (string, error) {
	d.stopWatch()
	mandates, err := d.mandates(ctx)
	if err != nil {
		return "", err
	}
	detail, err := compareOutcomes(mandates)
	if err != nil {
		return "", d.withOperatorLog(err)
	}
	// The table on the screen can be older.
	return detail, d.showTable(ctx)
}

func (d *demo) mandates(ctx context.Context) ([]v1alpha1.Mandate, error) {
	output, err := d.kubectl.run(ctx, "get", "mandates", "-o", "json")
	if err != nil {
		return nil, err
	}
	var list v1alpha1.MandateList
	if err := json.Unmarshal([]byte(output), &list); err != nil {
		return nil, fmt.Errorf("decode the output of kubectl: %w", err)
	}
	return list.Items, nil
}

// compareOutcomes returns the counts of the outcomes, or an error if one is not the expected one.
func compareOutcomes(mandates []v1alpha1.Mandate) (string, error) {
	var wrong []error
	count := map[v1alpha1.Outcome]int{}
	seen := map[string]bool{}
	for i := range mandates {
		name, outcome := mandates[i].Name, mandates[i].Status.Outcome
		seen[name] = true
		count[outcome]++
		if want := expected[name].outcome; outcome != want {
			wrong = append(wrong, fmt.Errorf("the outcome of %s is %q, want %q", name, outcome, want))
		}
	}
	for name := range expected {
		if !seen[name] {
			wrong = append(wrong, fmt.Errorf("the Mandate %s is missing", name))
		}
	}
	completed, rejected := count[v1alpha1.OutcomeCompleted], count[v1alpha1.OutcomeRejected]
	return fmt.Sprintf("%d completed, %d rejected", completed, rejected), errors.Join(wrong...)
}

func (d *demo) checkEmails(ctx context.Context) (string, error) {
	emails, err := d.sandbox.Outbox(ctx)
	if err != nil {
		return "", err
	}
	detail, err := countEmails(emails)
	d.summary = append(d.summary, detail)
	return detail, d.withOperatorLog(err)
}

// countEmails returns the counts of e-mails and people, or an error unless each expected person got one e-mail.
func countEmails(emails []control.Email) (string, error) {
	want := 0
	for _, mandate := range expected {
		want += mandate.emails
	}
	people := map[string]int{}
	for i := range emails {
		people[emails[i].Address]++
	}
	if len(emails) != want || len(people) != want {
		return "", fmt.Errorf("%d e-mails went to %d people, want %d to %d", len(emails), len(people), want, want)
	}
	return fmt.Sprintf("%d e-mails to %d people, none twice", len(emails), len(people)), nil
}
