package v1alpha1_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestDefaults makes sure that what a manifest leaves out is there to see, and that an object that the operator has not
// seen yet says so: tools that wait for it would otherwise take an empty status for success.
func TestDefaults(t *testing.T) {
	c := newClient(t)
	want := map[string]map[string]any{
		"IdentityService": {
			"spec": map[string]any{
				"baseURL": "https://idv.example.com", "credentialsSecretRef": map[string]any{"name": "idv"},
				"tokenAuthorization": "Auto", "requestsPerSecond": int64(10),
				"tokenRequest": map[string]any{"grantType": "password"},
				"creation":     map[string]any{"maxPerHour": int64(500), "maxPerDay": int64(5000)},
				"polling":      map[string]any{"minIntervalSeconds": int64(30), "maxIntervalSeconds": int64(3600)},
				"transitions":  map[string]any{"completeMethod": "Auto", "rejectMethod": "Auto"},
			},
			"status": map[string]any{"observedGeneration": int64(-1)},
		},
		"ClusterIdentityService": {
			"spec": map[string]any{
				"baseURL":              "https://idv.example.com",
				"credentialsSecretRef": map[string]any{"namespace": "platform", "name": "idv"},
				"referencePolicy":      "Namespaced",
				"tokenAuthorization":   "Auto",
				"tokenRequest":         map[string]any{"grantType": "password"},
				"creation":             map[string]any{"maxPerHour": int64(500), "maxPerDay": int64(5000)},
				"requestsPerSecond":    int64(10),
				"polling":              map[string]any{"minIntervalSeconds": int64(30), "maxIntervalSeconds": int64(3600)},
				"transitions":          map[string]any{"completeMethod": "Auto", "rejectMethod": "Auto"},
			},
			"status": map[string]any{"observedGeneration": int64(-1)},
		},
		"Mandate": {
			"spec": map[string]any{
				"mandateType":               map[string]any{"code": "kyc"},
				"serviceRef":                map[string]any{"kind": "IdentityService", "name": "default"},
				"individuals":               []any{map[string]any{"name": "jane", "email": "jane@personal.test"}},
				"deletionPolicy":            "Retain",
				"suppressEmailNotification": false,
				"archived":                  false,
				"suspend":                   false,
			},
			"status": map[string]any{"observedGeneration": int64(-1)},
		},
		"MandateAction": {
			"spec":   map[string]any{"mandateRef": map[string]any{"name": "acme"}, "type": "ResendInvite", "individual": "jane"},
			"status": map[string]any{"observedGeneration": int64(-1)},
		},
	}
	specs := map[string]string{"Mandate": individual(`name: jane, email: jane@personal.test`)}
	for kind, want := range want {
		t.Run(kind, func(t *testing.T) {
			object := suites[kind].existing(t, c, state{spec: specs[kind]})
			got := &unstructured.Unstructured{}
			got.SetGroupVersionKind(object.GroupVersionKind())
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(object), got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, map[string]any{"spec": got.Object["spec"], "status": got.Object["status"]}); diff != "" {
				t.Errorf("%s (-want +got):\n%s", kind, diff)
			}
		})
	}
}
