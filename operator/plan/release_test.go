package plan_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/plan"
)

// waiting is a Mandate without an application, as the operator leaves it.
func waiting(t *testing.T, name, reason string, spec map[string]any) *v1alpha1.Mandate {
	t.Helper()
	m := bound(t, name, 7, spec)[0].(*v1alpha1.Mandate)
	m.Status = v1alpha1.MandateStatus{ObservedGeneration: 1, Conditions: []metav1.Condition{{
		Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: reason, ObservedGeneration: 1,
	}}}
	return m
}

// ofSharedService is the spec of a Mandate that uses the ClusterIdentityService shared.
var ofSharedService = map[string]any{"serviceRef": map[string]any{
	"kind": "ClusterIdentityService", "name": "shared",
}}

// shared is a ClusterIdentityService that works, and is open to namespaces with a label.
func shared(labels map[string]string) *v1alpha1.ClusterIdentityService {
	s := &v1alpha1.ClusterIdentityService{ObjectMeta: metav1.ObjectMeta{Name: "shared", UID: "shared", Generation: 1}}
	s.Spec.BaseURL = "https://idv.example.com"
	s.Spec.NamespaceSelector = &metav1.LabelSelector{MatchLabels: labels}
	s.Status = service().Status
	return s
}

func namespaceOf(labels map[string]string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: metav1.ObjectMeta{
			Name: namespace, Labels: labels,
		},
	}
}

func manifestOfKind(apiVersion, kind, namespace, name string, fields map[string]any) plan.Manifest {
	object := &unstructured.Unstructured{Object: fields}
	object.SetAPIVersion(apiVersion)
	object.SetKind(kind)
	object.SetNamespace(namespace)
	object.SetName(name)
	return plan.Manifest{Object: object}
}

func sharedManifest(spec map[string]any) plan.Manifest {
	spec["baseURL"] = "https://idv.example.com"
	spec["credentialsSecretRef"] = map[string]any{"namespace": "system", "name": "idv"}
	return manifestOfKind(v1alpha1.SchemeGroupVersion.String(), "ClusterIdentityService", "", "shared",
		map[string]any{"spec": spec})
}

func secretManifest(apiVersion, kind, name string, fields map[string]any) plan.Manifest {
	return manifestOfKind(apiVersion, kind, namespace, name, fields)
}

func encodedPlan(t *testing.T, input plan.Input) (*plan.Plan, string) {
	t.Helper()
	input.Now = now
	made, err := plan.Make(t.Context(), input)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(made)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(encoded), "@") {
		t.Errorf("personal data in\n%s", encoded)
	}
	return made, string(encoded)
}

// TestReleased plans changes that do not have what they release.
func TestReleased(t *testing.T) {
	t.Parallel()
	suspended, limited := service(), service()
	suspended.Spec.Creation.Suspend = true
	limited.Spec.Creation.MaxPerHour = 1
	closed := waiting(t, "closed", v1alpha1.ReasonIdentityServiceNotAllowed, ofSharedService)
	stopped := shared(nil)
	stopped.Spec.Creation.Suspend = true
	bySuspended := waiting(t, "acme", v1alpha1.ReasonCreationSuspended, nil)
	stored := bound(t, "acme", 7, map[string]any{"suspend": true})
	invite := &v1alpha1.MandateAction{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: "again", UID: "again", Generation: 1, CreationTimestamp: metav1.NewTime(now),
	}}
	invite.Spec.MandateRef.Name, invite.Spec.Individual = "acme", "director"
	invite.Spec.Type = v1alpha1.MandateActionResendInvite
	invite.Status.Conditions = []metav1.Condition{{
		Type: v1alpha1.ConditionReconciling, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonSuspended,
	}}
	unread := map[string]any{"individuals": []any{
		map[string]any{"name": "director", "detailsSecretRef": map[string]any{"name": "details"}},
	}}
	team := map[string]string{"team": "a"}
	for name, tc := range map[string]struct {
		cluster   []client.Object
		manifests []plan.Manifest
		emails    int
		says      string // in the JSON of the plan
	}{
		"a service that was suspended": {
			cluster:   []client.Object{suspended, bySuspended},
			manifests: []plan.Manifest{serviceManifest("default")}, emails: 2, says: `"name":"acme"`,
		},
		"a service that is new": {
			cluster:   []client.Object{waiting(t, "acme", v1alpha1.ReasonIdentityServiceNotFound, nil)},
			manifests: []plan.Manifest{serviceManifest("default")}, emails: 2, says: "not seen by the operator yet",
		},
		"a service for all namespaces that was suspended": {
			cluster:   []client.Object{stopped, closed, namespaceOf(nil)},
			manifests: []plan.Manifest{sharedManifest(map[string]any{"namespaceSelector": map[string]any{}})}, emails: 2,
		},
		"a namespaceSelector": {
			cluster: []client.Object{shared(map[string]string{"team": "b"}), closed, namespaceOf(team)},
			manifests: []plan.Manifest{sharedManifest(map[string]any{
				"namespaceSelector": map[string]any{"matchLabels": map[string]any{"team": "a"}},
			})}, emails: 2,
		},
		"a label of the namespace": {
			cluster:   []client.Object{shared(team), closed, namespaceOf(nil)},
			manifests: []plan.Manifest{namespaceManifest(team)}, emails: 2,
		},
		"a namespace that is new": {
			cluster: []client.Object{shared(team)},
			manifests: []plan.Manifest{
				manifestOf("acme", ofSharedService), namespaceManifest(team),
			}, emails: 2,
		},
		"a label of the namespace that goes": {
			cluster: []client.Object{shared(team), closed, withLastLabels(namespaceOf(team), team)},
			manifests: []plan.Manifest{
				namespaceManifest(nil), manifestOf("another", nil),
			}, emails: 0,
		},
		"a suspended Mandate": {
			cluster:   append([]client.Object{service(), invite}, stored...),
			manifests: []plan.Manifest{manifestOf("acme", map[string]any{"suspend": false})}, emails: 1, says: `"resend"`,
		},
		"a Secret": {
			cluster:   []client.Object{service(), waiting(t, "acme", v1alpha1.ReasonSecretNotFound, unread)},
			manifests: []plan.Manifest{secretManifest("v1", "Secret", "details", map[string]any{})}, emails: 1,
			says: "The Secret details exists",
		},
		"a sealed Secret of a Mandate that is applied as it is": {
			cluster: []client.Object{service(), waiting(t, "acme", v1alpha1.ReasonRefused, unread)},
			manifests: []plan.Manifest{
				manifestOf("acme", unread), secretManifest("bitnami.com/v1alpha1", "SealedSecret", "details", map[string]any{}),
			}, emails: 1,
		},
		"an external Secret with another name": {
			cluster: []client.Object{service(), waiting(t, "acme", v1alpha1.ReasonSecretInvalid, unread)},
			manifests: []plan.Manifest{secretManifest("external-secrets.io/v1", "ExternalSecret", "of-vault", map[string]any{
				"spec": map[string]any{"target": map[string]any{"name": "details"}, "data": []any{map[string]any{"x": "y"}}},
			})}, emails: 1,
		},
		"another Secret": {
			cluster:   []client.Object{service(), waiting(t, "acme", v1alpha1.ReasonSecretNotFound, unread)},
			manifests: []plan.Manifest{secretManifest("v1", "Secret", "other", map[string]any{})}, says: `"items":[]`,
		},
		"nothing": {
			cluster:   []client.Object{suspended, bySuspended},
			manifests: []plan.Manifest{actionManifest("again", "nobody")}, says: "MandateGone",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made, encoded := encodedPlan(t, plan.Input{Cluster: tc.cluster, Manifests: tc.manifests})
			if made.Emails != tc.emails || made.Sends != (tc.emails > 0) || !strings.Contains(encoded, tc.says) {
				t.Errorf("%d e-mails, want %d and %s:\n%s", made.Emails, tc.emails, tc.says, encoded)
			}
		})
	}
}

func namespaceManifest(labels map[string]string) plan.Manifest {
	m := manifestOfKind("v1", "Namespace", "", namespace, map[string]any{})
	m.Object.SetLabels(labels)
	return m
}

// withLastLabels says what kubectl has applied last.
func withLastLabels(object *metav1.PartialObjectMetadata, labels map[string]string) *metav1.PartialObjectMetadata {
	last, _ := json.Marshal(namespaceManifest(labels).Object) // as it is
	object.Annotations = map[string]string{"kubectl.kubernetes.io/last-applied-configuration": string(last)}
	return object
}

// TestUnseen plans for what the user may not read: nobody says that nothing is sent.
func TestUnseen(t *testing.T) {
	t.Parallel()
	manifest := sharedManifest(map[string]any{"namespaceSelector": map[string]any{}})
	unseen := map[plan.ObjectKey]string{
		{Kind: "ClusterIdentityService", Name: "shared"}: plan.UnreadMandates,
	}
	made, encoded := encodedPlan(t, plan.Input{Manifests: []plan.Manifest{manifest}, Unseen: unseen})
	if !made.Sends || !strings.Contains(encoded, plan.UnreadMandates) {
		t.Errorf("the plan sends: %t:\n%s", made.Sends, encoded)
	}
	stored := shared(nil)
	stored.Spec.CredentialsSecretRef = v1alpha1.NamespacedSecretReference{Namespace: "system", Name: "idv"}
	made, encoded = encodedPlan(t, plan.Input{
		Cluster: []client.Object{stored}, Manifests: []plan.Manifest{manifest}, Unseen: unseen,
	})
	if made.Sends || len(made.Items) > 0 {
		t.Errorf("a service that stays as it is releases something:\n%s", encoded)
	}
	manifest.Object.SetAnnotations(map[string]string{v1alpha1.SameAccountAnnotation: movedName})
	made, encoded = encodedPlan(t, plan.Input{
		Cluster: []client.Object{stored}, Manifests: []plan.Manifest{manifest}, Unseen: unseen,
	})
	if !made.Sends {
		t.Errorf("a person says that the account is the same, and that releases nothing:\n%s", encoded)
	}
}

// TestRefused plans manifests that the API server refuses: what is stored goes on.
func TestRefused(t *testing.T) {
	t.Parallel()
	invalid := map[string]any{"individuals": []any{}}
	stored := waiting(t, "acme", v1alpha1.ReasonIdentityServiceNotFound, nil)
	for name, tc := range map[string]struct {
		cluster   []client.Object
		manifests []plan.Manifest
		actions   []plan.Action
		emails    int
		says      []string
	}{
		"an invalid edit, and what the stored one waits for": {
			cluster:   []client.Object{stored},
			manifests: []plan.Manifest{manifestOf("acme", invalid), serviceManifest("default")},
			actions:   []plan.Action{plan.Create, plan.Refuse}, emails: 2, says: []string{"Invalid", "spec.individuals"},
		},
		"an invalid edit of one that goes on waiting": {
			cluster: []client.Object{stored}, manifests: []plan.Manifest{manifestOf("acme", invalid)},
			actions: []plan.Action{plan.Refuse}, says: []string{"Invalid", "spec.individuals"},
		},
		"the second of two documents": {
			cluster:   []client.Object{service()},
			manifests: []plan.Manifest{manifestOf("acme", nil), manifestOf("acme", invalid)},
			actions:   []plan.Action{plan.Create, plan.Refuse}, emails: 2, says: []string{"more than once", `"change":"new"`},
		},
		"the first of two documents": {
			cluster:   []client.Object{service()},
			manifests: []plan.Manifest{manifestOf("acme", invalid), manifestOf("acme", nil)},
			actions:   []plan.Action{plan.Create, plan.Refuse}, emails: 2, says: []string{"more than once", "spec.individuals"},
		},
		"the same document twice": {
			cluster: []client.Object{service()}, manifests: []plan.Manifest{manifestOf("acme", nil), manifestOf("acme", nil)},
			actions: []plan.Action{plan.Create}, emails: 2, says: []string{"more than once", `"change":"new"`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made, encoded := encodedPlan(t, plan.Input{Cluster: tc.cluster, Manifests: tc.manifests})
			if made.Emails != tc.emails || !slices.Equal(made.Items[0].Actions, tc.actions) {
				t.Errorf("%v with %d e-mails, want %v with %d:\n%s", made.Items[0].Actions, made.Emails, tc.actions,
					tc.emails, encoded)
			}
			for _, text := range tc.says {
				if !strings.Contains(encoded, text) {
					t.Errorf("no %s in\n%s", text, encoded)
				}
			}
		})
	}
}

// TestReferenceOfAnotherAccount creates with a reference that a Mandate of another account has at the same URL.
func TestReferenceOfAnotherAccount(t *testing.T) {
	t.Parallel()
	const another = "fedcba9876543210fedcba9876543210"
	manifest := manifestOf("globex", map[string]any{
		"reference": "onboarding.acme", "serviceRef": map[string]any{"name": "partner"},
	})
	for name, tc := range map[string]struct {
		account string
		proofs  []v1alpha1.SameAccount
		action  plan.Action
	}{
		"the same account": {service().Status.Account, nil, plan.Refuse},
		"another account":  {another, nil, plan.Create},
		"no known account": {"", nil, plan.Create},
		"one that has shown to be the same": {
			another, []v1alpha1.SameAccount{{Account: service().Status.Account, SameAs: another}}, plan.Refuse,
		},
	} {
		partner := service()
		partner.Name, partner.UID = "partner", "partner"
		partner.Status.Account, partner.Status.SameAccounts = tc.account, tc.proofs
		made, encoded := encodedPlan(t, plan.Input{
			Cluster: append(bound(t, "acme", 7, nil), service(), partner), Manifests: []plan.Manifest{manifest},
		})
		if item := made.Items[0]; !slices.Equal(item.Actions, []plan.Action{tc.action}) ||
			(len(item.Unknown) > 0) != (tc.action == plan.Create) {
			t.Errorf("%s: want %s:\n%s", name, tc.action, encoded)
		}
	}
	vouched := service()
	vouched.Status.Account, vouched.Annotations = another, map[string]string{v1alpha1.SameAccountAnnotation: another}
	made, encoded := encodedPlan(t, plan.Input{
		Cluster:   append(bound(t, "acme", 7, nil), vouched),
		Manifests: []plan.Manifest{manifestOf("globex", map[string]any{"reference": "onboarding.acme"})},
	})
	if !slices.Equal(made.Items[0].Actions, []plan.Action{plan.Refuse}) {
		t.Errorf("a person says that the account is the same:\n%s", encoded)
	}
	made, encoded = encodedPlan(t, plan.Input{Manifests: []plan.Manifest{
		serviceManifest("partner"), manifest, manifestOf("initech", manifest.Object.Object["spec"].(map[string]any)),
	}})
	if made.Emails != 2 || !slices.Equal(made.Items[1].Actions, []plan.Action{plan.Refuse}) {
		t.Errorf("two Mandates of a new service have one reference:\n%s", encoded)
	}
}

// TestLostAnswer says what a plan takes for granted of a create that had no answer.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	objects := bound(t, "acme", 7, nil)
	record := objects[1].(*v1alpha1.ApplicationRecord)
	record.Spec.ApplicationID, record.Spec.CreatedTime = nil, nil
	call := &record.Spec.Calls[0]
	call.Result, call.StartedTime = "", metav1.NewMicroTime(now.Add(-30*60*1e9))
	call.FirstStartedTime = call.StartedTime
	made, encoded := encodedPlan(t, plan.Input{
		Cluster:   []client.Object{service(), waiting(t, "acme", v1alpha1.ReasonSettling, nil), record},
		Manifests: []plan.Manifest{manifestOf("acme", nil)},
	})
	if made.Emails != 2 || !strings.Contains(encoded, "The request that had no answer created nothing.") {
		t.Errorf("want 2 e-mails, and what is unknown:\n%s", encoded)
	}
}

// TestUnknownFields does not print a key that is no name of a field.
func TestUnknownFields(t *testing.T) {
	t.Parallel()
	_, encoded := encodedPlan(t, plan.Input{Cluster: []client.Object{service()}, Manifests: []plan.Manifest{
		manifestOf("acme", map[string]any{"jane@example.com": "x", "Jane Doe": "x", "no-Field_1": "x"}),
	}})
	if strings.Contains(encoded, "jane") || strings.Contains(encoded, "Jane") ||
		!strings.Contains(encoded, "spec.no-Field_1 does not exist") ||
		!strings.Contains(encoded, "does not show") {
		t.Errorf("%s", encoded)
	}
}

// BenchmarkUnchanged plans one change of a cluster with many Mandates.
func BenchmarkUnchanged(b *testing.B) {
	t := &testing.T{}
	input := plan.Input{Cluster: []client.Object{service()}, Manifests: []plan.Manifest{manifestOf("acme", nil)}, Now: now}
	for i := range 1000 {
		input.Cluster = append(input.Cluster, bound(t, fmt.Sprintf("mandate-%d", i), int64(i+1), nil)...)
	}
	for b.Loop() {
		made, err := plan.Make(b.Context(), input)
		if err != nil {
			b.Fatal(err)
		}
		if made.Emails != 2 || len(made.Items) != 1 {
			b.Fatalf("%d e-mails are planned of %d items, want 2 of 1", made.Emails, len(made.Items))
		}
	}
}
