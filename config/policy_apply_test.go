package config

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/internal/test/testenv"
)

// rejects is a patch that decides.
const rejects = `{"spec":{"decision":{"outcome":"Reject","evidence":"7d9f2c41-3"}}}`

// What a pipeline without the verb applies again and again, as kubectl and GitOps tools do.
func TestPolicyAndApply(t *testing.T) {
	base := strings.TrimSuffix(mandateManifest, "}\n")
	decided := base + ", decision: " + complete + ", archived: true, deletionPolicy: Delete, " +
		"checkReviews: [" + review1 + "]}\n"
	cases := map[string]struct {
		reason string
		// applied by a person who has the verbs; then patch comes from them, if there is one.
		applied, patch string
		// again is what the pipeline applies after that.
		again, refused string
		// decision is what the Mandate has in the end.
		decision string
	}{
		"unchanged": {applied: decided, again: decided, decision: "Complete"},
		"unchanged but for a field that needs no verb": {
			applied:  decided,
			again:    strings.Replace(decided, "{mandateType", "{suspend: true, mandateType", 1),
			decision: "Complete",
		},
		"without what somebody else decided": {
			reason:  "a manifest in Git that says nothing of the decision takes none back",
			applied: base + "}", patch: rejects, again: base + "}", decision: "Reject",
		},
		"against what somebody else decided": {
			applied:  base + "}",
			patch:    rejects,
			again:    base + ", decision: {outcome: Complete, evidence: 7d9f2c41-3}}",
			refused:  "spec.decision",
			decision: "Reject",
		},
		"with the decision taken out": {
			applied:  decided,
			again:    strings.Replace(decided, "decision: "+complete+", ", "", 1),
			refused:  "spec.decision",
			decision: "Complete",
		},
		"with the suspension taken out": {
			applied:  strings.Replace(decided, "{mandateType", "{suspend: true, mandateType", 1),
			again:    decided,
			refused:  "spec.suspend",
			decision: "Complete",
		},
		"with the suspension taken out, and nothing to decide": {
			applied: base + ", suspend: true}", again: base + "}",
		},
		"with the adoption taken out": {
			applied: base + ", adopt: {applicationID: 1}}", again: base + "}", refused: "spec.adopt",
		},
		"without what somebody else adopts": {
			applied: base + "}", patch: `{"spec":{"adopt":{"applicationID":1}}}`, again: base + "}",
		},
		"with other evidence": {
			applied:  strings.Replace(decided, complete, reject, 1),
			again:    strings.Replace(decided, complete, strings.Replace(reject, "-3", "-4", 1), 1),
			refused:  "spec.decision",
			decision: "Reject",
		},
		"with another decision": {
			applied:  decided,
			again:    strings.Replace(decided, complete, reject, 1),
			refused:  "spec.decision",
			decision: "Complete",
		},
	}
	_, _ = policed(t)
	for name, tc := range cases {
		for _, side := range []string{"client", "server"} {
			t.Run(name+" on the "+side+" side", func(t *testing.T) {
				c, namespace := in(t, env), env.Namespace(t)
				c.bind(namespace, "decider", slices.Concat(rolesOf["decider"], rolesOf["adopter"])...)
				c.bind(namespace, "pipeline", rolesOf["pipeline"]...)
				apply := []string{"apply", "--namespace", namespace, "--filename=-", "--as", "pipeline"}
				if side == "server" {
					apply = append(apply, "--server-side", "--force-conflicts")
				}
				c.waitForAccess(namespace, "pipeline", "patch", "mandates")
				c.waitForAccess(namespace, "decider", "decide", "mandates")
				c.waitForAccess(namespace, "decider", "adopt", "mandates")
				if output, err := c.tryKubectl(tc.applied, append(apply, "--as", "decider")...); err != nil {
					t.Fatal(output)
				}
				if tc.patch != "" {
					c.kubectl("patch", "mandate", "acme", "--namespace", namespace, "--as", "decider",
						"--type=merge", "--patch", tc.patch)
				}
				output, err := c.tryKubectl(tc.again, apply...)
				switch {
				case tc.refused == "" && err != nil:
					t.Errorf("%s\n%s", output, tc.reason)
				case tc.refused != "" && (err == nil || !saysForbidden(output, tc.refused)):
					t.Errorf("it is not refused with %s: %v\n%s", tc.refused, err, output)
				}
				got := c.kubectl("get", "mandate", "acme", "--namespace", namespace, "-o", "jsonpath={.spec.decision.outcome}")
				if got != tc.decision {
					t.Errorf("the decision is %q, want %q", got, tc.decision)
				}
			})
		}
	}
}

func saysForbidden(output, field string) bool {
	forbidden := strings.Contains(output, "(Forbidden)") || strings.Contains(output, "is forbidden")
	return forbidden && strings.Contains(output, field+" can be set")
}

// Accounts of the cluster's own controllers.
const (
	garbageCollector    = "system:serviceaccount:kube-system:generic-garbage-collector"
	namespaceController = "system:serviceaccount:kube-system:namespace-controller"
)

// The operator and the cluster's own controllers have no verb of the policy, and need none for what they do.
func TestPolicyLeavesControllersAlone(t *testing.T) {
	policed(t)
	merge := func(patch string) func(client.Client, *unstructured.Unstructured) error {
		return func(c client.Client, m *unstructured.Unstructured) error {
			return c.Patch(t.Context(), m, client.RawPatch(types.MergePatchType, []byte(patch)))
		}
	}
	cases := map[string]struct {
		user string
		do   func(client.Client, *unstructured.Unstructured) error
	}{
		"the operator sets a finalizer": {
			testenv.OperatorUser, merge(`{"metadata":{"finalizers":["idv.mandate.io/application"]}}`),
		},
		"the operator writes status": {testenv.OperatorUser, func(c client.Client, m *unstructured.Unstructured) error {
			patch := client.RawPatch(types.MergePatchType, []byte(`{"status":{"applicationID":4711}}`))
			return c.Status().Patch(t.Context(), m, patch)
		}},
		"the garbage collector removes an owner": {garbageCollector, merge(`{"metadata":{"ownerReferences":null}}`)},
		"the garbage collector deletes": {garbageCollector, func(c client.Client, m *unstructured.Unstructured) error {
			return c.Delete(t.Context(), m)
		}},
		"the namespace goes": {namespaceController, func(c client.Client, m *unstructured.Unstructured) error {
			return c.DeleteAllOf(t.Context(), m, client.InNamespace(m.GetNamespace()))
		}},
	}
	for user, field := range map[string]string{ // the namespace controller may patch nothing
		testenv.OperatorUser: "spec", // config/admission refuses it, too
		garbageCollector:     "spec.decision",
	} {
		c := in(t, env)
		m := mandate(t, env.Namespace(t), "{}")
		c.check(c.Create(t.Context(), m))
		refused(t, user, merge(rejects)(c.as(user), m), field)
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := in(t, env)
			const spec = "{decision: " + complete + ", archived: true, deletionPolicy: Delete, " +
				"checkReviews: [" + review1 + "], adopt: {applicationID: 4711}}"
			m := mandate(t, env.Namespace(t), "spec: "+spec)
			m.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: "gone"}})
			c.check(c.Create(t.Context(), m))
			user := c.as(tc.user)
			if err := tc.do(user, m.DeepCopy()); err != nil {
				t.Error(err)
			}
		})
	}
}
