package config

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ours are the resources that can hold personal data, or what is to be done about people.
var ours = []string{"mandates", "mandateactions", "identityservices", "clusteridentityservices", "applicationrecords"}

// verbsOfRoles are all that a role can grant on them.
var verbsOfRoles = []string{
	"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "decide", "act", "adopt",
	"connect", "record",
}

// The roles that Kubernetes has for everybody reach nothing of ours: a Mandate's spec can hold personal data. The test
// puts together what a cluster's controller would aggregate, because no such controller runs.
func TestBuiltInRolesDoNotReachMandates(t *testing.T) {
	c := in(t, env)
	installed(c)
	for _, name := range []string{"view", "edit", "admin"} {
		t.Run(name, func(t *testing.T) {
			c, namespace := in(t, env), env.Namespace(t)
			role := &rbacv1.ClusterRole{}
			c.check(c.Get(t.Context(), client.ObjectKey{Name: name}, role))
			parts := c.selectedBy(role.AggregationRule)
			c.bind(namespace, name, parts...)
			c.eventually(func() (bool, string) {
				err := c.as(name).List(t.Context(), &corev1.ConfigMapList{}, client.InNamespace(namespace))
				return err == nil, fmt.Sprint(err)
			})
			for _, resource := range ours {
				for _, verb := range verbsOfRoles {
					if c.may(namespace, name, verb, resource) {
						t.Errorf("%s may %s %s, by one of the ClusterRoles %q", name, verb, resource, parts)
					}
				}
			}
		})
	}
}

// The roles that are offered instead, with everything that they grant.
func TestOfferedRoles(t *testing.T) {
	c := in(t, env)
	installed(c)
	c.apply("--kustomize", "config/policy")
	read := []string{"get", "list", "watch"}
	write := []string{"create", "update", "patch", "delete"}
	cases := map[string]struct {
		aggregated string // the label that an aggregated ClusterRole selects
		may        map[string][]string
		status     bool // whether it grants to write statuses
	}{
		"idv-viewer": {
			aggregated: "rbac.idv.mandate.io/aggregate-to-view",
			may: map[string][]string{
				"mandates":                read,
				"mandateactions":          read,
				"identityservices":        read,
				"clusteridentityservices": read,
				"applicationrecords":      read,
			},
		},
		"idv-editor": {
			aggregated: "rbac.idv.mandate.io/aggregate-to-edit",
			may: map[string][]string{
				"mandates":                append(write, read...),
				"mandateactions":          append(write, read...),
				"identityservices":        append(write, read...),
				"clusteridentityservices": read,
				"applicationrecords":      read,
			},
		},
		"idv-platform": {
			aggregated: "rbac.idv.mandate.io/aggregate-to-admin",
			may:        map[string][]string{"clusteridentityservices": append(write, read...)},
		},
		"idv-restorer": {
			may:    map[string][]string{"applicationrecords": append([]string{"create", "update", "patch", "record"}, read...)},
			status: true,
		},
		"idv-decider": {may: map[string][]string{
			"mandates":                append([]string{"update", "patch", "decide"}, read...),
			"mandateactions":          read,
			"identityservices":        read,
			"clusteridentityservices": read,
			"applicationrecords":      read,
		}},
		"idv-actor": {may: map[string][]string{
			"mandates":                read,
			"mandateactions":          append([]string{"create", "delete", "act"}, read...),
			"identityservices":        read,
			"clusteridentityservices": read,
			"applicationrecords":      read,
		}},
		"idv-adopter": {may: map[string][]string{
			"mandates":                append([]string{"update", "patch", "adopt"}, read...),
			"mandateactions":          read,
			"identityservices":        read,
			"clusteridentityservices": read,
			"applicationrecords":      read,
		}},
		"idv-connector": {may: map[string][]string{
			"mandates":                read,
			"mandateactions":          read,
			"identityservices":        append([]string{"create", "update", "patch", "delete", "connect"}, read...),
			"clusteridentityservices": read,
			"applicationrecords":      read,
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, namespace := in(t, env), env.Namespace(t)
			roles := []string{name}
			if tc.aggregated != "" {
				selector := metav1.LabelSelector{MatchLabels: map[string]string{tc.aggregated: "true"}}
				roles = c.selectedBy(&rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{selector}})
			}
			if !slices.Equal(roles, []string{name}) {
				t.Fatalf("the label %s selects %q", tc.aggregated, roles)
			}
			c.bind(namespace, name, roles...)
			for resource := range tc.may {
				c.waitForAccess(namespace, name, "get", resource)
			}
			for _, resource := range ours {
				for _, verb := range verbsOfRoles {
					if got, want := c.may(namespace, name, verb, resource), slices.Contains(tc.may[resource], verb); got != want {
						t.Errorf("%s may %s %s: %t, want %t", name, verb, resource, got, want)
					}
				}
			}
			for _, resource := range []string{"mandates/status", "mandateactions/status", "identityservices/status"} {
				if got := c.may(namespace, name, "patch", resource); got != tc.status {
					t.Errorf("%s may write %s, where the operator keeps what it knows: %t, want %t", name, resource, got, tc.status)
				}
			}
		})
	}
}

// installed has what make deploy applies, but for the CRDs and the operator.
func installed(c *cluster) {
	c.Helper()
	granted(c)
	c.apply("--kustomize", "config/admission")
}

// granted has the roles that make deploy applies.
func granted(c *cluster) {
	c.Helper()
	c.apply("--filename", "config/manager/namespace.yaml")
	c.apply("--kustomize", "config/rbac")
}

// selectedBy names the ClusterRoles that an aggregated one is made of, and those that these are made of.
func (c *cluster) selectedBy(rule *rbacv1.AggregationRule) (names []string) {
	c.Helper()
	if rule == nil {
		return nil
	}
	for i := range rule.ClusterRoleSelectors {
		selector, err := metav1.LabelSelectorAsSelector(&rule.ClusterRoleSelectors[i])
		c.check(err)
		var roles rbacv1.ClusterRoleList
		c.check(c.List(c.Context(), &roles, client.MatchingLabelsSelector{Selector: selector}))
		for _, role := range roles.Items {
			names = append(append(names, role.Name), c.selectedBy(role.AggregationRule)...)
		}
	}
	return names
}
