package plan_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/plan"
)

const (
	movedURL  = "https://new.example.com"
	movedName = "fedcba9876543210fedcba9876543210" // of the account there
)

// settingsManifest is the manifest of the service that service has.
func settingsManifest(annotations map[string]string, spec map[string]any) plan.Manifest {
	m := serviceManifest("default")
	settings := m.Object.Object["spec"].(map[string]any)
	settings["baseURL"] = service().Spec.BaseURL
	maps.Copy(settings, spec)
	m.Object.SetAnnotations(annotations)
	return m
}

// TestMovedService plans an action on an application whose service had, or has, another URL than its record.
func TestMovedService(t *testing.T) {
	t.Parallel()
	moved := service()
	moved.Spec.BaseURL, moved.Status.Account = movedURL, movedName
	moved.Status.SameAccounts = []v1alpha1.SameAccount{{Account: service().Status.Account, SameAs: movedName}}
	move := settingsManifest(nil, map[string]any{"baseURL": movedURL})
	resend := actionManifest("again", "acme")
	wrong := service()
	wrong.Spec.BaseURL = movedURL
	corrected := []plan.Manifest{settingsManifest(nil, nil), resend}
	for name, tc := range map[string]struct {
		service   client.Object
		manifests []plan.Manifest
		reason    string // of the Mandate
	}{
		"before the change": {moved, []plan.Manifest{resend}, v1alpha1.ReasonAccepted},
		"by the change":     {service(), []plan.Manifest{move, resend}, v1alpha1.ReasonAccepted},
		"back, soon":        {wrong, corrected, v1alpha1.ReasonConfirming},
		"back":              {wrong, corrected, v1alpha1.ReasonApplicationMissing},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects := bound(t, "acme", 7, nil)
			objects[0].(*v1alpha1.Mandate).Status.Conditions[0].Reason = tc.reason
			made, encoded := encodedPlan(t, plan.Input{
				Cluster: append(objects, tc.service), Manifests: tc.manifests,
			})
			sends := func(i plan.Item) bool { return slices.Equal(i.Actions, []plan.Action{plan.Resend}) }
			if made.Emails != 1 || !slices.ContainsFunc(made.Items, sends) {
				t.Errorf("want one e-mail of a resend:\n%s", encoded)
			}
		})
	}
}

// TestReleasedBySettings plans edits of a service that change what a refused create would be.
func TestReleasedBySettings(t *testing.T) {
	t.Parallel()
	unread := map[string]any{"individuals": []any{
		map[string]any{"name": "director", "detailsSecretRef": map[string]any{"name": "details"}},
	}}
	for name, tc := range map[string]struct {
		settings map[string]any
		emails   int
	}{
		"nothing":         {map[string]any{}, 0},
		"another setting": {map[string]any{"polling": map[string]any{"minIntervalSeconds": int64(60)}}, 0},
		"referencePrefix": {map[string]any{"referencePrefix": "eu."}, 1},
		"baseURL":         {map[string]any{"baseURL": movedURL}, 1},
	} {
		for reason, answer := range map[string]v1alpha1.CallAnswer{
			v1alpha1.ReasonRefused: v1alpha1.AnswerRefused, v1alpha1.ReasonReferenceConflict: v1alpha1.AnswerDuplicate,
		} {
			t.Run(name+" "+reason, func(t *testing.T) {
				t.Parallel()
				made, encoded := encodedPlan(t, plan.Input{
					Cluster:   append(refused(t, reason, answer, unread), service()),
					Manifests: []plan.Manifest{settingsManifest(nil, tc.settings)},
				})
				if made.Emails != tc.emails || made.Sends != (tc.emails > 0) {
					t.Errorf("%d e-mails, want %d:\n%s", made.Emails, tc.emails, encoded)
				}
			})
		}
	}
}

// refused is a Mandate whose create was refused, with its record.
func refused(t *testing.T, reason string, answer v1alpha1.CallAnswer, spec map[string]any) []client.Object {
	t.Helper()
	record := bound(t, "acme", 7, spec)[1].(*v1alpha1.ApplicationRecord)
	record.Spec.ApplicationID, record.Spec.CreatedTime = nil, nil
	create := &record.Spec.Calls[0]
	create.Result, create.Answer = v1alpha1.CallRefused, answer
	create.Sends, create.Inputs = 0, "of the Secret as it is"
	return []client.Object{waiting(t, "acme", reason, spec), record}
}

// TestVouchedAccount plans that a person says that another account is the same: what waits for that is created.
func TestVouchedAccount(t *testing.T) {
	t.Parallel()
	const inDoubt, ofSome = v1alpha1.ReasonAccountChanged, v1alpha1.ReasonApplicationsOfOtherAccount
	for name, tc := range map[string]struct {
		reason    string
		vouchedIs string
		emails    int
	}{
		"nothing":                     {inDoubt, "", 0},
		"another account":             {inDoubt, strings.Repeat("0", len(movedName)), 0},
		"the account":                 {inDoubt, movedName, 2},
		"another one is that of some": {ofSome, "", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			used := service()
			used.Status.Account = movedName
			used.Status.Conditions = append(used.Status.Conditions, metav1.Condition{
				Type: v1alpha1.ConditionAccountChanged, Status: metav1.ConditionTrue, Reason: tc.reason,
			})
			made, encoded := encodedPlan(t, plan.Input{
				Cluster: []client.Object{used, waiting(t, "acme", v1alpha1.ReasonAccountChanged, nil)},
				Manifests: []plan.Manifest{
					settingsManifest(map[string]string{v1alpha1.SameAccountAnnotation: tc.vouchedIs}, nil),
				},
			})
			if made.Emails != tc.emails {
				t.Errorf("%d e-mails, want %d:\n%s", made.Emails, tc.emails, encoded)
			}
		})
	}
}
