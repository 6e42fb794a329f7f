package testenv

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// auditPolicy logs the requests of ServiceAccounts, without bodies, which contain personal data, but for the patches of
// a status, which has none. OperatorUser is one. StartAPIServer gives it a certificate instead of a token, and so none
// of the groups of ServiceAccounts.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Request
  resources: [{group: idv.mandate.io, resources: ["*/status"]}]
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
	decided := map[string]map[Permission]int{"allow": {}, "forbid": {}}
	err := e.eachRequest(func(r *request) {
		counts := decided[r.Annotations["authorization.k8s.io/decision"]]
		if r.User.Username == user && counts != nil {
			counts[newPermission(r.Verb, r.ObjectRef.APIGroup, r.ObjectRef.Resource, r.ObjectRef.Subresource)]++
		}
	})
	return decided, err
}

// Reason is the reason of a condition of an object of a resource, as in "mandates Suspended".
type Reason struct{ Resource, Reason string }

// WrittenReasons returns the reasons of all conditions that were written so far, by whomever. A watch would miss some
// of them after an interruption.
func (e *Environment) WrittenReasons() (map[Reason]bool, error) {
	written := map[Reason]bool{}
	err := e.eachRequest(func(r *request) {
		var patch struct {
			Status struct{ Conditions []metav1.Condition }
		}
		if r.ResponseStatus.Code != http.StatusOK || json.Unmarshal(r.RequestObject, &patch) != nil {
			return
		}
		for _, c := range patch.Status.Conditions {
			written[Reason{r.ObjectRef.Resource, c.Reason}] = true
		}
	})
	return written, err
}

// request is one of the audit log.
type request struct {
	Verb           string
	User           struct{ Username string }
	ObjectRef      *struct{ APIGroup, Resource, Subresource string }
	RequestObject  json.RawMessage
	ResponseStatus struct{ Code int }
	// Annotations have RBAC's decision. The status does not: admission also returns 403.
	Annotations map[string]string
}

// eachRequest calls found for each request for an object. kube-apiserver begins another file after 100 MB, and keeps
// all of them.
func (e *Environment) eachRequest(found func(*request)) error {
	logs, err := filepath.Glob(filepath.Join(e.Dir, "audit*.log"))
	if err != nil {
		return err
	}
	for _, log := range logs {
		if err := eachRequestIn(log, found); err != nil {
			return fmt.Errorf("%s: %w", log, err)
		}
	}
	return nil
}

func eachRequestIn(path string, found func(*request)) error {
	log, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 1<<22)
	for lines.Scan() {
		var r request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return err
		}
		if r.ObjectRef != nil {
			found(&r)
		}
	}
	return lines.Err()
}

func (e *Environment) auditLog() string { return filepath.Join(e.Dir, "audit.log") }

// writeAuditPolicy returns the flags that make kube-apiserver write the audit log.
func (e *Environment) writeAuditPolicy() (flags map[string]string, err error) {
	policy := filepath.Join(e.Dir, "audit-policy.yaml")
	flags = map[string]string{"audit-policy-file": policy, "audit-log-path": e.auditLog()}
	return flags, os.WriteFile(policy, []byte(auditPolicy), 0o600)
}
