package testenv

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// auditPolicy logs the requests of ServiceAccounts, without bodies, which contain personal data. OperatorUser is one.
// StartAPIServer gives it a certificate instead of a token, and so none of the groups of ServiceAccounts.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  users: [` + OperatorUser + `]
- level: Metadata
  userGroups: ["system:serviceaccounts"]
- level: None
`

// Permission is a verb on a resource, as in "patch mandates.idv.mandate.io/status".
type Permission string

func newPermission(verb, group, resource, subresource string) Permission {
	name := resource
	if group != "" {
		name += "." + group
	}
	if subresource != "" {
		name += "/" + subresource
	}
	return Permission(verb + " " + name)
}

// Permissions returns what rules grant, sorted. It ignores rules without resources.
func Permissions(rules []rbacv1.PolicyRule) []Permission {
	granted := map[Permission]bool{}
	for _, rule := range rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					name, subresource, _ := strings.Cut(resource, "/")
					granted[newPermission(verb, group, name, subresource)] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(granted))
}

// UsedPermissions returns the permissions that RBAC allowed and refused a user so far, sorted. They are from the audit
// log, which has only ServiceAccounts.
func (e *Environment) UsedPermissions(user string) (allowed, refused []Permission, err error) {
	requests, err := e.requests(user)
	return slices.Sorted(maps.Keys(requests["allow"])), slices.Sorted(maps.Keys(requests["forbid"])), err
}

// Requests counts the requests that RBAC allowed a user so far. It reads the audit log, which has only
// ServiceAccounts.
func (e *Environment) Requests(user string) (map[Permission]int, error) {
	requests, err := e.requests(user)
	return requests["allow"], err
}

// requests counts the requests of a user by RBAC's decision, allow or forbid.
func (e *Environment) requests(user string) (map[string]map[Permission]int, error) {
	log, err := os.Open(e.auditLog())
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	decided := map[string]map[Permission]int{"allow": {}, "forbid": {}}
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event struct {
			Verb      string
			User      struct{ Username string }
			ObjectRef *struct{ APIGroup, Resource, Subresource string }
			// Annotations have RBAC's decision. The status does not: admission also returns 403.
			Annotations map[string]string
		}
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			return nil, fmt.Errorf("%s: %w", e.auditLog(), err)
		}
		counts := decided[event.Annotations["authorization.k8s.io/decision"]]
		if event.User.Username != user || event.ObjectRef == nil || counts == nil {
			continue
		}
		object := event.ObjectRef
		counts[newPermission(event.Verb, object.APIGroup, object.Resource, object.Subresource)]++
	}
	return decided, lines.Err()
}

func (e *Environment) auditLog() string { return filepath.Join(e.Dir, "audit.log") }

// writeAuditPolicy returns the flags that make kube-apiserver write the audit log.
func (e *Environment) writeAuditPolicy() (flags map[string]string, err error) {
	policy := filepath.Join(e.Dir, "audit-policy.yaml")
	flags = map[string]string{"audit-policy-file": policy, "audit-log-path": e.auditLog()}
	return flags, os.WriteFile(policy, []byte(auditPolicy), 0o600)
}
