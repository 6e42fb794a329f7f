package service

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/lifecycle"
	"github.com/mandate-io/idv/operator/connection"
)

// The accounts of these tests, as the status of a service shows them.
const (
	oldAccount connection.Account = "00000000000000000000000000000001"
	newAccount connection.Account = "00000000000000000000000000000002"
)

// An account that is another one than before has to show an application before anything is created with it.
func TestAnotherAccount(t *testing.T) {
	t.Parallel()
	proof := func(created, reads connection.Account) []v1alpha1.SameAccount {
		return []v1alpha1.SameAccount{{Account: string(created), SameAs: string(reads)}}
	}
	changed := func(s *v1alpha1.IdentityService) { s.Status.Account = string(oldAccount) }
	both := dependents{begun: 2, created: 2}
	for name, c := range map[string]struct {
		service func(*v1alpha1.IdentityService)
		found   dependents
		proofs  []v1alpha1.SameAccount
		want    connection.AccountState
	}{
		"the same": {
			service: func(s *v1alpha1.IdentityService) { s.Status.Account = string(newAccount) }, found: both,
		},
		"another one":                     {service: changed, found: both, want: connection.AccountSought},
		"the first one, of a new service": {},
		"the first one, of a service to which Mandates of another one were moved": {
			found: dependents{begun: 1, created: 1, refused: 1},
		},
		"another one, without Mandates": {service: changed},
		"another one, of which one application was read": {
			service: changed, found: dependents{begun: 2, created: 2, refused: 1}, want: connection.AccountSought,
		},
		"another one, which has none of the applications": {
			service: changed, found: dependents{begun: 2, created: 2, refused: 2}, want: connection.AccountRefuted,
		},
		"another one, which has none of twenty": {
			service: changed, found: dependents{begun: 50, created: 50, refused: 20}, want: connection.AccountRefuted,
		},
		"another one, and nothing that can be read": {
			service: changed, found: dependents{begun: 1}, want: connection.AccountRefuted,
		},
		"another one, which has read an application": {service: changed, found: both, proofs: proof(oldAccount, newAccount)},
		"another one, which has read one of its own": {service: changed, found: both, proofs: proof(newAccount, newAccount)},
		"another one, which was confirmed before": {
			service: func(s *v1alpha1.IdentityService) {
				changed(s)
				s.Status.SameAccounts = append(proof(newAccount, "x"), proof("x", oldAccount)...)
			},
			found: both,
		},
		"another one, that a person vouches for": {
			service: func(s *v1alpha1.IdentityService) {
				changed(s)
				s.Annotations = map[string]string{v1alpha1.SameAccountAnnotation: string(newAccount)}
			},
			found: both,
		},
		"another one, with the annotation for the one before": {
			service: func(s *v1alpha1.IdentityService) {
				changed(s)
				s.Annotations = map[string]string{v1alpha1.SameAccountAnnotation: string(oldAccount)}
			},
			found: both, want: connection.AccountSought,
		},
		"the same, after a restart in between": {
			service: func(s *v1alpha1.IdentityService) {
				s.Status.Account = string(newAccount)
				setShared(&s.Status, 1, v1alpha1.ConditionAccountChanged, true)
			},
			found: both, want: connection.AccountSought,
		},
		"the same, after a restart while a Mandate waits for another account": {
			service: func(s *v1alpha1.IdentityService) {
				s.Status.Account = string(newAccount)
				setWarning(&s.Status, 1, v1alpha1.ConditionAccountChanged, v1alpha1.ReasonApplicationsOfOtherAccount, "")
			},
			found: dependents{begun: 2, created: 2, refused: 2, waits: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, account := &v1alpha1.IdentityService{}, &accountFacts{}
			if c.service != nil {
				c.service(service)
			}
			account.classify(service, newAccount, c.found, c.proofs)
			if account.state != c.want {
				t.Errorf("the state is %d, want %d", account.state, c.want)
			}
			service.Status.Account = string(newAccount) // as the status says from now on
			account.classify(service, newAccount, c.found, c.proofs)
			if account.state != c.want {
				t.Errorf("the next time, the state is %d, want %d", account.state, c.want)
			}
		})
	}
}

// The credentials that a person has corrected need no proof.
func TestTheAccountBefore(t *testing.T) {
	t.Parallel()
	service, account := &v1alpha1.IdentityService{}, &accountFacts{}
	service.Status.Account = string(oldAccount)
	found := dependents{begun: 1, created: 1}
	for _, step := range []struct {
		account connection.Account
		want    connection.AccountState
	}{
		{oldAccount, connection.AccountConfirmed}, {newAccount, connection.AccountSought},
		{"", connection.AccountSought}, {oldAccount, connection.AccountConfirmed}, {"", connection.AccountConfirmed},
		{oldAccount, connection.AccountConfirmed},
	} {
		account.classify(service, step.account, found, nil)
		if account.state != step.want {
			t.Errorf("with %q, the state is %d, want %d", step.account, account.state, step.want)
		}
		showAccount(&service.Status, step.account, nil)
	}
}

// A Secret that is missing says nothing of the account: neither that it has changed, nor that it has not.
func TestNoCredentials(t *testing.T) {
	t.Parallel()
	for _, changed := range []bool{false, true} {
		service, account := &v1alpha1.IdentityService{}, &accountFacts{}
		showAccount(&service.Status, oldAccount, nil)
		setShared(&service.Status, 1, v1alpha1.ConditionAccountChanged, changed)
		found := dependents{begun: 1, created: 1}
		account.classify(service, "", found, nil) // as after a restart
		showAccount(&service.Status, "", nil)
		if got := account.change(&service.Status, found) != ""; got != changed {
			t.Errorf("AccountChanged is %t, and was %t", got, changed)
		}
		account.classify(service, oldAccount, found, nil)
		got := account.change(&service.Status, found) != ""
		if got != changed || service.Status.Account != string(oldAccount) {
			t.Errorf("with the Secret, AccountChanged is %t, and was %t", got, changed)
		}
	}
}

// A Mandate waits for the account of its application, at another service of the same URL. The service says so, and
// neither this process nor the next one doubts the account of the service itself. A doubt comes first.
func TestMandateOfAnotherAccount(t *testing.T) {
	t.Parallel()
	service := &v1alpha1.ClusterIdentityService{}
	service.Status.Account = string(newAccount)
	waits := dependents{begun: 2, created: 2, refused: 2, waits: true}
	for _, step := range []struct {
		account connection.Account
		found   dependents
		state   connection.AccountState
		want    string
	}{
		{newAccount, waits, connection.AccountConfirmed, v1alpha1.ReasonApplicationsOfOtherAccount},
		{newAccount, waits, connection.AccountConfirmed, v1alpha1.ReasonApplicationsOfOtherAccount},
		{"", waits, connection.AccountConfirmed, v1alpha1.ReasonApplicationsOfOtherAccount},
		{newAccount, dependents{begun: 2, created: 2}, connection.AccountConfirmed, ""},
		{oldAccount, waits, connection.AccountRefuted, v1alpha1.ReasonAccountChanged},
		{oldAccount, waits, connection.AccountRefuted, v1alpha1.ReasonAccountChanged},
	} {
		account := &accountFacts{} // of a new process
		account.classify(service, step.account, step.found, nil)
		got := account.change(&service.Status, step.found)
		if got != step.want || account.state != step.state {
			t.Errorf("with %q: %q and %d, want %q and %d", step.account, got, account.state, step.want, step.state)
		}
		setWarning(&service.Status, 1, v1alpha1.ConditionAccountChanged, got, sharedMessages[got])
		showAccount(&service.Status, step.account, nil)
	}
}

// All applications are read within a time that spares the service.
func TestLookWithin(t *testing.T) {
	t.Parallel()
	for created, want := range map[int]time.Duration{0: 0, 1: 3 * time.Second, 20: time.Minute, 5000: 10 * time.Minute} {
		var account accountFacts
		account.classify(&v1alpha1.IdentityService{}, newAccount, dependents{begun: created, created: created}, nil)
		if account.lookWithin != want {
			t.Errorf("%d applications are read within %s, want %s", created, account.lookWithin, want)
		}
	}
}

// What Mandates say, as far as it matters to their service.
func TestDependents(t *testing.T) {
	t.Parallel()
	mandate := func(id int64, outcome v1alpha1.Outcome, conditions ...metav1.Condition) v1alpha1.Mandate {
		status := v1alpha1.MandateStatus{Outcome: outcome, Conditions: conditions}
		if id != 0 {
			status.ApplicationID = &id
		}
		return v1alpha1.Mandate{Status: status}
	}
	is := func(kind string, status metav1.ConditionStatus, reason string) metav1.Condition {
		return metav1.Condition{Type: kind, Status: status, Reason: reason}
	}
	other := is(v1alpha1.ConditionReady, metav1.ConditionUnknown, v1alpha1.ReasonAccountChanged)
	lost := is(v1alpha1.ConditionCreated, metav1.ConditionUnknown, v1alpha1.ReasonOutcomeUnknown)
	otherURL := is(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonIdentityServiceMismatch)
	never := is(v1alpha1.ConditionCreated, metav1.ConditionFalse, v1alpha1.ReasonCreating)
	mandates := []v1alpha1.Mandate{
		mandate(7, ""), mandate(8, "", other), mandate(9, v1alpha1.OutcomeCompleted), mandate(0, "", lost),
		mandate(0, "", never, other), mandate(0, ""), mandate(5, "", otherURL),
	}
	for _, state := range []string{"done", "closed"} { // the first of which is known
		m := mandate(6, "")
		m.Status.State = state
		m.Status.Individuals = []v1alpha1.IndividualStatus{{
			ChecksInReview: new(int64(0)), ChecksPending: new(int64(0)), ChecksPassed: new(int64(3)),
		}}
		mandates = append(mandates, m)
	}
	for range 2 { // in any sequence
		var found dependents
		for i := range mandates {
			found.add(&mandates[i], lifecycle.Names{Completed: []string{"done"}})
		}
		if want := (dependents{needed: 6, waits: true, begun: 6, created: 5, refused: 2, unknown: 1}); found != want {
			t.Errorf("%+v, want %+v", found, want)
		}
		slices.Reverse(mandates)
	}
}
