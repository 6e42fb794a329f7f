package main

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

func mandate(name string, outcome v1alpha1.Outcome) v1alpha1.Mandate {
	return v1alpha1.Mandate{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: v1alpha1.MandateStatus{Outcome: outcome}}
}

func TestCompareOutcomes(t *testing.T) {
	asExpected := []v1alpha1.Mandate{
		mandate("acme", "Completed"), mandate("globex", "Rejected"),
		mandate("initech", "Completed"), mandate("umbrella", "Completed"),
	}
	withAcme := func(outcome v1alpha1.Outcome) []v1alpha1.Mandate {
		return append([]v1alpha1.Mandate{mandate("acme", outcome)}, asExpected[1:]...)
	}
	cases := map[string]struct {
		mandates []v1alpha1.Mandate
		want     string
		wantErr  string
	}{
		"as expected":    {mandates: asExpected, want: "3 completed, 1 rejected"},
		"another one":    {mandates: withAcme("Rejected"), wantErr: `acme is "Rejected", want "Completed"`},
		"none":           {mandates: withAcme(""), wantErr: `acme is "", want "Completed"`},
		"one is missing": {mandates: asExpected[1:], wantErr: "the Mandate acme is missing"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := compareOutcomes(tc.mandates)
			if !matchesError(err, tc.wantErr) || err == nil && got != tc.want {
				t.Errorf("got %q, %v, want %q, %q", got, err, tc.want, tc.wantErr)
			}
		})
	}
}

func TestCountEmails(t *testing.T) {
	to := func(addresses ...string) []control.Email {
		var emails []control.Email
		for _, address := range addresses {
			emails = append(emails, control.Email{Address: address + "@example.com"})
		}
		return emails
	}
	cases := map[string]struct {
		emails  []control.Email
		want    string
		wantErr string
	}{
		"one to each":             {emails: to("a", "b", "c", "d", "e"), want: "5 e-mails to 5 people, none twice"},
		"one person twice":        {emails: to("a", "b", "c", "d", "e", "a"), wantErr: "6 e-mails went to 5 people"},
		"twice instead of others": {emails: to("a", "b", "c", "d", "a"), wantErr: "5 e-mails went to 4 people"},
		"somebody got none":       {emails: to("a", "b", "c", "d"), wantErr: "4 e-mails went to 4 people"},
		"nobody got any":          {wantErr: "0 e-mails"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := countEmails(tc.emails)
			if !matchesError(err, tc.wantErr) || err == nil && got != tc.want {
				t.Errorf("got %q, %v, want %q, %q", got, err, tc.want, tc.wantErr)
			}
			if err != nil && strings.Contains(err.Error(), "@") {
				t.Errorf("the error has an address: %v", err)
			}
		})
	}
}

// matchesError is true if an error contains a text, or if both are empty.
func matchesError(err error, text string) bool {
	if err == nil || text == "" {
		return err == nil && text == ""
	}
	return strings.Contains(err.Error(), text)
}
