package v1alpha1_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// kubectl runs the pinned kubectl against the API server and returns its stdout and stderr.
func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := env.WriteKubeconfig(kubeconfig); err != nil {
		t.Fatal(err)
	}
	args = append([]string{"--kubeconfig", kubeconfig}, args...)
	output, err := exec.CommandContext(t.Context(), env.Kubectl, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, output)
	}
	return string(output)
}

func TestSamples(t *testing.T) {
	namespace := env.Namespace(t)
	kubectl(t, "apply", "--namespace", namespace, "--validate=strict", "-k", "../../config/samples")
	got := strings.Fields(kubectl(t, "get", "identity", "--namespace", namespace, "-o", "name"))
	want := []string{
		"clusteridentityservice.idv.mandate.io/shared",
		"identityservice.idv.mandate.io/default",
		"mandateaction.idv.mandate.io/acme-resend-applicant",
		"mandate.idv.mandate.io/acme",
		"mandate.idv.mandate.io/globex",
	}
	// It is in no namespace, so other tests would see it.
	kubectl(t, "delete", "clusteridentityservice", "shared")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("kubectl get identity (-want +got):\n%s", diff)
	}
}

// TestDefault makes sure that what make deploy applies is accepted, and that nothing in it violates the Pod Security
// standard that its namespace enforces: the API server says so in a warning.
func TestDefault(t *testing.T) {
	// Server-side, because the CRDs are there already and a client-side apply would warn about that.
	args := []string{"apply", "--server-side", "--force-conflicts", "--validate=strict", "-k", "../../config/default"}
	if output := kubectl(t, args...); strings.Contains(output, "Warning") {
		t.Errorf("kubectl %s:\n%s", strings.Join(args, " "), output)
	}
}

func condition(conditionType, status, reason string) string {
	return fmt.Sprintf(`{type: %s, status: %q, reason: %s, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}`,
		conditionType, status, reason)
}

func TestColumns(t *testing.T) {
	c := newClient(t)
	objects := map[string]struct {
		resource, status, spec string
		wide                   int // columns that only -o wide shows
		want                   [][]string
	}{
		"IdentityService": {
			resource: "idsvc",
			wide:     0,
			status:   `status: {observedGeneration: 1, conditions: [` + condition("Ready", "False", "CredentialsInvalid") + `]}`,
			want: [][]string{
				{"NAME", "URL", "READY", "REASON", "AGE"},
				{"default", "https://idv.example.com", "False", "CredentialsInvalid", "AGE"},
			},
		},
		"ClusterIdentityService": {
			resource: "cidsvc",
			wide:     0,
			status:   `status: {observedGeneration: 1, conditions: [` + condition("Ready", "True", "Connected") + `]}`,
			want: [][]string{
				{"NAME", "URL", "READY", "REASON", "AGE"},
				{"shared", "https://idv.example.com", "True", "Connected", "AGE"},
			},
		},
		"Mandate": {
			resource: "mdt",
			wide:     3,
			status: `status: {applicationID: 1099511627777, reference: ACME-1, state: completed, outcome: Completed,
				progress: 3/5, expiryTime: "2026-02-26T00:00:00Z", conditions: [` + condition("Ready", "True", "Accepted") + `]}`,
			want: [][]string{
				{"NAME", "READY", "REASON", "STATE", "PROGRESS", "OUTCOME", "AGE", "APPLICATION", "REFERENCE", "EXPIRES"},
				{"acme", "True", "Accepted", "completed", "3/5", "Completed", "AGE", "1099511627777", "ACME-1",
					"2026-02-26T00:00:00Z"},
			},
		},
		"MandateAction": {
			resource: "mda",
			status: `status: {conditions: [` + condition("Failed", "True", "OutcomeUnknown") + `,
				` + condition("Stalled", "True", "OutcomeUnknown") + `]}`,
			want: [][]string{
				{"NAME", "MANDATE", "TYPE", "INDIVIDUAL", "COMPLETE", "FAILED", "REASON", "AGE"},
				// COMPLETE is empty.
				{"acme-resend", "acme", "ResendInvite", "jane", "True", "OutcomeUnknown", "AGE"},
			},
		},
		"ApplicationRecord": {
			resource: "apr",
			wide:     1,
			spec:     spec("applicationID: 4711", calls(created, resend+", result: Unknown")),
			want: [][]string{
				{"NAME", "REFERENCE", "APPLICATION", "LAST", "RESULT", "AGE", "SERVICE"},
				{"acme", "ACME-1", "4711", "ResendInvite", "Unknown", "AGE", "https://idv.example.com"},
			},
		},
	}
	for kind, object := range objects {
		t.Run(kind, func(t *testing.T) {
			existing := suites[kind].existing(t, c, state{status: object.status, spec: object.spec})
			get := []string{"get", object.resource, "--namespace", existing.GetNamespace()}
			var got [][]string
			for line := range strings.Lines(kubectl(t, append(get, "-o", "wide")...)) {
				got = append(got, strings.Fields(line))
			}
			if diff := cmp.Diff(object.want, withoutAge(got)); diff != "" {
				t.Errorf("kubectl get %s -o wide (-want +got):\n%s", object.resource, diff)
			}
			header := object.want[0][:len(object.want[0])-object.wide]
			narrow, _, _ := strings.Cut(kubectl(t, get...), "\n")
			if diff := cmp.Diff(header, strings.Fields(narrow)); diff != "" {
				t.Errorf("kubectl get %s (-want +got):\n%s", object.resource, diff)
			}
		})
	}
}

// withoutAge replaces an age, such as 0s, by AGE.
func withoutAge(table [][]string) [][]string {
	for _, cells := range table {
		for i, cell := range cells {
			if strings.Trim(cell, "0123456789") == "s" {
				cells[i] = "AGE"
			}
		}
	}
	return table
}
