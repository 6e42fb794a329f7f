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

// auditPolicy logs what operators do, whether they run as OperatorUser or as a ServiceAccount: who asked for what, and no
// bodies, which hold personal data.
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

// Permissions are what rules grant, sorted. Rules without resources grant nothing here.
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

// UsedPermissions are what a user has asked the API server for so far, by its audit log: what RBAC allowed and what it refused,
// both sorted. Only OperatorUser and ServiceAccounts are in that log.
func (e *Environment) UsedPermissions(user string) (allowed, refused []Permission, err error) {
	requests, err := e.requests(user)
	return slices.Sorted(maps.Keys(requests["allow"])), slices.Sorted(maps.Keys(requests["forbid"])), err
}

// Requests counts the requests of a user that RBAC allowed so far, by its audit log. Only OperatorUser and ServiceAccounts
// are in that log.
func (e *Environment) Requests(user string) (map[Permission]int, error) {
	requests, err := e.requests(user)
	return requests["allow"], err
}

// requests counts those of a user by RBAC's decision, allow or forbid.
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
			// Annotations tell RBAC's decision. The status does not: admission answers 403, too.
			Annotations map[string]string
		}
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			return nil, fmt.Errorf("%s: %w", e.auditLog(), err)
		}
		counts := decided[event.Annotations["authorization.k8s.io/decision"]]
		if event.User.Username != user || event.ObjectRef == nil || counts == nil {
			continue
		}
		counts[newPermission(event.Verb, event.ObjectRef.APIGroup, event.ObjectRef.Resource, event.ObjectRef.Subresource)]++
	}
	return decided, lines.Err()
}

func (e *Environment) auditLog() string { return filepath.Join(e.Dir, "audit.log") }

// writeAuditPolicy gives the flags with which kube-apiserver keeps the audit log.
func (e *Environment) writeAuditPolicy() (flags map[string]string, err error) {
	policy := filepath.Join(e.Dir, "audit-policy.yaml")
	return map[string]string{"audit-policy-file": policy, "audit-log-path": e.auditLog()}, os.WriteFile(policy, []byte(auditPolicy), 0o600)
}
