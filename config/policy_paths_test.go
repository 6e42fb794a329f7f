package config

import (
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Whatever kubectl command changes a field, the change needs the verb.
func TestPolicyOnEveryPath(t *testing.T) {
	c, namespace := policed(t)
	rejected := map[string]any{"outcome": "Reject", "evidence": "7d9f2c41-3"}
	other := map[string]any{"outcome": "Reject", "evidence": "7d9f2c41-4"}
	people := []any{map[string]any{"name": "jane", "email": "other@example.com"}}
	cases := map[string]struct {
		object *unstructured.Unstructured
		field  string
		value  any
		user   string // who has the verb
	}{
		"a decision":   {mandate(t, namespace, "{}"), "decision", rejected, "decider"},
		"evidence":     {mandate(t, namespace, "spec: {decision: "+reject+"}"), "decision", other, "decider"},
		"who is meant": {mandate(t, namespace, "spec: {archived: true}"), "individuals", people, "decider"},
		"a suspension": {
			mandate(t, namespace, "spec: {suspend: true, decision: "+reject+"}"), "suspend", false, "decider",
		},
		"an adoption": {mandate(t, namespace, "{}"), "adopt", map[string]any{"applicationID": int64(1)}, "adopter"},
		"another adoption": {
			mandate(t, namespace, "spec: {adopt: {applicationID: 2}}"), "adopt", map[string]any{"applicationID": int64(1)},
			"adopter",
		},
		"a connection": {identityService(t, namespace), "baseURL", "https://other.example.com", "connector"},
	}
	for name, tc := range cases {
		tc.object.SetName(strings.ReplaceAll(name, " ", "-"))
		c.check(c.Create(t.Context(), tc.object))
		changed := tc.object.DeepCopy()
		changed.SetManagedFields(nil) // no manifest has them
		c.check(unstructured.SetNestedField(changed.Object, tc.value, "spec", tc.field))
		manifest := encoded(t, changed.Object)
		merge := encoded(t, map[string]any{"spec": map[string]any{tc.field: tc.value}})
		operations := encoded(t, []any{map[string]any{"op": "add", "path": "/spec/" + tc.field, "value": tc.value}})
		target := []string{strings.ToLower(changed.GetKind()), changed.GetName()}
		for path, command := range map[string][]string{
			"apply":             {"apply", "--filename=-"},
			"server-side apply": {"apply", "--server-side", "--force-conflicts", "--filename=-"},
			"replace":           {"replace", "--filename=-"},
			"merge patch":       append([]string{"patch", "--type=merge", "--patch=" + merge}, target...),
			"JSON patch":        append([]string{"patch", "--type=json", "--patch=" + operations}, target...),
		} {
			t.Run(name+" by "+path, func(t *testing.T) {
				c := in(t, env)
				for _, user := range []string{"pipeline", tc.user} {
					c.waitForAccess(namespace, user, "update", target[0]+"s")
					command := append([]string{"--namespace", namespace, "--as", user, "--dry-run=server"}, command...)
					output, err := c.tryKubectl(manifest, command...)
					refused := err != nil && strings.Contains(strings.ToLower(output), "forbidden") &&
						strings.Contains(output, "spec."+tc.field) && strings.Contains(output, "verb "+verbs[tc.user])
					switch {
					case user == tc.user && err != nil:
						t.Errorf("%s is refused: %s", user, output)
					case user != tc.user && !refused:
						t.Errorf("%s is not refused with spec.%s: %v\n%s", user, tc.field, err, output)
					}
				}
			})
		}
		// A write to the status changes nothing but the status, and there is no scale.
		c.kubectl("patch", target[0], target[1], "--namespace", namespace, "--subresource=status", "--type=merge",
			"--patch="+merge)
		output, err := c.tryKubectl("", "scale", target[0], target[1], "--namespace", namespace, "--replicas=1")
		if err == nil {
			t.Errorf("it was scaled: %s", output)
		}
		after := tc.object.DeepCopy()
		c.check(c.Get(t.Context(), client.ObjectKeyFromObject(after), after))
		if after.GetGeneration() != tc.object.GetGeneration() {
			t.Errorf("%s: the status was written, and the spec has changed: %v", name, after.Object["spec"])
		}
	}
}

func encoded(t *testing.T, value any) string {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
