package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// expected is how each Mandate of examples/mandates ends, and how many people it e-mails.
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
	output, err := d.kubectl.run(ctx, "get", "mandates", "-o", "json")
	if err != nil {
		return "", err
	}
	var list v1alpha1.MandateList
	if err := json.Unmarshal([]byte(output), &list); err != nil {
		return "", fmt.Errorf("reading what kubectl printed: %w", err)
	}
	detail, err := compareOutcomes(list.Items)
	if err != nil {
		return "", d.blameOperator(err)
	}
	// The last table was read before the last Mandate ended.
	return detail, d.showTable(ctx)
}

// compareOutcomes says how many Mandates have which outcome, if it is the expected one for each.
func compareOutcomes(mandates []v1alpha1.Mandate) (string, error) {
	var wrong []error
	count := map[v1alpha1.Outcome]int{}
	seen := map[string]bool{}
	for i := range mandates {
		name, outcome := mandates[i].Name, mandates[i].Status.Outcome
		seen[name] = true
		count[outcome]++
		if want := expected[name].outcome; outcome != want {
			wrong = append(wrong, fmt.Errorf("the outcome of %s is %q, expected was %q", name, outcome, want))
		}
	}
	for name := range expected {
		if !seen[name] {
			wrong = append(wrong, fmt.Errorf("there is no Mandate %s", name))
		}
	}
	return fmt.Sprintf("%d completed, %d rejected", count[v1alpha1.OutcomeCompleted], count[v1alpha1.OutcomeRejected]), errors.Join(wrong...)
}

func (d *demo) checkEmails(ctx context.Context) (string, error) {
	emails, err := d.sandbox.Outbox(ctx)
	if err != nil {
		return "", err
	}
	detail, err := countEmails(emails)
	return detail, d.blameOperator(err)
}

// countEmails says how many e-mails went to how many people, if it is one to each who should get one.
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
		return "", fmt.Errorf("%d e-mails went to %d people, expected were %d to as many", len(emails), len(people), want)
	}
	return fmt.Sprintf("%d e-mails to %d people, none twice", len(emails), len(people)), nil
}
