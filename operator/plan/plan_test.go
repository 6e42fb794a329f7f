package plan_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/evidence"
	"github.com/mandate-io/idv/operator/plan"
)

const salt = "00112233445566778899aabbccddeeff"

var now = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

// bound is a Mandate whose application is in review, as the operator leaves it, with its record.
func bound(t *testing.T, name string, id int64, spec map[string]any) []client.Object {
	t.Helper()
	m := &v1alpha1.Mandate{}
	encoded, err := json.Marshal(manifestOf(name, spec).Object)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(encoded, m); err != nil {
		t.Fatal(err)
	}
	m.UID, m.Generation = "uid-"+m.UID, 1
	if m.Spec.DeletionPolicy == v1alpha1.DeletionPolicyDelete {
		m.Finalizers = []string{v1alpha1.ApplicationFinalizer}
	}
	created := metav1.NewTime(now.Add(-48 * time.Hour))
	m.CreationTimestamp = created
	m.Status = v1alpha1.MandateStatus{
		ObservedGeneration: 1, ApplicationID: &id, Reference: namespace + "." + name, State: "in review", Progress: "2/2",
		CreatedTime: &created, Conditions: []metav1.Condition{{
			Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonAccepted, ObservedGeneration: 1,
		}},
	}
	var rounds []string
	for i := range m.Spec.Individuals {
		individual := idv.Individual{ID: id*10 + int64(i), Checks: []idv.Check{
			{ID: id*100 + int64(i), Name: "liveness", State: idv.State{Name: "passed"}, Results: idv.Hide("no status has it")},
		}}
		round, checks := evidence.Key(salt).For(m.UID, "record").Individual(&individual, "")
		rounds = append(rounds, round)
		m.Status.Individuals = append(m.Status.Individuals, v1alpha1.IndividualStatus{
			Name: m.Spec.Individuals[i].Name, ID: individual.ID, ChecksPassed: new(int64(1)), Checks: []v1alpha1.CheckStatus{{
				ID: individual.Checks[0].ID, Name: "liveness", State: &v1alpha1.ServiceState{Name: "passed"},
				Evidence: evidence.Number(checks[0], 1),
			}},
		})
	}
	m.Status.Evidence = evidence.Number(evidence.Key(salt).For(m.UID, "record").Application(rounds), 1)
	record := &v1alpha1.ApplicationRecord{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: "record"}}
	record.Spec = v1alpha1.ApplicationRecordSpec{
		RecordUID: "record", Salt: salt, ServiceURL: "https://idv.example.com", Account: service().Status.Account,
		Reference: m.Status.Reference, MandateRef: v1alpha1.RecordedMandate{UID: m.UID}, ApplicationID: &id,
		CreatedTime: &created, Calls: []v1alpha1.Call{{
			Seq: 1, Kind: v1alpha1.CallCreate, Sends: 1, Result: v1alpha1.CallDone, Generation: 1,
			StartedTime: metav1.NewMicroTime(created.Time), FirstStartedTime: metav1.NewMicroTime(created.Time),
		}},
	}
	return []client.Object{m, record}
}

func evidenceOf(objects []client.Object) string {
	return objects[0].(*v1alpha1.Mandate).Status.Evidence
}

// reviewOf rejects the first check as the status shows it.
func reviewOf(objects []client.Object) map[string]any {
	check := objects[0].(*v1alpha1.Mandate).Status.Individuals[0].Checks[0]
	return map[string]any{"checkReviews": []any{map[string]any{
		"individual": "director", "check": check.Name, "evidence": check.Evidence, "decision": "Reject",
	}}}
}

func actionManifest(name, mandate string) plan.Manifest {
	return plan.Manifest{Object: &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1alpha1.SchemeGroupVersion.String(), "kind": "MandateAction",
		"metadata": map[string]any{"namespace": namespace, "name": name},
		"spec": map[string]any{
			"mandateRef": map[string]any{"name": mandate}, "type": "ResendInvite", "individual": "director",
		},
	}}}
}

func resetManifest(name, mandate string) plan.Manifest {
	m := actionManifest(name, mandate)
	m.Object.Object["spec"].(map[string]any)["type"] = "ResetIndividual"
	return m
}

func serviceManifest(name string) plan.Manifest {
	return plan.Manifest{Object: &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1alpha1.SchemeGroupVersion.String(), "kind": "IdentityService",
		"metadata": map[string]any{"namespace": namespace, "name": name},
		"spec": map[string]any{
			"baseURL": "https://partner.example.com", "credentialsSecretRef": map[string]any{"name": "partner"},
		},
	}}}
}

// TestMake plans single changes.
func TestMake(t *testing.T) {
	t.Parallel()
	acme := bound(t, "acme", 7, nil)
	deleting := bound(t, "acme", 7, map[string]any{"deletionPolicy": "Delete"})
	decide := func(evidence string) map[string]any {
		return map[string]any{"decision": map[string]any{"outcome": "Complete", "evidence": evidence}}
	}
	named := bound(t, "acme", 7, map[string]any{"name": "Jane Doe"})
	checks := named[0].(*v1alpha1.Mandate).Status.Individuals[0].Checks
	checks[0].Name, checks[0].State.Name = "Liveness of Jane Doe", "waits for Jane Doe <jane@example.com>"
	merged := reviewOf(named)
	merged["name"] = "Jane Doe"
	waiting := bound(t, "acme", 7, nil)[0].(*v1alpha1.Mandate)
	waiting.Status = v1alpha1.MandateStatus{}
	resetSince := bound(t, "acme", 7, nil)
	log := &resetSince[1].(*v1alpha1.ApplicationRecord).Spec.Calls
	*log = append(*log, v1alpha1.Call{
		Seq: 2, Kind: v1alpha1.CallResetIndividual, Individual: "director", Name: "reset", Sends: 1,
		Result: v1alpha1.CallDone, StartedTime: metav1.NewMicroTime(now),
	})
	limited := service()
	limited.Spec.Creation.MaxPerHour, limited.Spec.Creation.MaxPerDay = 1, 10
	recorded := bound(t, "acme", 7, nil)[1].(*v1alpha1.ApplicationRecord)
	recorded.Spec.SpecDigests = &v1alpha1.SpecDigests{Name: "of the name", MandateType: "of the type"}
	unread := []any{map[string]any{"name": "director", "detailsSecretRef": map[string]any{"name": "director-details"}}}
	for name, tc := range map[string]struct {
		cluster  []client.Object
		manifest []plan.Manifest
		pruned   []plan.ObjectKey
		item     string // by name, the first one by default
		actions  []plan.Action
		emails   int
		says     []string // in the JSON of the item
	}{
		"a new Mandate": {
			manifest: []plan.Manifest{manifestOf("acme", nil)}, actions: []plan.Action{plan.Create}, emails: 2,
		},
		"without e-mails": {
			manifest: []plan.Manifest{manifestOf("acme", map[string]any{"suppressEmailNotification": true})},
			actions:  []plan.Action{plan.Create},
		},
		"unchanged": {
			cluster: acme, manifest: []plan.Manifest{manifestOf("acme", nil)}, actions: []plan.Action{plan.Nothing},
			says: []string{`"change":"unchanged"`},
		},
		"too late": {
			manifest: []plan.Manifest{manifestOf("acme", map[string]any{"createBefore": "2026-01-01T00:00:00Z"})},
			actions:  []plan.Action{plan.Refuse}, says: []string{"CreateDeadlinePassed"},
		},
		"an edit that the API server refuses": {
			cluster: acme, manifest: []plan.Manifest{manifestOf("acme", map[string]any{"name": "Another"})},
			actions: []plan.Action{plan.Refuse},
			says:    []string{"Invalid", "spec.name: cannot change once the application exists"},
		},
		"a field that does not exist": {
			manifest: []plan.Manifest{manifestOf("acme", map[string]any{"supressEmailNotification": true})},
			actions:  []plan.Action{plan.Create}, emails: 2, says: []string{"spec.supressEmailNotification does not exist"},
		},
		"a reference that another Mandate has": {
			cluster:  acme,
			manifest: []plan.Manifest{manifestOf("globex", map[string]any{"reference": "onboarding.acme"})},
			actions:  []plan.Action{plan.Refuse}, says: []string{"ReferenceConflict"},
		},
		"a reference that the change gives up": {
			cluster:  deleting,
			manifest: []plan.Manifest{manifestOf("globex", map[string]any{"reference": "onboarding.acme"})},
			pruned:   []plan.ObjectKey{{Kind: "Mandate", Namespace: namespace, Name: "acme"}},
			actions:  []plan.Action{plan.Create}, emails: 2, says: []string{"The service takes the reference"},
		},
		"applied again after its deletion": {
			cluster: acme[1:], manifest: []plan.Manifest{manifestOf("acme", nil)}, actions: []plan.Action{plan.Bind},
		},
		"applied again with another reference": {
			cluster: acme[1:], manifest: []plan.Manifest{manifestOf("acme", map[string]any{"reference": "other"})},
			actions: []plan.Action{plan.Refuse}, says: []string{"ApplicationExists"},
		},
		"a rename": {
			cluster: acme, manifest: []plan.Manifest{manifestOf("acme2", map[string]any{
				"individuals": manifestOf("acme", nil).Object.Object["spec"].(map[string]any)["individuals"],
			})},
			pruned:  []plan.ObjectKey{{Kind: "Mandate", Namespace: namespace, Name: "acme"}},
			actions: []plan.Action{plan.Create}, emails: 2,
			says: []string{"The same people as in the Mandate onboarding/acme, which is deleted: a rename"},
		},
		"pruned": {
			cluster: acme, pruned: []plan.ObjectKey{{Kind: "Mandate", Namespace: namespace, Name: "acme"}},
			actions: []plan.Action{plan.Nothing}, says: []string{"deletionPolicy is Retain", `"change":"pruned"`},
		},
		"pruned before it was created": {
			cluster: []client.Object{waiting},
			pruned:  []plan.ObjectKey{{Kind: "Mandate", Namespace: namespace, Name: "acme"}},
			actions: []plan.Action{plan.Nothing}, says: []string{"It has no application"},
		},
		"pruned with Delete": {
			cluster: deleting, pruned: []plan.ObjectKey{{Kind: "Mandate", Namespace: namespace, Name: "acme"}},
			actions: []plan.Action{plan.Delete},
		},
		"decided on what is shown": {
			cluster: acme, manifest: []plan.Manifest{manifestOf("acme", decide(evidenceOf(acme)))},
			actions: []plan.Action{plan.Decide}, says: []string{`"current":true`, `"name":"liveness"`},
		},
		"decided on what was shown": {
			cluster: acme, manifest: []plan.Manifest{manifestOf("acme", decide("deadbeef-1"))},
			actions: []plan.Action{plan.Refuse}, says: []string{"DecisionOutdated", `"current":false`},
		},
		"decided by a rule that holds": {
			cluster: acme, manifest: []plan.Manifest{manifestOf("acme", map[string]any{
				"decision": map[string]any{"outcome": "Complete", "when": "AllChecksPassed"},
			})},
			actions: []plan.Action{plan.Decide},
		},
		"decided before anything is to be decided": {
			manifest: []plan.Manifest{manifestOf("acme", map[string]any{
				"decision": map[string]any{"outcome": "Complete", "when": "AllChecksPassed"},
			})},
			actions: []plan.Action{plan.Create, plan.Wait}, emails: 2, says: []string{"DecisionWaiting"},
		},
		"an action": {
			cluster: acme, manifest: []plan.Manifest{actionManifest("again", "acme")}, actions: []plan.Action{plan.Resend},
			emails: 1,
		},
		"an action above a budget": {
			cluster: append([]client.Object{limited}, acme...), item: "b",
			manifest: []plan.Manifest{actionManifest("a", "acme"), actionManifest("b", "acme")},
			actions:  []plan.Action{plan.Resend}, emails: 1, says: []string{"CreationBudgetReached"},
		},
		"an action on a new Mandate": {
			manifest: []plan.Manifest{manifestOf("acme", nil), actionManifest("again", "acme")}, item: "again",
			actions: []plan.Action{plan.Resend}, emails: 1,
		},
		"an action on a Mandate that is deleted by the same change": {
			cluster: acme, manifest: []plan.Manifest{actionManifest("again", "acme")},
			pruned:  []plan.ObjectKey{{Kind: "Mandate", Namespace: namespace, Name: "acme"}},
			actions: []plan.Action{plan.Resend}, emails: 1, says: []string{"before the Mandate is deleted"},
		},
		"a rule, and a reset before it has held for long enough": {
			cluster: acme, manifest: []plan.Manifest{manifestOf("acme", map[string]any{
				"decision": map[string]any{"outcome": "Complete", "when": "AllChecksPassed"},
			}), resetManifest("reset", "acme")},
			actions: []plan.Action{plan.Wait}, says: []string{"DecisionWaiting"},
		},
		"an action on no Mandate": {
			manifest: []plan.Manifest{actionManifest("again", "nobody")}, actions: []plan.Action{plan.Refuse},
			says: []string{"MandateGone"},
		},
		"details in a Secret": {
			manifest: []plan.Manifest{manifestOf("acme", map[string]any{"individuals": unread})},
			actions:  []plan.Action{plan.Create}, emails: 1, says: []string{"The Secret director-details exists"},
		},
		"a new service": {
			manifest: []plan.Manifest{serviceManifest("partner"), manifestOf("acme", map[string]any{
				"serviceRef": map[string]any{"name": "partner"},
			})},
			actions: []plan.Action{plan.Create}, emails: 2,
			says: []string{"IdentityService partner is not Ready (not seen by the operator yet)"},
		},
		"a name that the API server refuses": {
			manifest: []plan.Manifest{manifestOf("Acme", nil)}, actions: []plan.Action{plan.Refuse},
			says: []string{"metadata.name: a lowercase RFC 1123 subdomain"},
		},
		"details in a Secret, applied again after a deletion": {
			cluster:  []client.Object{recorded},
			manifest: []plan.Manifest{manifestOf("acme", map[string]any{"individuals": unread})},
			actions:  []plan.Action{plan.Bind}, says: []string{"as when its application was created"},
		},
		"applied again for other people": {
			cluster: []client.Object{recorded}, manifest: []plan.Manifest{manifestOf("acme", nil)},
			actions: []plan.Action{plan.Refuse}, says: []string{"SpecDiffers"},
		},
		"no service": {
			manifest: []plan.Manifest{manifestOf("acme", map[string]any{"serviceRef": map[string]any{"name": "none"}})},
			actions:  []plan.Action{plan.Wait}, says: []string{"IdentityServiceNotFound"},
		},
		"a review of a check that was reset since": {
			cluster: resetSince, manifest: []plan.Manifest{manifestOf("acme", reviewOf(resetSince))},
			actions: []plan.Action{plan.Refuse}, says: []string{"ReviewOutdated", "before the last reset"},
		},
		"a review": {
			cluster: acme, manifest: []plan.Manifest{manifestOf("acme", reviewOf(acme))},
			actions: []plan.Action{plan.Review},
		},
		"a review of a wrong type": {
			cluster: acme, manifest: []plan.Manifest{manifestOf("acme", map[string]any{
				"checkReviews": []any{map[string]any{"check": map[string]any{}, "individual": []any{}}, int64(7)},
			})},
			actions: []plan.Action{plan.Refuse}, says: []string{"spec.checkReviews[0].check"},
		},
		"a spec that is none": {
			manifest: []plan.Manifest{{Object: &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": v1alpha1.SchemeGroupVersion.String(), "kind": "Mandate", "spec": "x",
				"metadata": map[string]any{"namespace": namespace, "name": "acme"},
			}}}},
			actions: []plan.Action{plan.Refuse}, says: []string{"spec"},
		},
		"texts about people": {
			cluster: named, manifest: []plan.Manifest{manifestOf("acme", merged)}, actions: []plan.Action{plan.Review},
			says: []string{`"decision":"Reject 700"`, `"name":"700","evidence"`, `"current":true`},
		},
		"a value of a wrong type": {
			manifest: []plan.Manifest{manifestOf("acme", map[string]any{
				"individuals": []any{map[string]any{"name": "director", "email": []any{"private@example.com"}}},
			})},
			actions: []plan.Action{plan.Refuse}, says: []string{"spec.individuals[0].email"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := append([]client.Object{service()}, tc.cluster...)
			made, err := plan.Make(t.Context(), plan.Input{
				Cluster: cluster, Manifests: tc.manifest, Pruned: tc.pruned, Now: now,
			})
			if err != nil {
				t.Fatal(err)
			}
			i := max(0, slices.IndexFunc(made.Items, func(i plan.Item) bool { return i.Name == tc.item }))
			encoded, err := json.Marshal(made.Items[i])
			if err != nil {
				t.Fatal(err)
			}
			if item := made.Items[i]; !slices.Equal(item.Actions, tc.actions) || item.Emails != tc.emails {
				t.Errorf("%v with %d e-mails, want %v with %d:\n%s", item.Actions, item.Emails, tc.actions, tc.emails, encoded)
			}
			for _, text := range tc.says {
				if !strings.Contains(string(encoded), text) {
					t.Errorf("no %s in\n%s", text, encoded)
				}
			}
			if strings.ContainsAny(string(encoded), "@") || strings.Contains(string(encoded), "Jane Doe") {
				t.Errorf("personal data in\n%s", encoded)
			}
		})
	}
}
